//! The file of a server's clients: a public key a line, successors of keys, and revocations.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::path::Path;

use vesica::Failure;
use vesica::bounded::read_lines;
use vesica::failure::code;
use vesica::party::transport::tls::{AcceptedKeys, PeerKeys, PublicKey, Revocation, Succession};

use super::sides::usage;
use crate::settings::Revoked;

/// Longest file, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Reads the clients' keys. None is left if all are revoked, there or on the user's `own` list.
///
/// # Errors
/// If the file cannot be read, a line is damaged, or no line has a key.
pub fn read(path: &Path, own: &Revoked) -> Result<Vec<PeerKeys>, Failure> {
    Listed::read(path, own).clients(path)
}

/// What came of reading the clients' keys while a server answers them.
pub struct ReadAgain {
    /// How many clients there are now; or why they are as before, but for those whose keys are revoked.
    pub outcome: Result<usize, Failure>,
    /// How many keys are not accepted any more.
    pub gone: usize,
}

/// Reads the clients' keys again. Where a line is damaged, or one of the two files cannot be read, the revocations that can
/// be read count all the same. `own` is what the user's list has said so far.
pub fn read_again(path: &Path, accepted: &AcceptedKeys, own: &mut Revoked) -> ReadAgain {
    let unread = own.read_again();
    let listed = Listed::read(path, own);
    match unread.map_or_else(|| listed.clients(path), Err) {
        // Once all are revoked, nobody may ask; that must not leave the clients as they were.
        Ok(clients) => ReadAgain { outcome: Ok(clients.len()), gone: accepted.replace(clients).unwrap_or(0) },
        Err(failure) => {
            let ended = listed.ended();
            let is_ended = |key: PublicKey| ended.contains(&key) || listed.is_revoked(key);
            let gone = accepted.remove(|client| client.all().any(is_ended));
            ReadAgain { outcome: Err(failure), gone: gone.unwrap_or(0) }
        }
    }
}

/// What the lines of a file say, as far as they can be read.
struct Listed<'a> {
    clients: Vec<PeerKeys>,
    revoked: HashSet<PublicKey>,
    /// The user's own list of revoked keys.
    own: &'a Revoked,
    /// Why the file cannot be read, or what is wrong with the first damaged line.
    fault: Option<String>,
    /// Where the client with this key as its newest one stands among `clients`.
    places: HashMap<PublicKey, usize>,
    /// All keys of clients.
    seen: HashSet<PublicKey>,
}

impl<'a> Listed<'a> {
    fn read(path: &Path, own: &'a Revoked) -> Self {
        let (clients, revoked, places, seen) = Default::default();
        let mut listed = Self { clients, revoked, own, fault: None, places, seen };
        let text = match read_lines(path, MOST_BYTES) {
            Ok(text) => text,
            Err(error) => return Self { fault: Some(error.to_string()), ..listed },
        };
        let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
        // Files that were joined may have a mark of their encoding in the middle.
        let lines = text.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
        for (place, line) in lines.enumerate().filter(|(_, line)| !is_comment(line)) {
            if let Err(fault) = listed.take(line) {
                listed.fault.get_or_insert_with(|| format!("line {}: {fault}", place + 1));
            }
        }
        listed
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with("vesica-revocation") {
            let revocation = line.parse::<Revocation>();
            let fault = |fault| format!("a damaged revocation, which does not show whose key it revokes: {fault}");
            self.revoked.insert(revocation.map_err(fault)?.key);
            return Ok(());
        }
        let new = if line.starts_with("vesica-succession") {
            let succession = line.parse::<Succession>().map_err(|fault| fault.to_string())?;
            let client =
                self.places.remove(&succession.old).and_then(|place| Some((place, self.clients.get_mut(place)?)));
            let (place, client) = client.ok_or("no earlier line has the key that is replaced")?;
            *client = client.clone().followed_by(&succession).map_err(|fault| fault.to_string())?;
            self.places.insert(succession.new, place);
            succession.new
        } else {
            let key: PublicKey = line.parse().map_err(|_| "no public key")?;
            self.places.insert(key, self.clients.len());
            self.clients.push(key.into());
            key
        };
        match self.seen.insert(new) {
            true => Ok(()),
            false => Err("the same key as on an earlier line".into()),
        }
    }

    /// The clients, without those that have a revoked key.
    fn clients(&self, path: &Path) -> Result<Vec<PeerKeys>, Failure> {
        match &self.fault {
            Some(fault) => Err(unusable(path, fault)),
            None if self.clients.is_empty() && self.revoked.is_empty() => {
                Err(usage("the file of --clients has no key, so nobody could ask", "add the .pub line of a client"))
            }
            None => Ok(self.clients.iter().filter(|client| !self.has_revoked(client)).cloned().collect()),
        }
    }

    /// All keys of clients who have a revoked one.
    fn ended(&self) -> HashSet<PublicKey> {
        self.clients.iter().filter(|client| self.has_revoked(client)).flat_map(PeerKeys::all).collect()
    }

    fn has_revoked(&self, client: &PeerKeys) -> bool {
        client.all().any(|key| self.is_revoked(key))
    }

    fn is_revoked(&self, key: PublicKey) -> bool {
        self.revoked.contains(&key) || self.own.place(key).is_some()
    }
}

fn unusable(path: &Path, what: &dyn Display) -> Failure {
    let mend = "write the line of each client's .pub file into it; lines that start with # are comments";
    Failure::new(code::IDENTITY, format_args!("the clients' keys in {}: {what}", path.display()), mend)
}
