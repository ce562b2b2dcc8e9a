//! SIGHUP, SIGINT and SIGTERM end a run: the peer is told, no output is left, the exit code says
//! which it was.

use std::fs;
use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use vesica::Failure;
use vesica::failure::code;
use vesica::session::Interrupt;
use vesica::threads;

use crate::stderr;

/// How long a run that was interrupted may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(7);

/// A write beyond the limit on file sizes is to fail, with a message, instead of ending the
/// process: what handles its signal does nothing.
pub fn outlive_file_size_limit() {
    // Where the handler cannot be set, all else works.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// From now on signals raise `interrupt`; a second signal, or a run that does not end, ends the
/// process at once. A SIGHUP that was ignored when the process started (`nohup`) stays ignored.
pub fn watch(interrupt: &Interrupt) -> Result<(), Failure> {
    let mut signals = signals()?;
    let interrupt = interrupt.clone();
    threads::start("vesica-signals", move || {
        let mut code = None;
        for signal in signals.forever() {
            if let Some(code) = code {
                process::exit(code);
            }
            let (number, name) = told(signal);
            code = Some(i32::from(number));
            interrupt.raise(Failure::new(
                number,
                format_args!("interrupted by {name}"),
                "start again when you are ready",
            ));
            let interrupt = interrupt.clone();
            // Without this thread the run may take longer to end, and a second signal ends it.
            let _ = threads::start("vesica-goodbye", move || {
                thread::sleep(GOODBYE);
                // A result that is complete is written, however long that takes. A second signal gives it up.
                if !interrupt.is_complete() {
                    process::exit(i32::from(number));
                }
            });
        }
    })
}

/// From now on a signal ends the process after `clean` has run; a second one does not wait for it.
pub fn end_after(clean: fn()) -> Result<(), Failure> {
    let mut signals = signals()?;
    threads::start("vesica-signals", move || {
        let mut is_ending = false;
        for signal in signals.forever() {
            let (number, name) = told(signal);
            if is_ending {
                process::exit(i32::from(number));
            }
            is_ending = true;
            let end = move || {
                clean();
                let fault = format_args!("interrupted by {name}");
                stderr::failure(&Failure::new(number, fault, "start again when you are ready"));
                stderr::end(number);
                process::exit(i32::from(number));
            };
            // Without a thread of its own it ends here, and a second signal waits for it.
            if threads::start("vesica-goodbye", end).is_err() {
                end();
            }
        }
    })
}

/// The signals that end a run; without SIGHUP where that was ignored when the process started (`nohup`).
fn signals() -> Result<Signals, Failure> {
    let all = [SIGHUP, SIGINT, SIGTERM];
    let watched = if hangup_is_ignored() { &all[1..] } else { &all[..] };
    Signals::new(watched).map_err(|error| {
        Failure::new(code::INTERNAL, format_args!("cannot handle signals: {error}"), "please report this")
    })
}

/// Exit code and name of a signal that ends a run.
const fn told(signal: i32) -> (u8, &'static str) {
    match signal {
        SIGHUP => (code::HUNG_UP, "SIGHUP"),
        SIGINT => (code::INTERRUPTED, "SIGINT"),
        _ => (code::TERMINATED, "SIGTERM"),
    }
}

/// Whether SIGHUP is ignored, as far as the system tells.
fn hangup_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
