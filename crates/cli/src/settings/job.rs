//! A job file beside the flags: each of its settings is a flag's, with a value that the flag takes.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Args, Command, ValueHint};
use vesica::Failure;
use vesica::bounded::read_text;
use vesica::failure::code;
use vesica::nearest::nearest;
use vesica::party::Role;
use vesica::party::transport::relay::Ticket;
use vesica::party::transport::tls::PublicKey;
use vesica::toml_text::MAX_BYTES;
use vesica::written::{Job, Setting, Value, is_name};

use crate::args::places::{is_list_of_names, is_of_columns, is_typed_alone};
use crate::args::{EitherSide, RoleName, flags_of};
use crate::identity;

/// A job file that was read: all of its settings, for both sides, are what flags take.
#[derive(Debug)]
pub struct OpenJob {
    path: PathBuf,
    job: Job,
}

/// A setting as its flag has it.
#[derive(Debug)]
pub struct AsFlag {
    /// The flag's name in the program.
    pub id: String,
    /// Its values; those of a switch are `true` or `false`.
    pub values: Vec<OsString>,
    /// The line of the file.
    pub line: usize,
}

impl OpenJob {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read or is no TOML; if it has a setting that is no flag, is a flag of the other
    /// side, or has a value that the flag does not take.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = read_text(path, MAX_BYTES).map_err(|error| {
            Failure::new(
                code::INPUT,
                format_args!("cannot read the job {}: {error}", path.display()),
                "check the path; `vesica init` prints an example of a job file",
            )
        })?;
        Self::parse(&text, path)
    }

    /// As [`OpenJob::read`], with the text of the file.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Failure> {
        let job =
            Job::parse(text).map_err(|fault| refused(path, fault, "`vesica init` prints an example of a job file"))?;
        let job = Self { path: path.into(), job };
        for role in [Role::Receiver, Role::Sender] {
            job.as_flags(role)?;
        }
        Ok(job)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The side to run: the one that was asked for, or the only one that the file is for.
    ///
    /// # Errors
    /// If that is open, or the file is for the other side alone.
    pub fn role(&self, asked: Option<RoleName>) -> Result<Role, Failure> {
        let path = self.path.display();
        match (asked.map(Role::from), self.job.only_role()) {
            (Some(asked), Some(only)) if asked != only => Err(Failure::new(
                code::USAGE,
                format_args!("{path} has settings for the {only}, and none for the {asked}"),
                format_args!("say --role {only}, or add a section [{asked}] to the file"),
            )),
            (Some(role), _) | (None, Some(role)) => Ok(role),
            (None, None) => {
                let what = if self.job.receiver.is_some() { "sections for both sides" } else { "no section of a side" };
                Err(no_role(&format!("{path} has {what}")))
            }
        }
    }

    /// The settings for a side as flags.
    ///
    /// # Errors
    /// As for [`OpenJob::read`].
    pub fn as_flags(&self, role: Role) -> Result<Vec<AsFlag>, Failure> {
        let own = flags_of(role);
        let other = flags_of(role.peer());
        let shared = self.job.shared.len();
        let each = self.job.settings(role).enumerate().map(|(place, setting)| {
            let flag = find(&own, &setting.key);
            let is_others = find(&other, &setting.key).is_some();
            match flag {
                Some(flag) if is_typed_alone(flag) => Err(typed_alone(&self.path, setting)),
                // What stands before the sections is for both sides.
                Some(flag) if place >= shared || is_others => as_flag(&self.path, flag, setting),
                Some(_) => Err(self.misplaced(setting, role)),
                None if is_others => Err(self.misplaced(setting, role.peer())),
                None => Err(self.unknown(setting, &own, &other)),
            }
        });
        each.collect()
    }

    fn misplaced(&self, setting: &Setting, role: Role) -> Failure {
        let fault = format_args!("line {}: `{}` is a setting of the {role} alone", setting.line, setting.key);
        refused(&self.path, fault, format_args!("write it under [{role}]"))
    }

    fn unknown(&self, setting: &Setting, own: &[Arg], other: &[Arg]) -> Failure {
        let names = own.iter().chain(other).filter_map(Arg::get_long).chain(["receiver", "sender"]);
        unknown(&self.path, setting, names)
    }
}

/// The flag of this long name.
pub fn find<'a>(flags: &'a [Arg], key: &str) -> Option<&'a Arg> {
    flags.iter().find(|flag| flag.get_long() == Some(key))
}

/// A fault in the file `path`.
pub fn refused(path: &Path, fault: impl Display, mend: impl Display) -> Failure {
    Failure::new(code::USAGE, format_args!("{}, {fault}", path.display()), mend)
}

/// A setting that only the command line can say.
pub fn typed_alone(path: &Path, setting: &Setting) -> Failure {
    let (line, key) = (setting.line, &setting.key);
    refused(path, format_args!("line {line}: `{key}` cannot stand in a file"), format_args!("type --{key} for the run"))
}

/// A setting that is none of `names`.
pub fn unknown<'a>(path: &Path, setting: &Setting, names: impl Iterator<Item = &'a str>) -> Failure {
    let close = nearest(&setting.key, names).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    refused(
        path,
        format_args!("line {}: there is no setting `{}`", setting.line, setting.key),
        format_args!("{close}a setting has the name of a flag: `vesica run --help` lists them"),
    )
}

/// A setting of the file `path` as its flag has it. Paths start at the folder of the file.
///
/// # Errors
/// If the flag takes no such value.
pub fn as_flag(path: &Path, flag: &Arg, setting: &Setting) -> Result<AsFlag, Failure> {
    let fault = |fault: &dyn Display, mend: &str| {
        refused(path, format_args!("line {}: `{}` {fault}", setting.line, setting.key), mend)
    };
    let is_list = matches!(flag.get_action(), ArgAction::Append);
    let of_columns = is_of_columns(flag);
    let words = match (flag.get_action(), &setting.value) {
        (ArgAction::SetTrue, Value::Switch(is_on)) => vec![is_on.to_string()],
        (ArgAction::Set | ArgAction::Append, Value::Word(word)) => vec![word.clone()],
        (ArgAction::Append, Value::List(words)) if is_list_of_names(flag) => {
            words.iter().map(|word| quoted(word)).collect()
        }
        (ArgAction::Append, Value::List(words)) => words.clone(),
        (ArgAction::Append, Value::Columns(columns)) if of_columns => {
            columns.iter().map(|(column, word)| format!("{column}={word}")).collect()
        }
        (action, value) => {
            let takes = match action {
                ArgAction::SetTrue => "true or false",
                _ if of_columns => "a table with a value for each column, or an array of COLUMN=VALUE",
                _ if is_list => "a string or an array of strings",
                _ => "a string or a number",
            };
            return Err(fault(
                &format_args!("is {}, and must be {takes}", value.kind()),
                "see docs/jobs.md for examples",
            ));
        }
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut values = Vec::new();
    for word in words {
        let value = if is_path(flag, &word) { folder.join(word).into_os_string() } else { word.into() };
        if !matches!(flag.get_action(), ArgAction::SetTrue) {
            check(flag, &value).map_err(|error| fault(&format_args!("is not usable: {error}"), "see --help"))?;
        }
        values.push(value);
    }
    Ok(AsFlag { id: flag.get_id().to_string(), values, line: setting.line })
}

/// A name for a list with commas.
fn quoted(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}

/// Whether a word is a path that starts at the folder of its file.
fn is_path(flag: &Arg, word: &str) -> bool {
    match flag.get_value_hint() {
        ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath => word != "-" && !identity::is_no_file(word),
        _ if flag.get_id() == "ticket" => !Ticket::is_meant_by(word) && !identity::is_no_file(word),
        _ => flag.get_id() == "peer" && !is_name(word) && word.parse::<PublicKey>().is_err(),
    }
}

/// Asks a flag alone whether it takes this value, in the words of the command line.
fn check(flag: &Arg, value: &OsString) -> Result<(), String> {
    let mut argument = OsString::from(format!("--{}=", flag.get_long().unwrap_or_default()));
    argument.push(value);
    let command = EitherSide::augment_args(Command::new("vesica").no_binary_name(true));
    command.try_get_matches_from([argument]).map(drop).map_err(|error| first_part(&error.to_string()))
}

/// What an error of the command line says before its hints, in one line.
pub fn first_part(text: &str) -> String {
    let lines = text.trim_start_matches("error: ").lines().map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Nothing says which side this is.
pub(super) fn no_role(fault: &str) -> Failure {
    Failure::new(
        code::USAGE,
        format_args!("{fault}, so it is open which side you are"),
        "say --role receiver or --role sender",
    )
}
