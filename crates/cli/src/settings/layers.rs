//! The settings of one run, each with its origin.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, CommandFactory, FromArgMatches};
use vesica::Failure;
use vesica::failure::code;
use vesica::party::Role;
use vesica::task;
use vesica::written::is_name;

use super::job::{AsFlag, OpenJob, as_flag, find, first_part, refused, typed_alone, unknown};
use super::partners::Found;
use super::{Refused, Target, refuse_identity_without_use};
use crate::args::places::{OF_PARTNERS, is_typed_alone};
use crate::args::{Cli, ENDS, QueryArgs, flags_of};

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// An environment variable.
    Variable(String),
    /// A line of a job file.
    Job(PathBuf, usize),
    /// A line of a file of partners.
    Partner(PathBuf, usize),
    /// Nobody says it; the flag has a default.
    Default,
    /// Nobody says it, and the flag has no default.
    Unset,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Job(path, line) | Self::Partner(path, line) => write!(f, "{}, line {line}", path.display()),
            Self::Default => f.write_str("default"),
            Self::Unset => f.write_str("not set"),
        }
    }
}

/// A setting.
#[derive(Clone, Debug)]
pub struct Layered {
    /// Its flag.
    pub flag: Arg,
    /// Its values; those of a switch are `true` or `false`.
    pub values: Vec<OsString>,
    /// Where it comes from.
    pub origin: Origin,
}

/// All settings of a run, in the order of the flags in the help.
#[derive(Debug)]
pub struct Layers {
    target: Target,
    job: Option<PathBuf>,
    partner: Option<Found>,
    settings: Vec<Layered>,
}

impl Layers {
    /// The settings of a run of `target`: those on the command line and in the environment, as `given`
    /// has them, then those of the job, then those of the partner that `--peer` names.
    ///
    /// # Errors
    /// If a flag is for the other side, or a file does not say what it should.
    pub fn new(target: Target, given: &ArgMatches, job: Option<OpenJob>) -> Result<Self, Refused> {
        let flags = flags_of_target(target);
        let mut said = SettingsSoFar::default();
        for flag in &flags {
            if let Some(setting) = typed(flag, given) {
                said.add(setting);
            }
        }
        refuse_other_flags(target, &flags, given)?;
        said.seal();
        if let Some(job) = &job {
            for AsFlag { id, values, line } in job.as_flags(target.role())? {
                let flag = flags.iter().find(|flag| flag.get_id() == id.as_str());
                let origin = Origin::Job(job.path().into(), line);
                if let Some(flag) = flag.cloned() {
                    said.add(Layered { flag, values, origin });
                }
            }
            said.seal();
        }
        let job = job.map(|job| job.path().to_owned());
        let partner = find_partner(&said)?;
        if let Some(found) = &partner {
            add_partner(&mut said, found, &flags)?;
        }
        if let Some(job) = &job {
            let task = said.word("task").unwrap_or_else(|| task::DEFAULT.into());
            refuse_silent_threshold(&task, &said, job)?;
        }
        let settings = flags.into_iter().map(|flag| said.take(flag)).collect();
        Ok(Self { target, job, partner, settings })
    }

    /// The settings, in the order of the flags in the help.
    pub fn settings(&self) -> &[Layered] {
        &self.settings
    }

    /// The command that runs with them.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The partner, if the file of partners names it.
    pub fn partner(&self) -> Option<&Found> {
        self.partner.as_ref()
    }

    /// The command line that says all of them, but for what the environment and the defaults say.
    pub fn arguments(&self) -> Vec<OsString> {
        let said = self
            .settings
            .iter()
            .filter(|setting| !matches!(setting.origin, Origin::Variable(_) | Origin::Default | Origin::Unset));
        let mut arguments = vec![OsString::from("vesica"), self.target.name().into()];
        for setting in said {
            let Layered { flag, values, .. } = setting;
            let name = flag.get_long().unwrap_or_default();
            for value in values {
                let mut argument = OsString::from(format!("--{name}"));
                match flag.get_action() {
                    ArgAction::SetTrue if value == "true" => {}
                    ArgAction::SetTrue => continue,
                    _ => {
                        argument.push("=");
                        argument.push(self.resolved(setting, value));
                    }
                }
                arguments.push(argument);
            }
        }
        arguments
    }

    /// A value as the flag takes it: the key of a partner instead of its name.
    fn resolved(&self, setting: &Layered, value: &OsStr) -> OsString {
        if setting.flag.get_id() != "peer" {
            return value.to_owned();
        }
        match (&self.partner, &setting.origin) {
            (Some(found), _) => found.key().into(),
            // What may be a name was not yet made a path.
            (None, Origin::Job(path, _)) if value.to_str().is_some_and(is_name) => beside(path, value),
            _ => value.to_owned(),
        }
    }

    /// The command with these settings.
    ///
    /// # Errors
    /// If they are not what the command takes.
    pub fn command(&self) -> Result<Cli, Refused> {
        let parsed = Cli::command().try_get_matches_from(self.arguments());
        let parsed = parsed.and_then(|matches| {
            if let Some((name, given)) = matches.subcommand() {
                refuse_identity_without_use(name, given)?;
            }
            Cli::from_arg_matches(&matches)
        });
        match parsed {
            Ok(cli) => Ok(cli),
            Err(error) => Err(self.refused(&error).into()),
        }
    }

    /// Why the settings of all layers together are none for the command.
    fn refused(&self, error: &clap::Error) -> Failure {
        let place = match &self.job {
            Some(job) => job.display().to_string(),
            None => "the command line".into(),
        };
        match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) if error.kind() == ErrorKind::MissingRequiredArgument => {
                let mend = match &self.job {
                    Some(_) => format!("write it under [{}], or say the flag", self.target.role()),
                    None => "say it".into(),
                };
                Failure::new(code::USAGE, format_args!("{place} does not say {}", missing.join(", ")), mend)
            }
            _ => Failure::new(
                code::USAGE,
                format_args!("the settings of {place} do not go together: {}", first_part(&error.to_string())),
                "`vesica config` with the same arguments shows where each comes from",
            ),
        }
    }
}

impl Target {
    /// The side that the command plays.
    pub fn role(self) -> Role {
        match self {
            Self::Send => Role::Sender,
            Self::Receive | Self::Query => Role::Receiver,
        }
    }
}

/// The path of a file that `path` names by its own folder.
fn beside(path: &Path, name: &OsStr) -> OsString {
    path.parent().unwrap_or(Path::new("")).join(name).into_os_string()
}

/// What the layers have said so far, the highest first.
#[derive(Default)]
struct SettingsSoFar {
    settings: Vec<Layered>,
    /// How many of them higher layers have said.
    sealed: usize,
}

impl SettingsSoFar {
    /// Adds a setting, unless a higher layer has said it, or another end of the connection.
    fn add(&mut self, setting: Layered) {
        let id = setting.flag.get_id();
        let is_end = ENDS.iter().any(|end| id == end);
        let higher = self.settings.iter().take(self.sealed);
        let counts = |other: &Layered| {
            let other = other.flag.get_id();
            let is_other_end = ENDS.iter().any(|end| other == end);
            // A ticket is one of a relay, which may be named elsewhere, and a side that listens needs no proxy.
            let is_no_use = (id == "ticket" && other != "relay") || (id == "proxy" && other == "listen");
            other == id || (is_other_end && (is_end || is_no_use))
        };
        if !higher.into_iter().any(counts) {
            self.settings.push(setting);
        }
    }

    /// From here on a lower layer speaks.
    fn seal(&mut self) {
        self.sealed = self.settings.len();
    }

    fn find(&self, id: &str) -> Option<&Layered> {
        self.settings.iter().find(|setting| setting.flag.get_id() == id)
    }

    fn word(&self, id: &str) -> Option<String> {
        Some(self.find(id)?.values.first()?.to_string_lossy().into_owned())
    }

    /// What was said for a flag, or its default.
    fn take(&mut self, flag: Arg) -> Layered {
        if let Some(place) = self.settings.iter().position(|setting| setting.flag.get_id() == flag.get_id()) {
            return self.settings.swap_remove(place);
        }
        let mut values: Vec<OsString> = flag.get_default_values().iter().map(|value| value.to_os_string()).collect();
        if matches!(flag.get_action(), ArgAction::SetTrue) {
            values = vec!["false".into()];
        }
        let origin = if values.is_empty() { Origin::Unset } else { Origin::Default };
        Layered { flag, values, origin }
    }
}

/// The flags of a command, with long names.
fn flags_of_target(target: Target) -> Vec<Arg> {
    match target {
        Target::Query => QueryArgs::augment_args(Command::new("query")).get_arguments().cloned().collect(),
        _ => flags_of(target.role()),
    }
}

/// What the command line or the environment says for a flag.
fn typed(flag: &Arg, given: &ArgMatches) -> Option<Layered> {
    let id = flag.get_id().as_str();
    let origin = match given.value_source(id)? {
        ValueSource::CommandLine => Origin::Flag,
        ValueSource::EnvVariable => Origin::Variable(flag.get_env()?.to_string_lossy().into_owned()),
        _ => return None,
    };
    let values = match flag.get_action() {
        ArgAction::SetTrue => vec![given.get_flag(id).to_string().into()],
        _ => given.get_raw(id)?.map(OsStr::to_os_string).collect(),
    };
    Some(Layered { flag: flag.clone(), values, origin })
}

/// `run` takes the flags of both sides, and each side those of its own.
fn refuse_other_flags(target: Target, flags: &[Arg], given: &ArgMatches) -> Result<(), Failure> {
    if target == Target::Query {
        return Ok(());
    }
    let role = target.role();
    for flag in flags_of(role.peer()) {
        let id = flag.get_id().as_str();
        let is_own = flags.iter().any(|own| own.get_id() == id);
        if !is_own
            && matches!(given.try_contains_id(id), Ok(true))
            && given.value_source(id) == Some(ValueSource::CommandLine)
        {
            let name = flag.get_long().unwrap_or_default();
            return Err(Failure::new(
                code::USAGE,
                format_args!("--{name} is a flag of the {}, and this side is the {role}", role.peer()),
                "omit it, or say it on the other side",
            ));
        }
    }
    Ok(())
}

/// The partner whose name `--peer` says; `None` if it says a key or a file.
fn find_partner(said: &SettingsSoFar) -> Result<Option<Found>, Failure> {
    let Some(peer) = said.find("peer") else { return Ok(None) };
    let Some(name) = peer.values.first().and_then(|value| value.to_str()).filter(|name| is_name(name)) else {
        return Ok(None);
    };
    let path = said.find("peers").and_then(|peers| peers.values.first()).map(PathBuf::from);
    let file = match &peer.origin {
        Origin::Job(path, _) => beside(path, name.as_ref()).into(),
        _ => PathBuf::from(name),
    };
    Found::find(name, path.as_deref(), &file)
}

/// Adds the address of a partner and the settings for runs with it.
fn add_partner(said: &mut SettingsSoFar, found: &Found, flags: &[Arg]) -> Result<(), Failure> {
    let Found { path, partner } = found;
    let mut defaults = HashMap::new();
    for setting in &partner.defaults {
        let earlier = defaults.insert(&setting.key, setting.line);
        if let Some(earlier) = earlier {
            let fault =
                format_args!("line {}: `{}` is there a second time: line {earlier} has it", setting.line, setting.key);
            return Err(refused(path, fault, "keep one of them"));
        }
        if !OF_PARTNERS.contains(&setting.key.as_str()) {
            let of_sides = [Role::Receiver, Role::Sender].map(flags_of);
            return Err(match of_sides.iter().find_map(|flags| find(flags, &setting.key)) {
                None => unknown(path, setting, OF_PARTNERS.into_iter()),
                Some(flag) if is_typed_alone(flag) => typed_alone(path, setting),
                Some(_) => refused(
                    path,
                    format_args!("line {}: `{}` is no setting of a partner", setting.line, setting.key),
                    format_args!("say it in the job or as a flag; here can be {}", OF_PARTNERS.join(", ")),
                ),
            });
        }
        // A query does not have all of them.
        if let Some(flag) = find(flags, &setting.key) {
            let AsFlag { values, line, .. } = as_flag(path, flag, setting)?;
            said.add(Layered { flag: flag.clone(), values, origin: Origin::Partner(path.clone(), line) });
        }
    }
    said.seal();
    if let (Some(address), Some(flag)) = (&partner.address, find(flags, "connect")) {
        let origin = Origin::Partner(path.clone(), partner.line);
        said.add(Layered { flag: flag.clone(), values: vec![address.into()], origin });
    }
    Ok(())
}

/// A job that computes numbers of groups of keys says from how many keys on they are shown. A
/// default would do for those who read the file what nobody has decided.
fn refuse_silent_threshold(task: &str, said: &SettingsSoFar, job: &Path) -> Result<(), Failure> {
    let is_said = said.find("reveal_if_at_least").is_some_and(|setting| !matches!(setting.origin, Origin::Partner(..)));
    let Ok(found) = task::find(task) else { return Ok(()) };
    if is_said || !task::takes_threshold(found) {
        return Ok(());
    }
    Err(Failure::new(
        code::USAGE,
        format_args!(
            "{} computes numbers (the task is {task}) and does not say how many common keys a result must have",
            job.display()
        ),
        "write for example reveal-if-at-least = 20 above its sections, or reveal-if-at-least = \"none\" to withhold \
         no result",
    ))
}
