//! Private look-up of a record (PIR) from a server that every client trusts with nothing: which
//! record is asked for stays hidden by ring-LWE. Nothing of the records is downloaded beforehand but
//! one ring element, some KiB.
//!
//! ```text
//!   [`Database`] of rows of entries below 2^16                         [`Reader`], asks for row r
//!
//!                         seed of the uniform a_j, k_l; the packed A, rounded
//!      ------------------------------------------------------------------------>
//!                         b_j = a_j s + e_j + (q / 2^16) [r in group j] X^(r mod d)
//!                         k_l s + e'_l - 2^w B^l h(s): packing keys
//!      <------------------------------------------------------------------------
//!                         entries times weights, packed: a coefficient a column, rounded
//!      ------------------------------------------------------------------------>
//!                                                                      record r
//! ```
//!
//! A coefficient of `b_j` is the weight of a row. The sum of a column's entries times the weights is
//! an LWE encryption of the entry of row `r`. Its mask is a product of `s` with what the server computed
//! from the entries and the `a_j` beforehand, by transforms. Then the columns' encryptions are
//! packed into one of a polynomial (module `packing`), whose mask `A` is public, too, and the same for
//! all queries. That the weights are coefficients of ring-LWE samples is from YPIR (Menon and Wu,
//! USENIX Security 2024), and the packing from InsPIRe (2025); the code is ours.
//!
//! *The client's row.* All that is sent for a query is ring-LWE samples under a secret of its own,
//! and encryptions of images of this secret under itself. So a client asks as often as it likes, and
//! sends new packing keys each time: two queries under one secret and the same `a_j` would show the
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

/// The entries of all rows of a matrix in this many columns.
pub type Row = [u16; columns::LANES];

/// What the uniform elements are a hash of: 32 random bytes, public.
pub type Seed = [u8; 32];

const ENTRY_BITS: u32 = 16;
const ENTRY_BYTES: usize = 2;
/// Bits of a coefficient of the packed encryption's mask `A`, as clients know it.
const MASK_BITS: u32 = 28;
/// Bits of a coefficient of an answer.
const SUM_BITS: u32 = 22;
/// The number of the first uniform element that belongs to a packing key.
const KEYS_FROM: u64 = 1 << 32;
