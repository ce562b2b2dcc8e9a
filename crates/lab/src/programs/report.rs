//! What a recording holds of a program's run.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use serde::{Deserialize, Serialize};

use super::program::Program;
use super::tables::DifferingRow;
use crate::spread::median;
use crate::{Network, Spread};

/// How rows of programs are marked wherever runs are shown.
pub const MARK: &str = "program, CSV to CSV";

/// A program's run: what was asked for, and what became of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramReport {
    /// Name of the program.
    pub program: String,
    /// Its version, as the suite file states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The sender's arguments, with their placeholders.
    pub sender: Vec<String>,
    /// The receiver's arguments, with their placeholders.
    pub receiver: Vec<String>,
    /// Rows of the sender's table.
    pub sender_items: usize,
    /// Rows of the receiver's table.
    pub receiver_items: usize,
    /// Keys in both tables.
    pub intersection: usize,
    /// The link.
    pub link: Network,
    /// Whether the repeats had no warm-up.
    pub cold: bool,
    /// Seconds after which a repeat is killed.
    pub timeout_seconds: f64,
    /// What became of it.
    pub outcome: ProgramOutcome,
}

/// What became of a program's run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramOutcome {
    /// All outputs were checked and right.
    Ok(ProgramFigures),
    /// A side could not start, ended with an error, or wrote no readable output.
    Failed(Fault),
    /// A repeat had not ended after `timeout_seconds`, and was killed.
    Timeout(Fault),
    /// An output has other keys than the common ones.
    WrongOutput {
        /// What is wrong.
        #[serde(flatten)]
        fault: Fault,
        /// The first rows that differ.
        differing: Vec<DifferingRow>,
    },
}

impl ProgramOutcome {
    /// The figures of a run whose outputs were right.
    pub const fn figures(&self) -> Option<&ProgramFigures> {
        match self {
            Self::Ok(figures) => Some(figures),
            Self::Failed(_) | Self::Timeout(_) | Self::WrongOutput { .. } => None,
        }
    }

    /// What went wrong.
    pub const fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Ok(_) => None,
            Self::Failed(fault) | Self::Timeout(fault) | Self::WrongOutput { fault, .. } => Some(fault),
        }
    }

    /// The outcome in a word or two.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Ok(_) => "output checked",
            Self::Failed(_) => "failed",
            Self::Timeout(_) => "timeout",
            Self::WrongOutput { .. } => "wrong output",
        }
    }
}

/// What went wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What went wrong.
    pub fault: String,
    /// What to do about it.
    pub mend: String,
}

/// What a run of a program took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramFigures {
    /// Counted repeats.
    pub repeats: usize,
    /// Median seconds from the start of both processes to the end of the later one.
    pub total_seconds: f64,
    /// The same seconds: least, quartiles, most.
    pub total_spread: Spread,
    /// The same seconds of every repeat.
    pub samples: Vec<f64>,
    /// Median processor seconds of the sender and of children that it waited for.
    pub cpu_seconds_sender: f64,
    /// The same of the receiver.
    pub cpu_seconds_receiver: f64,
    /// Peak memory of the sender and its descendants, bytes.
    pub peak_rss_sender: u64,
    /// The same of the receiver.
    pub peak_rss_receiver: u64,
    /// Median bytes that the sender sent, headers of all layers included; null where the link does
    /// not count them.
    pub sender_bytes: Option<u64>,
    /// The same of the receiver.
    pub receiver_bytes: Option<u64>,
}

/// What one repeat took; of pairs, the sender's part comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub seconds: f64,
    pub cpu_seconds: [f64; 2],
    pub peak_rss: [u64; 2],
    pub bytes: Option<[u64; 2]>,
}

impl ProgramFigures {
    pub(super) fn of(repeats: &[Repeat]) -> Self {
        let samples: Vec<f64> = repeats.iter().map(|repeat| repeat.seconds).collect();
        let total_spread = Spread::of(samples.iter().copied());
        let cpu = |of: fn(&Repeat) -> f64| median(repeats.iter().map(of));
        let peak = |of: fn(&Repeat) -> u64| repeats.iter().map(of).max().unwrap_or(0);
        let bytes: Option<Vec<[u64; 2]>> = repeats.iter().map(|repeat| repeat.bytes).collect();
        let sent = |of: fn(&[u64; 2]) -> u64| {
            bytes.as_ref().map(|bytes| median(bytes.iter().map(|pair| of(pair) as f64)) as u64)
        };
        Self {
            repeats: repeats.len(),
            total_seconds: total_spread.median,
            total_spread,
            samples,
            cpu_seconds_sender: cpu(|repeat| repeat.cpu_seconds[0]),
            cpu_seconds_receiver: cpu(|repeat| repeat.cpu_seconds[1]),
            peak_rss_sender: peak(|repeat| repeat.peak_rss[0]),
            peak_rss_receiver: peak(|repeat| repeat.peak_rss[1]),
            sender_bytes: sent(|pair| pair[0]),
            receiver_bytes: sent(|pair| pair[1]),
        }
    }

    /// Bytes of both sides, where they were counted.
    pub fn total_bytes(&self) -> Option<u64> {
        Some(self.sender_bytes? + self.receiver_bytes?)
    }
}

impl ProgramReport {
    pub(super) fn new(program: &Program, outcome: ProgramOutcome) -> Self {
        Self {
            program: program.name.clone(),
            version: program.version.clone(),
            sender: program.sender.written.clone(),
            receiver: program.receiver.written.clone(),
            sender_items: program.sender_items,
            receiver_items: program.receiver_items,
            intersection: program.overlap,
            link: program.link,
            cold: program.cold,
            timeout_seconds: program.timeout_seconds,
            outcome,
        }
    }

    /// Name and version.
    pub fn label(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.program),
            None => self.program.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_medians_and_bytes_are_none_where_one_repeat_has_none() {
        let repeat =
            |seconds, bytes| Repeat { seconds, cpu_seconds: [seconds, 1.0], peak_rss: [7, seconds as u64], bytes };
        let mut repeats = [repeat(3.0, Some([10, 1])), repeat(1.0, Some([30, 3])), repeat(2.0, Some([20, 2]))];
        let figures = ProgramFigures::of(&repeats);
        assert_eq!((figures.repeats, figures.total_seconds, figures.cpu_seconds_sender), (3, 2.0, 2.0));
        assert_eq!((figures.peak_rss_sender, figures.peak_rss_receiver, figures.total_bytes()), (7, 3, Some(22)));
        repeats[1].bytes = None;
        assert_eq!(ProgramFigures::of(&repeats).total_bytes(), None);
    }

    #[test]
    fn outcomes_are_told_apart_in_json() {
        let fault = Fault { fault: "f".into(), mend: "m".into() };
        let wrong = ProgramOutcome::WrongOutput { fault: fault.clone(), differing: vec![DifferingRow::Missing(4)] };
        let json = serde_json::to_value(&wrong).expect("JSON");
        assert_eq!(
            json,
            serde_json::json!({"wrong-output": {"fault": "f", "mend": "m", "differing": [{"missing": 4}]}})
        );
        let read: ProgramOutcome = serde_json::from_value(json).expect("an outcome");
        assert_eq!((read.words(), read.fault()), ("wrong output", Some(&fault)));
        assert!(ProgramOutcome::Timeout(fault).figures().is_none());
    }
}
