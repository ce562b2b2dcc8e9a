//! Union: the receiver gets the records of the sender's items that it does not have. What follows a
//! reverse membership test is in [`crate::membership`], with the tests of papers on more than unions.

mod jsz22;
pub mod jsz22_r;
pub mod jsz22_s;
pub mod krtw19;
mod oprf;
mod plain;
pub mod vesica_union;
