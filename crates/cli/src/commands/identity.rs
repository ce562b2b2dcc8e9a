//! `vesica identity`.

use std::path::Path;

use vesica::Failure;
use vesica::party::transport::tls::Passphrase;

use crate::args::{IdentityArgs, IdentityCommand, NewLock};
use crate::identity::{self, OwnKey};
use crate::outcome::{Outcome, print};
use crate::{passphrase, settings, stderr};

/// What is said of a private key beside its file.
const OPEN: &str = "keep it here: whoever has it can impersonate you";
const LOCKED: &str = "encrypted; without its passphrase it is lost";

pub fn run(args: IdentityArgs) -> Outcome {
    match args.command {
        IdentityCommand::New { out, comment, lock } => {
            let passphrase = lock.passphrase()?;
            let made = identity::fresh()?;
            let name = out.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let public = identity::save(&made, &out, &comment.unwrap_or(name), passphrase.as_ref())?;
            print(&format!(
                "private key:  {} ({})\npublic line:  {} (give it to your partner)\nfingerprint:  {}\n",
                out.display(),
                if passphrase.is_some() { LOCKED } else { OPEN },
                public.display(),
                made.public().fingerprint()
            ))
        }
        IdentityCommand::Show { identity: named, passphrase_file, peer } => {
            let key = match peer {
                Some(peer) => settings::public_key(&peer)?,
                None => {
                    let key = OwnKey { identity: named.as_deref(), passphrase_file: passphrase_file.as_deref() };
                    identity::own(key, &|text| stderr::note(text))?.public()
                }
            };
            print(&format!("{key}\nfingerprint: {}\n", key.fingerprint()))
        }
        IdentityCommand::Passphrase { file, passphrase_file, new_passphrase_file, remove } => {
            let key = identity::open(&file, passphrase_file.as_deref(), &|text| stderr::note(text))?;
            let passphrase = match remove {
                true => None,
                false => Some(new_passphrase(new_passphrase_file.as_deref())?),
            };
            key.replace(&file, passphrase.as_ref()).map_err(identity::failed)?;
            let told = if passphrase.is_some() { LOCKED } else { OPEN };
            print(&format!("private key:  {} ({told})\n", file.display()))
        }
    }
}

impl NewLock {
    /// The passphrase, if there is to be one.
    fn passphrase(&self) -> Result<Option<Passphrase>, Failure> {
        match &self.passphrase_file {
            None if !self.passphrase => Ok(None),
            file => new_passphrase(file.as_deref()).map(Some),
        }
    }
}

/// The passphrase in a file, or one that is asked for.
fn new_passphrase(file: Option<&Path>) -> Result<Passphrase, Failure> {
    file.map_or_else(passphrase::ask_for_new, identity::passphrase)
}
