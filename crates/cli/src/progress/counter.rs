//! Progress of a command that does one thing after the other.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::line::{columns, has_bar};
use super::words::span;
use crate::args::ProgressName;
use crate::stderr::{self, Said};

/// Shows how many of a number of things are done.
pub struct Counter {
    bar: ProgressBar,
    wish: ProgressName,
    all: usize,
    done: usize,
}

impl Counter {
    /// Shows itself as `wish` says: with `auto`, on a terminal alone.
    pub fn new(wish: ProgressName, all: usize) -> Self {
        let is_shown = wish == ProgressName::Auto && io::stderr().is_terminal();
        let bar = if is_shown { ProgressBar::new(all as u64) } else { ProgressBar::hidden() };
        if is_shown {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar, wish, all, done: 0 }
    }

    /// Tells what is done next, and how long all that is left takes, if that is known.
    pub fn begin(&self, name: &str, seconds_left: Option<f64>) {
        let left = seconds_left.map(|seconds| format!(", about {} left", span(seconds))).unwrap_or_default();
        match self.wish {
            ProgressName::Auto => self.show(format!("{name}{left}")),
            ProgressName::Plain => stderr::say(format_args!("{} of {}: {name}{left}", self.done + 1, self.all)),
            ProgressName::Json => {
                let fraction = Some(self.done as f64 / self.all.max(1) as f64);
                stderr::event(Said::Progress { stage: name, fraction, seconds_left, of_run: None });
            }
            ProgressName::Never => {}
        }
    }

    /// Shows a text on a terminal, which may have become wider or narrower.
    fn show(&self, text: String) {
        let template = match has_bar(columns()) {
            true => "{pos}/{len} {bar:20} [{elapsed}] {wide_msg}",
            false => "{pos}/{len} {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_message(text);
    }

    /// Counts what has been done.
    pub fn pass(&mut self) {
        self.done += 1;
        self.bar.inc(1);
    }

    /// Says a warning.
    pub fn warning(&self, text: &str) {
        self.bar.suspend(|| stderr::warning(text));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
