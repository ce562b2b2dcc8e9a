//! Private membership tests, for what follows them in [`vesica_protocols::membership`].

pub mod gmr21;
#[cfg(test)]
#[path = "../../../protocols/src/membership/testing.rs"]
mod testing;
#[cfg(test)]
mod tests;
pub mod zcl23_pk;
pub mod zcl23_sk;
