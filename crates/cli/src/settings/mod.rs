//! Where the settings of a run come from. In the order in which they count: the command line, the
//! environment, a job file, the defaults of a partner in the file of partners, and the defaults of
//! the flags.
//!
//! The flags of `receive` and `send` are the one place that says which settings there are, what they
//! are called and what they mean. What files say is turned into flags ([`Layers::arguments`]), and
//! these are parsed as if somebody had typed them. So a setting cannot mean anything else in a file.

pub mod job;
mod layers;
mod partners;
mod revoked;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use vesica::Failure;
use vesica::party::Role;
use vesica::written::is_name;

use crate::args::{Cli, ConfigArgs, EitherSide, RunArgs};
use crate::program::{self, Addition};
use crate::schema;

use job::{OpenJob, no_role};
pub use layers::{Layered, Layers, Origin};
pub use partners::{key_file, known, named_peers, peer_keys, peer_keys_in, policy, policy_for, signature_of};
pub use revoked::Revoked;

/// What the user asks for.
#[derive(Debug)]
pub enum Asked {
    /// A command with all of its settings.
    Command(Box<Cli>),
    /// To see the settings of a run.
    Settings(Box<Layers>),
    /// To see a schema.
    Schema(schema::Kind),
    /// A command that the program has added.
    Added {
        /// The command.
        addition: &'static dyn Addition,
        /// What was typed behind it.
        matches: ArgMatches,
        /// How much more to write on standard error.
        verbose: u8,
    },
}

/// Why there is no command to run.
#[derive(Debug)]
pub enum Refused {
    /// The command line is wrong, or asks for help.
    Usage(clap::Error),
    /// A file is.
    Failed(Failure),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What a command line asks for, with the settings that files add to it.
///
/// # Errors
/// If the command line or one of these files is wrong.
pub fn asked(arguments: impl IntoIterator<Item = OsString>) -> Result<Asked, Refused> {
    let matches = Cli::grammar().try_get_matches_from(arguments)?;
    let verbose = matches.get_count("verbose");
    let layers = match matches.subcommand() {
        Some(("run", given)) => {
            let RunArgs { job, role, flags: EitherSide } = RunArgs::from_arg_matches(given)?;
            let job = OpenJob::read(&job)?;
            let role = job.role(role)?;
            Layers::new(role.into(), given, Some(job))?
        }
        Some(("config", given)) => {
            let ConfigArgs { job, role, schema, flags: EitherSide } = ConfigArgs::from_arg_matches(given)?;
            if let Some(kind) = schema {
                refuse_settings_of_schema(given)?;
                return Ok(Asked::Schema(kind));
            }
            let job = job.as_deref().map(OpenJob::read).transpose()?;
            let role = match (&job, role) {
                (Some(job), role) => job.role(role)?,
                (None, Some(role)) => role.into(),
                (None, None) => return Err(no_role("there is no job file").into()),
            };
            return Ok(Asked::Settings(Box::new(Layers::new(role.into(), given, job)?)));
        }
        Some((name, given)) => {
            if let Some(addition) = program::addition(name) {
                return Ok(Asked::Added { addition, matches: given.clone(), verbose });
            }
            refuse_identity_without_use(name, given)?;
            match Target::of_command(name).filter(|_| names_partner(given)) {
                Some(target) => Layers::new(target, given, None)?,
                None => return Ok(Asked::Command(Box::new(Cli::of_matches(&matches)?))),
            }
        }
        None => return Ok(Asked::Command(Box::new(Cli::of_matches(&matches)?))),
    };
    let mut cli = layers.command()?;
    cli.verbose = verbose;
    Ok(Asked::Command(Box::new(cli)))
}

/// A command whose settings files can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `receive`.
    Receive,
    /// `send`.
    Send,
    /// `query`.
    Query,
}

impl Target {
    fn of_command(name: &str) -> Option<Self> {
        [Self::Receive, Self::Send, Self::Query].into_iter().find(|target| target.name() == name)
    }

    /// The name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::Send => "send",
            Self::Query => "query",
        }
    }
}

impl From<Role> for Target {
    fn from(role: Role) -> Self {
        match role {
            Role::Receiver => Self::Receive,
            Role::Sender => Self::Send,
        }
    }
}

/// Whether `--peer` may be the name of a partner.
fn names_partner(given: &ArgMatches) -> bool {
    given.get_one::<String>("peer").is_some_and(|peer| is_name(peer))
}

/// The identity of the environment is there for every command, and so in nobody's way. One that was
/// typed must not be passed over in silence.
fn refuse_identity_without_use(command: &str, given: &ArgMatches) -> Result<(), clap::Error> {
    let given = if command == "identity" { given.subcommand().map(|(_, given)| given) } else { Some(given) };
    let typed = |given: &ArgMatches, flag: &str| {
        matches!(given.try_contains_id(flag), Ok(true)) && given.value_source(flag) == Some(ValueSource::CommandLine)
    };
    let other = match command {
        "receive" | "send" | "serve" | "query" => "insecure_plaintext",
        "identity" => "peer",
        _ => return Ok(()),
    };
    if given.is_some_and(|given| typed(given, "identity") && typed(given, other)) {
        let other = other.replace('_', "-");
        let fault = format!("the argument '--{other}' cannot be used with '--identity <FILE>'\n");
        return Err(Cli::command().error(ErrorKind::ArgumentConflict, fault));
    }
    Ok(())
}

/// A schema says which settings there are, whatever any of them says.
fn refuse_settings_of_schema(given: &ArgMatches) -> Result<(), clap::Error> {
    let is_typed = |id: &&clap::Id| given.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    let others = given.ids().filter(is_typed).map(clap::Id::as_str);
    match others.into_iter().find(|id| !["schema", "verbose", "end"].contains(id)) {
        None => Ok(()),
        Some(id) => {
            let fault = format!("the argument '--{}' cannot be used with '--schema [<KIND>]'\n", id.replace('_', "-"));
            Err(Cli::command().error(ErrorKind::ArgumentConflict, fault))
        }
    }
}

#[cfg(test)]
mod tests;
