//! How a command ends: text or JSON, and the exit code.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use vesica::Failure;
use vesica::failure::code;

use crate::stderr;

/// What a command returns. Its own output is printed by itself.
pub type Outcome = Result<(), Failure>;

/// A panic prints where it happened, never what it was about: its text may hold data.
pub fn quiet_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        stderr::say(format_args!("error: vesica has a defect{place}"));
    }));
}

/// Runs a command; a panic becomes an internal failure.
pub fn catching(command: impl FnOnce() -> Outcome) -> Outcome {
    panic::catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        Err(Failure::new(
            code::INTERNAL,
            "vesica has a defect and stopped",
            "please report it with the place above, the version and the command",
        ))
    })
}

/// Says a failure, unless that was done before, and that the command has ended. Gives the exit code.
pub fn report(json: bool, outcome: Outcome) -> u8 {
    let failure = outcome.err();
    if let Some(failure) = &failure {
        if json && !failure.reported {
            print_json_failure(failure);
        }
        if !failure.announced {
            stderr::failure(failure);
        }
    }
    let code = failure.map_or(0, |failure| failure.code);
    stderr::end(code);
    code
}

/// What a command with `--json` prints that failed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureReport<'a> {
    /// Always false.
    ok: bool,
    /// Why.
    error: FailureText<'a>,
}

/// A failure in words.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FailureText<'a> {
    /// The exit code.
    code: u8,
    /// What went wrong.
    fault: &'a str,
    /// What the user can do about it.
    mend: &'a str,
}

/// The failure as an object on standard output.
pub fn print_json_failure(failure: &Failure) {
    let Failure { code, fault, mend, .. } = failure;
    let object = json!(FailureReport { ok: false, error: FailureText { code: *code, fault, mend } });
    // Whoever closed the pipe does not want it.
    let _ = writeln!(io::stdout(), "{object}");
}

/// Prints to standard output; a closed pipe is not an error, a full disk is.
pub fn print(text: &str) -> Outcome {
    printed(io::stdout().write_all(text.as_bytes()))
}

/// The outcome of a write to standard output, as for [`print`].
pub fn printed(written: io::Result<()>) -> Outcome {
    match written.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unprinted(&error)),
        _ => Ok(()),
    }
}

/// Prints the report of a run to standard output. Nobody can have it a second time, so that a
/// closed pipe is an error too.
pub fn print_report(text: &str) -> Outcome {
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    written.map_err(|error| unprinted(&error))
}

fn unprinted(error: &io::Error) -> Failure {
    Failure::new(
        code::OUTPUT,
        format_args!("cannot write to standard output: {error}"),
        "free space or choose another place",
    )
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::{self, Command, Stdio};

    use super::*;

    /// Exit code of the process below.
    const CAUGHT: i32 = 42;

    #[test]
    #[ignore = "ends its process: run by the test below"]
    fn panic_in_a_process_of_its_own() {
        quiet_panics();
        let outcome = catching(|| panic!("a defect"));
        process::exit(if outcome.is_err_and(|failure| failure.code == code::INTERNAL) { CAUGHT } else { 1 });
    }

    /// A panic while the hook prints would abort the process.
    #[test]
    fn a_panic_is_caught_though_standard_error_is_full() {
        let this = std::env::current_exe().expect("the tests' own program");
        let status = Command::new(this)
            .args([
                "--ignored",
                "--exact",
                "outcome::tests::panic_in_a_process_of_its_own",
                "--nocapture",
                "--test-threads=1",
            ])
            .stdout(Stdio::null())
            .stderr(File::create("/dev/full").expect("there"))
            .status();
        assert_eq!(status.expect("started").code(), Some(CAUGHT));
    }
}
