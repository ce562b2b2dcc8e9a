//! What a run shows on standard error while it goes on.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use vesica::Failure;
use vesica::session::Events;

use crate::args::ProgressName;
use crate::outcome::{say, say_failure};

/// Logs events of the libraries to standard error: none by default, phases with `-v`, all with
/// `-vv`. None of them holds a key.
pub fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => Level::DEBUG,
        _ => Level::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(|| Lossy).with_target(false).init();
}

/// Standard error as a writer that never fails: the subscriber answers a failure with a macro that
/// panics on the next one.
struct Lossy;

impl Write for Lossy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line that says what is going on, on a terminal; nothing elsewhere. Notices are always printed.
pub struct Progress {
    line: ProgressBar,
    verbose: bool,
    /// Warnings that were printed already.
    warned: Mutex<Vec<String>>,
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

impl Progress {
    /// Shows itself if `wish` and the terminal allow it.
    pub fn new(wish: ProgressName, verbose: u8) -> Self {
        let shown = wish == ProgressName::Auto && verbose == 0 && io::stderr().is_terminal();
        let line = if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if shown {
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} [{elapsed}]") {
                line.set_style(style);
            }
            // No other subscriber is there, since nothing is logged when the line is shown; were there one, the
            // line would lack phases.
            let _ =
                tracing_subscriber::registry().with(Phases(line.clone()).with_filter(LevelFilter::DEBUG)).try_init();
            line.enable_steady_tick(Duration::from_millis(100));
        }
        Self { line, verbose: verbose > 0, warned: Mutex::default() }
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.line.finish_and_clear();
    }

    fn print(&self, text: &str) {
        self.line.suspend(|| say(text));
    }
}

impl Events for Progress {
    fn listening(&self, address: SocketAddr) {
        self.print(&format!("listening on {address}"));
    }

    fn connected(&self) {
        if self.verbose {
            self.print("the partner is connected");
        }
    }

    fn notice(&self, text: &str) {
        self.print(&format!("note: {text}"));
    }

    fn warning(&self, text: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if !warned.iter().any(|said| said == text) {
            self.print(&format!("warning: {text}"));
            warned.push(text.to_owned());
        }
    }

    fn failed(&self, failure: &Failure) {
        self.line.suspend(|| say_failure(failure));
    }

    fn stage(&self, name: &str) {
        self.line.set_prefix(name.to_owned());
        self.line.set_message("");
        if self.verbose {
            self.print(&format!("{name} ..."));
        }
    }
}

/// Shows the phase that the channel enters.
struct Phases(ProgressBar);

impl<S: Subscriber> Layer<S> for Phases {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        event.record(&mut PhaseOf(&self.0));
    }
}

struct PhaseOf<'a>(&'a ProgressBar);

impl Visit for PhaseOf<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "phase" {
            self.0.set_message(format!("({value})"));
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}
