//! The list of keys that nobody may use any more, which the file of partners names.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use vesica::Failure;
use vesica::bounded::read_lines;
use vesica::failure::code;
use vesica::party::transport::tls::{PeerKeys, PublicKey, Revocation};

use super::partners::revoked_list;

/// Longest list, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Keys that nobody may use any more.
#[derive(Debug, Default)]
pub struct Revoked {
    path: PathBuf,
    /// Fingerprints, each with its line from 1.
    lines: HashMap<String, usize>,
}

impl Revoked {
    /// The list that a file of partners names, or the user's own one; empty if there is none.
    ///
    /// # Errors
    /// If a file cannot be read, or a line says no key.
    pub fn of_partners(peers: Option<&Path>) -> Result<Self, Failure> {
        match Self::as_far_as_readable(peers) {
            (list, None) => Ok(list),
            (_, Some(fault)) => Err(fault),
        }
    }

    /// Reads the user's own list again, and gives what is wrong with the file or its first damaged line. What can be read
    /// counts all the same, and nothing takes a revocation back: what the list says no more, since a line or the file is
    /// gone, stays.
    pub fn read_again(&mut self) -> Option<Failure> {
        let (list, fault) = Self::as_far_as_readable(None);
        let earlier = std::mem::replace(self, list);
        for (fingerprint, line) in earlier.lines {
            self.lines.entry(fingerprint).or_insert(line);
        }
        fault
    }

    /// The keys of the list that can be read, and what is wrong with the file or its first damaged line.
    fn as_far_as_readable(peers: Option<&Path>) -> (Self, Option<Failure>) {
        match revoked_list(peers) {
            Ok(Some(path)) => Self::read(&path),
            Ok(None) => (Self::default(), None),
            Err(fault) => (Self::default(), Some(fault)),
        }
    }

    /// Reads a list: on each line a revocation that a key has signed, a public key or a fingerprint.
    fn read(path: &Path) -> (Self, Option<Failure>) {
        let refused = |fault: &dyn std::fmt::Display| {
            let fault = format_args!("the list of revoked keys {}: {fault}", path.display());
            Failure::new(
                code::IDENTITY,
                fault,
                "on each line stands a revocation (`vesica identity revoke`), a public key line or a fingerprint; lines that \
                 start with # are comments",
            )
        };
        let mut list = Self { path: path.into(), lines: HashMap::new() };
        let text = match read_lines(path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) => return (list, Some(refused(&error))),
        };
        let mut first_fault = None;
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !is_comment(line)) {
            match fingerprint_of(line) {
                Ok(fingerprint) => _ = list.lines.entry(fingerprint).or_insert(place + 1),
                Err(fault) => {
                    first_fault.get_or_insert_with(|| refused(&format_args!("line {} {fault}", place + 1)));
                }
            }
        }
        (list, first_fault)
    }

    /// Where a key is said to be revoked.
    pub fn place(&self, key: PublicKey) -> Option<String> {
        let line = self.lines.get(&key.fingerprint().to_string())?;
        Some(format!("{}, line {line}", self.path.display()))
    }

    /// What stands behind a key in a page for people, which a statement of then has: nothing, or that it is revoked by now.
    pub fn mark(&self, line: &str) -> String {
        let place = line.parse().ok().and_then(|key| self.place(key));
        place.map_or_else(String::new, |place| format!("; revoked by now ({place})"))
    }

    /// Those of these keys that are revoked, by their fingerprints.
    pub fn among<'a>(&self, lines: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
        let keys = lines.into_iter().filter_map(|line| line.parse::<PublicKey>().ok());
        keys.filter(|key| self.place(*key).is_some()).map(|key| key.fingerprint().to_string()).collect()
    }

    /// Refuses a partner with a revoked key, also one that it has replaced: whoever stole that key may have named the
    /// successor.
    ///
    /// # Errors
    /// If one of its keys is revoked.
    pub fn refuse(&self, peer: &PeerKeys) -> Result<(), Failure> {
        match peer.all().find_map(|key| Some((key, self.place(key)?))) {
            None => Ok(()),
            Some((key, place)) => Err(Failure::new(
                code::IDENTITY,
                format_args!("the partner's key {} is revoked ({place})", key.fingerprint()),
                "ask your partner for the .pub file of a new key, and compare its fingerprint by phone",
            )),
        }
    }

    /// Refuses to use a revoked key of ours.
    ///
    /// # Errors
    /// If it is revoked.
    pub fn refuse_own(&self, key: PublicKey) -> Result<(), Failure> {
        match self.place(key) {
            None => Ok(()),
            Some(place) => Err(Failure::new(
                code::IDENTITY,
                format_args!("your own key {} is revoked ({place})", key.fingerprint()),
                "make a new one with `vesica identity new`, and hand its .pub file to your partners",
            )),
        }
    }
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

/// The fingerprint of the key that a line revokes; or what is wrong with the line.
fn fingerprint_of(line: &str) -> Result<String, &'static str> {
    match (line.parse::<Revocation>(), line.parse::<PublicKey>()) {
        (Ok(revocation), _) => Ok(revocation.key.fingerprint().to_string()),
        (_, Ok(key)) => Ok(key.fingerprint().to_string()),
        _ if line.trim_start().starts_with("vesica-") => Err("is a damaged or forged revocation or key"),
        _ => {
            let word = line.split_whitespace().next().filter(|word| is_fingerprint(word));
            word.map(str::to_owned).ok_or("says no key")
        }
    }
}

/// Whether a word has the form of a fingerprint: eight groups of four letters of base32.
fn is_fingerprint(word: &str) -> bool {
    let is_group = |group: &str| group.len() == 4 && group.bytes().all(|c| matches!(c, b'a'..=b'z' | b'2'..=b'7'));
    word.split('-').count() == 8 && word.split('-').all(is_group)
}
