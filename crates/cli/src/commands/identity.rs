//! `vesica identity`.

use std::fmt::Write;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use vesica::Failure;
use vesica::bounded::read_text;
use vesica::failure::code;
use vesica::party::service::replace;
use vesica::party::transport::tls::{Day, Identity, IdentityFileError, Passphrase, PeerKeys, Revocation, Succession};

use crate::args::{IdentityArgs, IdentityCommand};
use crate::identity::{self, OwnKey};
use crate::outcome::{Outcome, print};
use crate::settings::{self, Revoked};
use crate::{passphrase, stderr};

/// What is said of a private key beside its file.
const OPEN: &str = "keep it here: whoever has it can impersonate you";
const LOCKED: &str = "encrypted; without its passphrase it is lost";

/// Longest file of statements, in bytes.
const MAX_STATEMENTS: u64 = 1 << 16;

pub fn run(args: IdentityArgs) -> Outcome {
    let note = |text: &str| stderr::note(text);
    match args.command {
        IdentityCommand::New { out, comment, passphrase, passphrase_file } => {
            let passphrase = new_passphrase(passphrase, passphrase_file.as_deref())?;
            make(&out, comment, passphrase.as_ref()).and_then(|(_, told)| print(&told))
        }
        IdentityCommand::Show { identity: named, passphrase_file, peer } => match peer {
            Some(peer) => show(&settings::peer_keys(&peer)?),
            None => {
                let key = OwnKey { identity: named.as_deref(), passphrase_file: passphrase_file.as_deref() };
                show(&identity::own(key, &note)?.public().into())
            }
        },
        IdentityCommand::Rotate {
            identity: named,
            passphrase_file,
            out,
            until,
            new_passphrase: asks,
            new_passphrase_file: new,
        } => {
            let key = OwnKey { identity: named.as_deref(), passphrase_file: passphrase_file.as_deref() };
            rotate(key, &out, until, || new_passphrase(asks, new.as_deref()))
        }
        IdentityCommand::Accept { file, peer } => accept(&file, &settings::key_file(&peer)?),
        IdentityCommand::Revoke { identity: named, passphrase_file, out } => {
            let key = OwnKey { identity: Some(&named), passphrase_file: passphrase_file.as_deref() };
            let revocation = Revocation::sign(&identity::own(key, &note)?).ok_or_else(unsigned)?;
            write_new(&out, &format!("{revocation} {}\n", revocation.day))?;
            print(&format!(
                "revocation:   {} (give it to your partners; nothing takes it back)\nfingerprint:  {}\n",
                out.display(),
                revocation.key.fingerprint()
            ))
        }
        IdentityCommand::Passphrase { file, passphrase_file, new_passphrase_file, remove } => {
            let key = identity::open(&file, passphrase_file.as_deref(), &note)?;
            let passphrase = if remove { None } else { new_passphrase(true, new_passphrase_file.as_deref())? };
            key.replace(&file, passphrase.as_ref()).map_err(identity::failed)?;
            let told = if passphrase.is_some() { LOCKED } else { OPEN };
            print(&format!("private key:  {} ({told})\n", file.display()))
        }
    }
}

/// Makes a key pair. Gives it with what to say of it.
fn make(out: &Path, comment: Option<String>, passphrase: Option<&Passphrase>) -> Result<(Identity, String), Failure> {
    let made = identity::fresh()?;
    let name = out.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let public = identity::save(&made, out, &comment.unwrap_or(name), passphrase)?;
    let told = format!(
        "private key:  {} ({})\npublic line:  {} (give it to your partner)\nfingerprint:  {}\n",
        out.display(),
        if passphrase.is_some() { LOCKED } else { OPEN },
        public.display(),
        made.public().fingerprint()
    );
    Ok((made, told))
}

/// The passphrase in a file, or one that is asked for if `asks`; else none.
fn new_passphrase(asks: bool, file: Option<&Path>) -> Result<Option<Passphrase>, Failure> {
    match file {
        Some(file) => identity::passphrase(file).map(Some),
        None if asks => passphrase::ask_for_new().map(Some),
        None => Ok(None),
    }
}

/// Prints keys: the newest one first, and what else there is to say of them.
fn show(keys: &PeerKeys) -> Outcome {
    let newest = keys.newest();
    let mut text = format!("{newest}\nfingerprint: {}\n", newest.fingerprint());
    // Writing to a String cannot fail.
    for key in keys.all().filter(|key| *key != newest) {
        let last = keys.last_day(key).map(|day| day.to_string()).unwrap_or_default();
        let _ = writeln!(text, "replaces:    {} (accepted until {last})", key.fingerprint());
    }
    if keys.known_as() != newest {
        let _ = writeln!(text, "known as:    {} (budgets and quotas count under it)", keys.known_as().fingerprint());
    }
    let revoked = Revoked::of_partners(None)?;
    for (key, place) in keys.all().filter_map(|key| Some((key, revoked.place(key)?))) {
        let _ = writeln!(text, "revoked:     {} ({place})", key.fingerprint());
    }
    print(&text)
}

/// Makes the successor of a key.
fn rotate(
    key: OwnKey<'_>,
    out: &Path,
    until: Day,
    passphrase: impl FnOnce() -> Result<Option<Passphrase>, Failure>,
) -> Outcome {
    if until < Day::today() {
        let fault = format_args!("--until {until} is over: today is {}", Day::today());
        return Err(Failure::new(code::USAGE, fault, "name the last day on which partners may meet your present key"));
    }
    let statement = out.with_extension("succession");
    if statement == out {
        let fault = "the private key file would be called .succession, as what partners get";
        return Err(Failure::new(code::USAGE, fault, "give a name that ends in .key"));
    }
    // Looked at first, so that no new key is left without its statement.
    if statement.exists() {
        return Err(identity::failed(IdentityFileError::Exists(statement)));
    }
    let old = identity::own(key, &|text| stderr::note(text))?;
    Revoked::of_partners(None)?.refuse_own(old.public())?;
    let (new, told) = make(out, None, passphrase()?.as_ref())?;
    let succession = Succession::sign(&old, &new, until).ok_or_else(unsigned)?;
    write_new(&statement, &format!("{succession} until {until}\n"))?;
    print(&format!(
        "{told}succession:   {} (give it to your partners, who type `vesica identity accept`; then use the new key)\nreplaces:     \
         {} (accepted until {until})\n",
        statement.display(),
        old.public().fingerprint()
    ))
}

/// Writes the statements of a file behind the key that they replace.
fn accept(file: &Path, public: &Path) -> Outcome {
    let unreadable = |error: &dyn std::fmt::Display| {
        let mend = "name the file NAME.succession that your partner has made with `vesica identity rotate`";
        Failure::new(code::IDENTITY, format_args!("{}: {error}", file.display()), mend)
    };
    let text = read_text(file, MAX_STATEMENTS).map_err(|error| unreadable(&error))?;
    let mut keys = PeerKeys::load(public).map_err(identity::failed)?;
    let mut added = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let succession = line.parse::<Succession>().map_err(|fault| unreadable(&fault))?;
        // A statement that is there already says nothing new.
        let is_there =
            keys.last_day(succession.old) == Some(succession.until) && keys.all().any(|key| key == succession.new);
        if !is_there {
            keys = keys.followed_by(&succession).map_err(|other| unreadable(&other))?;
            added.push_str(&format!("{succession} until {}\n", succession.until));
        }
    }
    Revoked::of_partners(None)?.refuse(&keys)?;
    append(public, &added)
        .map_err(|error| identity::failed(IdentityFileError::Write { path: public.into(), error }))?;
    show(&keys)
}

/// Appends whole lines to a file at one moment: a reader sees all of them or none.
fn append(path: &Path, lines: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let mut text = fs::read_to_string(&path)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(lines);
    let permissions = fs::metadata(&path)?.permissions();
    replace(&path, |file| {
        file.set_permissions(permissions)?;
        file.write_all(text.as_bytes())
    })
}

/// Writes a public statement to a file that must not exist.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        identity::failed(match error.kind() {
            io::ErrorKind::AlreadyExists => IdentityFileError::Exists(path.into()),
            _ => IdentityFileError::Write { path: path.into(), error },
        })
    })
}

fn unsigned() -> Failure {
    Failure::new(code::INTERNAL, "the statement could not be signed", "please report this")
}
