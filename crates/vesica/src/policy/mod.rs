//! What may be done with a partner: rules that its entry in the file of partners states (`docs/policy.md`).
//!
//! Rules about settings are looked at before the partner is asked for anything ([`Policy::check_settings`]); those about
//! the own table before its size is told ([`Policy::check_own_keys`], `Policy::compare`); those about what both sides
//! agree on before the protocol begins ([`Policy::check_agreed`]), and then the run is counted (`Policy::count`). The
//! partner hears that a policy refuses the run, and sees which of these four points it came to.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod changes;
mod check;
mod count_file;
mod counts;
mod inputs;
mod rules;
mod shapes;

use std::path::{Path, PathBuf};

use vesica_party::transport::tls::{Identity, PeerKeys, PublicKey};

use crate::failure::{Failure, code};
use crate::receipt::{from_hex, to_hex};
use crate::session::Protection;
use crate::written::{Setting, Value};

pub use check::{Agreed, Intended};
pub use counts::Left;
pub(crate) use counts::{Beginning, Count, HeldTable};
pub use rules::Rule;
pub use shapes::{SETTINGS, Shape, ShapedSetting};

/// What the partner hears of a run that a rule refuses.
const TOLD: &str = "its policy for this partner does not allow this run";

/// A rule with the line that states it.
#[derive(Debug)]
pub struct Ruled {
    /// The line, from 1.
    pub line: usize,
    /// The rule.
    pub rule: Rule,
}

/// The rules for one partner.
#[derive(Debug)]
pub struct Policy {
    /// The file that states them.
    file: PathBuf,
    /// What this side calls the partner.
    partner: String,
    /// In the order of the file.
    rules: Vec<Ruled>,
    /// Where runs are counted.
    state: Option<PathBuf>,
    /// The partner's keys. Runs are counted by the one under which it was first known.
    keys: PeerKeys,
    digest: [u8; 32],
}

impl Policy {
    /// The rules that `settings` of `file` state for a partner. Runs are counted by the first of its `keys`, in the folder
    /// that the rules name, or in `state`.
    ///
    /// # Errors
    /// The line, and what is wrong there.
    pub fn read(
        (file, partner, keys): (&Path, &str, PeerKeys),
        settings: &[Setting],
        state: Option<PathBuf>,
    ) -> Result<Self, String> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let rules::Read { rules, state: own } = rules::read(settings, folder)?;
        Ok(Self {
            file: file.into(),
            partner: partner.into(),
            rules,
            state: own.or(state),
            keys,
            digest: digest(settings),
        })
    }

    /// The rules.
    pub fn rules(&self) -> &[Ruled] {
        &self.rules
    }

    /// The file that states them.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The hash of what the rules say, whichever file says it and in whatever order.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The digest in hexadecimal, as reports, logs and people have it.
    pub fn digest_text(&self) -> String {
        to_hex(&self.digest)
    }

    /// Refuses rules that were written for another partner than the one of this connection.
    ///
    /// # Errors
    /// If it has none of the keys of the one for which they were.
    pub(crate) fn check_partner(&self, protection: &Protection) -> Result<(), Failure> {
        let Protection::Tls { peer, .. } = protection else { return Ok(()) };
        if self.keys.all().any(|key| peer.all().any(|other| key == other)) {
            return Ok(());
        }
        let of = |keys: &PeerKeys| keys.newest().fingerprint().to_string();
        let fault = format!(
            "the policy of {} is for {}, whose key is {}, and the partner of this run has {}",
            self.file.display(),
            self.partner,
            of(&self.keys),
            of(peer)
        );
        let mend = "set the policy that was read for this partner, or the partner's own key";
        Err(Failure { told: Some(TOLD), ..Failure::new(code::USAGE, fault, mend) })
    }

    /// Refuses these rules for a connection to another partner than the one for which they were written, or to one that
    /// nothing shows to be it.
    ///
    /// # Errors
    /// If it is one.
    pub(crate) fn check_connection(&self, protection: &Protection) -> Result<(), Failure> {
        match protection {
            Protection::Tls { .. } => self.check_partner(protection),
            Protection::InsecurePlaintext => {
                let fault = "a policy is for a partner whose key is known";
                Err(Failure::new(code::USAGE, fault, "omit --insecure-plaintext, or the policy"))
            }
        }
    }

    /// The refusal of a run in which `what` is against a rule.
    fn refusal(&self, ruled: &Ruled, what: &str) -> Failure {
        let Ruled { line, rule } = ruled;
        let fault = format_args!(
            "{}, line {line}: your policy for {} has `{rule}`, and {what}",
            self.file.display(),
            self.partner
        );
        let mend = "change the run; whoever answers for that file can change the rule";
        Failure { told: Some(TOLD), ..Failure::new(code::REFUSED, fault, mend) }
    }

    /// The failure of a policy that cannot be kept.
    fn unusable(&self, what: impl std::fmt::Display) -> Failure {
        let fault = format_args!("runs with {} cannot be counted, as your policy says: {what}", self.partner);
        let mend = "name a folder for that in the policy, for example state = \"/var/lib/vesica\", that this user can \
                    write to and nobody else";
        Failure { told: Some(TOLD), ..Failure::new(code::REFUSED, fault, mend) }
    }
}

/// The hash of what rules say: BLAKE3 over each `name = value` in the order of names, the values as JSON.
fn digest(settings: &[Setting]) -> [u8; 32] {
    let mut lines: Vec<String> = settings
        .iter()
        .map(|Setting { key, value, .. }| {
            let value = match value {
                Value::Word(word) => serde_json::json!(word),
                Value::Switch(is_on) => serde_json::json!(is_on),
                Value::List(words) => serde_json::json!(words),
                Value::Columns(columns) => serde_json::json!(columns),
            };
            format!("{key} = {value}\n")
        })
        .collect();
    lines.sort();
    blake3::derive_key("vesica 2026-11-30 rules of a policy v1", lines.concat().as_bytes())
}

/// What a receipt has of the policy of one side: its digest under the side's nonce of the session. Who has the policy can
/// check that it was this one, and who guesses all of its rules can check the guess; else two runs under the same policy
/// look like two under different ones.
pub fn bound_to(digest: &[u8; 32], nonce: &[u8; 32]) -> [u8; 32] {
    blake3::derive_key("vesica 2026-11-30 policy in a receipt v1", &[nonce.as_slice(), digest].concat())
}

/// What the owner of a policy signs: its bytes behind what they are.
fn signed_bytes(text: &str) -> Vec<u8> {
    format!("vesica policy v1\n{text}").into_bytes()
}

/// A signature under the text of a file of rules, as the file beside it has it.
pub fn sign(text: &str, identity: &Identity) -> Option<String> {
    Some(format!("{}\n{}\n", identity.public(), to_hex(&identity.sign(&signed_bytes(text))?)))
}

/// Whether `signature` is one of `signer` under this text.
pub fn is_signed(text: &str, signature: &str, signer: &PublicKey) -> bool {
    let mut lines = signature.lines();
    let (key, signature) = (lines.next(), lines.next());
    let key: Option<PublicKey> = key.and_then(|key| key.parse().ok());
    key.as_ref() == Some(signer)
        && signature.and_then(from_hex).is_some_and(|signature| signer.verifies(&signed_bytes(text), &signature))
}

#[cfg(test)]
mod tests;
