//! PSI from a multi-point OPRF of columns of bits: Chase, Miao, "Private Set Intersection in the
//! Internet Setting from Lightweight Oblivious PRF" (CRYPTO 2020), Figure 3.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. k
//!      <------------------------------------------------------------------------
//!      s, w bits                 [ w random OTs by s: of the keys k_j[0], k_j[1] the sender gets k_j[s_j] ]
//!                                                                     D: w columns of m ones each;
//!                                                                     D_j[v_j] = 0, v = F_k(y), for all y and j
//!                                                                     A_j = G(k_j[0])
//!                                2. A_j + D_j + G(k_j[1]) for each column j
//!      <------------------------------------------------------------------------
//!   C_j = G(k_j[s_j]) + s_j (A_j + D_j + G(k_j[1]))
//!       = A_j + s_j D_j
//!   v = F_k(x)                                                        v = F_k(y)
//!   H_2(C_1[v_1], .., C_w[v_w]) = tag, proof, key                     H_2(A_1[v_1], .., A_w[v_w]) = tag, proof, key
//!                                3. the sorted tags of X, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                4. (labelled) payload_x + G(key_x), in the order of 3
//!      ------------------------------------------------------------------------>
//!                                5. (both learn) the sorted proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! For `x` in `Y` every `D_j[v_j]` is 0, and both rows are the same. For any other `x` each `D_j[v_j]`
//! is 1 with probability `(1 - 1/m)^(n_r)` or nearly, and where it is, the receiver does not know bit
//! `s_j` of the sender's row. At least 128 are ones, except with the probability that sets the width
//! `w` ([`params`]).
//!
//! **Against a malicious sender** the paper proves its protocol secure as well: it needs an `H_1`
//! that is collision resistant at 128 bits (so twice as long as the items here), long values of
//! `H_2`, and random oracles. This row does not claim that, and neither does it for a malicious
//! receiver, of whom the paper says nothing: with `D = 0` such a receiver
//! has the sender's function everywhere, and so all of its items that are in a dictionary.
//!
//! | paper | here | what |
//! |---|---|---|
//! | `P_1`, `X`, `n_1`; `P_2`, `Y`, `n_2` | [`Sender`]; [`Receiver`] | the parties |
//! | `m`, `w` | `cells` and `width` of [`Columns`](params::Columns) | cells of a column, columns |
//! | `F`, `H_1` | [`Places`](vesica_structures::hashed_columns::Places); items are digests already | an item's places |
//! | `A`, `B`, `C`, `D` | columns in `columns::{Sender, Receiver}::group` | made some at a time, never all at once |
//! | `H_2` | [`hash_rows`](vesica_structures::hashed_columns::hash_rows) | the hash of a row and its item |

mod columns;
mod keys;
pub(crate) mod messages;
pub mod oprf;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{
    Assumption, ChoiceValue, CostClass, Entry, Mode, Protocol, Role, Rounds, Status, Task, assume, assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use vesica_protocols::psi::finish::compare;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The protocol `cm20`.
#[derive(Clone, Copy, Debug)]
pub enum Cm20 {}

/// What the OPRF rests on, but for its hash functions.
pub const ASSUMPTIONS: &[Assumption] = assumptions![
    <OtExtension as Protocol>::ENTRY.modes[0].assumptions,
    assume!["AES-128 is a pseudo-random function (places of items, columns)"],
];

const ENTRY: Entry = Entry {
    id: "cm20",
    aliases: &[],
    variants: &[
        compare::choice(&[LIST, compare::VACUUM, compare::FUSE, compare::BLOOM, compare::CUCKOO]),
        base_ot::CHOICE,
    ],
    task: Intersect::NAME,
    paper: Paper {
        key: "CM20",
        title: "Private Set Intersection in the Internet Setting from Lightweight Oblivious PRF",
        reference: "Chase, Miao. CRYPTO 2020, ePrint 2020/729",
    },
    status: Status::Sound,
    cost: CostClass::Symmetric,
    map_and_compare: Some(styles::CM20),
    deviations: &[
        "The key of the places travels before the matrix and not after it, so that the sender looks bits up as \
         columns come. Semi-honest only: the paper's claim against a malicious sender is not made.",
        "Columns have as many cells as the receiver has items, rounded up to a multiple of 128; the width follows \
         from the binomial sum at this event's share of the failure budget, instead of all of it, and is a \
         multiple of 4.",
        "Random OTs of keys, extended from 128 (SoftSpokenOT), and A is the stream of a key: so one masked matrix \
         travels and not two.",
        "F is AES under a key for each four columns, of which a place takes 32 bits. It is of the session's 128-bit \
         items, which stand for H_1.",
        "H_2 is also of the item: without, one guess of a row would test the tags of all items with rows near it.",
        SORTED_TAGS,
    ],
    modes: &[Mode::semi_honest(
        Rounds::exactly(5),
        assumptions![ASSUMPTIONS, assume!["BLAKE3 is a random oracle (H_2, keys from k, keystreams of payloads)"],],
        &[SIZES],
    )],
};

const SORTED_TAGS: &str = "Tags are sorted on all bits and Golomb-Rice coded.";

/// What makes way for a filter.
const LIST: ChoiceValue = compare::list(&[SORTED_TAGS]);

impl Protocol for Cm20 {
    const ENTRY: Entry = ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::derive(request)?.comparing(compare::filter(entry))
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn further_memory(params: &Params, role: Role) -> u64 {
        params.finish.further_memory(role)
    }
}
