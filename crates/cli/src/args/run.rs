//! Flags of `run`, `config` and `init`. `run` and `config` take all flags of `receive` and `send`.

use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueEnum, ValueHint};
use vesica::party::Role;

use super::sides::{ENDS, ReceiveArgs, SendArgs};
use crate::schema;

const RUN_EXAMPLES: &str = "\
Examples:
  Write an example of a job, and change it to your tables:
    vesica init --task sum --output job.toml
  Run it. Your partner runs the same file with --role sender:
    vesica run job.toml --role receiver
  The same with another table, and with a partner that peers.toml names:
    vesica run job.toml --role receiver --input 2026-12.csv --peer acme
  See each setting and where it comes from, and run nothing:
    vesica config job.toml --role receiver
If a setting is said in several places, the first of these counts: a flag, an environment variable, the job file, the \
partner's defaults in peers.toml, the default in this help. docs/jobs.md describes both files.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  vesica config job.toml --role sender
  vesica config --role receiver --peer acme --input ours.csv --key email --output matches.csv
  vesica config --schema > job.schema.json

Each line is a setting as a job file has it, with its origin behind #: a flag, an environment variable, a line of the \
job file or of the file of partners, or the default. Vesica reads no table and no private key here, and connects to \
nobody. Exit code 2: these settings cannot be run; the error says why.";

const INIT_EXAMPLES: &str = "\
Examples:
  vesica init > job.toml
  vesica init --task cardinality --output job.toml";

/// `--role`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleName {
    /// The side that gets the result, as with `vesica receive`
    Receiver,
    /// The other side, as with `vesica send`
    Sender,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Receiver => Self::Receiver,
            RoleName::Sender => Self::Sender,
        }
    }
}

/// `vesica run`.
#[derive(Debug, Args)]
#[command(after_long_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The job file. Paths in it start at the folder that it is in
    #[arg(value_name = "JOB.toml")]
    pub job: PathBuf,
    /// Which side you are [default: the one that the job file has a section for, if it has only one]
    #[arg(long, value_enum)]
    pub role: Option<RoleName>,
    /// Flags that count before the file.
    #[command(flatten)]
    pub flags: EitherSide,
}

/// `vesica config`.
#[derive(Debug, Args)]
#[command(after_long_help = CONFIG_EXAMPLES)]
pub struct ConfigArgs {
    /// The job file, if there is one
    #[arg(value_name = "JOB.toml")]
    pub job: Option<PathBuf>,
    /// Which side you are [default: the one that the job file has a section for, if it has only one]
    #[arg(long, value_enum)]
    pub role: Option<RoleName>,
    /// Print a JSON Schema and nothing else: of job files, or of what KIND names
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, default_missing_value = "job", conflicts_with_all = ["job", "role"])]
    pub schema: Option<schema::Kind>,
    /// The flags that the run would have.
    #[command(flatten)]
    pub flags: EitherSide,
}

/// `vesica init`.
#[derive(Debug, Args)]
#[command(after_long_help = INIT_EXAMPLES)]
pub struct InitArgs {
    /// What the job computes.
    #[arg(long, default_value = vesica::task::DEFAULT, help = super::task::tasks_help())]
    pub task: String,
    /// Write the example into this file, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// The flags of `receive` and those of `send`, none of them required. They are looked up by name
/// and have no fields.
#[derive(Debug)]
pub struct EitherSide;

impl FromArgMatches for EitherSide {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        Ok(())
    }
}

impl Args for EitherSide {
    fn augment_args(mut command: Command) -> Command {
        let [receive, send] = [Role::Receiver, Role::Sender].map(flags_of);
        for flag in &receive {
            let flag = match send.iter().find(|other| other.get_id() == flag.get_id()) {
                Some(other)
                    if other.get_help().map(ToString::to_string) != flag.get_help().map(ToString::to_string) =>
                {
                    let name = flag.get_id().as_str();
                    flag.clone()
                        .help(format!("As --{name} of `vesica receive` or of `vesica send`, whose help describes it"))
                        .long_help(Resettable::Reset)
                }
                _ => flag.clone(),
            };
            command = command.arg(flag.required(false));
        }
        for flag in send.into_iter().filter(|flag| receive.iter().all(|other| other.get_id() != flag.get_id())) {
            command = command.arg(flag.required(false));
        }
        command.group(ArgGroup::new("end").args(ENDS))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The flags of the command for a side: all that a job file can say for it, and those that it cannot
/// ([`is_typed_alone`](super::places::is_typed_alone)).
pub fn flags_of(role: Role) -> Vec<Arg> {
    let command = match role {
        Role::Receiver => ReceiveArgs::augment_args(Command::new("receive")),
        Role::Sender => SendArgs::augment_args(Command::new("send")),
    };
    command.get_arguments().cloned().collect()
}
