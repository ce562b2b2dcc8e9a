//! The row and its variants.

use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{
    Choice, ChoiceValue, CostClass, Entry, Mode, Protocol, Rounds, Status, Task, assumptions, deviations,
};
use vesica_structures::facts::Paper;
use vesica_structures::okvs;

use super::Variant;
use crate::styles;
use crate::tasks::{Intersect, SIZES};

const MODES: &[Mode] = &[Mode::semi_honest(
    Rounds::exactly(6),
    assumptions![
        <OtExtension as Protocol>::ENTRY.modes[0].assumptions,
        &[
            "AES-128 as a random permutation (hashes of items, rows of the table) and as a PRF (columns)",
            "BLAKE3 is a random oracle (H_2, keys from the salt, keystreams of payloads)",
        ],
    ],
    &[SIZES],
)];

/// `prty20`: the two-hash table.
#[derive(Clone, Copy, Debug)]
pub enum Paxos {}

impl Variant for Paxos {
    const ENTRY: Entry = Entry {
        id: "prty20",
        aliases: &["paxos"],
        variants: &[Choice {
            name: "okvs",
            what: "The table that encodes the receiver's items.",
            values: &[TWO_HASHES, CLUSTERED, BAND],
        }],
        task: Intersect::NAME,
        paper: Paper {
            key: "PRTY20",
            title: "PSI from PaXoS: Fast, Malicious Private Set Intersection",
            reference: "Pinkas, Rosulek, Trieu, Yanai. EUROCRYPT 2020, ePrint 2020/193",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::PRTY20),
        deviations: &[
            BINS,
            "Semi-honest mode only, with the identity instead of a linear code: H_1 gives as many random bits as a row \
             has, by the binomial sum of bitwise AND. The malicious mode needs a code of distance 128 and the \
             consistency check of OOS17.",
            "H_2 takes the row and 64 bits of a hash of the item, instead of row and item; H_1 is AES in the way of \
             Matyas, Meyer and Oseas under four keys of the run; one salt of the sender gives all keys.",
            "The w OTs of keys are themselves extended from 128 (SoftSpokenOT).",
            "Tags are sorted on all bits and Golomb-Rice coded.",
        ],
        modes: MODES,
    };
    type Okvs = okvs::Paxos;
}

const BINS: &str = "The two-hash table is one of bins, each of 2.4 cells an item of its own. Its dense part follows \
                    from the expected number of dependent sets of rows, instead of an estimate of the number of \
                    cycles and lambda more cells.";
const TWO_HASHES: ChoiceValue =
    ChoiceValue::new("paxos", "The paper's two-hash table: 2.4 cells an item.").deviating(&[BINS]);
const CLUSTERED: ChoiceValue =
    ChoiceValue::new("clustered", "The clustered 3-hash table of RR22: 1.23 cells an item for large sets.").deviating(
        &["The clustered 3-hash table (Raghuraman, Rindal, CCS 2022) instead of the paper's two-hash table."],
    );
const BAND: ChoiceValue =
    ChoiceValue::new("band", "The band table: 1.05 cells an item, the least traffic.").deviating(&[
        "The band OKVS (Bienstock, Patel, Seo, Yeo, USENIX Security 2023) instead of the paper's two-hash table.",
    ]);

/// `prty20:okvs=clustered`.
#[derive(Clone, Copy, Debug)]
pub enum Clustered {}

impl Variant for Clustered {
    const ENTRY: Entry = <Paxos as Variant>::ENTRY.variant(
        "prty20:okvs=clustered",
        deviations![<Paxos as Variant>::ENTRY.deviations, TWO_HASHES => CLUSTERED],
        MODES,
    );
    type Okvs = okvs::Clustered;
}

/// `prty20:okvs=band`.
#[derive(Clone, Copy, Debug)]
pub enum Band {}

impl Variant for Band {
    const ENTRY: Entry = <Paxos as Variant>::ENTRY.variant(
        "prty20:okvs=band",
        deviations![<Paxos as Variant>::ENTRY.deviations, TWO_HASHES => BAND],
        MODES,
    );
    type Okvs = okvs::Band;
}
