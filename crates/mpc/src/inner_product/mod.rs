//! Long inner products of a vector that one party knows and vectors that the other knows, by ring
//! LWE: the symmetric form of Fan and Vercauteren ("Somewhat practical fully homomorphic
//! encryption", ePrint 2012/144) with plaintexts modulo 2^64.
//!
//! Polynomials are modulo `X^N + 1` and `q = p_1 .. p_L`, and travel as values (see
//! `kernels::ntt`). `E(x)` is `x` of 64 bits, scaled to `q`: the integer nearest to `q x / 2^64`.
//! Block `k` of a vector holds its elements `k N .. (k + 1) N`.
//!
//! ```text
//!     sender: u                                                        receiver: y^(1), .., y^(G)
//!     s ternary, seed; (a_0, a_1, ..) = H(seed)
//!     b_0 = e_0 - a_0 s
//!                       ------ 1: seed, b_0 ------------------------->  (set-up)
//!     for each block k:
//!     b_k = E(sum_i u_ki X^i) + e_k - a_k s
//!                       ------ 2: b_k ------------------------------->  Y_k = sum_i y_ki X^(N - 1 - i);  Y_0 = v ternary
//!                                                                      a = sum_k a_k Y_k + e'
//!                                                                      b = sum_k b_k Y_k,  b' = b_(N - 1) + E(r) + f
//!                       <----- 3: (a, b') for each y -----------------  share: - r
//!     d = b' + (a s)_(N - 1)
//!     share: the nearest integer to 2^64 d / q
//! ```
//!
//! Coefficient `N - 1` of `sum_k u_k Y_k` is the inner product, so `d` is `q (<u, y> + r) / 2^64`
//! and an error. [`params`] bounds it.
//!
//! **What the sender learns** beyond its share is nothing. Its own `a_k` would show `y` in `sum_k
//! a_k Y_k`, so a fresh encryption of zero is added, `v` times block 0 with an error of its own:
//! `a_0 v + e'` is ring LWE under the secret `v`. Of `b` one coefficient is sent, and `f`, uniform
//! and `2^40` times what any error can be (and as many times more as there are vectors), drowns
//! what the errors tell of `y` and `v`. **What the receiver learns** is nothing: it has a public
//! encryption of each block.
//!
//! | paper | here |
//! |---|---|
//! | `t`, `Delta` | `2^64`; scaling is exact and rounds each coefficient, so that no multiple of `q mod t` grows with the product |
//! | `chi` | the centred binomial distribution of 42 coins, deviation 3.24 |
//! | `pk` | block 0 |

pub mod messages;
pub mod params;
mod receiver;
mod ring;
mod sampling;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task, assume};
use vesica_structures::facts::{Paper, Unsupported};

use crate::tasks::{self, InnerProductRequest};

pub use params::Params;
use params::RING_LWE;
pub use receiver::Receiver;
pub use sender::Sender;

/// The protocol's name in steps.
const NAME: &str = "inner-product";

/// Inner products by ring LWE.
#[derive(Debug)]
pub enum InnerProduct {}

impl Protocol for InnerProduct {
    const ENTRY: Entry = Entry {
        id: "inner-product-rlwe",
        aliases: &[],
        variants: &[],
        task: tasks::InnerProduct::NAME,
        paper: Paper {
            key: "this work",
            title: "Inner products over Z_2^64 by flooded ring LWE",
            reference: "after Fan, Vercauteren (ePrint 2012/144); parameters by the Homomorphic Encryption Security \
                        Standard (2018)",
        },
        status: Status::Recommended,
        cost: CostClass::Lattice,
        map_and_compare: None,
        deviations: &[
            "symmetric encryption whose uniform halves come from a seed",
            "scaling by q / 2^64 is exact but for a rounding that counts as noise, so that 2^64 need not divide q - 1",
            "the result is re-randomised by an encryption of zero, cut down to one coefficient and flooded",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(2),
            assume![RING_LWE, "random oracle (BLAKE3)", "AES-128 as an ideal cipher"],
            &[],
        )],
    };
    type Task = tasks::InnerProduct;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &InnerProductRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}
