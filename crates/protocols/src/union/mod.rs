//! Union: the receiver gets the records of the sender's items that it does not have. What follows a
//! reverse membership test is in [`crate::membership`], with the tests of papers on more than unions.

mod oprf;
mod plain;
pub mod vesica_union;
