//! The two rows of the registry.

use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Assumption, CostClass, Entry, Leak, Learner, Protocol, Rounds, Status, Task, assume, assumptions};
use vesica_structures::facts::Paper;

use super::{Garbled, NarrowBand, Zcl23Pk};
use vesica_protocols::membership::{BESIDE_UNION, For, semi_honest};
use vesica_protocols::styles;
use vesica_protocols::tasks::Union;

const INDICATOR: &str = "The indicator is the neutral element instead of a random string, and the table is encrypted \
                         cell by cell, which gives the same distribution.";
const RECORDS: &str = "Random OTs by SoftSpokenOT, each turned by a bit: one string a place, under a pad that BLAKE3 \
                       makes of an OT's block, for records of any width.";

const ASSUMPTIONS: &[Assumption] = assumptions![
    assume![(discrete_logarithm "DDH on Ristretto255"), "BLAKE3 and AES are pseudo-random functions"],
    <OtExtension as Protocol>::ENTRY.modes[0].assumptions
];

/// What the receiver has of each new item before its record.
const EARLY_PLAINTEXTS: Leak = Leak {
    to: Learner::Receiver,
    what: "of each new item, before the new records, a value that it can compute for any guess: a run that it breaks \
           off lets it check guesses at the sender's items. The union tells it these anyway where a record determines \
           its item, as the command's records do; where it does not, a completed run leaks them too",
    extra: None,
};
const LEAKAGE: &[Leak] = &[BESIDE_UNION[0], BESIDE_UNION[1], EARLY_PLAINTEXTS];

impl For<Union> for Zcl23Pk<Garbled> {
    const ENTRY: Entry = Entry {
        id: "zcl23-pk",
        aliases: &[],
        variants: &[],
        task: Union::NAME,
        paper: Paper {
            key: "ZCL23",
            title: "Linear Private Set Union from Multi-Query Reverse Private Membership Test",
            reference: "Zhang, Chen, Liu, Zhang, Lin. USENIX Security 2023, ePrint 2022/358",
        },
        // czz24-union sends less, and takes half of the group operations.
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::ZCL23_PK),
        deviations: &[
            INDICATOR,
            "The garbled cuckoo table has 1.55 cells an item, by a bound that is proven over every field, instead of \
             1.3 by experiments.",
            RECORDS,
        ],
        modes: &semi_honest(Rounds::exactly(5), ASSUMPTIONS, LEAKAGE),
    };
}

impl For<Union> for Zcl23Pk<NarrowBand> {
    const ENTRY: Entry = Entry {
        id: "bpsy23-union",
        aliases: &[],
        variants: &[],
        task: Union::NAME,
        paper: Paper {
            key: "BPSY23",
            title: "Near-Optimal Oblivious Key-Value Stores for Efficient PSI, PSU and Volume-Hiding Multi-Maps",
            reference: "Bienstock, Patel, Seo, Yeo. USENIX Security 2023, ePrint 2023/903",
        },
        // vesica-union and czz24-union are faster.
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::ZCL23_PK),
        deviations: &[
            INDICATOR,
            "Rows of 192 bits start at multiples of eight columns, and the number of columns, 1.18 an item, follows \
             from a proven bound instead of experiments.",
            RECORDS,
        ],
        modes: &semi_honest(Rounds::exactly(5), ASSUMPTIONS, LEAKAGE),
    };
}
