//! Private look-up of a record (PIR) from a server that every client trusts with nothing: which
//! record is asked for stays hidden by ring-LWE. Nothing of the records is downloaded beforehand but
//! one ring element, some KiB.
//!
//! ```text
//!   [`Database`] of rows of bytes                                      [`Reader`], asks for row r
//!
//!                         seed of the uniform a_j, k; the packed A, rounded
//!      ------------------------------------------------------------------------>
//!                         k s + e' - 2^26 h(s): the packing key
//!                         b_j = a_j s + e_j + (q / 2^8) [r in group j] X^(r mod d), rounded
//!      <------------------------------------------------------------------------
//!                         entries times weights, packed: a coefficient a column, rounded
//!      ------------------------------------------------------------------------>
//!                                                                      record r
//! ```
//!
//! A coefficient of `b_j` is the weight of a row. It travels, and is added up, modulo a smaller power of
//! two: its low bits would drown in the noise of packing. The sum of a column's entries times the weights is
//! an LWE encryption of the entry of row `r`. Its mask is a product of `s` with what the server computed
//! from the entries and the `a_j` beforehand, by transforms. Then the columns' encryptions are
//! packed into one of a polynomial (module `packing`), whose mask `A` is public, too, and the same for
//! all queries. That the weights are coefficients of ring-LWE samples is from YPIR (Menon and Wu,
//! USENIX Security 2024), and the packing from InsPIRe (2025); the code is ours.
//!
//! *The client's row.* All that is sent for a query is ring-LWE samples under a secret of its own,
//! and an encryption of an image of this secret under itself. Rounding a sample is what anyone could do
//! to it, so that it shows no more than the sample. So a client asks as often as it likes, and sends a
//! new packing key each time: two queries under one secret and the same `a_j` would show the
//! difference of their rows. The `a_j` are a hash of the seed, taken as a random oracle. Whoever draws
//! the seed can hide nothing in them, only choose among as many as it can try.
//!
//! *The records* are not hidden: an answer may say more of the matrix than one record, to a client
//! that makes up its weights. Whoever holds records that not all clients may know encrypts them first.
//!
//! *Right answers.* docs/parameters/pir.md bounds the noise.

use vesica_kernels::columns;

mod client;
mod packing;
mod ring;
mod server;
mod shape;
#[cfg(test)]
mod tests;

pub use client::{Asked, Reader};
pub use ring::{DEGREE, MODULUS_BITS};
pub use server::{Database, Query};
pub use shape::Shape;

/// Some rows of a matrix, in some columns: the unit in which a [`Database`] keeps its records.
pub type Piece = columns::Entries;

/// What the uniform elements are a hash of: 32 random bytes, public.
pub type Seed = [u8; 32];

/// Bits of an entry: the bytes of a record, as signed numbers.
const ENTRY_BITS: u32 = 8;
/// Bits of a coefficient of the packed encryption's mask `A`, as clients know it.
const MASK_BITS: u32 = 22;
/// Bits of a coefficient of an answer.
const SUM_BITS: u32 = 13;
/// The number of the uniform element that belongs to the packing key.
const KEY_NUMBER: u64 = 1 << 32;
