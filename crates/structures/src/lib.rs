//! Local algorithms of the Vesica engine: fields, hashing, oblivious key-value stores, coding. No channel, no role.
#![forbid(unsafe_code)]

pub mod bit_prf;
pub mod facts;
pub mod fields;
pub mod golomb;
pub mod hashing;
pub mod okvs;
pub mod packing;
pub mod permutation;
pub mod polynomial;
pub mod prf;
pub mod rlwe;
pub mod rng;
pub mod rows;
pub mod secret;
pub mod shuffle;
pub mod tags;
