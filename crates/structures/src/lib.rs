//! Local algorithms of the Vesica engine. Nothing here knows a channel, a role or a partner.
//!
//! - **Shared numbers**: [`facts`] has the security levels, the failure budget, and the refusal of
//!   what no bound covers.
//! - **Secrets and randomness**: [`secret`] wipes on drop, [`rng`] is the one source of secret
//!   randomness, [`shuffle`] draws random orders.
//! - **Algebra**: [`fields`] has GF(2^64) and GF(2^128), [`polynomial`] interpolates and evaluates,
//!   [`rlwe`] encrypts values and adds them up, [`pir`] looks up records privately.
//! - **Points**: [`elligator`] encodes points of Curve25519 as uniform strings.
//! - **Functions of items**: [`prf`], [`bit_prf`] and [`ot_rows`] are keyed functions on batches of
//!   digests.
//! - **Tables**: [`okvs`] has two oblivious key-value stores, [`hashing`] has simple, cuckoo and
//!   two-choice tables.
//! - **Sorted tags**: [`tags`] sorts and finds them, [`golomb`] codes them.
//! - **Filters**: [`filters`] has short stand-ins for a set of tags, with a bounded error.
//! - **Layout**: [`packing`] packs values of any width, [`permutation`] routes orders through a
//!   network of switches.
#![forbid(unsafe_code)]

pub mod bit_prf;
pub mod elligator;
pub mod facts;
pub mod fields;
pub mod filters;
pub mod golomb;
pub mod hashed_columns;
pub mod hashing;
pub mod okvs;
pub mod ot_rows;
pub mod packing;
pub mod permutation;
pub mod pir;
pub mod polynomial;
pub mod prf;
pub mod rlwe;
pub mod rng;
pub mod secret;
pub mod shuffle;
pub mod tags;
