//! Local algorithms of the Vesica engine: fields, hashing, oblivious key-value stores, coding. No channel, no role.
#![forbid(unsafe_code)]

pub mod bit_prf;
pub mod facts;
pub mod fields;
pub mod golomb;
pub mod hashing;
pub mod masks;
pub mod okvs;
pub mod packing;
pub mod prf;
pub mod rlwe;
pub mod rng;
pub mod secret;
pub mod shuffle;
