//! What there is to say of a key.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use vesica::Failure;
use vesica::bounded::read_text;
use vesica::failure::code;
use vesica::party::transport::tls::{IdentityFile, PeerKeys, PublicKey, Succession};

use super::succession::{ENDING, MAX_STATEMENTS};
use crate::identity::{self, OwnKey};
use crate::settings::Revoked;

/// What there is to say of a key, our own or a partner's.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The line of the public key; of a partner with several, of the newest.
    public_line: String,
    fingerprint: String,
    /// Of our own key, the file of the private half.
    #[serde(skip_serializing_if = "Option::is_none")]
    private_key: Option<PrivateKey>,
    /// Keys that it replaces.
    replaces: Vec<Other>,
    /// Of our own key, keys that replace it.
    replaced_by: Vec<Other>,
    /// Of a partner, the key under which it was first known, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_as: Option<String>,
    /// Which of these keys, but for those that replace it, are on the list of revoked keys.
    revoked: Vec<Revocation>,
}

#[derive(Debug, Serialize)]
struct PrivateKey {
    file: PathBuf,
    is_encrypted: bool,
    /// The file that the public line was taken from, without a look at the private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    unchecked: Option<PathBuf>,
}

/// A key before or behind another, and the last day of the earlier one.
#[derive(Debug, PartialEq, Serialize)]
struct Other {
    fingerprint: String,
    until: String,
    /// The file of the statement, if it is not that of the keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Revocation {
    fingerprint: String,
    place: String,
}

impl Shown {
    /// A partner's keys.
    ///
    /// # Errors
    /// If the list of revoked keys cannot be read.
    pub fn of_partner(keys: &PeerKeys) -> Result<Self, Failure> {
        let newest = keys.newest();
        let replaces = keys.all().filter_map(|key| {
            let until = keys.last_day(key)?.to_string();
            Some(Other { fingerprint: key.fingerprint().to_string(), until, file: None })
        });
        let first = keys.known_as();
        Ok(Self {
            replaces: replaces.collect(),
            known_as: (first != newest).then(|| first.fingerprint().to_string()),
            revoked: revoked(keys.all())?,
            ..Self::new(newest)
        })
    }

    /// Our own key. The passphrase of an encrypted one is asked for only if its public line is not in the file beside it.
    ///
    /// # Errors
    /// If the key or the list of revoked keys cannot be read.
    pub fn own(key: OwnKey<'_>, note: &dyn Fn(&str)) -> Result<Self, Failure> {
        let file = identity::own_file(key, note)?;
        let beside = file.with_extension("pub");
        let read = IdentityFile::read(&file).map_err(identity::failed)?;
        let is_encrypted = matches!(read, IdentityFile::Locked(_));
        let public = PublicKey::load(&beside).ok().filter(|_| is_encrypted && key.passphrase_file.is_none());
        let (public, unchecked) = match public {
            Some(public) => (public, Some(beside.clone())),
            None => (identity::unlocked(read, &file, key.passphrase_file, note)?.0.public(), None),
        };
        let statements = statements(&file, &beside);
        let other = |key: PublicKey, (file, succession): &(PathBuf, Succession)| Other {
            fingerprint: key.fingerprint().to_string(),
            until: succession.until.to_string(),
            file: Some(file.clone()),
        };
        let replaces = statements.iter().filter(|(_, statement)| statement.new == public);
        let replaced_by = statements.iter().filter(|(_, statement)| statement.old == public);
        let earlier = replaces.clone().map(|(_, statement)| statement.old);
        Ok(Self {
            private_key: Some(PrivateKey { file, is_encrypted, unchecked }),
            revoked: revoked([public].into_iter().chain(earlier))?,
            replaces: replaces.map(|statement| other(statement.1.old, statement)).collect(),
            replaced_by: replaced_by.map(|statement| other(statement.1.new, statement)).collect(),
            ..Self::new(public)
        })
    }

    fn new(key: PublicKey) -> Self {
        Self {
            public_line: key.to_string(),
            fingerprint: key.fingerprint().to_string(),
            private_key: None,
            replaces: Vec::new(),
            replaced_by: Vec::new(),
            known_as: None,
            revoked: Vec::new(),
        }
    }

    /// One JSON object.
    ///
    /// # Errors
    /// If a path is no text.
    pub fn json(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(self);
        text.map(|text| text + "\n").map_err(|error| {
            Failure::new(code::INPUT, format_args!("the key cannot be shown as JSON: {error}"), "rename its file")
        })
    }

    /// Lines for people.
    pub fn text(&self) -> String {
        let mut text = format!("{}\nfingerprint: {}\n", self.public_line, self.fingerprint);
        // Writing to a String cannot fail.
        if let Some(PrivateKey { file, is_encrypted, unchecked }) = &self.private_key {
            let told = match unchecked {
                Some(public) => format!(
                    "encrypted; the public key is what {} says, and --passphrase-file has it checked",
                    public.display()
                ),
                None if *is_encrypted => "encrypted".into(),
                None => "not encrypted".into(),
            };
            let _ = writeln!(text, "private key: {} ({told})", file.display());
        }
        let place = |other: &Other| other.file.as_ref().map(|file| format!("; {}", file.display())).unwrap_or_default();
        for other in &self.replaces {
            let _ =
                writeln!(text, "replaces:    {} (accepted until {}{})", other.fingerprint, other.until, place(other));
        }
        for other in &self.replaced_by {
            let Other { fingerprint, until, .. } = other;
            let _ = writeln!(text, "replaced by: {fingerprint} (this key is accepted until {until}{})", place(other));
        }
        if let Some(first) = &self.known_as {
            let _ = writeln!(text, "known as:    {first} (budgets and quotas count under it)");
        }
        for Revocation { fingerprint, place } in &self.revoked {
            let _ = writeln!(text, "revoked:     {fingerprint} ({place})");
        }
        text
    }
}

/// Those of the keys that are on the list of revoked ones.
fn revoked(keys: impl Iterator<Item = PublicKey>) -> Result<Vec<Revocation>, Failure> {
    let list = Revoked::of_partners(None)?;
    let of = |key: PublicKey| Some(Revocation { place: list.place(key)?, fingerprint: key.fingerprint().to_string() });
    Ok(keys.filter_map(of).collect())
}

/// The statements about successors in the file of the public key, and in those of `vesica identity rotate` in the folder
/// of the private one. What is no such statement says nothing here.
fn statements(private: &Path, public: &Path) -> Vec<(PathBuf, Succession)> {
    let folder = private.parent().unwrap_or(Path::new(""));
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = fs::read_dir(here).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()));
    let files = names.map(|name| folder.join(name)).filter(|path| path.extension().is_some_and(|end| end == ENDING));
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let mut found: Vec<(PathBuf, Succession)> = Vec::new();
    for file in [public.to_owned()].into_iter().chain(files) {
        let text = read_text(&file, MAX_STATEMENTS).unwrap_or_default();
        for statement in text.lines().filter_map(|line| line.parse::<Succession>().ok()) {
            let is_known = found.iter().any(|(_, known)| *known == statement);
            if !is_known {
                found.push((file.clone(), statement));
            }
        }
    }
    found
}
