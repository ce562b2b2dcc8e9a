//! What a run shows on standard error while it goes on.

mod counter;
mod line;
mod log;
mod words;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracing::Level;
use vesica::Failure;
use vesica::progress::{Progress, Stage};
use vesica::session::Events;

use crate::args::ProgressName;
use crate::stderr::{self, Said, SaidOfRun};
pub use counter::Counter;
use line::Line;
use log::Log;

/// Time between two objects within a stage.
const JSON_EVERY: Duration = Duration::from_secs(1);

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
/// panics on the next one. It is given whole lines.
struct Lossy;

impl Write for Lossy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        stderr::write(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shows a run: notices and warnings always, and progress as `--progress` says.
pub struct Shown {
    view: View,
    started: Instant,
    verbose: bool,
    /// Warnings that were printed already.
    warned: Mutex<Vec<String>>,
}

/// How progress is shown.
enum View {
    /// Not at all.
    Nothing,
    /// A line on a terminal that changes.
    Line(Line),
    /// Lines of a log.
    Lines(Mutex<Log>),
    /// Objects; the time of the last one within the current stage.
    Json(Mutex<Option<Instant>>),
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shown")
    }
}

impl Shown {
    /// Begins to show a run.
    pub fn new(wish: ProgressName, verbose: u8) -> Self {
        let verbose = verbose > 0;
        let lines = |log| View::Lines(Mutex::new(log));
        let view = match wish {
            ProgressName::Never if verbose => lines(Log::of_stages()),
            ProgressName::Never => View::Nothing,
            ProgressName::Auto if verbose => lines(Log::full()),
            ProgressName::Auto if io::stderr().is_terminal() => View::Line(Line::new()),
            ProgressName::Auto => lines(Log::of_long_runs()),
            ProgressName::Plain => lines(Log::full()),
            ProgressName::Json => View::Json(Mutex::default()),
        };
        Self { view, started: Instant::now(), verbose, warned: Mutex::default() }
    }

    /// Removes the line.
    pub fn finish(&self) {
        if let View::Line(line) = &self.view {
            line.finish();
        }
    }

    /// Says something without getting in the way of the line.
    fn aside(&self, say: impl FnOnce()) {
        match &self.view {
            View::Line(line) => line.suspend(say),
            View::Nothing | View::Lines(_) | View::Json(_) => say(),
        }
    }
}

impl Events for Shown {
    fn listening(&self, address: SocketAddr) {
        if stderr::is_json() {
            stderr::event(Said::Listening { address: &address.to_string() });
        } else {
            self.aside(|| stderr::say(format_args!("listening on {address}")));
        }
    }

    fn connected(&self) {
        if stderr::is_json() {
            stderr::event(Said::Connected);
        } else if self.verbose {
            self.aside(|| stderr::say("the partner is connected"));
        }
    }

    fn notice(&self, text: &str) {
        self.aside(|| stderr::note(text));
    }

    fn warning(&self, text: &str) {
        let mut warned = lock(&self.warned);
        if !warned.iter().any(|said| said == text) {
            self.aside(|| stderr::warning(text));
            warned.push(text.to_owned());
        }
    }

    fn failed(&self, failure: &Failure) {
        self.aside(|| stderr::failure(failure));
    }

    fn stage(&self, stage: &Stage) {
        match &self.view {
            View::Nothing => {}
            View::Line(line) => line.begin(stage),
            View::Lines(log) => {
                if let Some(line) = lock(log).begins(stage, self.started.elapsed()) {
                    stderr::say(line);
                }
            }
            View::Json(last) => {
                *lock(last) = None;
                let text = stage.to_string();
                stderr::event(Said::Stage { stage: stage.name(), text: &text, protocol: stage.protocol() });
            }
        }
    }

    fn progress(&self, progress: &Progress) {
        match &self.view {
            View::Nothing => {}
            View::Line(line) => line.show(progress),
            View::Lines(log) => {
                if let Some(line) = lock(log).goes_on(progress, self.started.elapsed()) {
                    stderr::say(line);
                }
            }
            View::Json(last) => {
                let mut last = lock(last);
                if last.is_none_or(|last| last.elapsed() >= JSON_EVERY) {
                    *last = Some(Instant::now());
                    stderr::event(said(progress));
                }
            }
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn said(progress: &Progress) -> Said<'_> {
    let rounded = |number: f64| (number * 1e4).round() / 1e4;
    Said::Progress {
        stage: progress.stage.name(),
        fraction: progress.fraction.map(rounded),
        seconds_left: progress.seconds_left.map(rounded),
        of_run: Some(SaidOfRun {
            protocol: progress.stage.protocol(),
            sent_bytes: progress.sent_bytes,
            received_bytes: progress.received_bytes,
            expected_bytes: progress.expected_bytes,
        }),
    }
}
