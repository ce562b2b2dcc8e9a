//! SpOT-Light: Pinkas, Rosulek, Trieu, Yanai, "SpOT-Light: Lightweight Private Set Intersection
//! from Sparse OT Extension" (Crypto 2019), Figures 5 and 7.
//!
//! ```text
//!   Sender (Alice): X                                                Receiver (Bob): Y
//!
//!                                1. salt (from the receiver with oracle=random)
//!      ------------------------------------------------------------------------>
//!      s, q_i = t_i or u_i          [ l random OTs by s ]                  t_i, u_i
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
//! # A table instead of the polynomial
//!
//! `spot-low:okvs=clustered` has for `P` a table of the clustered OKVS, as the authors of "PsiBench" have it in their
//! tables (Appendix A): `P(x)` is `Decode(P, x)`, a sum of cells, and a cell is a row. The proofs ask two things of `P`.
//!
//! - *It says nothing of `Y` to the sender.* Of each column the sender has one of two keys, so that to it the rows `R(y)`
//!   are uniform and independent, but for 2^-55. Where the table's rows of `Y` are linearly independent, the tables with `Decode(P, y) =
//!   R(y)` for all of `Y` are as many for each value of the `R(y)`, and the encoder takes any of them alike, since it
//!   fills free cells at random. So `P` is uniform, whatever `Y` is, and a simulator sends random cells. This is
//!   Proposition 1. Zeros in the free cells would show which cells items take. Dependent rows, or a bin of the table that
//!   overflows, stop the run; that has probability 2^-43, under a salt that does not depend on the items, which must be
//!   chosen before it. No other salt is tried.
//! - *It is no good elsewhere.* For `x` outside of `Y`, `R(x)` is uniform given all `R(y)` and what the encoder drew, and
//!   so is `R(x) + Decode(P, x)`: Proposition 2, and the width is that of the polynomial. This holds for any table.
//!
//! `s` multiplies what is decoded, and no cell: so it need not commute with decoding, as it must in
//! [`prty20`](vesica_protocols::psi::prty20). For large sets 1.23 rows an item travel instead of one, of exactly the width of the
//! bound instead of 448 bits. Nothing is interpolated, and there are no coordinates that two items could share.
//!
//! # Against a sender that cheats
//!
//! `spot-low:oracle=random` is Theorem 2: secure against a sender that does anything, and a receiver that follows the
//! protocol. `F` is to be a random oracle that nobody programs: the bit of column `j` at `x` is one of `AES_(t_j)(h(x) + j)`,
//! where `h(x)`, 128 bits, is BLAKE3 of `x` under a key of the run. With AES as an ideal cipher and BLAKE3 as a random
//! oracle a simulator sees each `x` that the sender asks `h` for. It plays the receiver of the salt and of the OTs, reads
//! `s`, sends a random `P`, and takes as the sender's set the asked `x` whose tag `H(Q(x) + s P(x))` the sender sent.
//!
//! - *`P` says nothing*: of each column one key is unknown to the sender, whatever it does in the OTs, so that the `R(y)`
//!   are uniform (Proposition 1).
//! - *No other item matches*: for `y` that it did not ask for, `h(y)` is unknown, so that no block of `Q(y)` was asked for
//!   with any key, and `T(y) = Q(y) + s P(y)` is uniform, also where the sender chose the keys of its columns or took equal
//!   ones, which our OTs let it. (The proof asks this much of the OTs and no more.) A tag of `y` is then one of the `n_1` that
//!   came with probability `n_1 2^-128`.
//! - *No more items than tags*: tags have 128 bits, instead of 42 + log2(`n_1 n_2`), with which a sender of 2^20 items
//!   would find two for one tag within `2^41.5` tries.
//! - *No abort says what `Y` is*: sets that cannot be encoded are those of a bad salt, and the receiver draws it. A sender
//!   that draws it could search for one that is bad for the items that it guesses, and see the run stop.
//!
//! Tags that are malformed or too few stop the run; a tag that comes twice counts once. What a sender can do is what it can
//! with the ideal functionality: choose its items, and stop. With a filter of tags instead of their list it may fit more
//! items in than it declared: that is refused. Nothing holds the receiver to anything: the paper's full version shows
//! how one that cheats learns of more items.
//!
//! # Compared by a filter
//!
//! Arrow 3 may carry a filter of the tags instead of their list ([`finish::compare`](vesica_protocols::psi::finish::compare)). In
//! `spot-fast` it holds both tags of each of the sender's items; the receiver looks up the one that it has.
//!
//! | paper | here | what |
//! |---|---|---|
//! | Alice, `X`, `n_1` | [`Sender`], `items`, `finish.sender_items` | the sender, its set, its size |
//! | Bob, `Y`, `n_2` | [`Receiver`], `items`, `finish.receiver_items` | the receiver, its set, its size |
//! | `l` | [`COLUMNS`](vesica_structures::ot_rows::COLUMNS) | width of a row |
//! | `s`, `q_i` | `rows::SenderColumns` | the sender's choices, and the keys of the columns that it chose |
//! | `t_i`, `u_i` | `rows::ReceiverColumns` | both keys of each column |
//! | `F` | [`rows::Columns`](vesica_structures::ot_rows::Columns), `bins` or `oracle_rows` | from the key of a column to its bits |
//! | `Q` | `own` of the sender's columns in `low.rs` and `fast.rs` | rows of the sender |
//! | `T`, `R` | `own`, `differences` | rows of the receiver |
//! | `P`, its slices (section 5.2) | `messages::Polynomials` | seven words a coefficient |
//! | `P` as a table | `messages::Table` | a row a cell |
//! | `M`, the sub-product tree | [`Tree`](vesica_structures::polynomial::Tree) | one tree for all slices of `spot-low` |
//! | `H` | [`rows::hash_rows`](vesica_structures::ot_rows::hash_rows) | from a row to tag, proof and key |
//! | `h_1`, `h_2`, `m` | `Keys::positions`, `TwoChoiceShape::bins` | the two bins of an item, and how many bins there are |
//! | `b` | the lowest bit of an *evaluation* | which of its two bins this is |
//! | `FindAssignment` (Algorithm 1) | `fast::assign` | puts items into bins |

mod bins;
#[cfg(test)]
mod cheating;
mod fast;
mod keys;
mod low;
pub(crate) mod messages;
pub mod params;
mod receiver;
mod rows;
mod sender;
mod table;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{
    Assumption, Choice, ChoiceValue, CostClass, Entry, Leak, Learner, Mode, Protocol, Resistance, Role, Rounds, Status,
    Task, assume, assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use params::{Layout, Oracle};
use vesica_protocols::okvs_choice;
use vesica_protocols::psi::OWN_COLLISIONS;
use vesica_protocols::psi::finish::compare;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// A row of the registry.
pub trait Variant: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// The polynomials, or the table, for so many items of the receiver, as a description has it.
    fn layout(entry: &Entry, receiver_items: usize) -> Layout;
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
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::derive::<V>(request, entry)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn further_memory(params: &Params, role: Role) -> u64 {
        params.finish.further_memory(role)
    }
}

const PAPER: Paper = Paper {
    key: "PRTY19",
    title: "SpOT-Light: Lightweight Private Set Intersection from Sparse OT Extension",
    reference: "Pinkas, Rosulek, Trieu, Yanai. Crypto 2019, ePrint 2019/634",
};

/// The mode of a row, with what is assumed of AES.
const fn mode(rounds: Rounds, assumptions: &'static [Assumption]) -> Mode {
    Mode::semi_honest(rounds, assumptions, &[SIZES])
}

const LOW_ASSUMPTIONS: &[Assumption] = assumptions![
    <OtExtension as Protocol>::ENTRY.modes[0].assumptions,
    assume![
        "AES-128 as a random permutation (hashes of items; rows of the table with okvs=clustered) and as a PRF (columns)"
    ],
];
const FAST_ASSUMPTIONS: &[Assumption] = assumptions![
    <OtExtension as Protocol>::ENTRY.modes[0].assumptions,
    assume!["AES-128 as a random permutation (hashes of items) and as a PRF (columns)"],
];

/// Those of Theorem 2, with either value of `okvs`.
const ORACLE_ASSUMPTIONS: &[Assumption] = assumptions![
    <OtExtension as Protocol>::ENTRY.modes[1].assumptions,
    assume![
        "AES-128 as an ideal cipher (F; rows of the table with okvs=clustered)",
        "BLAKE3 is a random oracle (hashes of items, H, keys from the salt, keystreams of payloads)",
        OWN_COLLISIONS,
    ],
];

/// What a corrupt sender can try, as receiver of the OTs.
const GUESSED_OFFSET: Leak = Leak {
    to: Learner::Sender,
    what: "guesses at bits of the receiver's offset of the OTs by a corrupt sender, right ones unnoticed; a wrong one \
           stops the run",
    extra: None,
};

const FIELD: &str = "Polynomials over GF(2^64), seven slices of 64 bits, instead of a prime field of l bits: a slice \
                     of random bits is a uniform element, so that Propositions 1 and 2 hold as they stand. Widths of \
                     Figure 6 are rounded up to 448.";
const ARGUMENTS: &str = "Arguments of P are 63-bit hashes. A further coefficient, on a second hash, keeps two items of one \
                         argument apart; at most 2^21 items of the receiver.";
const BASIS: &str = "Coefficients are those on the basis of an additive Fourier transform, of which element i has degree i, \
                     and not on powers: as good a basis.";
const FUNCTION: &str = "F(k, x) is the inner product of 128 hashed bits of x with AES_k(bin of x), instead of a \
                        pseudo-random function of x: the rows of the receiver's items are uniform together, and the \
                        row of each other item is uniform given them, but for a probability below 2^-50. That is all \
                        that the proof of Theorem 1 takes from F; rows of the sender's items are dependent, which H, \
                        a random oracle, does not mind. A block of AES serves a bin of items. Theorem 2 (a malicious \
                        sender) wants a random oracle there and does not hold.";
const ORACLE: &str = "F(k, x), column j, is a bit of AES_k(h(x) + j) with 128 bits of keyed BLAKE3 as h, instead of a random \
                      oracle: the proof of Theorem 2 asks that the simulator sees which x are asked for, and that F is \
                      random at others, which holds where AES is an ideal cipher and BLAKE3 a random oracle, also for \
                      keys that a corrupt sender chose.";
const ORACLE_SALT: &str = "The receiver draws the salt of the functions of items, so that no sender searches for one under \
                           which items that it guesses stop the run. Tags have 128 bits, so that no \
                           sender finds several items for a tag.";
const TRANSFERS: &str = "The OTs, one for each column, are extended from 128.";
const HASH: &str = "H is keyed BLAKE3 of the row and of 63 bits of the item's hash, instead of AES.";
const CODED: &str = "Tags, n_1 of 42 + log2(n_1 n_2) bits (spot-fast: 2 n_1 of one bit more; oracle=random: n_1 of 128), are sorted on \
                     all bits and Golomb-Rice coded (section 3.5), which saves about log2(n_1) - 1.5 bits each.";

const POLYNOMIAL: ChoiceValue =
    ChoiceValue::new("polynomial", "The paper's polynomial: one value an item, the least traffic, and the slowest.")
        .deviating(&[FIELD, ARGUMENTS, BASIS]);
const CLUSTERED: ChoiceValue = ChoiceValue {
    cost: Some(CostClass::Symmetric),
    ..ChoiceValue::new(
        "clustered",
        "The clustered 3-hash table of RR22: 1.23 values an item for large sets, and no interpolation.",
    )
    .deviating(&[
        "The clustered 3-hash table (Raghuraman, Rindal, CCS 2022) instead of a polynomial, as in PsiBench's \
                  Appendix A. Its cells are rows, of the width of the bound; free cells are random, so that the table \
                  is uniform.",
        "The sender draws the salt alone, but with oracle=random. One that does not follow the protocol can search for \
         a salt under which a guessed set does not encode (2^43 tries), and tests the guess by a failed run.",
    ])
};

const PRF: ChoiceValue = ChoiceValue::new("prf", "As random as Theorem 1 asks: for parties that follow the protocol.")
    .deviating(&[FUNCTION]);
const RANDOM: ChoiceValue = ChoiceValue {
    modes: Some(&[Mode {
        corrupt_sender: Resistance::Malicious,
        leakage: &[GUESSED_OFFSET, SIZES],
        ..mode(Rounds::exactly(7), ORACLE_ASSUMPTIONS)
    }]),
    ..ChoiceValue::new(
        "random",
        "A random oracle, as Theorem 2 asks: against a sender that does not follow the protocol, too. With compare=list.",
    )
    .deviating(&[ORACLE, ORACLE_SALT])
};

/// `spot-low`: one polynomial, the least traffic; or a table.
#[derive(Clone, Copy, Debug)]
pub enum SpotLow {}

const SPOT_LOW: Entry = Entry {
    id: "spot-low",
    aliases: &[],
    variants: &[
        Choice {
            name: okvs_choice::NAME,
            what: "What encodes the rows of the receiver's items.",
            values: &[POLYNOMIAL, CLUSTERED],
        },
        Choice {
            name: Oracle::NAME,
            what: "The function F that gives the bits of a column from its key.",
            values: &[PRF, RANDOM],
        },
        compare::choice(&[SPOT_LOW_LIST, compare::VACUUM, compare::FUSE]),
        base_ot::CHOICE,
    ],
    task: Intersect::NAME,
    paper: PAPER,
    status: Status::Sound,
    cost: CostClass::Polynomials,
    map_and_compare: Some(styles::SPOT_LOW),
    deviations: &[FIELD, ARGUMENTS, BASIS, FUNCTION, TRANSFERS, HASH, CODED],
    modes: &[mode(Rounds::exactly(6), LOW_ASSUMPTIONS)],
};

/// What makes way for a filter.
const SPOT_LOW_LIST: ChoiceValue = compare::list(&[CODED]);

impl Variant for SpotLow {
    const ENTRY: Entry = SPOT_LOW;

    fn layout(entry: &Entry, receiver_items: usize) -> Layout {
        match entry.chosen(okvs_choice::NAME) {
            "clustered" => Layout::table(receiver_items),
            _ => Layout::low(receiver_items),
        }
    }
}

/// `spot-fast`: two-choice hashing, small polynomials.
#[derive(Clone, Copy, Debug)]
pub enum SpotFast {}

const SPOT_FAST: Entry = Entry {
    id: "spot-fast",
    aliases: &["spot-light"],
    variants: &[compare::choice(&[SPOT_FAST_LIST, compare::VACUUM, compare::FUSE]), base_ot::CHOICE],
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
        PAYLOADS,
        ONE_LEARNS,
        FUNCTION,
        TRANSFERS,
        HASH,
        CODED,
    ],
    modes: &[mode(Rounds::exactly(5), FAST_ASSUMPTIONS)],
};

const PAYLOADS: &str = "A payload travels twice, under either tag of its item.";
const ONE_LEARNS: &str =
    "Both do not learn: which of an item's two proofs the receiver returned would say where it put the item.";

/// What makes way for a filter.
const SPOT_FAST_LIST: ChoiceValue = compare::list(&[CODED, PAYLOADS, ONE_LEARNS]);

impl Variant for SpotFast {
    const ENTRY: Entry = SPOT_FAST;

    fn layout(_: &Entry, receiver_items: usize) -> Layout {
        Layout::fast(receiver_items)
    }
}
