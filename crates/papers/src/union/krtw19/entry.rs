//! The row of the registry.

use vesica_mpc::code_oprf::Kkrt16;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{CostClass, Entry, Leak, Learner, Protocol, Rounds, Status, Task, assumptions};
use vesica_structures::facts::Paper;

use super::Krtw19;
use vesica_protocols::membership::{EARLY_COUNT, For, semi_honest};
use vesica_protocols::styles;
use vesica_protocols::tasks::{SIZES, Union};

impl For<Union> for Krtw19 {
    const ENTRY: Entry = Entry {
        id: "krtw19",
        aliases: &[],
        variants: &[],
        task: Union::NAME,
        paper: Paper {
            key: "KRTW19",
            title: "Scalable Private Set Union from Symmetric-Key Techniques",
            reference: "Kolesnikov, Rosulek, Trieu, Wang. Asiacrypt 2019, ePrint 2019/776",
        },
        status: Status::Broken {
            how: "the receiver learns how many items are common in each bin. A bin has up to about 17 of its own items, \
                  and far fewer where the sender's set is the larger one: where none or all of them match, it knows \
                  of each whether the sender has it",
            false_match_bits: None,
        },
        cost: CostClass::Polynomials,
        map_and_compare: Some(styles::BIN_TESTS),
        deviations: &[
            "Polynomials over GF(2^128), whose points are the items' digests, instead of a field of about 70 bits.",
            "As many bins that none has more than 64 items of the larger set, by a binomial bound of 2^-44 a side, \
             instead of the paper's table.",
            "The OPRFs' width follows from a binomial sum over the evaluations of both, and all places share one \
             set of base OTs.",
            "Random OTs by SoftSpokenOT, each turned by a bit. A place takes one string, since a common item has no \
             second one: the record, of any width, with a mark that tells it from a place without an item, under \
             a pad that BLAKE3 makes of an OT's block.",
        ],
        modes: &semi_honest(
            Rounds::exactly(9),
            assumptions![
                <Kkrt16 as Protocol>::ENTRY.modes[0].assumptions,
                <OtExtension as Protocol>::ENTRY.modes[0].assumptions,
            ],
            &[
                SIZES,
                EARLY_COUNT,
                Leak {
                    to: Learner::Receiver,
                    what: "for each bin the number of common items, and how many items the sender has there",
                    extra: None,
                },
            ],
        ),
    };
}
