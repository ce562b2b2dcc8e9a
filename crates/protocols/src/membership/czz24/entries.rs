//! The rows of the registries.

use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Assumption, CostClass, Entry, Protocol, Rounds, Status, Task, assumptions};
use vesica_structures::facts::Paper;

use super::Czz24;
use crate::ecdh;
use crate::membership::{
    BESIDE_COUNT, BESIDE_SUM, BESIDE_UNION, BESIDE_UNION_COUNT, For, UNION_COUNT, UNION_SUM, semi_honest,
};
use crate::styles;
use crate::tasks::{Cardinality, Intersect, Sum, Union, UnionCardinality, UnionSum};

const PAPER: Paper = Paper {
    key: "CZZ24",
    title: "Private Set Operations from Multi-Query Reverse Private Membership Test",
    reference: "Chen, Zhang, Zhang, Dong, Liu. PKC 2024, ePrint 2022/652",
};

const DIGESTS: &str = "The client's answers are digests, truncated to the width that their collisions allow, sorted \
                       (which shuffles them) and Golomb-Rice coded, instead of a shuffled list of points or a Bloom \
                       filter.";
const SUMS: &str = "Random OTs by SoftSpokenOT, each turned by a bit; the value's mask is one of the pads itself, so that \
                    an item costs one masked value and not two.";
const SHUFFLED: &str = "The client asks in a random order, so that the bits say nothing of the order of its table.";

const TEST: &[Assumption] = ecdh::DIGEST_ASSUMPTIONS;
const TEST_AND_OT: &[Assumption] = assumptions![TEST, <OtExtension as Protocol>::ENTRY.modes[0].assumptions];

impl For<Intersect> for Czz24 {
    const ENTRY: Entry = Entry {
        id: "czz24",
        aliases: &["mqrpmt", "czz22"],
        variants: &[],
        task: Intersect::NAME,
        paper: PAPER,
        // ecdh-hfh99 sends less, and carries payloads.
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_TEST),
        deviations: &[
            DIGESTS,
            SHUFFLED,
            "Random OTs by SoftSpokenOT, each turned by a bit; the server's choice of nothing costs no message.",
        ],
        modes: &semi_honest(Rounds::exactly(5), TEST_AND_OT, BESIDE_COUNT),
    };
}

impl For<Union> for Czz24 {
    const ENTRY: Entry = Entry {
        id: "czz24-union",
        aliases: &[],
        variants: &[],
        task: Union::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_TEST),
        deviations: &[
            DIGESTS,
            SHUFFLED,
            "Random OTs by SoftSpokenOT, each turned by a bit; a place takes one string, since the server has no use \
             for a second one where the item is common.",
            "Records of any width under a pad that BLAKE3 makes of an OT's block.",
        ],
        modes: &semi_honest(Rounds::exactly(5), TEST_AND_OT, BESIDE_UNION),
    };
}

impl For<Cardinality> for Czz24 {
    const ENTRY: Entry = Entry {
        id: "czz24-cardinality",
        aliases: &[],
        variants: &[],
        task: Cardinality::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_TEST_COUNT),
        deviations: &[DIGESTS, SHUFFLED],
        modes: &semi_honest(Rounds::exactly(2), TEST, BESIDE_COUNT),
    };
}

impl For<Sum> for Czz24 {
    const ENTRY: Entry = Entry {
        id: "czz24-sum",
        aliases: &[],
        variants: &[],
        task: Sum::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_TEST),
        deviations: &[DIGESTS, SHUFFLED, SUMS, "Sums in Z_2^64."],
        modes: &semi_honest(Rounds::exactly(5), TEST_AND_OT, BESIDE_SUM),
    };
}

impl For<UnionCardinality> for Czz24 {
    const ENTRY: Entry = Entry {
        id: "czz24-union-cardinality",
        aliases: &[],
        variants: &[],
        task: UnionCardinality::NAME,
        paper: PAPER,
        // The model of times has no measurements of it yet.
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_TEST_COUNT),
        deviations: &[DIGESTS, SHUFFLED, UNION_COUNT],
        modes: &semi_honest(Rounds::exactly(2), TEST, BESIDE_UNION_COUNT),
    };
}

impl For<UnionSum> for Czz24 {
    const ENTRY: Entry = Entry {
        id: "czz24-union-sum",
        aliases: &[],
        variants: &[],
        task: UnionSum::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_TEST),
        deviations: &[DIGESTS, SHUFFLED, SUMS, UNION_SUM],
        modes: &semi_honest(Rounds::exactly(5), TEST_AND_OT, BESIDE_SUM),
    };
}
