//! A suite over a registry: one trial a row and mode, each with its own outcome.

use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use vesica_party::{Entry, Mode, Task};

use crate::conformance::Runnable;
use crate::pair::message;
use crate::suite::{Depth, SUITE, TRIAL};

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
    /// Whether every row is tried in full.
    is_full: bool,
    ran: usize,
    /// Rows that are not in use: tried at one size, or not at all.
    shortened: usize,
    left_out: usize,
    failures: Vec<String>,
}

impl Trials {
    /// No trials yet; those that `VESICA_TRIAL` chooses will be run.
    pub fn of(suite: &'static str) -> Self {
        Self::chosen_by(suite, std::env::var(TRIAL).ok())
    }

    /// The same, of rows that are all in use: each is tried in full, its variants at one size.
    pub fn in_full_of(suite: &'static str) -> Self {
        Self { is_full: Depth::asked() != Some(Depth::Once), ..Self::of(suite) }
    }

    /// No trials yet; those whose names contain `chosen` will be run.
    pub fn chosen_by(suite: &'static str, chosen: Option<String>) -> Self {
        Self { suite, chosen, is_full: false, ran: 0, shortened: 0, left_out: 0, failures: Vec::new() }
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

    /// [`Trials::modes`] whose bodies are told how much of the row to try.
    pub fn modes_in_depth<T: Task>(
        &mut self,
        rows: &[Runnable<T>],
        mut body: impl FnMut(Runnable<T>, &'static Mode, Depth),
    ) {
        self.shortened += rows.iter().filter(|row| self.depth(row.entry()) == Depth::Once).count();
        for row in rows {
            let depth = self.depth(row.entry());
            self.modes(&[*row], |row, mode| body(row, mode, depth));
        }
    }

    /// The rows of which everything is tried; all rows where trials are chosen by name.
    pub fn in_full<T: Task>(&mut self, rows: &[Runnable<T>]) -> Vec<Runnable<T>> {
        let full: Vec<_> = rows.iter().copied().filter(|row| self.depth(row.entry()) == Depth::Full).collect();
        self.left_out += rows.len() - full.len();
        full
    }

    /// How much of this row or variant is tried.
    fn depth(&self, entry: &Entry) -> Depth {
        if self.are_chosen() || (self.is_full && !entry.is_variant()) { Depth::Full } else { Depth::of(entry) }
    }

    /// How many trials have been run.
    pub fn ran(&self) -> usize {
        self.ran
    }

    /// Whether some trials alone are run, so that the suite as a whole shows nothing.
    pub fn are_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    /// Ends the suite. What is tried in the nightly run alone is said where the test runner does not
    /// hide it: nobody is to think that all was tried.
    ///
    /// # Panics
    /// If a trial failed; the message has the names and failures of all of those.
    pub fn end(self) {
        let Self { suite, ran, shortened, left_out, failures, .. } = self;
        if shortened + left_out > 0 {
            // Without standard error there is nobody to tell.
            let _ = writeln!(
                std::io::stderr(),
                "{suite}: {ran} trials; {shortened} rows at one size alone and {left_out} not at all ({SUITE}=whole \
                 tries them in full)"
            );
        }
        assert!(failures.is_empty(), "{suite}: {} of {ran} trials failed:\n{}", failures.len(), failures.join("\n"));
    }
}
