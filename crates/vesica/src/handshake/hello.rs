//! What a side wants of the run, and how it differs from what the other side wants.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use vesica_party::{Role, Security};

use crate::buckets::said;
use crate::plan::Link;

/// Longest text of the peer that is shown.
const SHOWN: usize = 200;

/// A side's configuration: every field on which both must agree, and the task's proposal. Never
/// holds a key, an item or a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The side's role.
    pub role: Role,
    /// The task's name, for example `intersect`.
    pub task: String,
    /// The least security that the side accepts.
    pub security: Security,
    /// Whether nothing may run that a quantum computer is known to break.
    pub post_quantum: bool,
    /// Ids of the protocols that the side would run.
    pub protocols: Vec<String>,
    /// Name and version of the digest that stands for a key.
    pub key_digest: String,
    /// The normalisers of each key column, in key order.
    pub key_columns: Vec<String>,
    /// The same of each alternative key.
    pub or_keys: Vec<Vec<String>>,
    /// In how many buckets the task runs; 1 for a run on the whole tables, 0 for as many as the sizes call for.
    pub buckets: u32,
    /// Whether a run on the whole tables that does not fit in memory may be divided into buckets.
    pub may_divide: bool,
    /// Whether the run is kept in a record, with which it goes on if it breaks off.
    pub resume: bool,
    /// Whether workers of a cluster run the buckets, each over a connection of its own.
    pub cluster: bool,
    /// The link between the sides, if its user named one: protocols are compared over the slower of
    /// what the two say.
    pub link: Option<Link>,
    /// Whether the side only compares settings, and ends before sizes are exchanged.
    pub dry_run: bool,
    /// Seconds since 1970 by the side's clock when the two sides met. The receiver's is the date of
    /// the receipt.
    pub clock: u64,
    /// The digest of the side's policy for its partner under the nonce, if it has one: for the receipt.
    pub policy: Option<[u8; 32]>,
    /// Fresh randomness.
    pub nonce: [u8; 32],
    /// To the side's share of the salt, which it opens with its sizes.
    pub salt_commitment: [u8; 32],
    /// What the side says of the task: bytes that the task reads. They travel before the other
    /// fields.
    #[serde(skip)]
    pub proposal: Vec<u8>,
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
    printable_within(text, SHOWN)
}

/// As [`printable`], with at most `most` characters.
pub fn printable_within(text: &str, most: usize) -> String {
    let visible = text.chars().map(|c| {
        if c.is_control() || matches!(c, '\u{200b}'..='\u{202e}' | '\u{2066}'..='\u{2069}') { '?' } else { c }
    });
    let mut shown: String = visible.clone().take(most).collect();
    if visible.count() > most {
        shown.push_str("...");
    }
    shown
}

impl Difference {
    /// A field with both sides' values, made fit to be shown.
    pub fn new(field: &'static str, ours: &dyn Display, theirs: &dyn Display) -> Self {
        Self { field, ours: printable(&ours.to_string()), theirs: printable(&theirs.to_string()) }
    }
}

/// What is done to each column of a key, in words.
fn describe(columns: &[String]) -> String {
    let each = columns.iter().enumerate().map(|(i, how)| format!("column {} {how}", i + 1));
    each.collect::<Vec<_>>().join("; ")
}

/// Names with commas between them, fit to be shown.
pub(crate) fn list(values: &[String]) -> String {
    if values.is_empty() { "none".into() } else { printable(&values.join(", ")) }
}

impl Hello {
    /// The number of key columns, those of alternatives included.
    pub(crate) fn all_key_columns(&self) -> usize {
        self.key_columns.len() + self.or_keys.iter().map(Vec::len).sum::<usize>()
    }

    /// Every field on which `self` and the peer's `theirs` disagree, except for the
    /// role; those of the task are known if both name the same task.
    pub fn differences(&self, theirs: &Self, of_task: Vec<Difference>) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut compare = |field, agree: bool, ours: &dyn Display, theirs: &dyn Display| {
            if !agree {
                found.push(Difference::new(field, ours, theirs));
            }
        };
        compare("--dry-run", self.dry_run == theirs.dry_run, &self.dry_run, &theirs.dry_run);
        compare("--task", self.task == theirs.task, &self.task, &theirs.task);
        compare("--security", self.security == theirs.security, &self.security, &theirs.security);
        let asks_the_same = self.post_quantum == theirs.post_quantum;
        compare("--post-quantum", asks_the_same, &self.post_quantum, &theirs.post_quantum);
        compare("--buckets", self.buckets == theirs.buckets, &said(self.buckets), &said(theirs.buckets));
        compare("--resume", self.resume == theirs.resume, &self.resume, &theirs.resume);
        compare("run on a cluster", self.cluster == theirs.cluster, &self.cluster, &theirs.cluster);
        compare("key digest", self.key_digest == theirs.key_digest, &self.key_digest, &theirs.key_digest);
        compare(
            "number of --key columns",
            self.key_columns.len() == theirs.key_columns.len(),
            &self.key_columns.len(),
            &theirs.key_columns.len(),
        );
        if self.key_columns.len() == theirs.key_columns.len() && self.key_columns != theirs.key_columns {
            compare("--normalise", false, &describe(&self.key_columns), &describe(&theirs.key_columns));
        }
        let (our_count, their_count) = (self.or_keys.len(), theirs.or_keys.len());
        compare("number of --or-key alternatives", our_count == their_count, &our_count, &their_count);
        let pairs = self.or_keys.iter().zip(&theirs.or_keys).filter(|_| our_count == their_count);
        if let Some((number, (ours, theirs))) = (1..).zip(pairs).find(|(_, (ours, theirs))| ours != theirs) {
            let field =
                if ours.len() == theirs.len() { "--normalise of an --or-key" } else { "columns of an --or-key" };
            let of = |columns: &[String]| format!("--or-key number {number}: {}", describe(columns));
            compare(field, false, &of(ours), &of(theirs));
        }
        found.extend(of_task);
        // Which protocols a side allows follows from --post-quantum, too.
        if asks_the_same && !self.protocols.iter().any(|id| theirs.protocols.contains(id)) {
            found.push(Difference::new("--protocol", &list(&self.protocols), &list(&theirs.protocols)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(role: Role) -> Hello {
        Hello {
            role,
            task: "intersect".into(),
            security: Security::Malicious,
            post_quantum: false,
            protocols: vec!["rr22".into(), "vole-fast".into()],
            key_digest: "vesica-key@2".into(),
            key_columns: vec!["email@2".into()],
            or_keys: vec![vec!["digits@2".into()]],
            buckets: 1,
            may_divide: true,
            resume: false,
            cluster: false,
            link: None,
            dry_run: false,
            clock: 0,
            policy: None,
            nonce: [7; 32],
            salt_commitment: [8; 32],
            proposal: Vec::new(),
        }
    }

    fn fields(ours: &Hello, theirs: &Hello) -> Vec<&'static str> {
        ours.differences(theirs, Vec::new()).into_iter().map(|difference| difference.field).collect()
    }

    #[test]
    fn every_field_is_compared_and_named() {
        let (ours, theirs) = (hello(Role::Receiver), hello(Role::Sender));
        assert!(fields(&ours, &theirs).is_empty());
        type Change = fn(&mut Hello);
        let changes: [(&str, Change); 15] = [
            ("--dry-run", |h| h.dry_run = true),
            ("--task", |h| h.task = "union".into()),
            ("--security", |h| h.security = Security::SemiHonest),
            ("--post-quantum", |h| {
                h.post_quantum = true;
                h.protocols = vec!["vole-fast:base-ot=ml-kem".into()];
            }),
            ("--buckets", |h| h.buckets = 64),
            ("--resume", |h| h.resume = true),
            ("run on a cluster", |h| h.cluster = true),
            ("key digest", |h| h.key_digest = "vesica-key@1".into()),
            ("number of --key columns", |h| h.key_columns.push("as it is".into())),
            ("--normalise", |h| h.key_columns = vec!["lower@1".into()]),
            ("number of --or-key alternatives", |h| h.or_keys.clear()),
            ("number of --or-key alternatives", |h| h.or_keys.push(Vec::new())),
            ("columns of an --or-key", |h| h.or_keys = vec![Vec::new()]),
            ("--normalise of an --or-key", |h| h.or_keys = vec![vec!["as it is".into()]]),
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
    fn the_peers_text_cannot_steer_a_terminal() {
        let (ours, mut theirs) = (hello(Role::Receiver), hello(Role::Sender));
        theirs.task = format!("\u{1b}[2J{}", "x".repeat(1000));
        let shown = &ours.differences(&theirs, Vec::new())[0].theirs;
        assert!(shown.starts_with("?[2Jx") && shown.ends_with("...") && shown.len() < 300, "{shown}");
    }
}
