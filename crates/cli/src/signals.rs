//! SIGINT and SIGTERM end a run: the peer is told, no output is left, the exit code says which it was.

use std::process;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use vesica::Failure;
use vesica::failure::code;
use vesica::session::Interrupt;

/// How long a run that was interrupted may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(7);

/// From now on signals raise `interrupt`; a second signal, or a run that does not end, ends the process at once.
pub fn watch(interrupt: &Interrupt) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| Failure::new(code::INTERNAL, format_args!("cannot handle signals: {error}"), "please report this"))?;
    let interrupt = interrupt.clone();
    thread::spawn(move || {
        let mut code = None;
        for signal in signals.forever() {
            if let Some(code) = code {
                process::exit(code);
            }
            let (number, name) = if signal == SIGINT { (code::INTERRUPTED, "SIGINT") } else { (code::TERMINATED, "SIGTERM") };
            code = Some(i32::from(number));
            interrupt.raise(Failure::new(number, format_args!("interrupted by {name}"), "start again when you are ready"));
            let interrupt = interrupt.clone();
            thread::spawn(move || {
                thread::sleep(GOODBYE);
                // A result that is complete is written, however long that takes. A second signal gives it up.
                if !interrupt.is_complete() {
                    process::exit(i32::from(number));
                }
            });
        }
    });
    Ok(())
}
