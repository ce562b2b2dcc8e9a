//! What a side wants of the run, and how it differs from what the other side wants.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use vesica_party::{Role, Security};

use crate::plan::Link;
use crate::table::{ExpectedRange, ValueColumn};

/// Longest text of the peer that is shown.
const SHOWN: usize = 200;

/// A side's configuration: every field on which both must agree. Never holds a key, an item or a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The side's role.
    pub role: Role,
    /// The task's name, for example `intersect`.
    pub task: String,
    /// The least security that the side accepts.
    pub security: Security,
    /// Ids of the protocols that the side would run.
    pub protocols: Vec<String>,
    /// Name and version of the digest that stands for a key.
    pub key_digest: String,
    /// The normalisers of each key column, in key order.
    pub key_columns: Vec<String>,
    /// Sender: names of the payload columns that it gives. Receiver: the names that it insists on, if it does.
    pub payload: Option<Vec<String>>,
    /// Whether the sender learns its matches too.
    pub both_learn: bool,
    /// The columns that the side computes with, or shares.
    pub values: Vec<ValueColumn>,
    /// Ranges of the partner's columns on which the side insists.
    pub expected_ranges: Vec<ExpectedRange>,
    /// A group with fewer common keys than this gives nothing.
    pub at_least: u64,
    /// Sender: the epsilon of the noise that it adds to all results of the run together.
    pub noise: Option<String>,
    /// The link between the sides, if its user named one: protocols are compared over the slower of what the two say.
    pub link: Option<Link>,
    /// Seconds since 1970 by the side's clock when the two sides met. The receiver's is the date of the receipt.
    pub clock: u64,
    /// Fresh randomness.
    pub nonce: [u8; 32],
    /// To the side's share of the salt, which it opens with its sizes.
    pub salt_commitment: [u8; 32],
}

/// A field on which two sides disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The field, by the name of its flag where it has one.
    pub field: &'static str,
    /// Our value.
    pub ours: String,
    /// The peer's value.
    pub theirs: String,
}

/// What somebody else says, fit to be shown: bounded, without control characters.
pub fn printable(text: &str) -> String {
    let visible =
        text.chars().map(|c| if c.is_control() || matches!(c, '\u{200b}'..='\u{202e}' | '\u{2066}'..='\u{2069}') { '?' } else { c });
    let mut shown: String = visible.clone().take(SHOWN).collect();
    if visible.count() > SHOWN {
        shown.push_str("...");
    }
    shown
}

fn list(values: &[String]) -> String {
    if values.is_empty() { "none".into() } else { printable(&values.join(", ")) }
}

impl Hello {
    /// Every field on which `self` and the peer's `theirs` disagree.
    pub fn differences(&self, theirs: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut compare = |field, agree: bool, ours: &dyn Display, theirs: &dyn Display| {
            if !agree {
                found.push(Difference { field, ours: printable(&ours.to_string()), theirs: printable(&theirs.to_string()) });
            }
        };
        compare("role", self.role != theirs.role, &self.role, &theirs.role);
        compare("--task", self.task == theirs.task, &self.task, &theirs.task);
        compare("--security", self.security == theirs.security, &self.security, &theirs.security);
        compare("key digest", self.key_digest == theirs.key_digest, &self.key_digest, &theirs.key_digest);
        compare(
            "number of --key columns",
            self.key_columns.len() == theirs.key_columns.len(),
            &self.key_columns.len(),
            &theirs.key_columns.len(),
        );
        if self.key_columns.len() == theirs.key_columns.len() && self.key_columns != theirs.key_columns {
            let describe = |side: &Self| {
                let each = side.key_columns.iter().enumerate().map(|(i, how)| format!("column {} {how}", i + 1));
                each.collect::<Vec<_>>().join("; ")
            };
            compare("--normalise", false, &describe(self), &describe(theirs));
        }
        compare("--both-learn", self.both_learn == theirs.both_learn, &self.both_learn, &theirs.both_learn);
        if let Some((wanted, given)) = self.payload_wish(theirs) {
            let (ours, theirs) = if self.role == Role::Receiver { (wanted, given) } else { (given, wanted) };
            compare("--payload", false, &list(&ours), &list(&theirs));
        }
        compare("--reveal-if-at-least", self.at_least == theirs.at_least, &self.at_least, &theirs.at_least);
        // Each side may insist on ranges of the other's columns.
        if let Some((wanted, given)) = self.ranges_missed_by(theirs) {
            compare("--clamp", false, &format_args!("expected {wanted}"), &given);
        }
        if let Some((wanted, given)) = theirs.ranges_missed_by(self) {
            compare("--clamp", false, &given, &format_args!("expected {wanted}"));
        }
        if !self.protocols.iter().any(|id| theirs.protocols.contains(id)) {
            compare("--protocol", false, &list(&self.protocols), &list(&theirs.protocols));
        }
        found
    }

    /// What this side insists on of the other's ranges, and what these are, if they differ.
    fn ranges_missed_by(&self, other: &Self) -> Option<(String, String)> {
        let missed = |range: &&ExpectedRange| !other.values.iter().any(|column| range.is_of(column));
        let wanted: Vec<String> = self.expected_ranges.iter().filter(missed).map(ToString::to_string).collect();
        let given: Vec<String> = other.values.iter().map(ToString::to_string).collect();
        (!wanted.is_empty()).then(|| (list(&wanted), list(&given)))
    }

    /// The columns that the receiver insists on and those that the sender gives, if they differ.
    fn payload_wish(&self, theirs: &Self) -> Option<(Vec<String>, Vec<String>)> {
        let (receiver, sender) = if self.role == Role::Receiver { (self, theirs) } else { (theirs, self) };
        let wanted = receiver.payload.clone()?;
        let given = sender.payload.clone().unwrap_or_default();
        (wanted != given).then_some((wanted, given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Clamp;

    fn hello(role: Role) -> Hello {
        Hello {
            role,
            task: "intersect".into(),
            security: Security::Malicious,
            protocols: vec!["rr22".into(), "vole-fast".into()],
            key_digest: "vesica-key@2".into(),
            key_columns: vec!["email@1".into()],
            payload: None,
            both_learn: false,
            values: Vec::new(),
            expected_ranges: Vec::new(),
            at_least: 0,
            noise: None,
            link: None,
            clock: 0,
            nonce: [7; 32],
            salt_commitment: [8; 32],
        }
    }

    fn fields(ours: &Hello, theirs: &Hello) -> Vec<&'static str> {
        ours.differences(theirs).into_iter().map(|difference| difference.field).collect()
    }

    #[test]
    fn every_field_is_compared_and_named() {
        let (ours, theirs) = (hello(Role::Receiver), hello(Role::Sender));
        assert!(fields(&ours, &theirs).is_empty());
        type Change = fn(&mut Hello);
        let changes: [(&str, Change); 9] = [
            ("role", |h| h.role = Role::Receiver),
            ("--task", |h| h.task = "union".into()),
            ("--security", |h| h.security = Security::SemiHonest),
            ("key digest", |h| h.key_digest = "vesica-key@1".into()),
            ("number of --key columns", |h| h.key_columns.push("as it is".into())),
            ("--normalise", |h| h.key_columns = vec!["lower@1".into()]),
            ("--both-learn", |h| h.both_learn = true),
            ("--reveal-if-at-least", |h| h.at_least = 5),
            ("--protocol", |h| h.protocols = vec!["ecdh-hfh99".into()]),
        ];
        for (field, change) in changes {
            let mut theirs = theirs.clone();
            change(&mut theirs);
            assert_eq!(fields(&ours, &theirs), [field]);
            assert_eq!(fields(&theirs, &ours), [field], "from the other side");
        }
    }

    #[test]
    fn a_receiver_may_insist_on_payload_columns() {
        let (mut ours, mut theirs) = (hello(Role::Receiver), hello(Role::Sender));
        theirs.payload = Some(vec!["score".into()]);
        assert!(fields(&ours, &theirs).is_empty(), "whatever is given is fine by default");
        ours.payload = Some(vec!["segment".into()]);
        let differences = ours.differences(&theirs);
        assert_eq!(differences, [Difference { field: "--payload", ours: "segment".into(), theirs: "score".into() }]);
    }

    #[test]
    fn either_side_may_insist_on_ranges_and_both_name_the_difference() {
        let (mut ours, mut theirs) = (hello(Role::Receiver), hello(Role::Sender));
        theirs.values = vec![ValueColumn { name: "amount".into(), scale: 2, clamp: Some(Clamp { least: 0, most: 50_000 }) }];
        ours.expected_ranges = vec![ExpectedRange::parse("amount=0..500").expect("a range")];
        assert!(fields(&ours, &theirs).is_empty() && fields(&theirs, &ours).is_empty());
        ours.expected_ranges = vec![ExpectedRange::parse("amount=0..499").expect("a range")];
        let here = Difference { field: "--clamp", ours: "expected amount=0..499".into(), theirs: "amount=0.00..500.00".into() };
        assert_eq!(ours.differences(&theirs), std::slice::from_ref(&here));
        assert_eq!(theirs.differences(&ours), [Difference { ours: here.theirs, theirs: here.ours, ..here }]);
    }

    #[test]
    fn the_peers_text_cannot_steer_a_terminal() {
        let (ours, mut theirs) = (hello(Role::Receiver), hello(Role::Sender));
        theirs.task = format!("\u{1b}[2J{}", "x".repeat(1000));
        let shown = &ours.differences(&theirs)[0].theirs;
        assert!(shown.starts_with("?[2Jx") && shown.ends_with("...") && shown.len() < 300, "{shown}");
    }
}
