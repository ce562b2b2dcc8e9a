//! The file of partners: where it is, and what it says of one of them, or may be done with it.

use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vesica::Failure;
use vesica::bounded::{beside, read_text};
use vesica::failure::code;
use vesica::nearest::nearest;
use vesica::party::transport::tls::{Day, PeerKeys, PublicKey};
use vesica::policy::Policy;
use vesica::session::Protection;
use vesica::toml_text::MAX_BYTES;
use vesica::written::{Partner, Peers, Rules, Setting, is_name, settings};

use super::Revoked;
use super::job::refused;
use crate::identity;

/// A partner, with the file that names it.
#[derive(Debug)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub partner: Partner,
}

impl Found {
    /// The partner `name` in the file `path`, or without one in the user's own file. `None` if there
    /// is no such partner, but a file called `or_file` that may hold a key.
    ///
    /// # Errors
    /// If the file cannot be read, or there is neither such a partner nor such a file.
    pub fn find(name: &str, path: Option<&Path>, or_file: &Path) -> Result<Option<Self>, Failure> {
        let read = read_any(path)?;
        if let Some((path, peers)) = &read
            && let Some(partner) = peers.find(name)
        {
            return Ok(Some(Self { path: path.clone(), partner: partner.clone() }));
        }
        if or_file.exists() {
            return Ok(None);
        }
        Err(unknown(name, read.as_ref().map(|(path, peers)| (path.as_path(), peers))))
    }

    /// Its public key, as `--peer` takes it: the line, or the path of a file.
    pub fn key(&self) -> String {
        self.key_of(&self.partner.key)
    }

    /// What may be done with the partner, who has these keys; `None` if the file does not say it.
    ///
    /// # Errors
    /// If the rules cannot be read, or are none.
    pub fn policy(&self, keys: &PeerKeys) -> Result<Option<Policy>, Failure> {
        let Partner { name, tasks, policy, policy_signer, .. } = &self.partner;
        let (file, mut rules) = match policy {
            None => (self.path.clone(), Vec::new()),
            Some(Rules::Here(rules)) => (self.path.clone(), rules.clone()),
            Some(Rules::File(file)) => {
                let file = self.beside(file);
                let rules = read_rules(&file, self.signer(policy_signer.as_deref())?.as_ref())?;
                (file, rules)
            }
        };
        // What stands in the table itself is a rule like the others.
        match (tasks, rules.iter().find(|rule| rule.key == "tasks")) {
            (Some(tasks), Some(other)) => {
                let fault = format_args!("line {}: `tasks` is there a second time", tasks.line);
                return Err(refused(&self.path, fault, format_args!("{}, line {} has it", file.display(), other.line)));
            }
            (Some(tasks), None) if policy.is_none() => rules.push(tasks.clone()),
            (Some(tasks), None) => {
                let fault = format_args!("line {}: `tasks` of [{name}] stands beside its policy", tasks.line);
                return Err(refused(&self.path, fault, "write it among the rules of the policy"));
            }
            (None, _) if policy.is_none() => return Ok(None),
            (None, _) => {}
        }
        let state = identity::state_folder().map(|folder| folder.join("policy"));
        let read = Policy::read((&file, name, keys.clone()), &rules, state);
        read.map(Some).map_err(|fault| refused(&file, fault, "docs/policy.md has all rules"))
    }

    /// The keys of who must have signed the rules.
    fn signer(&self, named: Option<&str>) -> Result<Option<PeerKeys>, Failure> {
        let signer = named.map(|signer| identity::peer(&self.key_of(signer))).transpose()?;
        if let Some(signer) = &signer {
            Revoked::of_partners(Some(&self.path))?.refuse(signer)?;
        }
        Ok(signer)
    }

    /// A file that this one names.
    fn beside(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }

    /// A public key as flags take it: its line, or the path of a file beside this one.
    fn key_of(&self, text: &str) -> String {
        match text.parse::<PublicKey>() {
            Ok(_) => text.to_owned(),
            Err(_) => self.beside(text).to_string_lossy().into_owned(),
        }
    }
}

/// The keys of a partner as the file of partners knows it, with those that it has replaced: whoever names the new key alone
/// means the same partner, under whose first key budgets count and whose revoked ones count.
///
/// # Errors
/// If the file of partners cannot be read.
pub fn known(keys: PeerKeys, path: Option<&Path>) -> Result<PeerKeys, Failure> {
    let path = path.map(Path::to_owned).or_else(named_peers);
    let Some((path, peers)) = read_any(path.as_deref())? else { return Ok(keys) };
    // A partner whose file is not there has no keys yet.
    let each = peers
        .partners
        .into_iter()
        .filter_map(|partner| identity::peer(&Found { path: path.clone(), partner }.key()).ok());
    let mut same = each.filter(|known| keys.all().all(|key| known.all().any(|other| other == key)));
    Ok(same.next().unwrap_or(keys))
}

/// What may be done with the partner that a connection is for; `None` if nothing says it, or anybody may be the partner.
///
/// # Errors
/// As of [`policy`].
pub fn policy_for(protection: &Protection, path: Option<&Path>) -> Result<Option<Arc<Policy>>, Failure> {
    match protection {
        Protection::Tls { peer, .. } => Ok(policy(peer, path)?.map(Arc::new)),
        Protection::InsecurePlaintext => Ok(None),
    }
}

/// What may be done with the partner who has one of these keys, by whatever name: by the file of partners, or without one by
/// the user's own file. `None` if that says nothing of it.
///
/// # Errors
/// If a file cannot be read, or two partners with rules have one of these keys.
pub fn policy(keys: &PeerKeys, path: Option<&Path>) -> Result<Option<Policy>, Failure> {
    let Some((path, peers)) = read_any(path)? else { return Ok(None) };
    let mut policies: Vec<(usize, Policy)> = Vec::new();
    for partner in peers.partners.into_iter().filter(|partner| partner.policy.is_some() || partner.tasks.is_some()) {
        let (found, line) = (Found { path: path.clone(), partner: partner.clone() }, partner.line);
        let known = identity::peer(&found.key())?;
        if known.all().any(|known| keys.all().any(|key| key == known)) {
            policies.extend(found.policy(&known)?.map(|policy| (line, policy)));
        }
    }
    match policies.as_slice() {
        [(first, _), (second, _), ..] => {
            let fault = format_args!("lines {first} and {second}: two partners have the same key, and rules each");
            Err(refused(&path, fault, "keep one of them"))
        }
        _ => Ok(policies.pop().map(|(_, policy)| policy)),
    }
}

/// The rules in a file of their own, which `signer` must have signed if it is named.
fn read_rules(file: &Path, signer: Option<&PeerKeys>) -> Result<Vec<Setting>, Failure> {
    let unreadable = |path: &Path, error: &std::io::Error| {
        let fault = format_args!("cannot read the policy {}: {error}", path.display());
        Failure::new(code::INPUT, fault, "docs/policy.md shows such a file, and how it is signed")
    };
    let text = read_text(file, MAX_BYTES).map_err(|error| unreadable(file, &error))?;
    if let Some(signer) = signer {
        let today = Day::today();
        let may_sign = |key: &PublicKey| signer.accepts(*key, today);
        let path = signature_of(file);
        let signature = read_text(&path, MAX_BYTES).map_err(|error| unreadable(&path, &error))?;
        if !signer.all().filter(may_sign).any(|key| vesica::policy::is_signed(&text, &signature, &key)) {
            let newest = signer.newest().fingerprint();
            let fault = format_args!("{} has not been signed by {newest} as it is", file.display());
            return Err(Failure::new(code::IDENTITY, fault, "have its owner sign it: `vesica policy sign`"));
        }
    }
    settings(&text).map_err(|fault| refused(file, fault, "docs/policy.md has all rules"))
}

/// Where the signature under a file of rules is.
pub fn signature_of(file: &Path) -> PathBuf {
    beside(file, ".sig")
}

/// The public keys of a partner: from its name in the user's file of partners, from its line, or
/// from a `.pub` file.
///
/// # Errors
/// If there is no such partner, or no key in the file.
pub fn peer_keys(text: &str) -> Result<PeerKeys, Failure> {
    peer_keys_in(text, named_peers().as_deref())
}

/// As [`peer_keys`], with another file of partners.
///
/// # Errors
/// If there is no such partner, or no key in the file.
pub fn peer_keys_in(text: &str, path: Option<&Path>) -> Result<PeerKeys, Failure> {
    identity::peer(&line_or_file(text, path)?)
}

/// The file of partners that the environment names.
pub fn named_peers() -> Option<PathBuf> {
    env::var_os("VESICA_PEERS").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The file of a partner's public keys: that of its name in the user's file of partners, or a `.pub` file.
///
/// # Errors
/// If there is no such partner, or the file of partners has its key as a line.
pub fn key_file(text: &str) -> Result<PathBuf, Failure> {
    let named = line_or_file(text, named_peers().as_deref())?;
    match named.parse::<PublicKey>() {
        Err(_) => Ok(named.into()),
        Ok(_) => Err(Failure::new(
            code::IDENTITY,
            "the partner's key stands as a line, behind which there is no room for a successor",
            "write the line into a .pub file, and name that file instead of the line",
        )),
    }
}

/// The line of a partner's key, or the file that has it.
fn line_or_file(text: &str, path: Option<&Path>) -> Result<String, Failure> {
    if !is_name(text) {
        return Ok(text.into());
    }
    Ok(Found::find(text, path, Path::new(text))?.map_or_else(|| text.into(), |found| found.key()))
}

/// The list of revoked keys that the file of partners names; `None` if there is no such file, or it names none.
///
/// # Errors
/// If the file cannot be read.
pub fn revoked_list(path: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let path = path.map(Path::to_owned).or_else(named_peers);
    let Some((path, peers)) = read_any(path.as_deref())? else { return Ok(None) };
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(peers.revoked.map(|list| folder.join(list)))
}

/// Where a user's own file of partners is.
fn default_path() -> Option<PathBuf> {
    Some(identity::configuration_folder()?.join("peers.toml"))
}

/// The file of partners, or without one the user's own, if there is one.
fn read_any(path: Option<&Path>) -> Result<Option<(PathBuf, Peers)>, Failure> {
    // A file that is there and cannot be read is an error of its own: its rules must not be passed over.
    let is_there =
        |path: &PathBuf| path.symlink_metadata().map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true);
    let path = match path {
        Some(path) => Some(path.to_owned()),
        None => default_path().filter(is_there),
    };
    path.map(|path| read(&path).map(|peers| (path, peers))).transpose()
}

fn read(path: &Path) -> Result<Peers, Failure> {
    let text = read_text(path, MAX_BYTES).map_err(|error| {
        Failure::new(
            code::INPUT,
            format_args!("cannot read the file of partners {}: {error}", path.display()),
            "check --peers and VESICA_PEERS; docs/jobs.md shows such a file",
        )
    })?;
    Peers::parse(&text).map_err(|fault| refused(path, fault, "docs/jobs.md shows what such a file looks like"))
}

/// There is no partner of this name.
fn unknown(name: &str, read: Option<(&Path, &Peers)>) -> Failure {
    let Some((path, peers)) = read else {
        let place = default_path().map(|path| format!(": there is no {}", path.display())).unwrap_or_default();
        return Failure::new(
            code::IDENTITY,
            format_args!("there is no partner {name:?}{place}, and no file called {name}"),
            "name your partner's .pub file, or write a file of partners as docs/jobs.md shows",
        );
    };
    let names = || peers.partners.iter().map(|partner| partner.name.as_str());
    let known: Vec<&str> = names().take(20).collect();
    let mend = match nearest(name, names()) {
        Some(close) => format!("did you mean {close}?"),
        None if known.is_empty() => "the file has no partner: docs/jobs.md shows how to write one".into(),
        None => format!("the partners there are {}", known.join(", ")),
    };
    Failure::new(code::IDENTITY, format_args!("there is no partner {name:?} in {}", path.display()), mend)
}
