//! SIGHUP, SIGINT and SIGTERM end a run: the peer is told, no output is left, the exit code says
//! which it was. Whatever ends the process, a terminal that was asked for a passphrase shows again what is typed.

use std::fs;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use vesica::Failure;
use vesica::failure::code;
use vesica::session::Interrupt;
use vesica::threads;

use crate::{passphrase, stderr};

/// Whether signals that end the process do so by this module, or by the command.
static ARE_CAUGHT: AtomicBool = AtomicBool::new(false);

/// How long a run that was interrupted may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(7);

/// How long the last word of a process waits for a terminal that takes nothing (Ctrl-S).
const LAST_WORD: Duration = Duration::from_secs(2);

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
                exit(code);
            }
            let (number, name) = told(signal);
            code = Some(number);
            let failure = interruption(number, name);
            // Nothing has begun yet, and whoever asks waits for a line.
            if passphrase::give_up() {
                end(&failure);
            }
            interrupt.raise(failure);
            let interrupt = interrupt.clone();
            // Without this thread the run may take longer to end, and a second signal ends it.
            let _ = threads::start("vesica-goodbye", move || {
                thread::sleep(GOODBYE);
                // A result that is complete is written, however long that takes. A second signal gives it up.
                if !interrupt.is_complete() {
                    exit(number);
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
                exit(number);
            }
            is_ending = true;
            passphrase::give_up();
            let goodbye = move || {
                clean();
                end(&interruption(number, name));
            };
            // Without a thread of its own it ends here, and a second signal waits for it.
            if threads::start("vesica-goodbye", goodbye).is_err() {
                goodbye();
            }
        }
    })
}

/// Before somebody is asked for a passphrase: from now on signals that end or stop this process first give the terminal
/// back.
pub fn mind_terminal() -> Result<(), Failure> {
    static IS_MINDED: AtomicBool = AtomicBool::new(false);
    if IS_MINDED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    if !ARE_CAUGHT.load(Ordering::Relaxed) {
        end_after(|| ())?;
    }
    let mut others = caught(&[SIGQUIT, SIGTSTP])?;
    threads::start("vesica-terminal", move || {
        for signal in others.forever() {
            passphrase::aside(|| {
                // It fails for no signal of these.
                let _ = emulate_default_handler(signal);
            });
        }
    })
}

/// Says why the process ends, and ends it.
fn end(failure: &Failure) -> ! {
    let code = failure.code;
    let _ = threads::start("vesica-last-word", move || {
        thread::sleep(LAST_WORD);
        exit(code);
    });
    stderr::failure(failure);
    stderr::end(failure.code);
    exit(failure.code)
}

/// Ends the process, which may be asking for a passphrase.
pub fn exit(code: u8) -> ! {
    passphrase::give_up();
    process::exit(code.into())
}

fn interruption(code: u8, signal: &str) -> Failure {
    Failure::new(code, format_args!("interrupted by {signal}"), "start again when you are ready")
}

/// The signals that end a run; without SIGHUP where that was ignored when the process started (`nohup`).
fn signals() -> Result<Signals, Failure> {
    let all = [SIGHUP, SIGINT, SIGTERM];
    caught(if hangup_is_ignored() { &all[1..] } else { &all[..] })
}

/// These signals, which from now on do nothing but come from here. Whoever catches them ends the process by [`exit`].
pub fn caught(signals: &[i32]) -> Result<Signals, Failure> {
    ARE_CAUGHT.store(true, Ordering::Relaxed);
    Signals::new(signals).map_err(|error| {
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
