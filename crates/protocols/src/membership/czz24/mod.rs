//! mqRPMT: Chen, Zhang, Zhang, Dong, Liu, "Private Set Operations from Multi-Query Reverse Private Membership Test" (PKC 2024, ePrint 2022/652), with
//! the commutative weak pseudo-random function `x -> a H(x)` on Ristretto255.
//!
//! ```text
//!   Sender (client): X in a random order, a                           Receiver (server): Y, b
//!
//!                                1. b H(y), in chunks
//!      <------------------------------------------------------------------------
//!                                2. a H(x_1), .. a H(x_n), in chunks
//!      ------------------------------------------------------------------------>
//!                                3. sorted digests of a b H(y), Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     e_i = 1 if the digest of b a H(x_i) is among them
//!   cardinality: ends here                                            the number of e_i = 1
//!
//!         [ random OTs: the sender gets k_i[0], k_i[1], the receiver random c_i and k_i[c_i] ]
//!                                4. d_i = c_i + e_i
//!      <------------------------------------------------------------------------
//!   intersection:                5. x_i + k_i[1 + d_i]
//!      ------------------------------------------------------------------------>
//!                                                                     x_i where e_i = 1
//!   sum:  r_i = G(k_i[d_i])      5. t_i = v_i + r_i - G(k_i[1 + d_i]), in Z_2^64
//!      ------------------------------------------------------------------------>
//!                                                                     G(k_i[c_i]) + e_i t_i = r_i + e_i v_i
//!                                6. - sum of all r_i
//!      ------------------------------------------------------------------------>
//!                                                                     the sum of what came
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | client, server | [`Sender`], [`Receiver`] | who asks about its items, who learns the bits |
//! | `k_1`, `k_2`, `F` | `exponent`, `mask_items`, `mask_points` | masks of server and client |
//! | `e` | `common` | what the server learns, in the client's order |
//! | `Ω` | the order of arrow 3 | here all that is left of a permutation |
//!
//! The receiver learns how many items are common as soon as step 3 is done. For the intersection that is part of its output, for the sum it is leakage.

mod messages;
pub mod params;
mod receiver;
mod rows;
mod sender;

use std::marker::PhantomData;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// Domain of the hash to the group.
const DOMAIN: &[u8] = b"vesica-v1-czz24-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
/// Domain of the digests of arrow 3.
const DIGEST_CONTEXT: &str = "vesica v1 czz24 2026 digest of a point";
/// Domain of `G`.
const PAD_CONTEXT: &str = "vesica v1 czz24 2026 pad of values";

/// The protocols `czz24`, `czz24-cardinality` and `czz24-sum`, by their task.
#[derive(Clone, Copy, Debug)]
pub struct Czz24<T>(PhantomData<fn() -> T>);

/// The key of `G` in this session.
fn pad_key(session: &[u8; 32]) -> [u8; 32] {
    blake3::derive_key(PAD_CONTEXT, session)
}

/// Fills `out` with `G(pad)`.
fn fill_pad(key: &[u8; 32], pad: u128, out: &mut [u64]) {
    blake3::Hasher::new_keyed(key).update(&pad.to_le_bytes()).finalize_xof().fill(bytemuck::cast_slice_mut(out));
}

/// `sums += others`, column by column.
fn add(mut sums: Vec<u64>, others: Vec<u64>) -> Vec<u64> {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum = sum.wrapping_add(other);
    }
    sums
}

/// Items that are worth a task of a thread.
const PIECE: usize = 1 << 10;

#[cfg(test)]
mod tests;
