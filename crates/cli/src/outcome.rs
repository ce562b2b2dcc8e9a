//! How a command ends: text or JSON, and the exit code.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use serde_json::json;
use vesica::Failure;
use vesica::failure::code;

/// What a command returns. Its own output is printed by itself.
pub type Outcome = Result<(), Failure>;

/// A panic prints where it happened, never what it was about: its text may hold data.
pub fn quiet_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        eprintln!("error: vesica has a defect{place}");
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

/// Prints a failure and gives the exit code.
pub fn report(json: bool, outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    if json {
        print_json_failure(&failure);
    }
    eprintln!("error: {}", failure.fault);
    eprintln!("help: {}", failure.mend);
    ExitCode::from(failure.code)
}

/// The failure as an object on standard output.
pub fn print_json_failure(failure: &Failure) {
    let object = json!({ "ok": false, "error": { "code": failure.code, "fault": failure.fault, "mend": failure.mend } });
    // Whoever closed the pipe does not want it.
    let _ = writeln!(io::stdout(), "{object}");
}

/// Prints to standard output; a closed pipe is not an error, a full disk is.
pub fn print(text: &str) -> Outcome {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(code::OUTPUT, format_args!("cannot write to standard output: {error}"), "free space or choose another place"))
        }
        _ => Ok(()),
    }
}
