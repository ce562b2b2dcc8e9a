//! The product's rows, and what all rows of the folder say.

use vesica_mpc::base_ot;
use vesica_mpc::silent::SilentVole;
use vesica_party::{
    Assumption, Choice, ChoiceValue, CostClass, Entry, Leak, Mode, Protocol, Resistance, Rounds, Security, Status,
    Task, assume,
};
use vesica_structures::facts::Paper;
use vesica_structures::fields::Gf128;
use vesica_structures::okvs;

use super::VoleRow;
use super::params::Values;
use crate::psi::OWN_COLLISIONS;
use crate::styles;
use crate::tasks::{Intersect, SIZES};

/// The paper of the clustered OKVS and of VOLE over a subfield.
pub const RR22: Paper = Paper {
    key: "RR22",
    title: "Blazing Fast PSI from Improved OKVS and Subfield VOLE",
    reference: "Raghuraman, Rindal. ACM CCS 2022, ePrint 2022/320",
};

/// How many items a corrupt receiver may use; the bound is one of any table of `m` cells, and the
/// sentence behind it says how many that are.
#[doc(hidden)]
#[macro_export]
macro_rules! larger_set {
    ($cells:literal) => {
        ::vesica_party::Leak {
            to: ::vesica_party::Learner::Receiver,
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

/// What a corrupt receiver may use of the tables with three hashes and with bands.
pub const LARGER_SET: Leak = larger_set!(
    "For large sets m is 1.045 to 1.45 n_r, but no table for two items or more has fewer than about 50 cells: who \
     declares 2 items tests 46"
);

/// The modes of the VOLE: what it assumes and leaks, the PSI does too.
const VOLE_MODES: &[Mode] = <SilentVole<Gf128> as Protocol>::ENTRY.modes;
const VOLE_SEMI_HONEST: Mode = mode_of(VOLE_MODES, Security::SemiHonest);
/// The malicious mode of the VOLE.
pub const VOLE_MALICIOUS: Mode = mode_of(VOLE_MODES, Security::Malicious);

const OWN_ASSUMPTIONS: &[Assumption] = assume![
    "AES-128 is an ideal cipher (outer hash, hash to B, rows)",
    "BLAKE3 is a random oracle (keys from the salt, digests, keystreams of payloads)",
];
const OWN_MALICIOUS_ASSUMPTIONS: &[Assumption] = assume![
    "AES-128 is an ideal cipher (outer hash, hash to B, rows)",
    "BLAKE3 is a random oracle (commitments, keys from the salt, digests, keystreams of payloads)",
    OWN_COLLISIONS,
];

/// The semi-honest mode of every row.
pub const SEMI_HONEST: Mode = Mode {
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

/// The malicious mode of every row.
pub const MALICIOUS: Mode = Mode {
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

/// The mode of this name.
const fn mode_of(modes: &[Mode], security: Security) -> Mode {
    let mut i = 0;
    while modes[i].security as u8 != security as u8 {
        i += 1;
    }
    modes[i]
}

/// `first` and then `second`, `N` elements in all.
pub const fn joined<T: Copy, const N: usize>(first: &[T], second: &[T]) -> [T; N] {
    let mut all = [second[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}

/// Both modes.
pub const MODES: &[Mode] = &[SEMI_HONEST, MALICIOUS];
/// A deviation: how the sender learns the matches, too.
pub const BOTH_LEARN: &str = "Both learn (on request): the outer hash gives 128 more bits, which the receiver returns for \
                          each match as a proof. No fairness (the receiver knows first and may stop) and no \
                          completeness (it may keep matches back).";
/// A deviation: where salts come from.
pub const SALT: &str = "Rows and H_B are not keyed by the receiver's salt. Semi-honest mode: the sender sends the salt. \
                    Malicious mode: it comes from a coin toss (commit, share, open), so that the receiver \
                    cannot search for tables off-line, and the sender for a salt under which a guessed set does not \
                    encode only by a failed run for each try (2^43 of them).";
/// A deviation: the outer hash.
pub const OUTER_HASH: &str =
    "Outer hash: Davies-Meyer with the salted item as key, instead of a random oracle on (q, x).";
const NARROW_VALUES: &str = "Semi-honest mode: B is a subspace over GF(2) of 41 + log2(n_s) bits, which is closed \
                             under all that is done with values, for rows, code and packing are linear over GF(2).";

const THIS_WORK: &str = "after Raghuraman, Rindal (CCS 2022, ePrint 2022/320)";
/// A deviation: the coding of sorted tags.
pub const CODED: &str = "Tags are sorted on all bits and Golomb-Rice coded: the sort is the shuffle and saves about \
                     log2(n_s) - 1.5 bits a tag.";

/// `vole-fast`: as `rr22`, with coded tags.
#[derive(Clone, Copy, Debug)]
pub enum VoleFast {}

impl VoleRow for VoleFast {
    const ENTRY: Entry = Entry {
        id: "vole-fast",
        aliases: &[],
        variants: &[tags(&[SORTED, SHUFFLED]), base_ot::CHOICE],
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
    const OKVS: okvs::Kind = okvs::Kind::Clustered;
    const VALUES: Values = Values::Narrow;
}

/// `vole-lean`: the band OKVS, and coded tags.
#[derive(Clone, Copy, Debug)]
pub enum VoleLean {}

impl VoleRow for VoleLean {
    const ENTRY: Entry = Entry {
        id: "vole-lean",
        aliases: &[],
        variants: &[tags(&[SORTED, SHUFFLED]), base_ot::CHOICE],
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
    const OKVS: okvs::Kind = okvs::Kind::Band;
    const VALUES: Values = Values::Narrow;
}

/// A value of the choice `tags`.
pub const SHUFFLED: ChoiceValue =
    ChoiceValue::new("shuffled", "In a random order, in whole bytes, as papers count them.");
/// A value of the choice `tags`.
pub const SORTED: ChoiceValue =
    ChoiceValue::new("sorted", "Sorted on all bits and Golomb-Rice coded: about log2(n_s) - 1.5 bits less a tag.")
        .deviating(&[CODED]);

/// Which coding of the tags, the first value being the default.
pub const fn tags(values: &'static [ChoiceValue]) -> Choice {
    Choice { name: "tags", what: "How the sender's tags travel; no order says anything of its items'.", values }
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
