//! The rows and their variants.

use vesica_mpc::opprf;
use vesica_mpc::silent::SilentVole;
use vesica_party::{
    Assumption, Choice, ChoiceValue, CostClass, Entry, Leak, Learner, Mode, Protocol, Resistance, Rounds, Security,
    Status, Task, assume, deviations,
};
use vesica_structures::facts::Paper;
use vesica_structures::fields::Gf128;
use vesica_structures::{filters, okvs};

use super::Variant;
use super::params::{TagCoding, Values};
use crate::psi::OWN_COLLISIONS;
use crate::psi::finish::compare;
use crate::psi::prty20::TWO_HASH_BINS;
use crate::styles;
use crate::tasks::{Intersect, SIZES};

/// The paper of the clustered OKVS and of VOLE over a subfield.
pub(crate) const RR22: Paper = Paper {
    key: "RR22",
    title: "Blazing Fast PSI from Improved OKVS and Subfield VOLE",
    reference: "Raghuraman, Rindal. ACM CCS 2022, ePrint 2022/320",
};

/// How many items a corrupt receiver may use; the bound is one of any table of `m` cells, and the
/// sentence behind it says how many that are.
macro_rules! larger_set {
    ($cells:literal) => {
        Leak {
            to: Learner::Receiver,
            what: concat!(
                "a corrupt receiver may use more than the n_r items it declared: as many as its table of m cells can \
                 be made to encode, about m, and up to 2.6 m with 2^80 hash queries between the salt and its table (union \
                 bound n' (128 - log2(e Q / n')) = 128 m + 40). ",
                $cells
            ),
            extra: None,
        }
    };
}

const LARGER_SET: Leak = larger_set!(
    "For large sets m is 1.045 to 1.45 n_r, but no table for two items or more has fewer than about 50 cells: who \
     declares 2 items tests 46"
);
const LARGER_SET_OF_TWO_HASHES: Leak = larger_set!(
    "For large sets m is 2.4 n_r: 3.4 to 3.7 n_r items with 2^64 queries, 4.1 to 4.5 n_r with 2^80. Who declares \
                 150 items tests 4.8 to 6.1 times as many, who declares 2 tests 84 to 108, and who declares 1 tests 14 to 18"
);

/// The modes of the VOLE: what it assumes and leaks, the PSI does too.
const VOLE_MODES: &[Mode] = <SilentVole<Gf128> as Protocol>::ENTRY.modes;
const VOLE_SEMI_HONEST: Mode = mode_of(VOLE_MODES, Security::SemiHonest);
const VOLE_MALICIOUS: Mode = mode_of(VOLE_MODES, Security::Malicious);

const OWN_ASSUMPTIONS: &[Assumption] = assume![
    "AES-128 is an ideal cipher (outer hash, hash to B, rows)",
    "BLAKE3 is a random oracle (keys from the salt, digests, keystreams of payloads)",
];
const OWN_MALICIOUS_ASSUMPTIONS: &[Assumption] = assume![
    "AES-128 is an ideal cipher (outer hash, hash to B, rows)",
    "BLAKE3 is a random oracle (commitments, keys from the salt, digests, keystreams of payloads)",
    OWN_COLLISIONS,
];

const SEMI_HONEST: Mode = Mode {
    security: Security::SemiHonest,
    corrupt_sender: Resistance::SemiHonest,
    corrupt_receiver: Resistance::SemiHonest,
    rounds: Rounds::exactly(4),
    assumptions: &joined::<_, { VOLE_SEMI_HONEST.assumptions.len() + OWN_ASSUMPTIONS.len() }>(
        VOLE_SEMI_HONEST.assumptions,
        OWN_ASSUMPTIONS,
    ),
    leakage: &joined::<_, { VOLE_SEMI_HONEST.leakage.len() + 1 }>(VOLE_SEMI_HONEST.leakage, &[SIZES]),
};

const MALICIOUS: Mode = Mode {
    security: Security::Malicious,
    corrupt_sender: Resistance::Malicious,
    corrupt_receiver: Resistance::Malicious,
    rounds: Rounds::between(8, 12),
    assumptions: &joined::<_, { VOLE_MALICIOUS.assumptions.len() + OWN_MALICIOUS_ASSUMPTIONS.len() }>(
        VOLE_MALICIOUS.assumptions,
        OWN_MALICIOUS_ASSUMPTIONS,
    ),
    leakage: &joined::<_, { VOLE_MALICIOUS.leakage.len() + 2 }>(VOLE_MALICIOUS.leakage, &[SIZES, LARGER_SET]),
};

/// With the two-hash table.
const MALICIOUS_WITH_TWO_HASHES: Mode = Mode {
    leakage: &joined::<_, { VOLE_MALICIOUS.leakage.len() + 2 }>(
        VOLE_MALICIOUS.leakage,
        &[SIZES, LARGER_SET_OF_TWO_HASHES],
    ),
    ..MALICIOUS
};

/// The mode of this name.
const fn mode_of(modes: &[Mode], security: Security) -> Mode {
    let mut i = 0;
    while modes[i].security as u8 != security as u8 {
        i += 1;
    }
    modes[i]
}

/// `first` and then `second`, `N` elements in all.
pub(crate) const fn joined<T: Copy, const N: usize>(first: &[T], second: &[T]) -> [T; N] {
    let mut all = [second[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}

const MODES: &[Mode] = &[SEMI_HONEST, MALICIOUS];
const TWO_HASH_MODES: &[Mode] = &[SEMI_HONEST, MALICIOUS_WITH_TWO_HASHES];
/// A table of tens of cells an item lets a corrupt receiver use as many items, and a filter of tags a corrupt
/// sender.
const SEMI_HONEST_MODES: &[Mode] = &[SEMI_HONEST];

const BOTH_LEARN: &str = "Both learn (on request): the outer hash gives 128 more bits, which the receiver returns for \
                          each match as a proof. No fairness (the receiver knows first and may stop) and no \
                          completeness (it may keep matches back).";
const SALT: &str = "Rows and H_B are not keyed by the receiver's salt. Semi-honest mode: the sender sends the salt. \
                    Malicious mode: it comes from a coin toss (commit, share, open), so that the receiver \
                    cannot search for tables off-line, and the sender for a salt under which a guessed set does not \
                    encode only by a failed run for each try (2^43 of them).";
const OUTER_HASH: &str = "Outer hash: Davies-Meyer with the salted item as key, instead of a random oracle on (q, x).";
const NARROW_VALUES: &str = "Semi-honest mode: B is a subspace over GF(2) of 41 + log2(n_s) bits, which is closed \
                             under all that is done with values, for rows, code and packing are linear over GF(2).";

const NO_PAXOS: &str =
    "The clustered 3-hash table instead of the PaXoS OKVS (2.4 n cells): fewer cells at the same failure bound.";
const NO_INPUT_ORDER: &str = "Tags are shuffled; the paper's code sends them in the order of the input, which leaks.";

/// `rs21`: everything in `F`.
#[derive(Clone, Copy, Debug)]
pub enum Rs21 {}

impl Variant for Rs21 {
    const ENTRY: Entry = Entry {
        id: "rs21",
        aliases: &["vole-psi"],
        variants: &[
            okvs(&[CLUSTERED_FOR_PAXOS, BAND, TWO_HASHES_OF_PAPER, BLOOM]),
            tags(&[SHUFFLED, SORTED]),
            compare::choice(&[LIST, VACUUM, FUSE]),
        ],
        task: Intersect::NAME,
        paper: opprf::PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::VOLE),
        deviations: &[
            NO_PAXOS,
            "Silent VOLE on a code with a stated distance instead of the Silver-era code.",
            OUTER_HASH,
            SALT,
            BOTH_LEARN,
        ],
        modes: MODES,
    };
    type Okvs = okvs::Clustered;
    const VALUES: Values = Values::F;
    const CODING: TagCoding = TagCoding::Shuffled;
}

/// `rr22`: the table in a subfield, the clustered OKVS.
#[derive(Clone, Copy, Debug)]
pub enum Rr22 {}

impl Variant for Rr22 {
    const ENTRY: Entry = Entry {
        id: "rr22",
        aliases: &["blazing-fast-psi"],
        variants: &[
            okvs(&[CLUSTERED, BAND, TWO_HASHES, BLOOM]),
            tags(&[SHUFFLED_FOR_UNSHUFFLED, SORTED]),
            compare::choice(&[LIST_FOR_UNSHUFFLED, VACUUM, FUSE]),
        ],
        task: Intersect::NAME,
        paper: RR22,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::VOLE),
        deviations: &[
            NO_INPUT_ORDER,
            "Semi-honest mode: B = GF(2^64) while 41 + log2(n_s) <= 64, else GF(2^128).",
            "A VOLE code with a stated distance, and the weight that VOLE (and not OT) needs.",
            OUTER_HASH,
            SALT,
            BOTH_LEARN,
        ],
        modes: MODES,
    };
    type Okvs = okvs::Clustered;
    const VALUES: Values = Values::Field;
    const CODING: TagCoding = TagCoding::Shuffled;
}

const THIS_WORK: &str = "after Raghuraman, Rindal (CCS 2022, ePrint 2022/320)";
const CODED: &str = "Tags are sorted on all bits and Golomb-Rice coded: the sort is the shuffle and saves about \
                     log2(n_s) - 1.5 bits a tag.";

/// `vole-fast`: as `rr22`, with coded tags.
#[derive(Clone, Copy, Debug)]
pub enum VoleFast {}

impl Variant for VoleFast {
    const ENTRY: Entry = Entry {
        id: "vole-fast",
        aliases: &[],
        variants: &[tags(&[SORTED, SHUFFLED])],
        task: Intersect::NAME,
        paper: Paper {
            key: "this work",
            title: "VOLE-PSI with the clustered OKVS and sorted, coded tags",
            reference: THIS_WORK,
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::VOLE),
        deviations: &[CODED, NARROW_VALUES, OUTER_HASH, SALT, BOTH_LEARN],
        modes: MODES,
    };
    type Okvs = okvs::Clustered;
    const VALUES: Values = Values::Narrow;
    const CODING: TagCoding = TagCoding::SortedCoded;
}

/// `vole-lean`: the band OKVS, and coded tags.
#[derive(Clone, Copy, Debug)]
pub enum VoleLean {}

impl Variant for VoleLean {
    const ENTRY: Entry = Entry {
        id: "vole-lean",
        aliases: &[],
        variants: &[tags(&[SORTED, SHUFFLED])],
        task: Intersect::NAME,
        paper: Paper {
            key: "this work",
            title: "VOLE-PSI with the band OKVS and sorted, coded tags",
            reference: "after Raghuraman, Rindal (CCS 2022) and Bienstock, Patel, Seo, Yeo (USENIX Security 2023, \
                        ePrint 2023/903)",
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::VOLE),
        deviations: &[CODED, NARROW_VALUES, OUTER_HASH, SALT, BOTH_LEARN],
        modes: MODES,
    };
    type Okvs = okvs::Band;
    const VALUES: Values = Values::Narrow;
    const CODING: TagCoding = TagCoding::SortedCoded;
}

const CLUSTERED: ChoiceValue =
    ChoiceValue::new("clustered", "The clustered 3-hash table: 1.23 cells an item for large sets, the fastest.");
/// As [`CLUSTERED`], where the paper has another table.
const CLUSTERED_FOR_PAXOS: ChoiceValue = CLUSTERED.deviating(&[NO_PAXOS]);
const BAND: ChoiceValue = ChoiceValue::new(
    "band",
    "The band table, one row of bits an item: 1.05 cells an item, the least traffic, and slower.",
)
.deviating(&["The band OKVS (Bienstock, Patel, Seo, Yeo, USENIX Security 2023) instead of the paper's, at the \
              failure bound of the row."]);
const TWO_HASHES: ChoiceValue = ChoiceValue {
    modes: Some(TWO_HASH_MODES),
    ..ChoiceValue::new("2-hash", "The two-hash garbled cuckoo table, PaXoS: 2.4 cells an item.").deviating(&[
        "The two-hash table PaXoS (Pinkas, Rosulek, Trieu, Yanai, EUROCRYPT 2020), in bins, instead of the paper's, at \
         the failure bound of the row.",
    ])
};
/// As [`TWO_HASHES`], where the paper has this table.
const TWO_HASHES_OF_PAPER: ChoiceValue = TWO_HASHES.deviating(&[TWO_HASH_BINS]);
const BLOOM: ChoiceValue = ChoiceValue {
    modes: Some(SEMI_HONEST_MODES),
    ..ChoiceValue::new(
        "gbf",
        "The garbled Bloom filter: 50 to 87 cells an item, far more traffic, time and memory than the others; \
         semi-honest mode only.",
    )
    .deviating(&[
        "A garbled Bloom filter (Dong, Chen, Wen, CCS 2013) of a segment for each hash function instead of the paper's \
         table, at the failure bound of the row. There is no malicious mode: a corrupt receiver could encode as many \
         items as there are cells, tens of times what it declared.",
    ])
};

const SHUFFLED: ChoiceValue = ChoiceValue::new("shuffled", "In a random order, in whole bytes, as papers count them.");
/// As [`SHUFFLED`], where the paper's code does not shuffle.
const SHUFFLED_FOR_UNSHUFFLED: ChoiceValue = SHUFFLED.deviating(&[NO_INPUT_ORDER]);
const SORTED: ChoiceValue =
    ChoiceValue::new("sorted", "Sorted on all bits and Golomb-Rice coded: about log2(n_s) - 1.5 bits less a tag.")
        .deviating(&[CODED]);

/// What makes way for a filter.
const LIST: ChoiceValue = ChoiceValue::new("list", "The list of the sender's tags, which travels as `tags` says.");
/// As [`LIST`], where the paper's code does not shuffle.
const LIST_FOR_UNSHUFFLED: ChoiceValue = LIST.deviating(&[NO_INPUT_ORDER]);
/// With a filter there is no malicious mode.
const VACUUM: ChoiceValue = ChoiceValue { modes: Some(SEMI_HONEST_MODES), ..compare::VACUUM };
const FUSE: ChoiceValue = ChoiceValue { modes: Some(SEMI_HONEST_MODES), ..compare::FUSE };

/// Which OKVS, the first value being the default. `vole-fast` and `vole-lean` leave it fixed: they
/// differ in nothing else.
const fn okvs(values: &'static [ChoiceValue]) -> Choice {
    Choice { name: "okvs", what: "The table that encodes the receiver's items.", values }
}

/// Which coding of the tags, the first value being the default.
const fn tags(values: &'static [ChoiceValue]) -> Choice {
    Choice { name: "tags", what: "How the sender's tags travel; no order says anything of its items'.", values }
}

/// The modes of a variant of a row with these, in which `value` is chosen.
const fn modes_with(value: ChoiceValue, of_row: &'static [Mode]) -> &'static [Mode] {
    match value.modes {
        Some(modes) => modes,
        None => of_row,
    }
}

/// A variant of a row: its type, the row, the canonical spelling, the OKVS, the coding, which values
/// make way for which, and the filter if there is one. Modes follow from the first of the chosen values.
macro_rules! vole_variant {
    ($name:ident: $row:ident, $id:literal, $okvs:ty, $coding:ident, $default:ident => $chosen:ident $(; $filter:ident)?) => {
        vole_variant!(@ $name, $row, $id, $okvs, $coding, [$($filter)?], $chosen,
            deviations![<$row as Variant>::ENTRY.deviations, $default => $chosen]);
    };
    ($name:ident: $row:ident, $id:literal, $okvs:ty, $coding:ident, $default:ident => $chosen:ident, $other:ident => $second:ident) => {
        vole_variant!(@ $name, $row, $id, $okvs, $coding, [], $chosen,
            deviations![deviations![<$row as Variant>::ENTRY.deviations, $default => $chosen], $other => $second]);
    };
    (@ $name:ident, $row:ident, $id:literal, $okvs:ty, $coding:ident, [$($filter:ident)?], $chosen:ident, $deviations:expr) => {
        #[doc = concat!("`", $id, "`.")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Variant for $name {
            const ENTRY: Entry = <$row as Variant>::ENTRY.variant(
                $id,
                $deviations,
                modes_with($chosen, <$row as Variant>::ENTRY.modes),
            );
            type Okvs = $okvs;
            const VALUES: Values = <$row as Variant>::VALUES;
            const CODING: TagCoding = TagCoding::$coding;
            $(const FILTER: Option<filters::Kind> = Some(filters::Kind::$filter);)?
        }
    };
}

vole_variant!(Rs21Band: Rs21, "rs21:okvs=band", okvs::Band, Shuffled, CLUSTERED_FOR_PAXOS => BAND);
vole_variant!(Rs21Sorted: Rs21, "rs21:tags=sorted", okvs::Clustered, SortedCoded, SHUFFLED => SORTED);
vole_variant!(Rs21BandSorted: Rs21, "rs21:okvs=band,tags=sorted", okvs::Band, SortedCoded, CLUSTERED_FOR_PAXOS => BAND, SHUFFLED => SORTED);
vole_variant!(Rs21TwoHashes: Rs21, "rs21:okvs=2-hash", okvs::Paxos, Shuffled, CLUSTERED_FOR_PAXOS => TWO_HASHES_OF_PAPER);
vole_variant!(Rs21Bloom: Rs21, "rs21:okvs=gbf", okvs::Gbf, Shuffled, CLUSTERED_FOR_PAXOS => BLOOM);
vole_variant!(Rs21Vacuum: Rs21, "rs21:compare=vacuum", okvs::Clustered, Shuffled, LIST => VACUUM; Vacuum);
vole_variant!(Rs21Fuse: Rs21, "rs21:compare=fuse", okvs::Clustered, Shuffled, LIST => FUSE; Fuse);
vole_variant!(Rr22Band: Rr22, "rr22:okvs=band", okvs::Band, Shuffled, CLUSTERED => BAND);
vole_variant!(Rr22Sorted: Rr22, "rr22:tags=sorted", okvs::Clustered, SortedCoded, SHUFFLED_FOR_UNSHUFFLED => SORTED);
vole_variant!(Rr22BandSorted: Rr22, "rr22:okvs=band,tags=sorted", okvs::Band, SortedCoded, CLUSTERED => BAND, SHUFFLED_FOR_UNSHUFFLED => SORTED);
vole_variant!(Rr22TwoHashes: Rr22, "rr22:okvs=2-hash", okvs::Paxos, Shuffled, CLUSTERED => TWO_HASHES);
vole_variant!(Rr22Bloom: Rr22, "rr22:okvs=gbf", okvs::Gbf, Shuffled, CLUSTERED => BLOOM);
vole_variant!(Rr22Vacuum: Rr22, "rr22:compare=vacuum", okvs::Clustered, Shuffled, LIST_FOR_UNSHUFFLED => VACUUM; Vacuum);
vole_variant!(Rr22Fuse: Rr22, "rr22:compare=fuse", okvs::Clustered, Shuffled, LIST_FOR_UNSHUFFLED => FUSE; Fuse);
vole_variant!(VoleFastShuffled: VoleFast, "vole-fast:tags=shuffled", okvs::Clustered, Shuffled, SORTED => SHUFFLED);
vole_variant!(VoleLeanShuffled: VoleLean, "vole-lean:tags=shuffled", okvs::Band, Shuffled, SORTED => SHUFFLED);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_claims_more_than_its_vole_gives() {
        for (own, vole) in
            [(SEMI_HONEST, VOLE_SEMI_HONEST), (MALICIOUS, VOLE_MALICIOUS), (MALICIOUS_WITH_TWO_HASHES, VOLE_MALICIOUS)]
        {
            assert!(own.corrupt_sender <= vole.corrupt_sender && own.corrupt_receiver <= vole.corrupt_receiver);
            assert!(vole.assumptions.iter().all(|assumption| own.assumptions.contains(assumption)));
            assert!(vole.leakage.iter().all(|leak| own.leakage.contains(leak)));
        }
    }

    /// The paper's own table is no deviation, and what a corrupt receiver may use goes by the table.
    #[test]
    fn what_an_entry_says_follows_its_table() {
        let (row, paxos) = (Rs21::ENTRY, Rs21TwoHashes::ENTRY);
        assert!(row.deviations.contains(&NO_PAXOS) && !paxos.deviations.contains(&NO_PAXOS));
        assert_eq!(paxos.deviations.iter().filter(|deviation| row.deviations.contains(deviation)).count(), 4);
        for entry in [paxos, Rr22TwoHashes::ENTRY] {
            let malicious = entry.mode(Security::Malicious).expect("the bound holds for any table");
            assert!(malicious.leakage.contains(&LARGER_SET_OF_TWO_HASHES) && !malicious.leakage.contains(&LARGER_SET));
        }
        for entry in [Rs21Bloom::ENTRY, Rr22Bloom::ENTRY] {
            assert_eq!(entry.modes, [SEMI_HONEST], "{}", entry.id);
        }
        // A filter has no order of tags, and no malicious mode.
        for entry in [Rs21Vacuum::ENTRY, Rs21Fuse::ENTRY, Rr22Vacuum::ENTRY, Rr22Fuse::ENTRY] {
            assert_eq!(entry.modes, [SEMI_HONEST], "{}", entry.id);
            assert!(!entry.deviations.contains(&NO_INPUT_ORDER), "{}", entry.id);
        }
    }
}
