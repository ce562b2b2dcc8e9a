//! Runs for a program that has its table in memory, such as the Python package. Settings have the names, the meaning
//! and the defaults of the command's flags, and files of partners and the environment add to them as they do there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory};
use serde::Serialize;
use vesica::Failure;
use vesica::failure::code;
use vesica::key::KeySpec;
use vesica::party::transport::tls::{Day, NotADay};
use vesica::service::{QueryReport, Serve, ServeLog, Started};
use vesica::table::{Batches, OpenSource, TableFile};
use vesica::threads;

use crate::args::places::{OF_CALLS, OF_FILES, is_argument};
use crate::args::{Cli, Command, columns};
use crate::commands::identity::{self, Shown};
pub use crate::commands::serve::client_name;
pub use crate::commands::sides::{InMemory, OnCluster, Ran};
use crate::commands::{check, plan, protocols, query, receipt, serve, sides};
use crate::identity as own;
pub use crate::identity::OwnKey;
pub use crate::outcome::quiet_panics;
use crate::settings::job::first_part;
use crate::settings::{self, Asked, Refused};

/// A flag: its long name without dashes, and its value; `None` for a switch. A flag that can be repeated may come
/// several times.
pub type Flag = (String, Option<String>);

/// Stands for the table and the result where a command takes the name of a file.
const IN_MEMORY: &str = "in-memory";

/// A run of `command` (`receive` or `send`), or a dry run. The flags say neither input nor output.
///
/// # Errors
/// As of the command.
pub fn join(command: &str, flags: &[Flag], memory: &InMemory<'_>) -> Result<Ran, Failure> {
    sides::in_memory(parsed_join(command, flags)?, memory)
}

/// A run of `command` whose rows the machines of a cluster have, or a dry run. The flags say neither input nor output.
///
/// # Errors
/// As of the command.
pub fn on_cluster(command: &str, flags: &[Flag], cluster: &mut OnCluster<'_>) -> Result<Ran, Failure> {
    sides::on_cluster(parsed_join(command, flags)?, cluster)
}

/// The key that flags declare: those named `key`, `or-key`, `normalise` and `null-words`.
///
/// # Errors
/// As of the commands that take them.
pub fn key_spec(flags: &[Flag]) -> Result<KeySpec, Failure> {
    let of = |name: &str| -> Vec<String> {
        flags.iter().filter(|(flag, _)| flag == name).filter_map(|(_, value)| value.clone()).collect()
    };
    let lists = |name: &str| {
        let lists: Result<Vec<_>, _> = of(name).iter().map(|text| columns(text)).collect();
        lists.map_err(|error| Failure::new(code::USAGE, format_args!("--{name}: {error}"), "see --help"))
    };
    sides::key_spec(&of("key"), &lists("or-key")?, &of("normalise"), &lists("null-words")?)
}

/// A query to a server. The flags say neither input nor output.
///
/// # Errors
/// As of `vesica query`.
pub fn query(flags: &[Flag], memory: &InMemory<'_>) -> Result<QueryReport, Failure> {
    match parsed("query", &["input", "output"], flags)? {
        Command::Query(args) => query::in_memory(*args, memory),
        _ => Err(unexpected()),
    }
}

/// Starts a server of `table`. The flags say no input. `warn` hears of connections without TLS.
///
/// # Errors
/// As of `vesica serve`.
pub fn serve(
    flags: &[Flag],
    table: Arc<dyn OpenSource>,
    log: &dyn ServeLog,
    warn: &dyn Fn(&str),
) -> Result<(Arc<dyn Serve>, Started), Failure> {
    match parsed("serve", &["input"], flags)? {
        Command::Serve(args) => serve::in_memory(*args, table, log, warn),
        _ => Err(unexpected()),
    }
}

/// What `vesica plan --json` prints. `note` hears of a calibration that is made for it, and `warn` what is wrong with
/// that.
///
/// # Errors
/// As of the command.
pub fn plan(flags: &[Flag], note: &dyn Fn(&str), warn: &dyn Fn(&str)) -> Result<String, Failure> {
    threads::set(None)?;
    match parsed("plan", &[], &as_json(flags))? {
        Command::Plan(args) => plan::text(&args, note, warn),
        _ => Err(unexpected()),
    }
}

/// What `vesica protocols --json` prints, of all protocols or of those that `name` names.
///
/// # Errors
/// As of the command.
pub fn protocols(name: Option<&str>) -> Result<String, Failure> {
    let mut arguments = arguments("protocols", &[], &as_json(&[]));
    arguments.extend(name.map(OsString::from));
    match command("protocols", arguments)? {
        Command::Protocols(args) => protocols::text(&args),
        _ => Err(unexpected()),
    }
}

/// What `vesica check --json` prints of a table in memory.
///
/// # Errors
/// As of the command.
pub fn check(flags: &[Flag], table: &Batches) -> Result<String, Failure> {
    threads::set_alone()?;
    let mut arguments = arguments("check", &[], &as_json(flags));
    arguments.push(IN_MEMORY.into());
    match command("check", arguments)? {
        Command::Check(args) => check::text(&args, &|_| Ok(TableFile::One(table.spool()?))),
        _ => Err(unexpected()),
    }
}

/// What `vesica receipt --json` prints of the receipt `file`. The flags say no file.
///
/// # Errors
/// As of the command.
pub fn receipt(file: &Path, flags: &[Flag]) -> Result<String, Failure> {
    let mut arguments = arguments("receipt", &[], &as_json(flags));
    arguments.extend(["--".into(), file.into()]);
    match command("receipt", arguments)? {
        Command::Receipt(args) => receipt::text(&args),
        _ => Err(unexpected()),
    }
}

/// Makes a key pair as `vesica identity new` does, encrypted with the passphrase in a file if one is named. Returns the
/// public line.
///
/// # Errors
/// As of the command.
pub fn new_identity(private: PathBuf, passphrase_file: Option<&Path>) -> Result<String, Failure> {
    let passphrase = passphrase_file.map(own::passphrase).transpose()?;
    Ok(identity::new(private, None, passphrase.as_ref())?.key.to_string())
}

/// The public line of a key pair of ours, or of the user's default one, which is made on first use.
///
/// # Errors
/// If it cannot be read or made.
pub fn own_identity(key: OwnKey<'_>) -> Result<String, Failure> {
    Ok(own::own(key, &quiet)?.public().to_string())
}

/// What `vesica identity show --json` prints of a partner, or without one of a key pair of ours.
///
/// # Errors
/// As of the command.
pub fn show_identity(key: OwnKey<'_>, peer: Option<&str>) -> Result<String, Failure> {
    match peer {
        Some(peer) => Shown::of_partner(&settings::peer_keys(peer)?)?.json(),
        None => Shown::own(key, &quiet)?.json(),
    }
}

/// Makes a successor as `vesica identity rotate` does. Returns its public line.
///
/// # Errors
/// As of the command.
pub fn rotate_identity(
    key: OwnKey<'_>,
    out: PathBuf,
    until: &str,
    new_passphrase_file: Option<&Path>,
) -> Result<String, Failure> {
    let until: Day = until.parse().map_err(|fault: NotADay| {
        Failure::new(code::USAGE, format_args!("--until {until}: {fault}"), "say for example 2027-01-31")
    })?;
    let new = || new_passphrase_file.map(own::passphrase).transpose();
    Ok(identity::rotate(key, out, until, new, &quiet)?.made.key.to_string())
}

/// Accepts a successor as `vesica identity accept` does. Returns the partner's newest public line.
///
/// # Errors
/// As of the command.
pub fn accept_identity(file: &Path, peer: &str) -> Result<String, Failure> {
    Ok(identity::accept(file, &settings::key_file(peer)?)?.newest().to_string())
}

/// Revokes a key as `vesica identity revoke` does. Returns the statement.
///
/// # Errors
/// As of the command.
pub fn revoke_identity(key: OwnKey<'_>, out: &Path) -> Result<String, Failure> {
    Ok(identity::revoke(key, out, &quiet)?.to_string())
}

/// Encrypts a private key with the passphrase in a file, or with none, as `vesica identity passphrase` does.
///
/// # Errors
/// As of the command.
pub fn change_passphrase(
    file: &Path,
    passphrase_file: Option<&Path>,
    new_passphrase_file: Option<&Path>,
) -> Result<(), Failure> {
    let new = || new_passphrase_file.map(own::passphrase).transpose();
    identity::change_passphrase(file, passphrase_file, new, &quiet).map(drop)
}

/// What a call returns says enough of an identity.
fn quiet(_: &str) {}

/// What there is to say of a flag.
#[derive(Debug, Serialize)]
pub struct Setting {
    /// The long name without dashes.
    name: String,
    /// What its value is, as the help shows it; `None` of a switch.
    takes: Option<String>,
    /// The values that it knows, if these are all.
    values: Vec<String>,
    /// The value that it has if nobody says it.
    default: Option<String>,
    /// What it is for.
    help: String,
}

/// The flags of a command that a program with its table in memory can say: the one list of them, for whoever shows them.
///
/// # Errors
/// If there is no such command.
pub fn settings(name: &str) -> Result<Vec<Setting>, Failure> {
    let mut grammar = Cli::command();
    grammar.build();
    let Some(command) = grammar.find_subcommand(name) else { return Err(unexpected()) };
    let setting = |arg: &Arg| {
        let takes_values = arg.get_action().takes_values();
        let shown = arg.get_value_names().unwrap_or_default().first();
        Setting {
            name: arg.get_long().unwrap_or_default().to_owned(),
            takes: takes_values.then(|| shown.map_or_else(String::new, ToString::to_string)),
            values: match takes_values {
                true => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
                false => Vec::new(),
            },
            default: match takes_values {
                true => arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned()),
                false => None,
            },
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        }
    };
    Ok(command.get_arguments().filter(|arg| is_argument(arg)).map(setting).collect())
}

/// The flags that a text of the command line may name and that are no arguments, so that it stays as it is for users of
/// a program.
pub fn no_arguments() -> Vec<&'static str> {
    OF_FILES.into_iter().chain(OF_CALLS).collect()
}

fn as_json(flags: &[Flag]) -> Vec<Flag> {
    flags.iter().cloned().chain([("json".to_owned(), None)]).collect()
}

fn parsed_join(name: &str, flags: &[Flag]) -> Result<Command, Failure> {
    let files: &[&str] = if name == "receive" { &["input", "output"] } else { &["input"] };
    parsed(name, files, flags)
}

fn parsed(name: &str, files: &[&str], flags: &[Flag]) -> Result<Command, Failure> {
    if let Some((flag, _)) = flags.iter().find(|(flag, _)| OF_FILES.contains(&flag.as_str())) {
        let fault = format_args!("--{flag} is for tables in files and for terminals");
        return Err(Failure::new(code::USAGE, fault, "omit it"));
    }
    command(name, arguments(name, files, flags))
}

/// The command line of a command with these flags, of which `files` stand for tables in memory.
fn arguments(name: &str, files: &[&str], flags: &[Flag]) -> Vec<OsString> {
    let mut arguments = vec!["vesica".into(), name.into()];
    arguments.extend(files.iter().map(|file| format!("--{file}={IN_MEMORY}").into()));
    for (flag, value) in flags {
        arguments.push(match value {
            Some(value) => format!("--{flag}={value}").into(),
            None => format!("--{flag}").into(),
        });
    }
    arguments
}

fn command(name: &str, arguments: Vec<OsString>) -> Result<Command, Failure> {
    match settings::asked(arguments) {
        Ok(Asked::Command(cli)) => Ok(cli.command),
        Ok(Asked::Settings(_) | Asked::Schema(_) | Asked::Added { .. }) => Err(unexpected()),
        Err(Refused::Failed(failure)) => Err(failure),
        Err(Refused::Usage(error)) => {
            let fault = match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => "a flag that prints a text is no setting".into(),
                _ => first_part(&error.to_string()),
            };
            let mend = match error.get(ContextKind::SuggestedArg) {
                Some(ContextValue::String(flag)) => format!("did you mean {flag}?"),
                _ => match error.get(ContextKind::SuggestedValue) {
                    Some(ContextValue::String(value)) => format!("did you mean {value}?"),
                    _ => format!("`vesica {name} --help` lists all flags and what they take"),
                },
            };
            Err(Failure::new(code::USAGE, fault, mend))
        }
    }
}

fn unexpected() -> Failure {
    Failure::new(code::INTERNAL, "a command has become another one", "please report this")
}
