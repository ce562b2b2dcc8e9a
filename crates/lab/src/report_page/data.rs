//! What the page and the other outputs show, as plain data: runs, what a run over another link is
//! predicted from, and prices.

use serde::Serialize;
use vesica::Failure;
use vesica::plan::Prices;

use super::link::Link;
use super::model::{self, Point};
use super::programs::{self, ProgramRun};
use super::recordings::Recording;
use super::series::Series;
use crate::Report;

/// Most rounds of a protocol whose rounds are not known any more.
const UNKNOWN_ROUNDS: u64 = 64;

/// Framing that a run may add to the bytes of its messages: what sets up and ends the conversation,
/// and a header and credit for each frame. Reports do not count frames: each round has some, and each
/// stream of some tens of kilobytes one.
fn framing(message_bytes: u64, rounds: Option<[usize; 2]>) -> u64 {
    let rounds = rounds.map_or(UNKNOWN_ROUNDS, |[_, most]| most as u64);
    1024 + 256 * rounds + message_bytes / 2048
}

/// Everything that the page shows.
#[derive(Debug, Serialize)]
pub struct Data {
    /// The release that made the page.
    version: &'static str,
    /// Where the runs come from.
    pub recordings: Vec<Source>,
    /// Runs that differ in nothing but their sizes and links.
    pub series: Vec<Series>,
    /// All runs, in the order of the files.
    pub runs: Vec<Run>,
    /// All runs of programs of others.
    pub programs: Vec<ProgramRun>,
    /// What is computed at one size, without any link.
    points: Vec<Point>,
    /// See [`model::WINDOW_BYTES`].
    window_bytes: u64,
    prices: PriceList,
}

/// One recording.
#[derive(Debug, Serialize)]
pub struct Source {
    /// See [`Recording`].
    pub label: String,
    /// See [`Recording`].
    pub machine: Option<String>,
    /// See [`Recording`].
    pub passed_over: usize,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// Name in its recording.
    pub name: String,
    /// Place in [`Data::series`].
    pub series: usize,
    /// Items of the sender.
    pub sender_items: usize,
    /// Items of the receiver.
    pub receiver_items: usize,
    /// The link.
    pub link: Link,
    /// Median seconds.
    pub seconds: f64,
    /// Quartiles of the seconds.
    pub quartiles: [f64; 2],
    /// Median seconds of the set-up.
    setup_seconds: f64,
    /// Counted repeats.
    pub repeats: usize,
    /// Bytes of both sides, framing included.
    pub bytes: u64,
    /// Least and most message bytes by the protocol's formula.
    formula_bytes: [u64; 2],
    /// Whether `bytes` lie in that range, but for framing.
    pub bytes_as_formula: bool,
    /// Whether all outputs were right.
    pub correct: bool,
    /// Peak memory of sender and receiver, bytes.
    pub memory: [u64; 2],
    /// Seconds by the model, where it can be held against this run.
    pub model_seconds: Option<f64>,
}

#[derive(Debug, Serialize)]
struct PriceList {
    title: String,
    core_usd_per_hour: f64,
    traffic: Vec<Traffic>,
}

#[derive(Debug, Serialize)]
struct Traffic {
    kind: String,
    sender_usd_per_gb: f64,
    receiver_usd_per_gb: f64,
}

impl Data {
    /// The data of these recordings.
    ///
    /// # Errors
    /// Never, as a test of the built-in prices sees to.
    pub fn new(recordings: Vec<Recording>) -> Result<Self, Failure> {
        let prices = Prices::built_in()?;
        let (mut sources, mut reports, mut programs) = (Vec::new(), Vec::new(), Vec::new());
        for (place, recording) in recordings.into_iter().enumerate() {
            let Recording { label, machine, runs, programs: others, passed_over, left_out } = recording;
            let passed_over = passed_over + left_out.len();
            sources.push(Source { label, machine, passed_over });
            reports.extend(runs.into_iter().map(|(name, report)| (place, name, report)));
            programs.extend(others.into_iter().map(|(name, report)| programs::run(place, name, report)));
        }
        let mut series: Vec<Series> = Vec::new();
        let mut place_of = |one: Series| {
            series.iter().position(|other| *other == one).unwrap_or_else(|| {
                series.push(one);
                series.len() - 1
            })
        };
        let placed: Vec<(usize, String, Report)> = reports
            .into_iter()
            .map(|(recording, name, report)| (place_of(Series::new(recording, &report)), name, report))
            .collect();
        let points = model::points(&series, &placed);
        let runs = placed.into_iter().map(|(place, name, report)| run(place, &series, &points, name, report)).collect();
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            recordings: sources,
            series,
            runs,
            programs,
            points,
            window_bytes: model::WINDOW_BYTES,
            prices: PriceList {
                title: prices.title,
                core_usd_per_hour: prices.core.usd_per_hour,
                traffic: prices
                    .traffic
                    .into_iter()
                    .map(|one| Traffic {
                        kind: one.kind,
                        sender_usd_per_gb: one.sender_usd_per_gb,
                        receiver_usd_per_gb: one.receiver_usd_per_gb,
                    })
                    .collect(),
            },
        })
    }
}

fn run(place: usize, series: &[Series], points: &[Point], name: String, report: Report) -> Run {
    let model_seconds = series.get(place).and_then(|one| model::seconds(one, place, points, &report));
    let [least, most] = report.predicted_bytes;
    let framing = framing(most, series.get(place).and_then(|one| one.rounds));
    Run {
        name,
        series: place,
        sender_items: report.sender_items,
        receiver_items: report.receiver_items,
        link: Link::of(report.link),
        seconds: report.total_seconds,
        quartiles: [report.total_spread.lower_quartile, report.total_spread.upper_quartile],
        setup_seconds: report.setup_seconds,
        repeats: report.repeats,
        bytes: report.total_bytes,
        formula_bytes: report.predicted_bytes,
        bytes_as_formula: (least..=most.saturating_add(framing)).contains(&report.total_bytes),
        correct: report.correct,
        memory: [report.peak_rss_sender, report.peak_rss_receiver],
        model_seconds,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// What was recorded was right and as predicted, which the harness and other tests ensure: the
    /// page must not say otherwise.
    #[test]
    fn recorded_runs_pass_both_checks() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/runs");
        let folders = fs::read_dir(top).expect("recorded runs").map(|entry| entry.expect("an entry").path());
        let folders: Vec<_> = folders.filter(|folder| folder.join("runs.jsonl").is_file()).collect();
        let data = Data::new(super::super::read(&folders).expect("readable runs")).expect("data");
        let failed = data.runs.iter().filter(|run| !(run.correct && run.bytes_as_formula));
        assert_eq!(failed.map(|run| run.name.as_str()).collect::<Vec<_>>(), [""; 0]);
        assert!(data.runs.iter().filter(|run| run.model_seconds.is_some()).count() > 400);
    }
}
