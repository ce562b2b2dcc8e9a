//! Union: the receiver gets the records of the sender's items that it does not have, and on request
//! the sender those of the receiver's. Protocols that stand on a reverse membership test are in
//! [`crate::membership`].

pub mod vesica_union;
pub mod vesica_union_both;
