//! Progress as a line on a terminal that changes.

use std::fmt;
use std::time::Duration;

use console::{Term, measure_text_width};
use indicatif::{ProgressBar, ProgressStyle};
use vesica::progress::{Progress, Stage};

use super::words;

/// Length of the bar of a stage, in pieces.
const PIECES: u64 = 1000;

/// Columns of a terminal from which on a line has a bar and the time since the stage began.
const WIDE: usize = 72;

/// Columns of the bar.
const BAR: usize = 20;

/// Columns for the time that has passed, and the space before it.
const ELAPSED: usize = 7;

/// Columns for the sign that turns and the space behind it.
const SPINNER: usize = 2;

/// Columns for a percentage and the space behind it.
const PERCENT: usize = 5;

/// The line.
pub struct Line(ProgressBar);

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

impl Line {
    /// A line without a stage.
    pub fn new() -> Self {
        let bar = ProgressBar::new(PIECES);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Begins a stage.
    pub fn begin(&self, stage: &Stage) {
        self.0.set_position(0);
        self.set(&Layout::of(columns(), false), vec![stage.to_string()]);
    }

    /// Shows how far a stage has come.
    pub fn show(&self, progress: &Progress) {
        let layout = Layout::of(columns(), progress.fraction.is_some());
        if let Some(fraction) = progress.fraction {
            self.0.set_position((PIECES as f64 * fraction) as u64);
        }
        self.set(&layout, words::short_lines(progress));
    }

    fn set(&self, layout: &Layout, texts: Vec<String>) {
        if let Ok(style) = ProgressStyle::with_template(layout.template) {
            self.0.set_style(style);
        }
        self.0.set_message(layout.fitting(texts));
    }

    /// Says something without getting in the way of the line.
    pub fn suspend(&self, say: impl FnOnce()) {
        self.0.suspend(say);
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Columns of the terminal.
pub fn columns() -> usize {
    Term::stderr().size().1.into()
}

/// Whether a terminal with so many columns has room for a bar.
pub fn has_bar(columns: usize) -> bool {
    columns >= WIDE
}

/// What stands in the line, and how much of it is left for text.
struct Layout {
    template: &'static str,
    text: usize,
}

impl Layout {
    /// For a terminal with so many columns, and a stage of which a share is known or not. Whatever the terminal, the
    /// line is not longer than it: the text is cut.
    fn of(columns: usize, has_share: bool) -> Self {
        let (template, besides) = match (has_bar(columns), has_share) {
            (true, true) => {
                ("{spinner} {bar:20} {percent:>2} % [{elapsed}] {wide_msg}", SPINNER + BAR + 1 + PERCENT + ELAPSED)
            }
            (true, false) => ("{spinner} [{elapsed}] {wide_msg}", SPINNER + ELAPSED),
            (false, true) => ("{spinner} {percent:>2} % {wide_msg}", SPINNER + PERCENT),
            (false, false) => ("{spinner} {wide_msg}", SPINNER),
        };
        Self { template, text: columns.saturating_sub(besides) }
    }

    /// The first of `texts` for which there is room, and else the last one.
    fn fitting(&self, mut texts: Vec<String>) -> String {
        let last = texts.pop().unwrap_or_default();
        texts.into_iter().find(|text| measure_text_width(text) <= self.text).unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run on terminals of all widths: no text is cut as long as there is room for the stage, and much is told
    /// where there is room for it.
    #[test]
    fn a_line_fits_its_terminal() {
        let progress = Progress {
            stage: Stage::Running("vole-fast"),
            fraction: Some(0.43),
            seconds_left: Some(40.2),
            sent_bytes: 5_000_000,
            received_bytes: 7_340_000,
            expected_bytes: Some(28_100_000),
            phase: Some("oprf"),
        };
        let shown = |columns| Layout::of(columns, true).fitting(words::short_lines(&progress));
        for columns in 25..250 {
            let besides = Layout::of(columns, true);
            assert!(shown(columns).len() <= besides.text, "{columns}: {}", shown(columns));
        }
        assert_eq!(shown(30), "running vole-fast");
        assert_eq!(shown(40), "running vole-fast, 40 s left");
        assert_eq!(shown(80), "running vole-fast, 12.3 of 28.1 MB, 40 s left");
        assert_eq!(shown(120), "running vole-fast, 12.3 of 28.1 MB, 40 s left (oprf)");
    }
}
