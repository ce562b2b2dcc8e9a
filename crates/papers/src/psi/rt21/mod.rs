//! PSI from key agreement: Rosulek, Trieu, "Compact and Malicious Private Set Intersection for Small
//! Sets" (ACM CCS 2021), with a table instead of a polynomial. The paper was not at hand; this is
//! written from what its construction is known to be.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. Com(salt_s)
//!      ------------------------------------------------------------------------>
//!                                2. salt_r
//!      <------------------------------------------------------------------------
//!                                3. salt_s, opened
//!      ------------------------------------------------------------------------>
//!   a random                     4. A = a B
//!      ------------------------------------------------------------------------>
//!                                                                     stops unless A has prime order
//!                                                                     b_y random, m_y a string for b_y B + T_y
//!                                                                     P with Decode(P, y) = Pi^-1(m_y) + H_3(y)
//!                                5. P
//!      <------------------------------------------------------------------------
//!   M_x = Elligator(Pi(Decode(P, x) + H_3(x)))
//!   H_2(x, a M_x) = tag, proof, key                                   H_2(y, b_y A) = tag, proof, key
//!                                6. the sorted tags of X, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                7. (labelled) payload_x + G(key_x), in the order of 6
//!      ------------------------------------------------------------------------>
//!                                8. (both learn) the sorted proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! `B` is the base point of Curve25519; `T_y` is a random point of small order, which `a`, a multiple of
//! eight, removes. So `m_y` is a uniform string, and any string is a message.
//!
//! | paper | here | what |
//! |---|---|---|
//! | sender `X`; receiver `Y` | [`Sender`]; [`Receiver`] | the parties |
//! | `KA` | `agreement`, [`elligator`](vesica_structures::elligator) | key agreement with uniform messages |
//! | `Pi` | `permutation` | the ideal permutation |
//! | `P`, interpolated | [`Band`](vesica_structures::okvs::Band) | the table |
//! | `H_1` | the rows of the table, and `H_3` | where an item is evaluated |
//! | `H_2` | `Keys::output` | the hash of a shared key |
//!
//! # Why `H_3`
//!
//! The paper's sender refuses a constant polynomial, which would send every `x` to one message. A table
//! has far more of such values: if all cells are equal, `Decode` gives one value for all rows of odd
//! weight. A receiver that knew its exponent could test half of all items that there are. `H_3`
//! makes the value of each item its own, whatever the table is.
//!
//! # Against a corrupt receiver
//!
//! The simulator sees the queries to `Pi^-1`, and takes those items for the receiver's for which
//! `Decode(P, x) + H_3(x)` is an answer of `Pi^-1`. How many these can be, the entry says. For any
//! other item `Pi` gives a random point, into which a challenge of the Diffie-Hellman problem
//! can be programmed: to see anything of that tag, the receiver must ask `H_2` for `a M_x`. Tags of its own items
//! need a decision oracle, hence the gap problem. A point of small order is a message with a known key:
//! it counts as an item of its own. The sender never stops because of a point.
//!
//! # Against a corrupt sender
//!
//! Values are uniform, so that the table is: it says nothing of `Y`. The simulator sends a random table,
//! answers `Pi` with messages whose exponents it knows, and finds the item of each tag among the queries to
//! `H_2`. `A` is checked once and before any item is used; the receiver checks nothing that
//! depends on its items. The rows of the table depend on the salt and not on `A`: the sender, which knows the
//! salt first, could otherwise try keys until a guessed set cannot be encoded. Both learn: a proof goes back for a tag that the sender made, and for no other.

mod agreement;
#[cfg(test)]
mod cheating;
mod keys;
mod messages;
pub mod params;
mod permutation;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{
    CostClass, Entry, Leak, Learner, Mode, Protocol, Resistance, Rounds, Security, Status, Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported};

pub(crate) use messages::MESSAGES;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use vesica_protocols::psi::OWN_COLLISIONS;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The protocol `rt21`.
#[derive(Clone, Copy, Debug)]
pub enum Rt21 {}

const LARGER_SET: Leak = Leak {
    to: Learner::Receiver,
    what: "a corrupt receiver may use more than the n_r items it declared: as many as its table of m cells can be \
           made to encode, n' >= m, and from 1.7 m to 2.6 m with 2^64 to 2^80 queries to each function (union bound \
           256 m / (256 - log2(Q) - log2(e Q / n'))). For large sets m is 1.045 to 1.45 n_r, but no table has fewer \
           than about 50 cells",
    extra: None,
};

impl Protocol for Rt21 {
    const ENTRY: Entry = Entry {
        id: "rt21",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "RT21",
            title: "Compact and Malicious Private Set Intersection for Small Sets",
            reference: "Rosulek, Trieu. ACM CCS 2021, ePrint 2021/1159",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::KEY_AGREEMENT),
        deviations: &[
            "The band OKVS over 256-bit values instead of an interpolated polynomial: linear work, and 1.05 cells an \
             item and more for small sets. A corrupt receiver may encode more items than it declared (see leakage).",
            "A value of the table is Pi^-1(m) + H_3(y). The paper refuses constant polynomials; a table with equal \
             cells would send half of all items to one message.",
            "The salt of all functions comes from a coin toss before the other messages, so that neither side can \
             search for tables, or for a salt under which a guessed set does not encode. That takes two more rounds.",
            "The sender works on its items once the whole table is there, and not part by part: the time after the last \
             part then depends on its number of items alone, but for caches.",
            "Pi is a Feistel network of 14 rounds with BLAKE3 as round functions.",
            "Tags of 128 bits are sorted on all bits and Golomb-Rice coded.",
            "Both learn (on request): H_2 gives 128 more bits, which the receiver returns for each match as a proof. \
             No fairness (the receiver knows first and may stop) and no completeness (it may keep matches back).",
        ],
        modes: &[Mode {
            security: Security::Malicious,
            corrupt_sender: Resistance::Malicious,
            corrupt_receiver: Resistance::Malicious,
            rounds: Rounds::exactly(6),
            assumptions: assume![
                (discrete_logarithm "the gap Diffie-Hellman problem on Curve25519 is hard"),
                "a Feistel network of 14 rounds of BLAKE3 is an ideal permutation",
                "BLAKE3 is a random oracle (commitment, keys from the salt, H_2, H_3, keystreams of payloads)",
                "AES-128 is an ideal cipher (rows of the table)",
                OWN_COLLISIONS,
            ],
            leakage: &[SIZES, LARGER_SET],
        }],
    };
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}
