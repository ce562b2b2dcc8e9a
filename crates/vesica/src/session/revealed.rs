//! What a run reveals to whom, in sentences that both sides come to: they stand in reports and receipts.

use vesica_party::Learner;

use crate::handshake::Agreement;
use crate::plan::{SetTask, Terms};
use crate::table::ValueColumn;

/// One sentence for each thing that is revealed.
pub(super) fn revealed(agreement: &Agreement) -> Vec<String> {
    let terms = &agreement.terms;
    let names = |columns: &[ValueColumn]| columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
    let (theirs, ours) = (names(&agreement.sender_values), names(&agreement.receiver_values));
    let mut all = vec![match terms.task {
        SetTask::Intersect => match agreement.payload_columns().join(", ") {
            none if none.is_empty() => "to the receiver: which of its keys the sender has".to_owned(),
            columns => format!("to the receiver: which of its keys the sender has, and the sender's {columns} of these"),
        },
        SetTask::Cardinality => format!("to the receiver: how many keys are common{}", by_group(terms)),
        SetTask::Sum => format!("to the receiver: the sums of the sender's {theirs} over common keys{}", by_group(terms)),
        SetTask::JoinAndCompute => format!(
            "to the receiver: the sums of the products of the sender's {theirs} with the receiver's {ours} over common keys{}",
            by_group(terms)
        ),
        SetTask::Shares => {
            "to neither side: whether a key is common; each side has shares of it and of the values, which together reveal both".to_owned()
        }
    }];
    if terms.both_learn {
        all.push("to the sender: which of its keys the receiver has".to_owned());
    }
    if let Some(epsilon) = &agreement.noise {
        all.push(format!("with noise that the sender added to every result: discrete Laplace, epsilon {epsilon} for the whole run"));
    }
    if terms.groups > 1 {
        all.push(format!("to the sender: that the receiver's keys are in {} groups", terms.groups));
    }
    all.push(format!(
        "to both sides: the numbers of distinct keys, {} of the sender and {} of the receiver, dummies included",
        terms.sender_items, terms.receiver_items
    ));
    all.push("to both sides: how the values of each key column are written (as text, integers, dates, ...)".to_owned());
    for leak in agreement.row.entry().mode(terms.security).into_iter().flat_map(|mode| mode.leakage) {
        let to = match leak.to {
            Learner::Sender => "to the sender",
            Learner::Receiver => "to the receiver",
            Learner::Both => "to both sides",
        };
        all.push(format!("{to}, by this protocol: {}", leak.what));
    }
    all
}

fn by_group(terms: &Terms) -> String {
    let mut text = String::new();
    if terms.groups > 1 {
        text.push_str(&format!(", in each of {} groups of the receiver's keys", terms.groups));
    }
    if terms.at_least > 1 {
        text.push_str(&format!(", where at least {} keys are common", terms.at_least));
    }
    text
}
