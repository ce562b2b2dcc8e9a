//! What a run reveals to whom, in sentences that both sides come to: they stand in reports and
//! receipts.

use vesica_party::{Entry, Learner};
use vesica_protocols::tasks::Extent;

use crate::key::KeySpec;
use crate::task::AnyAgreed;

/// One sentence for each thing that is revealed: by the task, by every run, and by the protocol.
pub(super) fn revealed(terms: &dyn AnyAgreed, entry: &Entry, extent: &Extent, key: &KeySpec) -> Vec<String> {
    let mut all = terms.revealed();
    let alternatives = key.alternatives().len();
    let mut counted = "";
    if alternatives > 1 {
        all.extend(of_alternatives(alternatives, terms.disclosure().both_learn));
        counted = " of all alternatives together";
    }
    all.push(format!(
        "to both sides: the numbers of distinct keys{counted}, {} of the sender and {} of the receiver, dummies \
         included",
        extent.sender_items, extent.receiver_items
    ));
    all.push("to both sides: how the values of each key column are written (as text, integers, dates, ...)".to_owned());
    for leak in entry.mode(extent.security).into_iter().flat_map(|mode| mode.leakage) {
        let to = match leak.to {
            Learner::Sender => "to the sender",
            Learner::Receiver => "to the receiver",
            Learner::Both => "to both sides",
        };
        all.push(format!("{to}, by this protocol: {}", leak.what));
    }
    all
}

/// What matching by any of several alternatives of a key reveals beyond whether a row matches.
fn of_alternatives(alternatives: usize, both_learn: bool) -> impl Iterator<Item = String> {
    let learners = [("receiver", "sender", true), ("sender", "receiver", both_learn)];
    learners.into_iter().filter(|&(.., learns)| learns).map(move |(learner, other, _)| {
        format!(
            "to the {learner}: by which of the {alternatives} alternatives (--key, --or-key) each of its rows matches, \
             also those by which it does not; so it learns of every key alone whether the {other} has it"
        )
    })
}

/// What either side is told before a protocol runs on a key with alternatives.
pub(super) fn notice(alternatives: usize, both_learn: bool) -> String {
    let told: Vec<String> = of_alternatives(alternatives, both_learn).collect();
    format!(
        "the key has {alternatives} alternatives, and the run reveals {}; to both sides: the number of distinct keys \
         of all alternatives together, instead of the number of those of --key alone",
        told.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_learns_its_matches_learns_them_by_alternative() {
        let told = |both_learn| notice(2, both_learn);
        assert!(
            told(false).contains("to the receiver: by which of the 2 alternatives")
                && told(true).contains("to the receiver")
        );
        assert!(!told(false).contains("to the sender") && told(true).contains("to the sender"));
    }
}
