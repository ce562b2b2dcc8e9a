//! SpOT-Light: Pinkas, Rosulek, Trieu, Yanai, "SpOT-Light: Lightweight Private Set Intersection
//! from Sparse OT Extension" (Crypto 2019), Figures 5 and 7.
//!
//! ```text
//!   Sender (Alice): X                                                Receiver (Bob): Y
//!
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!      s, q_i = t_i or u_i          [ 448 random OTs by s ]                t_i, u_i
//!
//!                                                      T(y), U(y): rows of bits F(t_i, y), F(u_i, y)
//!                                                      R(y) = T(y) + U(y)
//!                                2. P with P(y) = R(y) for all y in Y
//!      <------------------------------------------------------------------------
//!   Q(x): the row of bits F(q_i, x)
//!   H(Q(x) + s P(x)) = tag, proof, key                H(T(y)) = tag, proof, key
//!                                3. the sorted tags of X, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                      y matches if its tag is among them
//!                                4. (labelled) payload_x + G(key_x), in the order of 3
//!      ------------------------------------------------------------------------>
//!                                5. (spot-low, both learn) the proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! `Q(x) = T(x) + s R(x)`, with `s` and `R` multiplied bit by bit, so that `Q(x) + s P(x) = T(x) +
//! s (R(x) + P(x))`: `T(x)` for `x` in `Y`, and elsewhere as many bits of the secret `s` unknown to
//! the receiver as `R(x)` and `P(x)` differ in, which the width of the rows makes 128 at least.
//!
//! `spot-low` has one polynomial. In `spot-fast` the receiver puts each item in one of its two bins
//! ([`TwoChoiceShape`](vesica_structures::hashing::TwoChoiceShape)) and sends a polynomial for each
//! bin; the sender evaluates an item in both. All are about `y || b`, where `b` says which of its
//! bins this is, so that an item whose bins are one shows in nothing (section 4.3).
//!
//! | paper | here | what |
//! |---|---|---|
//! | Alice, `X`, `n_1` | [`Sender`], `items`, `finish.sender_items` | the sender, its set, its size |
//! | Bob, `Y`, `n_2` | [`Receiver`], `items`, `finish.receiver_items` | the receiver, its set, its size |
//! | `l` | [`COLUMNS`](vesica_structures::ot_rows::COLUMNS) | width of a row |
//! | `s`, `q_i` | `rows::SenderColumns` | the sender's choices, and the keys of the columns that it chose |
//! | `t_i`, `u_i` | `rows::ReceiverColumns` | both keys of each column |
//! | `F` | [`rows::Columns`](vesica_structures::ot_rows::Columns) | from the key of a column to its bits |
//! | `Q` | `own` of the sender's columns in `low.rs` and `fast.rs` | rows of the sender |
//! | `T`, `R` | `own`, `differences` | rows of the receiver |
//! | `P`, its slices (section 5.2) | `messages::Polynomials` | seven words a coefficient |
//! | `M`, the sub-product tree | [`Tree`](vesica_structures::polynomial::Tree) | one tree for all slices of `spot-low` |
//! | `H` | [`rows::hash_rows`](vesica_structures::ot_rows::hash_rows) | from a row to tag, proof and key |
//! | `h_1`, `h_2`, `m` | `Keys::positions`, `TwoChoiceShape::bins` | the two bins of an item, and how many bins there are |
//! | `b` | the lowest bit of an *evaluation* | which of its two bins this is |
//! | `FindAssignment` (Algorithm 1) | `fast::assign` | puts items into bins |

mod bins;
mod fast;
mod keys;
mod low;
pub(crate) mod messages;
pub mod params;
mod receiver;
mod rows;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task, assumptions};
use vesica_structures::facts::{Paper, Unsupported};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::styles;
use crate::tasks::{Intersect, IntersectRequest, SIZES};
use params::Layout;

/// A row of the registry.
pub trait Variant: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// The polynomials for so many items of the receiver.
    const LAYOUT: fn(usize) -> Layout;
}

/// The protocol of row `V`.
pub struct Prty19<V>(PhantomData<fn() -> V>);

impl<V: Variant> Protocol for Prty19<V> {
    const ENTRY: Entry = V::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender<V>;
    type Receiver = Receiver<V>;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive::<V>(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

const PAPER: Paper = Paper {
    key: "PRTY19",
    title: "SpOT-Light: Lightweight Private Set Intersection from Sparse OT Extension",
    reference: "Pinkas, Rosulek, Trieu, Yanai. Crypto 2019, ePrint 2019/634",
};

/// The one mode that there is.
const fn mode(rounds: Rounds) -> Mode {
    Mode::semi_honest(
        rounds,
        assumptions![
            <OtExtension as Protocol>::ENTRY.modes[0].assumptions,
            &["AES-128 as a random permutation (hashes of items) and as a PRF (columns)"],
        ],
        &[SIZES],
    )
}

const FIELD: &str = "Polynomials over GF(2^64), seven slices of 64 bits, instead of a prime field of l bits: a slice \
                     of random bits is a uniform element, so that Propositions 1 and 2 hold as they stand. Widths of \
                     Figure 6 are rounded up to 448.";
const FUNCTION: &str = "F(k, x) is the inner product of 128 hashed bits of x with AES_k(bin of x), instead of a \
                        pseudo-random function of x: the rows of the receiver's items are uniform together, and the \
                        row of each other item is uniform given them, but for a probability below 2^-50. That is all \
                        that the proof of Theorem 1 takes from F; rows of the sender's items are dependent, which H, \
                        a random oracle, does not mind. A block of AES serves a bin of items. Theorem 2 (a malicious \
                        sender) wants a random oracle there and is given up.";
const TRANSFERS: &str = "The 448 OTs are extended from 128.";
const HASH: &str = "H is keyed BLAKE3 of the row and of 63 bits of the item's hash, instead of AES.";
const CODED: &str = "Tags are sorted on all bits and Golomb-Rice coded (section 3.5): n_1 tags of 42 + log2(n_1 n_2) \
                     bits (spot-fast: 2 n_1 of one bit more) cost about 43.5 + log2(n_2) bits each.";

/// `spot-low`: one polynomial, the least traffic.
#[derive(Clone, Copy, Debug)]
pub enum SpotLow {}

impl Variant for SpotLow {
    const ENTRY: Entry = Entry {
        id: "spot-low",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::Polynomials,
        map_and_compare: Some(styles::SPOT_LOW),
        deviations: &[
            FIELD,
            "Arguments of P are 63-bit hashes. A further coefficient, on a second hash, keeps two items of one \
             argument apart; at most 2^21 items of the receiver.",
            "Coefficients are those on the basis of an additive Fourier transform, of which element i has degree i, \
             and not on powers: as good a basis.",
            FUNCTION,
            TRANSFERS,
            HASH,
            CODED,
        ],
        modes: &[mode(Rounds::exactly(6))],
    };
    const LAYOUT: fn(usize) -> Layout = Layout::LOW;
}

/// `spot-fast`: two-choice hashing, small polynomials.
#[derive(Clone, Copy, Debug)]
pub enum SpotFast {}

impl Variant for SpotFast {
    const ENTRY: Entry = Entry {
        id: "spot-fast",
        aliases: &["spot-light"],
        variants: &[],
        task: Intersect::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::Polynomials,
        map_and_compare: Some(styles::SPOT_FAST),
        deviations: &[
            FIELD,
            "Arguments of P are 63-bit hashes; an item that meets another one in its bin goes to its other bin.",
            "Bins hold 41 items, 40 on average, from 19 bins on, and up to 52 in fewer, by a bound from Hall's \
             theorem; Algorithm 1 is followed by augmenting paths, so that placing fails only where no placement \
             exists.",
            "A payload travels twice, under either tag of its item.",
            "Both do not learn: which of an item's two proofs the receiver returned would say where it put the item.",
            FUNCTION,
            TRANSFERS,
            HASH,
            CODED,
        ],
        modes: &[mode(Rounds::exactly(5))],
    };
    const LAYOUT: fn(usize) -> Layout = Layout::FAST;
}
