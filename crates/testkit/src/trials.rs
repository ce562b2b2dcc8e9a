//! A suite over a registry: one trial a row and mode, each with its own outcome.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use vesica_party::{Mode, Task};

use crate::conformance::Runnable;
use crate::pair::message;

/// Environment variable that chooses the trials whose names contain its value.
pub const TRIAL: &str = "VESICA_TRIAL";

/// Runs trials one after the other, prints how each of them ended, and fails at the end if one of
/// them did: a row that fails hides none after it.
///
/// `VESICA_TRIAL=rr22` chooses the trials whose names contain `rr22`, `VESICA_TRIAL='rr22
/// malicious'` that mode. See them with `--nocapture`.
#[derive(Debug)]
#[must_use = "a suite fails at its end"]
pub struct Trials {
    suite: &'static str,
    chosen: Option<String>,
    ran: usize,
    failures: Vec<String>,
}

impl Trials {
    /// No trials yet; those that `VESICA_TRIAL` chooses will be run.
    pub fn of(suite: &'static str) -> Self {
        Self::chosen_by(suite, std::env::var(TRIAL).ok())
    }

    /// No trials yet; those whose names contain `chosen` will be run.
    pub fn chosen_by(suite: &'static str, chosen: Option<String>) -> Self {
        Self { suite, chosen, ran: 0, failures: Vec::new() }
    }

    /// Runs one trial, if it is chosen. What it panics with is kept as its failure.
    pub fn trial(&mut self, name: impl fmt::Display, body: impl FnOnce()) {
        let name = name.to_string();
        if self.chosen.as_ref().is_some_and(|chosen| !name.contains(chosen)) {
            return;
        }
        let start = Instant::now();
        self.ran += 1;
        let outcome = catch_unwind(AssertUnwindSafe(body));
        let milliseconds = start.elapsed().as_millis();
        match outcome {
            Ok(()) => println!("{}: {name} ok, {milliseconds} ms", self.suite),
            Err(panic) => {
                println!("{}: {name} FAILED, {milliseconds} ms", self.suite);
                self.failures.push(format!("{name}: {}", message(panic.as_ref())));
            }
        }
    }

    /// Runs one trial for each mode of each row; its name is the row's id and the mode.
    pub fn modes<T: Task>(&mut self, rows: &[Runnable<T>], body: impl FnMut(Runnable<T>, &'static Mode)) {
        self.modes_where(rows, |_, _| true, body);
    }

    /// [`Trials::modes`] of those that `condition` holds for.
    pub fn modes_where<T: Task>(
        &mut self,
        rows: &[Runnable<T>],
        condition: impl Fn(Runnable<T>, &'static Mode) -> bool,
        mut body: impl FnMut(Runnable<T>, &'static Mode),
    ) {
        for row in rows {
            for mode in row.entry().modes.iter().filter(|mode| condition(*row, mode)) {
                self.trial(format_args!("{} {}", row.entry().id, mode.security), || body(*row, mode));
            }
        }
    }

    /// Whether some trials alone are run, so that the suite as a whole shows nothing.
    pub fn are_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    /// Ends the suite.
    ///
    /// # Panics
    /// If a trial failed; the message has the names and failures of all of those.
    pub fn end(self) {
        let Self { suite, ran, failures, .. } = self;
        assert!(failures.is_empty(), "{suite}: {} of {ran} trials failed:\n{}", failures.len(), failures.join("\n"));
    }
}
