//! Union: the receiver gets the records of the sender's items that it does not have. Protocols that
//! stand on a reverse membership test are in [`crate::membership`].

mod bit_streams;
mod circuit;
pub(crate) mod oprf;
pub mod vesica_union;
