//! Union: the receiver gets the records of the sender's items that it does not have, and on request
//! the sender those of the receiver's. More unions are in [`crate::membership`].

pub mod bit_streams;
pub mod circuit;
#[cfg(test)]
pub(crate) mod leakage;
pub mod oprf;
pub mod pads;
pub mod plain;
pub mod vesica_union;
pub mod vesica_union_both;

use vesica_party::{Assumption, assume};

/// What the pads of records stand on.
pub const PADS: &[Assumption] =
    assume!["BLAKE3, under the session as its key, is a PRF of an OT's block with the place of a record as input"];
