//! `vesica identity`.

use crate::args::{IdentityArgs, IdentityCommand};
use crate::outcome::{Outcome, print};
use crate::stderr;
use crate::{identity, settings};

pub fn run(args: IdentityArgs) -> Outcome {
    match args.command {
        IdentityCommand::New { out, comment } => {
            let made = identity::fresh()?;
            let name = out.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let public = identity::save(&made, &out, &comment.unwrap_or(name))?;
            print(&format!(
                "private key:  {} (keep it here: whoever has it can impersonate you)\npublic line:  {} (give it to \
                 your partner)\nfingerprint:  {}\n",
                out.display(),
                public.display(),
                made.public().fingerprint()
            ))
        }
        IdentityCommand::Show { identity: path, peer } => {
            let key = match peer {
                Some(peer) => settings::public_key(&peer)?,
                None => identity::own(path.as_deref(), &|text| stderr::note(text))?.public(),
            };
            print(&format!("{key}\nfingerprint: {}\n", key.fingerprint()))
        }
    }
}
