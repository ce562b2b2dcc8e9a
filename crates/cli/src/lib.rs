//! The `vesica` command as a library: [`run`] is the command, and [`embed`] are runs for a program that has
//! its table in memory, with the settings of the command line.
//!
//! A [`Program`] is a name for this command line, and the commands that it adds to it; [`tools`] are what such
//! commands need.
//!
//! `args` is the grammar and help, `commands` has one module for each subcommand, `settings` adds files and the
//! environment, `outcome` prints results and errors and gives the exit code.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod args;
mod calibration;
mod commands;
mod core_dumps;
pub mod embed;
mod identity;
mod layout;
mod outcome;
mod passphrase;
mod program;
mod progress;
mod schema;
mod settings;
mod signals;
mod stderr;
pub mod tools;

pub use core_dumps::forbid as forbid_core_dumps;
pub use program::{Addition, PRODUCT, Program};

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::sync::OnceLock;

use clap::error::ErrorKind;

use args::{Cli, Command, ProgressName};
use outcome::Outcome;
use settings::{Asked, Refused};
use vesica::Failure;
use vesica::failure::code;
use vesica::{memory, threads};

/// The program that commands start again for their second party, where it is not the one of this process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The program of this command.
fn program() -> io::Result<PathBuf> {
    PROGRAM.get().cloned().map_or_else(env::current_exe, Ok)
}

/// As [`run`], in a process of another program, such as an interpreter. `program` is what runs a command line of
/// `vesica`. Returns the exit code.
pub fn run_inside(program: PathBuf, arguments: &[OsString]) -> u8 {
    PROGRAM.get_or_init(|| program);
    passphrase::allow_asking(|| exit_code(arguments))
}

/// Runs a command line of a program, of which the first argument is the program's name.
pub fn run(program: &'static Program, arguments: &[OsString]) -> ExitCode {
    program::begin(program);
    if memory::is_address_space_limited() {
        begin_again_with_one_arena(arguments);
    }
    ExitCode::from(passphrase::allow_asking(|| exit_code(arguments)))
}

/// Has the C library serve all threads from one arena, which it reads from the environment when a program begins. It
/// would take 64 MiB of address space a thread, and leave none for the run. Returns if that is set, or cannot be.
fn begin_again_with_one_arena(arguments: &[OsString]) {
    const ARENAS: &str = "MALLOC_ARENA_MAX";
    if let (None, Ok(program), [name, arguments @ ..]) = (env::var_os(ARENAS), program(), arguments) {
        let _ = process::Command::new(program).arg0(name).args(arguments).env(ARENAS, "1").exec();
    }
}

fn exit_code(arguments: &[OsString]) -> u8 {
    stderr::begin(arguments.iter().cloned());
    outcome::quiet_panics();
    signals::outlive_file_size_limit();
    let asks_for_json = arguments.iter().any(|argument| argument == "--json");
    match settings::asked(arguments.iter().cloned()) {
        Ok(Asked::Command(cli)) => {
            let json = cli.command.json();
            outcome::report(json, outcome::catching(|| dispatch(*cli)))
        }
        Ok(Asked::Settings(layers)) => outcome::report(false, outcome::catching(|| commands::config::run(&layers))),
        Ok(Asked::Schema(kind)) => outcome::report(false, outcome::catching(|| commands::config::print_schema(kind))),
        Ok(Asked::Added { addition, matches, verbose }) => {
            let shown = addition.shown(&matches);
            outcome::report(
                shown.json,
                outcome::catching(|| {
                    stderr::set_json(shown.progress == Some(ProgressName::Json));
                    progress::log_to_stderr(verbose);
                    addition.run(&matches)
                }),
            )
        }
        Err(Refused::Usage(error)) => usage(&error, asks_for_json),
        Err(Refused::Failed(failure)) => outcome::report(asks_for_json, Err(failure)),
    }
}

fn dispatch(cli: Cli) -> Outcome {
    stderr::set_json(cli.command.progress() == Some(ProgressName::Json));
    progress::log_to_stderr(cli.verbose);
    admit(&cli.command)?;
    match cli.command {
        command @ (Command::Receive(_) | Command::Send(_)) => commands::sides::run(command, cli.verbose),
        Command::Init(command) => commands::init::run(command),
        Command::Run(_) | Command::Config(_) => {
            Err(Failure::new(code::INTERNAL, "the job has not become a command", "please report this"))
        }
        Command::Serve(command) => commands::serve::run(*command, cli.verbose),
        Command::Query(command) => commands::query::run(*command, cli.verbose),
        Command::Relay(command) => commands::relay::run(*command, cli.verbose),
        Command::Identity(command) => commands::identity::run(command),
        Command::Receipt(command) => commands::receipt::run(command),
        Command::Log(command) => commands::log::run(command),
        Command::Policy(command) => commands::policy::run(command),
        Command::Demo(command) => commands::demo::run(command),
        Command::Check(command) => commands::check::run(*command),
        Command::Plan(command) => commands::plan::run(command),
        Command::Protocols(command) => commands::protocols::run(command),
        Command::Selftest(command) => commands::selftest::run(command),
        Command::Completions(command) => commands::completions::run(command),
        Command::Man(command) => commands::man::run(command),
    }
}

/// Looks whether the system gives what a command takes that runs, reads a table or measures. The pool of those that
/// have no setting for threads is started here.
fn admit(command: &Command) -> Outcome {
    match command {
        Command::Receive(_) | Command::Send(_) | Command::Serve(_) | Command::Query(_) => threads::admit(),
        Command::Demo(_) | Command::Plan(_) | Command::Selftest(_) => threads::set(None),
        Command::Check(_) => threads::set_alone(),
        Command::Init(_)
        | Command::Run(_)
        | Command::Config(_)
        | Command::Relay(_)
        | Command::Identity(_)
        | Command::Receipt(_)
        | Command::Log(_)
        | Command::Policy(_)
        | Command::Protocols(_)
        | Command::Completions(_)
        | Command::Man(_) => Ok(()),
    }
}

/// Help and version go to standard output; a wrong usage is also told in JSON where that was asked
/// for. It ends the command at once: how to reach the partner, so as to tell it, is not known then.
fn usage(error: &clap::Error, asks_for_json: bool) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return outcome::report(false, outcome::printed(error.print()));
    }
    if let Some(failure) = program::of_lab(error) {
        return outcome::report(asks_for_json, Err(failure));
    }
    let text = error.to_string();
    let fault = text.trim_start_matches("error: ").lines().next().unwrap_or_default();
    let failure = Failure::new(code::USAGE, fault, "see --help");
    if stderr::is_json() {
        return outcome::report(asks_for_json, Err(failure));
    }
    if asks_for_json {
        outcome::print_json_failure(&failure);
    }
    let rendered = error.render();
    stderr::write(&if stderr::has_colour() { rendered.ansi().to_string() } else { rendered.to_string() });
    code::USAGE
}
