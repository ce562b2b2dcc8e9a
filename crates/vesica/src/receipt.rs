//! The disclosure receipt: what was run, signed by both sides.
//!
//! The statement holds what both sides know: the session, the protocol, its parameters, the padded
//! sizes, what was revealed to whom and the transcript's hash. It holds no result size (a
//! jointly signed one would tell the sender how many keys match) and no digest of an input (which
//! would invite guessing).
//!
//! A signature is Ed25519 over `vesica receipt v1`, a line feed, and the statement as compact JSON,
//! fields in the order of [`Statement`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vesica_party::transport::tls::{Identity, PublicKey};
use vesica_party::{Role, Security};

use crate::bounded::read_text;
use crate::failure::{Failure, code};
use crate::handshake::Hello;
use crate::policy::bound_to;
use crate::table::ValueColumn;

/// What both sides sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Version of the wire format.
    pub wire_version: u32,
    /// Hash of the agreed configuration, sizes, nonces and the TLS session, in hexadecimal.
    pub session: String,
    /// Hash of all that the two sides said until the protocol ended, in hexadecimal.
    pub transcript: String,
    /// Seconds since 1970 by the receiver's clock when the two sides met. From wire version 5 on,
    /// the sender's clock was within ten minutes of it.
    pub started_at: u64,
    /// The task.
    pub task: String,
    /// The protocol's id.
    pub protocol: String,
    /// How the protocol fails; absent unless it is broken, and then `security` is only a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Why this one was chosen.
    pub choice: String,
    /// The security that both sides asked for.
    pub security: Security,
    /// Whether both sides asked for what no quantum computer is known to break; absent if they did not.
    #[serde(default, skip_serializing_if = "is_not")]
    pub post_quantum: bool,
    /// The group in which the keys of the TLS session were agreed on; absent before wire version 14.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_exchange: Option<String>,
    /// Distinct keys of the sender, dummies included.
    pub sender_items: u64,
    /// Distinct keys of the receiver, dummies included.
    pub receiver_items: u64,
    /// In how many buckets the protocol ran, each side's of one size; absent for a run on the whole tables.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub buckets: u32,
    /// How many runs of buckets were begun, those that failed or broke off included; absent for a run on one machine a
    /// side that is kept in no record. Each showed its partner what a query about all items of the bucket shows. A later
    /// pass that was taken again is no further run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// The hash, in hexadecimal, of what both drivers signed of the last wave, with all waves before it; absent of runs on
    /// one machine a side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<String>,
    /// Whether the sender learned its matches too.
    pub both_learn: bool,
    /// Name and version of the key digest.
    pub key_digest: String,
    /// Normalisers of each key column.
    pub key_columns: Vec<String>,
    /// The same of each alternative key; absent without alternatives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or_keys: Vec<Vec<String>>,
    /// The sender's payload columns.
    pub payload_columns: Vec<String>,
    /// The width of the payload of one key, in bytes.
    pub payload_bytes: u64,
    /// The sender's columns to compute with, their scales and ranges.
    pub sender_values: Vec<ValueColumn>,
    /// The receiver's columns to compute with, their scales and ranges.
    pub receiver_values: Vec<ValueColumn>,
    /// Groups of the receiver's keys; 1 without `--group-by`.
    pub groups: u64,
    /// A group with fewer common keys than this gave nothing.
    pub reveal_if_at_least: u64,
    /// The epsilon of the sender's noise; absent without noise.
    pub noise_epsilon: Option<String>,
    /// What the run revealed, and to whom.
    pub revealed: Vec<String>,
    /// The sender's policy for the receiver; absent if it had none, and before wire version 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_policy: Option<PolicyOf>,
    /// The receiver's policy for the sender; absent if it had none, and before wire version 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_policy: Option<PolicyOf>,
    /// The sender's public key line.
    pub sender_key: String,
    /// The receiver's public key line.
    pub receiver_key: String,
}

/// What a receipt says of a side's policy: a hash by which who has the policy can tell that it was this one. Two receipts
/// of one policy have different ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOf {
    /// The side's nonce of the session, in hexadecimal.
    pub nonce: String,
    /// The hash of nonce and policy ([`bound_to`]), in hexadecimal.
    pub hash: String,
}

/// The policies of both sides for each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies {
    pub sender: Option<PolicyOf>,
    pub receiver: Option<PolicyOf>,
}

impl PolicyOf {
    /// What two sides said of theirs.
    pub(crate) fn both(ours: &Hello, theirs: &Hello) -> Policies {
        let of = |role| {
            let hello = if ours.role == role { ours } else { theirs };
            hello.policy.map(|hash| Self { nonce: to_hex(&hello.nonce), hash: to_hex(&hash) })
        };
        Policies { sender: of(Role::Sender), receiver: of(Role::Receiver) }
    }

    /// Whether it is of the policy with this digest.
    pub fn is_of(&self, digest: &[u8; 32]) -> bool {
        let bound = from_hex(&self.nonce).map(|nonce| to_hex(&bound_to(digest, &nonce)));
        bound.is_some_and(|bound| bound.eq_ignore_ascii_case(&self.hash))
    }
}

fn one() -> u32 {
    1
}

fn is_not(said: &bool) -> bool {
    !said
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

impl Statement {
    /// The bytes that are signed.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let mut bytes = b"vesica receipt v1\n".to_vec();
        // Plain fields into memory: serialising cannot fail.
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes
    }

    /// This side's signature.
    pub(crate) fn sign(&self, identity: &Identity) -> Option<[u8; 64]> {
        identity.sign(&self.signed_bytes())
    }
}

/// A statement with the signatures under it, as `--receipt` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// What is stated.
    pub statement: Statement,
    /// The sender's signature in hexadecimal; absent if it did not arrive in time.
    pub sender_signature: Option<String>,
    /// The receiver's signature in hexadecimal; absent if it did not arrive in time.
    pub receiver_signature: Option<String>,
}

/// Longest receipt file that is read.
const FILE_LIMIT: u64 = 1 << 20;

impl Receipt {
    /// Reads what `--receipt` wrote. That says nothing yet of its signatures, see
    /// [`Receipt::verify`].
    ///
    /// # Errors
    /// If the file cannot be read or is no receipt of this version.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let refused = |error: &dyn std::fmt::Display| {
            let fault = format_args!("cannot read the receipt {}: {error}", path.display()).to_string();
            Failure::new(code::INPUT, fault, "name a file that `--receipt` of a join wrote")
        };
        let text = read_text(path, FILE_LIMIT).map_err(|error| refused(&error))?;
        // A parser's message may hold the file's text, which may not be a receipt at all.
        serde_json::from_str(&text).map_err(|error| {
            refused(&format_args!("it is no receipt (line {}, column {})", error.line(), error.column()))
        })
    }

    /// Which of the two signatures (sender's, receiver's) are there and right.
    pub fn verify(&self) -> (bool, bool) {
        let right = |key: &str, signature: &Option<String>| {
            let key: Option<PublicKey> = key.parse().ok();
            let signature = signature.as_deref().and_then(from_hex::<64>);
            key.zip(signature).is_some_and(|(key, signature)| key.verifies(&self.statement.signed_bytes(), &signature))
        };
        (
            right(&self.statement.sender_key, &self.sender_signature),
            right(&self.statement.receiver_key, &self.receiver_signature),
        )
    }

    /// A receipt that both sides signed, for tests and fuzzers.
    pub(crate) fn example() -> Option<Self> {
        let (sender, receiver) = (Identity::generate().ok()?, Identity::generate().ok()?);
        let statement = Statement {
            wire_version: 1,
            session: "00".repeat(32),
            transcript: "11".repeat(32),
            started_at: 1_700_000_000,
            task: "intersect".into(),
            protocol: "rr22".into(),
            broken: None,
            choice: "the only one that both sides allow".into(),
            security: Security::Malicious,
            post_quantum: true,
            key_exchange: Some("X25519MLKEM768".into()),
            sender_items: 10,
            receiver_items: 20,
            buckets: 1,
            attempts: None,
            commits: None,
            both_learn: false,
            key_digest: "vesica-key@2".into(),
            key_columns: vec!["email@2".into()],
            or_keys: vec![],
            payload_columns: vec![],
            payload_bytes: 0,
            sender_values: vec![],
            receiver_values: vec![],
            groups: 1,
            reveal_if_at_least: 0,
            noise_epsilon: None,
            revealed: vec!["to the receiver: which of its keys the sender has".into()],
            sender_policy: Some(PolicyOf { nonce: "22".repeat(32), hash: "33".repeat(32) }),
            receiver_policy: None,
            sender_key: sender.public().to_string(),
            receiver_key: receiver.public().to_string(),
        };
        let by = |identity: &Identity| statement.sign(identity).map(|signature| to_hex(&signature));
        let (sender_signature, receiver_signature) = (by(&sender), by(&receiver));
        Some(Self { statement, sender_signature, receiver_signature })
    }

    /// The receipt as JSON.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Plain fields into memory: serialising cannot fail.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}

/// `bytes` in hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that `text` gives in hexadecimal.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed() -> Receipt {
        Receipt::example().expect("randomness")
    }

    /// Receipts that runs of an earlier wire version wrote.
    #[test]
    fn earlier_receipts_still_verify() {
        for (text, task) in [
            (include_str!("../tests/receipts/wire-5-intersect.json"), "intersect"),
            (include_str!("../tests/receipts/wire-5-sum.json"), "sum"),
        ] {
            let mut receipt: Receipt = serde_json::from_str(text).expect("a receipt");
            assert_eq!((receipt.statement.wire_version, receipt.statement.task.as_str()), (5, task));
            assert_eq!(receipt.verify(), (true, true), "{task}");
            receipt.statement.groups += 1;
            assert_eq!(receipt.verify(), (false, false), "{task}");
        }
    }

    #[test]
    fn a_receipt_read_back_verifies_and_a_changed_one_does_not() {
        let receipt = signed();
        let text = serde_json::to_string_pretty(&receipt).expect("JSON");
        let mut again: Receipt = serde_json::from_str(&text).expect("its own JSON");
        assert_eq!(again.verify(), (true, true));
        again.statement.sender_items += 1;
        assert_eq!(again.verify(), (false, false));
        again = receipt.clone();
        again.statement.broken = Some("it is not".into());
        assert_eq!(again.verify(), (false, false));
        again = receipt.clone();
        again.statement.or_keys.push(vec!["as it is".into()]);
        assert_eq!(again.verify(), (false, false));
        again = receipt.clone();
        again.statement.post_quantum = false;
        assert_eq!(again.verify(), (false, false));
        for key_exchange in [None, Some("X25519".to_owned())] {
            again = receipt.clone();
            again.statement.key_exchange = key_exchange;
            assert_eq!(again.verify(), (false, false));
        }
        again = receipt.clone();
        again.statement.transcript.replace_range(0..1, "2");
        assert_eq!(again.verify(), (false, false));
        again = signed();
        again.receiver_signature = again.sender_signature.clone();
        assert_eq!(again.verify(), (true, false));
        again.sender_signature = None;
        assert_eq!(again.verify(), (false, false));
    }
}
