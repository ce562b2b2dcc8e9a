//! The file of partners: where it is, and what it says of one of them.

use std::env;
use std::path::{Path, PathBuf};

use vesica::Failure;
use vesica::bounded::read_text;
use vesica::failure::code;
use vesica::nearest::nearest;
use vesica::party::transport::tls::{PeerKeys, PublicKey};
use vesica::task;
use vesica::toml_text::MAX_BYTES;
use vesica::written::{Partner, Peers, is_name};

use super::job::refused;
use crate::identity;

/// What a file of partners calls the task of `vesica query`.
pub const QUERY: &str = "query";

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
        let read = match path {
            Some(path) => Some((path.to_owned(), read(path)?)),
            None => match default_path().filter(|path| path.exists()) {
                Some(path) => {
                    let peers = read(&path)?;
                    Some((path, peers))
                }
                None => None,
            },
        };
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
        match self.partner.key.parse::<PublicKey>() {
            Ok(_) => self.partner.key.clone(),
            Err(_) => {
                let folder = self.path.parent().unwrap_or(Path::new(""));
                folder.join(&self.partner.key).to_string_lossy().into_owned()
            }
        }
    }

    /// Refuses a task that the file does not allow with this partner.
    ///
    /// # Errors
    /// If there is a list of tasks, and it does not have this one, or names one that does not exist.
    pub fn allow(&self, task: &str) -> Result<(), Failure> {
        let Partner { name, line, tasks, .. } = &self.partner;
        let known = || task::names().into_iter().chain([QUERY]);
        if let Some(unknown) = tasks.iter().flatten().find(|allowed| known().all(|known| known != *allowed)) {
            let mend = match nearest(unknown, known()) {
                Some(close) => format!("did you mean {close}?"),
                None => format!("the tasks are {}", known().collect::<Vec<_>>().join(", ")),
            };
            let fault = format_args!("line {line}: with {name} you allow {unknown:?}, and there is no such task");
            return Err(refused(&self.path, fault, mend));
        }
        match tasks {
            Some(tasks) if !tasks.iter().any(|allowed| allowed == task) => {
                let allowed = if tasks.is_empty() { "no task".into() } else { tasks.join(", ") };
                Err(refused(
                    &self.path,
                    format_args!("line {line}: with {name} you allow {allowed}, and this task is {task}"),
                    format_args!("choose an allowed task, or add {task:?} to the tasks of [{name}]"),
                ))
            }
            _ => Ok(()),
        }
    }
}

/// The public keys of a partner: from its name in the user's file of partners, from its line, or
/// from a `.pub` file.
///
/// # Errors
/// If there is no such partner, or no key in the file.
pub fn peer_keys(text: &str) -> Result<PeerKeys, Failure> {
    identity::peer(&line_or_file(text)?)
}

/// The file of a partner's public keys: that of its name in the user's file of partners, or a `.pub` file.
///
/// # Errors
/// If there is no such partner, or the file of partners has its key as a line.
pub fn key_file(text: &str) -> Result<PathBuf, Failure> {
    let named = line_or_file(text)?;
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
fn line_or_file(text: &str) -> Result<String, Failure> {
    if !is_name(text) {
        return Ok(text.into());
    }
    Ok(Found::find(text, path_of_variable().as_deref(), Path::new(text))?
        .map_or_else(|| text.into(), |found| found.key()))
}

fn path_of_variable() -> Option<PathBuf> {
    env::var_os("VESICA_PEERS").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The list of revoked keys that the file of partners names; `None` if there is no such file, or it names none.
///
/// # Errors
/// If the file cannot be read.
pub fn revoked_list(path: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let path = match path.map(Path::to_owned).or_else(path_of_variable) {
        Some(path) => path,
        None => match default_path().filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(read(&path)?.revoked.map(|list| folder.join(list)))
}

/// Where a user's own file of partners is.
fn default_path() -> Option<PathBuf> {
    Some(identity::configuration_folder()?.join("peers.toml"))
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
