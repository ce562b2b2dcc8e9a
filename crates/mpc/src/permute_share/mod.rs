//! Permute and share by an oblivious switching network: Mohassel and Sadeghian (Eurocrypt 2013,
//! section 4), as the *Permute and Share* of Garimella, Mohassel, Rosulek, Sadeghian and Singh (PKC
//! 2021), with one element a switch.
//!
//! ```text
//!   Sender: values v, chosen shares z                                 Receiver: order pi
//!                                                                     s = settings of the network for pi
//!   k_0, k_1 of each switch         [ random OTs ]                    c, k_c
//!                                1. d = c + s
//!      <------------------------------------------------------------------------
//!   its shares of the wires: v                                        its shares of the wires: 0
//!   at each switch, its shares being u and l:
//!                                2. e = u + l + k_0 + k_1
//!      ------------------------------------------------------------------------>
//!   u, l := u + k_d, l + k_d                                          y = k_c + s e + s (u + l)
//!                                                                     u, l := u + y, l + y
//!   in the end, its shares being w:
//!                                3. w + z
//!      ------------------------------------------------------------------------>
//!                                                                     its shares + w + z
//! ```
//!
//! A switch adds `t = s (upper + lower)` to both of its wires: it swaps them if `s = 1`. `t` is
//! linear in the shares but for `s`: of its own share of the sum the receiver takes `s` times by
//! itself, of the sender's by the OT, since `k_c + s e = k_d + s (u + l)` where `d = c + s`.
//!
//! The receiver sees `e` under the block of the pair that it does not have, and `w + z` under `z`:
//! both are uniform to it if `z` is. The sender sees `d` under `c`. So the receiver's shares are
//! the only thing that it gets.
//!
//! | paper | here |
//! |---|---|
//! | Benes network | [`vesica_structures::permutation`]: Waksman's, for any number of wires |
//! | the two masks of a switch's outputs, an OT of pairs | `t`, an OT of one element: both outputs get the same share of it |
//! | the sender's random shares | `z`, which the caller chooses |
//!
//! All OTs and corrections are one message each way. For `n` values there are `n ceil(log2 n) -
//! 2^ceil(log2 n) + 1` switches: 26.5 million at 1.36 million values. [`bits`] is the case of single
//! bits.

pub mod bits;
mod messages;
pub mod params;
mod receiver;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::fields::{Cell, Gf64, Value};
use vesica_structures::permutation::{Network, route};
use vesica_structures::secret::Secret;

use crate::silent::bulk;
use crate::tasks::{PermuteShare, PermuteShareRequest};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The paper of the network of oblivious switches.
const MS13: Paper = Paper {
    key: "MS13",
    title: "How to Hide Circuits in MPC: An Efficient Framework for Private Function Evaluation",
    reference: "P. Mohassel, S. Sadeghian. Eurocrypt 2013, ePrint 2013/137",
};

/// Permute and share by a network of switches.
#[derive(Debug)]
pub struct SwitchingNetwork<V>(PhantomData<fn() -> V>);

impl<V: Value> Protocol for SwitchingNetwork<V> {
    const ENTRY: Entry = Entry {
        id: if V::BITS == Gf64::BITS { "permute-share-64" } else { "permute-share-128" },
        aliases: &[],
        variants: &[],
        task: PermuteShare::<V>::NAME,
        paper: MS13,
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "one OT of one element a switch, instead of one of two elements: both outputs get the same share of what \
             the switch adds to them",
            "random OTs whose choices are corrected by one bit, instead of chosen ones",
            "the sender chooses its shares, which costs one element a value and makes them fresh whatever the network \
             did",
            "Waksman's network for any number of wires, instead of a Benes network of a power of two",
        ],
        modes: &[Mode { rounds: Rounds::between(3, 5), ..bulk::SEMI_HONEST }],
    };
    type Task = PermuteShare<V>;
    type Params = Params<V>;
    type Sender = Sender<V>;
    type Receiver = Receiver<V>;

    fn derive(request: &PermuteShareRequest) -> Result<Params<V>, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params<V>) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}

/// The settings of the network for an order of `len` values.
fn settings(network: Network, order: Vec<u32>, len: usize) -> Result<Secret<Vec<bool>>, Unsupported> {
    let order = Secret::new(order);
    Some(&*order).filter(|order| order.len() == len).and_then(|order| route(network, order).ok()).ok_or_else(|| {
        Unsupported::new("an order that does not name each value once", format_args!("give one of {len} values"))
    })
}

/// `value` if `bit`, else zero; no branch on `bit`.
fn times<V: Value>(value: V, bit: bool) -> V {
    V::from_bits(value.embed().0 & u128::from(bit).wrapping_neg())
}
