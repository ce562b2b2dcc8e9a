//! The rows of the registries.

use vesica_mpc::base_ot;
use vesica_mpc::opprf::Opprf;
use vesica_mpc::permute_share::SwitchingNetwork;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{Assumption, CostClass, Entry, Protocol, Rounds, Status, Task, assumptions};
use vesica_structures::facts::Paper;
use vesica_structures::fields::Gf64;
use vesica_structures::okvs::Band;

use super::Gmr21;
use vesica_protocols::membership::{
    BESIDE_COUNT, BESIDE_SUM, BESIDE_UNION, BESIDE_UNION_COUNT, For, UNION_COUNT, UNION_SUM, semi_honest,
};
use vesica_protocols::styles;
use vesica_protocols::tasks::{Cardinality, Intersect, Sum, Union, UnionCardinality, UnionSum};

const PAPER: Paper = Paper {
    key: "GMR21",
    title: "Private Set Operations from Oblivious Switching",
    reference: "Garimella, Mohassel, Rosulek, Sadeghian, Singh. PKC 2021, ePrint 2021/243",
};

const OPPRF: &str =
    "The OPPRF is opprf-band, on VOLE, over 1.24 bins an item by a proven bound, instead of KMPRT17's over 1.27.";
const NETWORK: &str =
    "Permute and Share is permute-share-64: one element a switch, instead of two, and the receiver chooses its shares.";
const TESTS: &str = "Equality is tested by an OPRF from VOLE whose random values are the receiver's shares: a digest \
                     a bin, and no message of the receiver.";
const TRANSFER: &str = "Random OTs by ot-silent, each turned by a bit.";

/// The OPPRF on the band, the tests by VOLE, the switches and the transfers.
const ASSUMPTIONS: &[Assumption] = assumptions![
    <Opprf<Band> as Protocol>::ENTRY.modes[0].assumptions,
    <SilentVole<Gf64> as Protocol>::ENTRY.modes[0].assumptions,
    <SwitchingNetwork<Gf64> as Protocol>::ENTRY.modes[0].assumptions,
    <SilentOt as Protocol>::ENTRY.modes[0].assumptions,
];

impl For<Intersect> for Gmr21 {
    const ENTRY: Entry = Entry {
        id: "gmr21",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Intersect::NAME,
        paper: PAPER,
        // The VOLE rows send a tenth of it.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_TEST),
        deviations: &[OPPRF, NETWORK, TESTS, TRANSFER],
        modes: &semi_honest(Rounds::between(13, 15), ASSUMPTIONS, BESIDE_COUNT),
    };
}

impl For<Union> for Gmr21 {
    const ENTRY: Entry = Entry {
        id: "gmr21-union",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: PAPER,
        // czz24-union sends a third of it.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_TEST),
        deviations: &[
            OPPRF,
            NETWORK,
            TESTS,
            TRANSFER,
            "One string a place instead of two: the receiver's bit turns the OT, and a common item's place has no \
             second string.",
            "Records of any width under a pad that BLAKE3 makes of an OT's block; a mark tells them from places \
             without an item.",
            "The order is uniform over all bins, the empty ones included, and no OPRF comes before the hashing. \
             CSSW25 (section 4.5) asks for both. That the order is enough is our argument, which nobody outside has \
             reviewed.",
        ],
        modes: &semi_honest(Rounds::between(13, 15), ASSUMPTIONS, BESIDE_UNION),
    };
}

impl For<Cardinality> for Gmr21 {
    const ENTRY: Entry = Entry {
        id: "gmr21-cardinality",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Cardinality::NAME,
        paper: PAPER,
        // vesica-cardinality sends a third of it.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_TEST_COUNT),
        deviations: &[OPPRF, NETWORK, TESTS],
        modes: &semi_honest(Rounds::between(9, 11), ASSUMPTIONS, BESIDE_COUNT),
    };
}

impl For<Sum> for Gmr21 {
    const ENTRY: Entry = Entry {
        id: "gmr21-sum",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Sum::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_TEST),
        deviations: &[OPPRF, NETWORK, TESTS, TRANSFER, "Sums in Z_2^64, each value under one of the pads itself."],
        modes: &semi_honest(Rounds::between(13, 15), ASSUMPTIONS, BESIDE_SUM),
    };
}

impl For<UnionCardinality> for Gmr21 {
    const ENTRY: Entry = Entry {
        id: "gmr21-union-cardinality",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: UnionCardinality::NAME,
        paper: PAPER,
        // vesica-union-cardinality sends a third of it.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_TEST_COUNT),
        deviations: &[OPPRF, NETWORK, TESTS, UNION_COUNT],
        modes: &semi_honest(Rounds::between(9, 11), ASSUMPTIONS, BESIDE_UNION_COUNT),
    };
}

impl For<UnionSum> for Gmr21 {
    const ENTRY: Entry = Entry {
        id: "gmr21-union-sum",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: UnionSum::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::SHUFFLED_TEST),
        deviations: &[OPPRF, NETWORK, TESTS, TRANSFER, UNION_SUM],
        modes: &semi_honest(Rounds::between(13, 15), ASSUMPTIONS, BESIDE_SUM),
    };
}
