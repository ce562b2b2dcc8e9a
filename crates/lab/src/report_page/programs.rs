//! Runs of programs of others, CSV to CSV, as they are shown.

use serde::Serialize;

use super::link::Link;
use crate::programs::{Fault, MARK, ProgramFigures, ProgramOutcome, ProgramReport};

/// A run of a program. What was measured is there only if all outputs were right.
#[derive(Debug, Serialize)]
pub struct ProgramRun {
    /// Place in [`Data::recordings`](super::Data::recordings).
    pub recording: usize,
    /// Name in its recording.
    pub name: String,
    /// What was measured: [`MARK`].
    pub measured: &'static str,
    /// Name and version of the program.
    pub label: String,
    /// Rows of the sender's table.
    pub sender_items: usize,
    /// Rows of the receiver's table.
    pub receiver_items: usize,
    /// Keys in both.
    pub intersection: usize,
    /// The link.
    pub link: Link,
    /// What became of it, in a word or two.
    pub outcome: &'static str,
    /// Whether all outputs were right.
    pub correct: bool,
    /// What went wrong; empty for what did not.
    pub fault: String,
    /// Median seconds.
    pub seconds: Option<f64>,
    /// Quartiles of the seconds, of two repeats or more.
    pub quartiles: Option<[f64; 2]>,
    /// Median processor seconds of sender and receiver.
    pub cpu_seconds: Option<[f64; 2]>,
    /// Bytes of both sides, where the link counts them.
    pub bytes: Option<u64>,
    /// Peak memory of sender and receiver, bytes.
    pub memory: Option<[u64; 2]>,
}

pub(super) fn run(recording: usize, name: String, report: ProgramReport) -> ProgramRun {
    let figures = report.outcome.figures();
    let quartiles = |figures: &ProgramFigures| {
        let spread = figures.total_spread;
        (figures.repeats > 1).then_some([spread.lower_quartile, spread.upper_quartile])
    };
    ProgramRun {
        recording,
        name,
        measured: MARK,
        label: report.label(),
        sender_items: report.sender_items,
        receiver_items: report.receiver_items,
        intersection: report.intersection,
        link: Link::of(report.link),
        outcome: report.outcome.words(),
        correct: matches!(report.outcome, ProgramOutcome::Ok(_)),
        fault: report.outcome.fault().map(|Fault { fault, .. }| fault.clone()).unwrap_or_default(),
        seconds: figures.map(|figures| figures.total_seconds),
        quartiles: figures.and_then(quartiles),
        cpu_seconds: figures.map(|figures| [figures.cpu_seconds_sender, figures.cpu_seconds_receiver]),
        bytes: figures.and_then(ProgramFigures::total_bytes),
        memory: figures.map(|figures| [figures.peak_rss_sender, figures.peak_rss_receiver]),
    }
}
