//! What a run reveals to whom, in sentences that both sides come to: they stand in reports and
//! receipts.

use vesica_party::{Entry, Learner};
use vesica_protocols::tasks::Extent;

use crate::task::AnyAgreed;

/// One sentence for each thing that is revealed: by the task, by every run, and by the protocol.
pub(super) fn revealed(terms: &dyn AnyAgreed, entry: &Entry, extent: &Extent) -> Vec<String> {
    let mut all = terms.revealed();
    all.push(format!(
        "to both sides: the numbers of distinct keys, {} of the sender and {} of the receiver, dummies included",
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
