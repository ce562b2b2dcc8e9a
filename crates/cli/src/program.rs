//! The programs that have this command line.

use std::fmt;
use std::sync::OnceLock;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command as Grammar};
use vesica::Failure;
use vesica::failure::code;

use crate::args::values::ProgressName;
use crate::outcome::Outcome;

/// A program with this command line.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The commands that it has beside those of the product.
    pub additions: &'static [&'static dyn Addition],
}

/// The program that users run.
pub static PRODUCT: Program = Program { name: "vesica", additions: &[] };

/// A command that a program adds.
pub trait Addition: fmt::Debug + Sync {
    /// Its grammar.
    fn grammar(&self) -> Grammar;
    /// How it shows what it does, if it is asked for these.
    fn shown(&self, matches: &ArgMatches) -> Shown;
    /// Runs it.
    ///
    /// # Errors
    /// If it fails.
    fn run(&self, matches: &ArgMatches) -> Outcome;
}

/// How a command shows what it does.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Whether its result is JSON.
    pub json: bool,
    /// How it shows progress, if it does.
    pub progress: Option<ProgressName>,
}

static RUNNING: OnceLock<&'static Program> = OnceLock::new();

/// From now on the program of this process is `program`.
pub fn begin(program: &'static Program) {
    RUNNING.get_or_init(|| program);
}

/// The program of this process: the product, if none has begun.
pub fn running() -> &'static Program {
    RUNNING.get().copied().unwrap_or(&PRODUCT)
}

/// The command of this name that the program has added.
pub fn addition(name: &str) -> Option<&'static dyn Addition> {
    running().additions.iter().copied().find(|addition| addition.grammar().get_name() == name)
}

/// Commands of `vesica-lab` that the product does not have.
const OF_LAB: [&str; 1] = ["bench"];

/// What to say of a command that only `vesica-lab` has.
pub fn of_lab(error: &clap::Error) -> Option<Failure> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    OF_LAB.contains(&name.as_str()).then(|| {
        Failure::new(
            code::USAGE,
            format_args!("the command `{name}` is not in this program"),
            format_args!("it is in the program of researchers: `vesica-lab {name} --help`"),
        )
    })
}
