//! The description of the row.

use vesica_mpc::base_ot;
use vesica_mpc::code_oprf::Oos17;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{
    Assumption, Attack, Choice, ChoiceValue, CostClass, Effort, Entry, Leak, Learner, Mode, Protocol, Resistance,
    Rounds, Security, Status, Task, assume, assumptions,
};
use vesica_structures::facts::Paper;

use crate::okvs_choice;
use crate::psi::OWN_COLLISIONS;
use crate::psi::finish::compare;
use crate::styles;
use crate::tasks::{Intersect, SIZES};

/// The OTs of either mode.
const TRANSFERS: &[Mode] = <OtExtension as Protocol>::ENTRY.modes;

/// OOS17 has the same OTs, code and check in its malicious mode, and says of either side what it can try.
const CODED: Mode = <Oos17 as Protocol>::ENTRY.modes[1];

/// How many items a corrupt receiver may use.
const LARGER_SET: Leak = Leak {
    to: Learner::Receiver,
    what: "a corrupt receiver may use more than the n_r items it declared: as many as its table of m cells can be \
           made to encode, n' >= m, and from 1.3 m to 1.8 m with 2^64 to 2^80 hash queries between the salt and its \
           table, below 3 m with 2^128 (union bound 192 m / (192 - log2(e Q / n'))). For large sets m is 2.4 n_r, or 1.3 \
           and 1.05 with another table, but no table for two items or more has fewer than 45 cells",
    extra: None,
};

/// What it takes to do so with every tag.
const ALL_TAGS_TWICE: Assumption = Assumption::new("no corrupt sender of 2^20 items finds two for each of its tags")
    .attacked(Attack {
        falls: "that a corrupt sender of 2^20 items has one for each of its tags",
        takes: Effort::Steps { tenths: 745, of: "hash queries" },
        source: "docs/parameters/prty20.md",
    });

/// The modes of the row.
const MODES: &[Mode] = &[
    Mode::semi_honest(
        Rounds::exactly(6),
        assumptions![
            TRANSFERS[0].assumptions,
            assume![
                "AES-128 as a random permutation (hashes of items, rows of the table) and as a PRF (columns)",
                "BLAKE3 is a random oracle (H_2, keys from the salt, keystreams of payloads)",
            ],
        ],
        &[SIZES],
    ),
    Mode {
        security: Security::Malicious,
        corrupt_sender: Resistance::Malicious,
        corrupt_receiver: Resistance::Malicious,
        rounds: Rounds::exactly(12),
        assumptions: assumptions![
            CODED.assumptions,
            assume![
                "AES-128 as a random permutation (rows of the table) and as a PRF (columns)",
                "BLAKE3 is a random oracle (H_1, H_2, commitments, keys from the salt, keystreams of payloads)",
                OWN_COLLISIONS,
                ALL_TAGS_TWICE,
            ],
        ],
        leakage: &[CODED.leakage[0], CODED.leakage[1], SIZES, LARGER_SET],
    },
];

/// The row.
pub(super) const ENTRY: Entry = Entry {
    id: "prty20",
    aliases: &["paxos"],
    variants: &[
        Choice {
            name: okvs_choice::NAME,
            what: "The table that encodes the receiver's items.",
            values: &[TWO_HASHES, CLUSTERED, BAND],
        },
        compare::choice(&[LIST, VACUUM, FUSE]),
        base_ot::CHOICE,
    ],
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
        TWO_HASH_BINS,
        "Semi-honest mode: the identity instead of a linear code: H_1 gives as many random bits as a row has, by \
         the binomial sum of bitwise AND. H_2 takes the row and 64 bits of a hash of the item, instead of row and \
         item; H_1 is AES in the way of Matyas, Meyer and Oseas under four keys of the run; one salt of the \
         sender gives all keys.",
        MALICIOUS_MODE,
        "The w OTs of keys are themselves extended from 128 (SoftSpokenOT).",
        SORTED_TAGS,
    ],
    modes: MODES,
};

const MALICIOUS_MODE: &str = "Malicious mode: H_1 gives 192 bits, and the code is the BCH code [1023, 377, 168], shortened to [838, 192, 168]: 40 \
     more than 128 for the bits of s that a corrupt receiver guesses right in the check. The check has one linear \
     combination over GF(2^128), hidden by 128 more rows with random words, at a point that the sender draws when all \
     corrections have come, instead of a coin toss. A salt that both sides toss gives all keys. Tags have 128 bits.";
const SORTED_TAGS: &str = "Tags are sorted on all bits and Golomb-Rice coded.";

/// What makes way for a filter.
const LIST: ChoiceValue = compare::list(&[MALICIOUS_MODE, SORTED_TAGS]);
/// With a filter there is no malicious mode.
const SEMI_HONEST: &[Mode] = &[MODES[0]];
const VACUUM: ChoiceValue = ChoiceValue { modes: Some(SEMI_HONEST), ..compare::VACUUM };
const FUSE: ChoiceValue = ChoiceValue { modes: Some(SEMI_HONEST), ..compare::FUSE };

/// What the two-hash table here differs in from the paper's.
pub const TWO_HASH_BINS: &str = "The two-hash table is one of bins, each of 2.4 cells an item of its own. Its dense part follows \
                    from the expected number of dependent sets of rows, instead of an estimate of the number of \
                    cycles and lambda more cells.";
const TWO_HASHES: ChoiceValue =
    ChoiceValue::new("2-hash", "The paper's two-hash table, PaXoS: 2.4 cells an item.").deviating(&[TWO_HASH_BINS]);
const CLUSTERED: ChoiceValue =
    ChoiceValue::new("clustered", "The clustered 3-hash table of RR22: 1.23 cells an item for large sets.").deviating(
        &["The clustered 3-hash table (Raghuraman, Rindal, CCS 2022) instead of the paper's two-hash table."],
    );
const BAND: ChoiceValue =
    ChoiceValue::new("band", "The band table: 1.05 cells an item, the least traffic.").deviating(&[
        "The band OKVS (Bienstock, Patel, Seo, Yeo, USENIX Security 2023) instead of the paper's two-hash table.",
    ]);

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter is for a semi-honest sender: of a corrupt one it may serve more items than there are tags.
    #[test]
    fn variants_with_a_filter_have_no_malicious_mode() {
        static ROW: Entry = ENTRY;
        assert_eq!(ROW.modes, MODES);
        for choices in ["compare=vacuum", "compare=fuse", "okvs=band,compare=fuse"] {
            let entry = ROW.with(choices).expect("a variant");
            let [mode] = entry.modes else { panic!("{} has {} modes", entry.id, entry.modes.len()) };
            assert_eq!((mode.security, mode.corrupt_sender), (Security::SemiHonest, Resistance::SemiHonest));
            let refusal = entry.require(Security::Malicious).expect_err("refused");
            assert!(refusal.what.contains(entry.id) && refusal.mend.contains("semi-honest"), "{refusal}");
            assert!(entry.deviations.iter().all(|deviation| !deviation.contains("Malicious")), "{}", entry.id);
        }
    }

    #[test]
    fn no_row_claims_more_than_its_transfers_give() {
        let malicious = MODES[1];
        for transfers in [TRANSFERS[1], CODED] {
            assert_eq!((malicious.security, transfers.security), (Security::Malicious, Security::Malicious));
            // Roles are swapped in the OTs of keys.
            let least = transfers.corrupt_sender.min(transfers.corrupt_receiver);
            assert!(malicious.corrupt_sender <= least && malicious.corrupt_receiver <= least);
            assert!(transfers.assumptions.iter().all(|assumption| malicious.assumptions.contains(assumption)));
        }
        assert!(CODED.leakage.iter().all(|leak| malicious.leakage.contains(leak)));
        assert_eq!(TRANSFERS[1].leakage.len(), 1, "the guesses at an offset, which are stated with roles swapped");
    }
}
