//! The row of the registry.

use std::ops::RangeInclusive;

use vesica_party::{
    Assumption, Attack, CostClass, Effort, Entry, Leak, Learner, Mode, Protocol, Rounds, Status, Task, assumptions,
};
use vesica_structures::facts::Unsupported;

use super::{Params, Receiver, Sender};
use crate::union::jsz22;
use vesica_protocols::styles;
use vesica_protocols::tasks::{SIZES, Union, UnionRequest};

/// `jsz22-s`.
#[derive(Clone, Copy, Debug)]
pub enum Jsz22S {}

const RECORD_KEYS: Assumption = Assumption::new("BLAKE3, under the session as its key, is a PRF of a record's key")
    .attacked(Attack {
        falls: "one of the sender's n_s keys of records",
        takes: Effort::Steps { tenths: 1280, of: "/ n_s calls of BLAKE3" },
        source: "docs/parameters/union.md",
    });

impl Protocol for Jsz22S {
    const ENTRY: Entry = Entry {
        id: "jsz22-s",
        aliases: &[],
        variants: &[],
        task: Union::NAME,
        paper: jsz22::PAPER,
        status: Status::Broken {
            how: "the sender learns how many of its items are common, where a one-sided union shows it a size alone: it \
                  compares the values of its permuted bins by itself",
            false_match_bits: None,
        },
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_KEYS),
        deviations: &[
            jsz22::OPRF,
            jsz22::NETWORK,
            jsz22::BINS,
            jsz22::DUMMIES,
            "The second network carries shares of a random key of each bin, which went through the first one beside \
             the item. The key opens a record of any width, and the receiver does not get the item's digest.",
            "The values of a bin travel in ascending order: where a match stands says nothing of how full the bin is.",
            "Random bits instead of nothing at a common item, so that the length of no message depends on the sets.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::between(10, 18),
            assumptions![jsz22::ASSUMPTIONS, &[RECORD_KEYS],],
            &[
                SIZES,
                Leak {
                    to: Learner::Sender,
                    what: "the number of common items, before the receiver has a record",
                    extra: None,
                },
            ],
        )],
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
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}
