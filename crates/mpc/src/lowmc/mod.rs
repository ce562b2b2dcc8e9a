//! LowMC, a block cipher with few AND gates, in the clear and on shares: Albrecht, Rechberger,
//! Schneider, Tiessen, Zohner, "Ciphers for MPC and FHE" (EUROCRYPT 2015, ePrint 2016/687).
//!
//! The instance has blocks and keys of 128 bits, [`SBOXES`] S-boxes a round and [`ROUNDS`] rounds,
//! which is what the designers' third round formula asks for where 2^64 blocks are encrypted under
//! one key. Its matrices and constants are those of the designers' reference implementation: it
//! takes them from a public generator, so that nobody chose them.
//!
//! **Oblivious decryption and matching.** The sender has blocks that the receiver encrypted, but
//! does not know the key. The receiver learns which of them start with its indicator, and nothing
//! else of them; the sender learns nothing.
//!
//! ```text
//!     sender: c_1, .., c_n                                      receiver: key k, indicator s of w bits
//!     state = c                                                 state = 0
//!     for each round, from the last one to the first:
//!     state = inverse matrix (state + constant)                 state = inverse matrix (state + round key)
//!                       [ GMW: inverse S-boxes, on shares ]
//!     the top w bits                                            the top w bits + first round key + s
//!                       [ GMW: are they all zero? ]
//!                       ---- shares of the results -------->    b_i = 1 if D(k, c_i) starts with s
//! ```
//!
//! The last S-boxes and the comparison are one circuit. All blocks go through a round together: a
//! round of the cipher takes a few rounds of messages, and some more above 2^16 blocks, whose
//! messages wait for each other. The random tables of a round are made just before it and used up by
//! it, since those of all rounds together would take ten times the memory.
//!
//! **Security** (semi-honest) is that of [`gmw`](crate::gmw): all else is linear, and local.

mod cipher;
mod instance;
mod matching;
mod state;
#[cfg(test)]
mod tests;

pub use cipher::RoundKeys;
pub use instance::{ROUNDS, SBOXES};
pub use matching::{MAX_INDICATOR_BITS, Params, ask, test};
