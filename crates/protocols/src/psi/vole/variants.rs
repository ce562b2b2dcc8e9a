//! The rows.

use vesica_mpc::silent::SilentVole;
use vesica_party::{CostClass, Entry, Leak, Learner, Mode, Protocol, Resistance, Rounds, Security, Status, Task};
use vesica_structures::facts::Paper;
use vesica_structures::fields::Gf128;
use vesica_structures::okvs;

use super::Variant;
use super::params::{TagCoding, Values};
use crate::tasks::{Intersect, SIZES};

const LARGER_SET: Leak = Leak {
    to: Learner::Receiver,
    what: "a corrupt receiver may use more than the n_r items it declared: as many as its table of m cells can be made to encode, n' >= m, and \
           from 1.6 m to 2.6 m with 2^64 to 2^80 hash queries (union bound 128 m / (128 - log2(e Q / n'))). For large sets m is 1.05 to 1.3 n_r, \
           but no table has fewer than about 50 cells: who declares 2 items tests 46",
    extra: None,
};

/// The modes of the VOLE: what it assumes and leaks, the PSI does too.
const VOLE_MODES: &[Mode] = <SilentVole<Gf128> as Protocol>::ENTRY.modes;
const VOLE_SEMI_HONEST: Mode = mode_of(VOLE_MODES, Security::SemiHonest);
const VOLE_MALICIOUS: Mode = mode_of(VOLE_MODES, Security::Malicious);

const OWN_ASSUMPTIONS: [&str; 2] = [
    "AES-128 is an ideal cipher (outer hash, hash to B, rows)",
    "BLAKE3 is a random oracle (keys from the salt, digests, keystreams of payloads)",
];
const OWN_MALICIOUS_ASSUMPTIONS: [&str; 3] = [
    "AES-128 is an ideal cipher (outer hash, hash to B, rows)",
    "BLAKE3 is a random oracle (commitments, keys from the salt, digests, keystreams of payloads)",
    "128 bits: a party that spends 2^64 work finds two items of its own with one digest, or a corrupt sender two with one tag",
];

const SEMI_HONEST: Mode = Mode {
    security: Security::SemiHonest,
    corrupt_sender: Resistance::SemiHonest,
    corrupt_receiver: Resistance::SemiHonest,
    rounds: Rounds::exactly(4),
    assumptions: &joined::<_, { VOLE_SEMI_HONEST.assumptions.len() + OWN_ASSUMPTIONS.len() }>(
        VOLE_SEMI_HONEST.assumptions,
        &OWN_ASSUMPTIONS,
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
        &OWN_MALICIOUS_ASSUMPTIONS,
    ),
    leakage: &joined::<_, { VOLE_MALICIOUS.leakage.len() + 2 }>(VOLE_MALICIOUS.leakage, &[SIZES, LARGER_SET]),
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
const fn joined<T: Copy, const N: usize>(first: &[T], second: &[T]) -> [T; N] {
    let mut all = [second[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}

const MODES: &[Mode] = &[SEMI_HONEST, MALICIOUS];

const BOTH_LEARN: &str = "Both learn (on request): the outer hash gives 128 more bits, which the receiver returns for each match as a proof. \
     No fairness (the receiver knows first and may stop) and no completeness (it may keep matches back).";
const SALT: &str = "Malicious mode: rows and H_B are keyed by a coin toss (commit, share, open) instead of the receiver's salt, so that \
     neither side can search for tables off-line or for a salt under which a guessed set does not encode.";
const OUTER_HASH: &str = "Outer hash: Davies-Meyer with the salted item as key, instead of a random oracle on (q, x).";
const NARROW_VALUES: &str = "Semi-honest mode: B is a subspace over GF(2) of 41 + log2(n_s) bits, which is closed under all that is done with values, \
     for rows, code and packing are linear over GF(2).";

/// `rs21`: everything in `F`.
#[derive(Clone, Copy, Debug)]
pub enum Rs21 {}

impl Variant for Rs21 {
    const ENTRY: Entry = Entry {
        id: "rs21",
        aliases: &["vole-psi"],
        task: Intersect::NAME,
        paper: Paper {
            key: "RS21",
            title: "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE",
            reference: "Rindal, Schoppmann. Eurocrypt 2021, ePrint 2021/266",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        deviations: &[
            "The clustered 3-hash table instead of the PaXoS OKVS (2.4 n cells): fewer cells at the same failure bound.",
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
        task: Intersect::NAME,
        paper: Paper {
            key: "RR22",
            title: "Blazing Fast PSI from Improved OKVS and Subfield VOLE",
            reference: "Raghuraman, Rindal. ACM CCS 2022, ePrint 2022/320",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        deviations: &[
            "Tags are shuffled; the paper's code sends them in the order of the input, which leaks.",
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
const CODED: &str =
    "Tags are sorted on all bits and Golomb-Rice coded: the sort is the shuffle and saves about log2(n_s) - 1.5 bits a tag.";

/// `vole-fast`: as `rr22`, with coded tags.
#[derive(Clone, Copy, Debug)]
pub enum VoleFast {}

impl Variant for VoleFast {
    const ENTRY: Entry = Entry {
        id: "vole-fast",
        aliases: &[],
        task: Intersect::NAME,
        paper: Paper { key: "this work", title: "VOLE-PSI with the clustered OKVS and sorted, coded tags", reference: THIS_WORK },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
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
        task: Intersect::NAME,
        paper: Paper {
            key: "this work",
            title: "VOLE-PSI with the band OKVS and sorted, coded tags",
            reference: "after Raghuraman, Rindal (CCS 2022) and Bienstock, Patel, Seo, Yeo (USENIX Security 2023, ePrint 2023/903)",
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        deviations: &[CODED, NARROW_VALUES, OUTER_HASH, SALT, BOTH_LEARN],
        modes: MODES,
    };
    type Okvs = okvs::Band;
    const VALUES: Values = Values::Narrow;
    const CODING: TagCoding = TagCoding::SortedCoded;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_claims_more_than_its_vole_gives() {
        for (own, vole) in [(SEMI_HONEST, VOLE_SEMI_HONEST), (MALICIOUS, VOLE_MALICIOUS)] {
            assert!(own.corrupt_sender <= vole.corrupt_sender && own.corrupt_receiver <= vole.corrupt_receiver);
            assert!(vole.assumptions.iter().all(|assumption| own.assumptions.contains(assumption)));
            assert!(vole.leakage.iter().all(|leak| own.leakage.contains(leak)));
        }
    }
}
