//! What a run reveals to whom, in sentences that both sides come to: they stand in reports and
//! receipts.

use vesica_party::Learner;

use super::run::TaskAgreement;

/// One sentence for each thing that is revealed: by the task, by every run, and by the protocol.
pub(super) fn revealed(agreement: &TaskAgreement) -> Vec<String> {
    let extent = &agreement.extent;
    let mut all = agreement.terms.revealed();
    all.push(format!(
        "to both sides: the numbers of distinct keys, {} of the sender and {} of the receiver, dummies included",
        extent.sender_items, extent.receiver_items
    ));
    all.push("to both sides: how the values of each key column are written (as text, integers, dates, ...)".to_owned());
    for leak in agreement.entry.mode(extent.security).into_iter().flat_map(|mode| mode.leakage) {
        let to = match leak.to {
            Learner::Sender => "to the sender",
            Learner::Receiver => "to the receiver",
            Learner::Both => "to both sides",
        };
        all.push(format!("{to}, by this protocol: {}", leak.what));
    }
    all
}
