//! The descriptions of the rows.

use vesica_mpc::base_ot;
use vesica_mpc::code_oprf::Oos17;
use vesica_party::{
    Assumption, Attack, Choice, ChoiceValue, CostClass, Effort, Entry, Leak, Learner, Mode, Protocol, Resistance,
    Rounds, Security, Status, Task, assume, assumptions,
};
use vesica_structures::facts::Paper;

use vesica_protocols::psi::OWN_DIGESTS;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, SIZES};

const PAPER: Paper = Paper {
    key: "RR17",
    title: "Malicious-Secure Private Set Intersection via Dual Execution",
    reference: "P. Rindal, M. Rosulek. ACM CCS 2017, ePrint 2017/769",
};

/// The malicious mode of the transfers.
const TRANSFERS: Mode = <Oos17 as Protocol>::ENTRY.modes[1];

const ASSUMPTIONS: &[Assumption] = assumptions![
    TRANSFERS.assumptions,
    assume![
        "BLAKE3 is a random oracle (bins and keys of items, commitments, keys from the salt, hash of the transfers)",
        OWN_DIGESTS,
        KEYS_IN_BINS,
    ],
];

/// What keeps a slot to one item: a key has 76 bits.
const KEYS_IN_BINS: Assumption = Assumption::new(
    "a corrupt party whose items are in slots finds no two of them with one bin and key before its corrections are sent",
)
.attacked(Attack {
    falls: "one item for each slot of a corrupt party",
    takes: Effort::Steps { tenths: 385, of: "sqrt(bins) hash queries while the run goes on" },
    source: "docs/parameters/rr17.md",
});

/// What a corrupt party can try in dual execution, where each side is the sender of some transfers.
const GUESSED_SECRETS: Leak = Leak {
    to: Learner::Both,
    what: "guesses at bits of the other side's secret of the code, and of the offset of its base OTs, by a corrupt \
           party, right ones unnoticed; a wrong one stops the run",
    extra: None,
};

/// How many items a side may use.
const LARGER_SET: &str = "a corrupt party whose items are in slots may use as many as it has slots, instead of the number \
                          that it declared: up to 10 times as many of the smaller set, and somewhat more than that \
                          of a much larger one. With 2^64 hash queries while the run goes on, a slot serves two to \
                          five items; with 2^80, four to five at 2^20 items and 69 at 10 (docs/parameters/rr17.md)";

/// Where the result of dual execution is more than an intersection with a set of the sender's choice.
const WITHHELD_OF_LARGER: Leak = Leak {
    to: Learner::Sender,
    what: "nothing in the run; but a corrupt sender that declared the larger set, or that finds two items with one bin \
           and key while the run goes on, may use more items of one bin than the receiver has slots there, and withhold matches in it by the slots that they are in: the receiver's \
           result then is a part of the intersection, and which part depends on the intersection in that bin. What \
           the sender can infer if it sees the result follows from the intersection with what it used",
    extra: None,
};

/// The same of encode-commit.
const WITHHELD: Leak = Leak {
    to: Learner::Sender,
    what: "nothing in the run; but a corrupt sender may commit to more items of one bin than the receiver has slots \
           there, and withhold matches in it by the slots that they are in: the receiver's result then is a part of \
           the intersection, and which part depends on the intersection in that bin. What the sender can infer if it \
           sees the result follows from the intersection with what it committed to",
    extra: None,
};

const DUAL_EXECUTION_MODES: &[Mode] = &[Mode {
    security: Security::Malicious,
    corrupt_sender: Resistance::Malicious,
    corrupt_receiver: Resistance::Malicious,
    rounds: Rounds::exactly(15),
    assumptions: ASSUMPTIONS,
    leakage: &[GUESSED_SECRETS, SIZES, Leak { to: Learner::Both, what: LARGER_SET, extra: None }, WITHHELD_OF_LARGER],
}];

const ENCODE_COMMIT_MODES: &[Mode] = &[Mode {
    security: Security::Malicious,
    corrupt_sender: Resistance::Malicious,
    corrupt_receiver: Resistance::Malicious,
    rounds: Rounds::exactly(11),
    assumptions: ASSUMPTIONS,
    leakage: &[
        TRANSFERS.leakage[0],
        TRANSFERS.leakage[1],
        SIZES,
        Leak { to: Learner::Receiver, what: LARGER_SET, extra: None },
        WITHHELD,
    ],
}];

const BINS: &str = "A fraction of the smaller set's size as the number of bins, where the paper has equal sets. Slots \
                    of a bin follow from a binomial bound for each side.";
const KEYS: &str = "Bin and key of an item are parts of one hash under the salt, instead of phasing. Keys have all 76 \
                    bits that the code takes, so that collisions are harder to find than the statistical bound asks.";
const SALT: &str = "In the coin toss of the salt only the sender commits.";
const TRANSFERS_OF: &str = "The OT is ot-oos17 in its malicious mode, with what it states.";
const ONE_LEARNS: &str = "Only the receiver learns, and there are no payloads, as in the paper.";

/// `rr17-de`: dual execution, by default with a tenth as many bins as items.
pub const DUAL_EXECUTION: Entry = Entry {
    id: "rr17-de",
    aliases: &[],
    variants: &[Choice { name: "bins", what: NUMBER_OF_BINS, values: &[TENTH, QUARTER] }, base_ot::CHOICE],
    task: Intersect::NAME,
    paper: PAPER,
    status: Status::Sound,
    cost: CostClass::Symmetric,
    map_and_compare: Some(styles::DUAL_EXECUTION),
    deviations: &[
        BINS,
        KEYS,
        SALT,
        "Encodings are sorted on all bits and Golomb-Rice coded, and wide enough for all pairs.",
        TRANSFERS_OF,
        ONE_LEARNS,
    ],
    modes: DUAL_EXECUTION_MODES,
};

/// `rr17-ec`: encode-commit, by default with a quarter as many bins as items.
pub const ENCODE_COMMIT: Entry = Entry {
    id: "rr17-ec",
    aliases: &[],
    variants: &[Choice { name: "bins", what: NUMBER_OF_BINS, values: &[QUARTER, TENTH] }, base_ot::CHOICE],
    task: Intersect::NAME,
    paper: PAPER,
    status: Status::Sound,
    cost: CostClass::Symmetric,
    map_and_compare: Some(styles::ENCODE_COMMIT),
    deviations: &[
        BINS,
        KEYS,
        SALT,
        "A commitment is the BLAKE3 hash of item and opening, of 256 bits; openings have 128 bits.",
        "Tags are as many bytes wide as leave four candidates of an item enough, and four candidates of each \
             item are tried, whatever was found.",
        TRANSFERS_OF,
        ONE_LEARNS,
    ],
    modes: ENCODE_COMMIT_MODES,
};

const NUMBER_OF_BINS: &str = "How many bins the items are hashed to, as a part of the smaller set's size.";
const TENTH: ChoiceValue = ChoiceValue::new("tenth", "A tenth as many bins as items: fewer transfers.");
const QUARTER: ChoiceValue =
    ChoiceValue::new("quarter", "A quarter as many bins as items: fewer encodings, and so less work.");

/// Items of the smaller set a bin, on average, as a row or variant has them.
pub fn items_per_bin(entry: &Entry) -> usize {
    match entry.chosen("bins") {
        "quarter" => 4,
        _ => 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_claims_more_than_its_transfers_give() {
        assert_eq!(TRANSFERS.security, Security::Malicious);
        for modes in [DUAL_EXECUTION_MODES, ENCODE_COMMIT_MODES] {
            for mode in modes {
                // In both directions of dual execution, either side is the sender of transfers.
                let least = TRANSFERS.corrupt_sender.min(TRANSFERS.corrupt_receiver);
                assert!(mode.corrupt_sender <= least && mode.corrupt_receiver <= least);
                assert!(TRANSFERS.assumptions.iter().all(|assumption| mode.assumptions.contains(assumption)));
            }
        }
        assert!(TRANSFERS.leakage.iter().all(|leak| ENCODE_COMMIT_MODES[0].leakage.contains(leak)));
        assert_eq!(TRANSFERS.leakage.len(), 2, "what a corrupt party guesses is stated of both sides by hand");
    }
}
