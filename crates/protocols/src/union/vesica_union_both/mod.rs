//! Mutual union, as two one-sided unions: [`vesica_union`](super::vesica_union) once in each
//! direction.
//!
//! ```text
//!   Sender: X, records w_x                                            Receiver: Y, records w_y
//!                                [ vesica-union ]                     w_x of X \ Y
//!   w_y of Y \ X                 [ vesica-union, roles swapped ]
//! ```
//!
//! # What either side sees
//!
//! Each direction is a run of a protocol for semi-honest parties that shows its receiver
//! the new records, hence how many items are common or dummies, and its sender nothing but a size. The directions share no
//! randomness, no salt, no pad and no OT: the view of a side is that of a receiver in one direction
//! and that of a sender in the other, and the two simulators put next to each other need what the
//! side gets from this task: the records that it lacks, and the sizes. Each side's
//! set is fixed before the first salt, and neither direction's messages depend on the other's result:
//! new records are picked out when the conversation is over.
//!
//! **Failures.** Each direction fails with a probability of at most `2^-40`, and the run with at most
//! `2^-39`: the parameters of a direction are those of `vesica-union`, which has the whole budget.
//!
//! **Fairness.** The receiver has the records that it lacks before the sender has its own, and may stop
//! there. Such a run counts as a whole one for the receiver, as in `vesica-union`.

pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_party::{CostClass, Entry, Mode, Protocol, Resistance, Rounds, Security, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use super::vesica_union::VesicaUnion;
use crate::styles;
use crate::tasks::{Union, UnionRequest};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// `vesica-union-both`.
#[derive(Clone, Copy, Debug)]
pub enum VesicaUnionBoth {}

impl Protocol for VesicaUnionBoth {
    const ENTRY: Entry = Entry {
        id: "vesica-union-both",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: Paper {
            key: "this work",
            title: "Mutual union from a one-sided union in each direction",
            reference: "after Chandran, Schneider, Stillger, Weinert (ASIACCS 2025)",
        },
        // No times are recorded yet by which `auto` could choose it.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_UNION_BOTH),
        deviations: &[
            "vesica-union runs twice, the second time with the roles swapped, at twice its cost. All failures of \
             both directions have probability at most 2^-39.",
            "The receiver has its result before the sender, and may stop there.",
        ],
        modes: &[Mode {
            security: Security::SemiHonest,
            corrupt_sender: Resistance::SemiHonest,
            corrupt_receiver: Resistance::SemiHonest,
            rounds: Rounds::between(42, 70),
            assumptions: <VesicaUnion as Protocol>::ENTRY.modes[0].assumptions,
            leakage: <VesicaUnion as Protocol>::ENTRY.modes[0].leakage,
        }],
    };
    type Task = Union;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &UnionRequest) -> Result<Params, Unsupported> {
        Self::ENTRY.require(request.security)?;
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}
