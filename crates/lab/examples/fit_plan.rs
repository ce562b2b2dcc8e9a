//! Fits the constants of the cost model to the runs of `bench/plan`, and writes them as the lines of
//! `crates/vesica/src/plan/costs.txt` (protocols of the product) and `crates/lab/src/plan/costs.txt` (those of papers);
//! prints on standard error how far the model is off for each run.
//! `cargo run --release --locked -p vesica-lab --example fit_plan -- FOLDER...`
//!
//! Of each run the least time counts: what disturbs a run only ever adds to it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;
use vesica::party::CostClass;
use vesica_papers::registry;

#[path = "../tests/recorded/mod.rs"]
mod recorded;

/// What a line has.
const FIELDS: &str = "\
# A line a protocol and mode, by id: id, mode, kind of work (vole or curve), hundredths of round trips, items a further
# round trip, picoseconds a unit of further work. Then, behind bars, microseconds, KiB of the sender, KiB of the receiver,
# and bytes that the receiver sends: thousandths that follow the sender's items, and log2(items):figure.";

/// A recorded run.
struct Run {
    senders: f64,
    receivers: f64,
    /// Rate and round trip in seconds; `None` is loopback.
    link: Option<(f64, f64)>,
    task: String,
    /// Bytes of payloads, or an aggregate's values after the first of each item.
    extras: f64,
    seconds: f64,
    bytes: f64,
    receiver_bytes: f64,
    /// Processor time of both parties.
    cpu: f64,
    /// Sender's and receiver's peak memory.
    memory: [f64; 2],
}

/// A figure of runs of n x n items, and which share of its growth is due to the sender's items.
struct Surface {
    /// `(log2 n, figure)`, ascending.
    points: Vec<(u32, f64)>,
    sender_share: f64,
}

/// What is fitted for a protocol in a mode.
struct Fit {
    seconds: Surface,
    round_trips: f64,
    items_a_round_trip: f64,
    memory: [Surface; 2],
    receiver_bytes: Surface,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    if folders.is_empty() {
        return Err("name the folder that bench/plan made; several count as one".into());
    }
    let mut all: BTreeMap<(String, String), Vec<Run>> = BTreeMap::new();
    for folder in &folders {
        for line in recorded::read(Path::new(folder))? {
            let Some(run) = read(&line.run) else {
                eprintln!("{folder}: {} is left out, as it lacks a field that the model needs", line.name);
                continue;
            };
            let name = |field: &str| line.run[field].as_str().unwrap_or_default().to_owned();
            add(all.entry((name("protocol"), name("security"))).or_default(), run);
        }
    }
    let names: Vec<_> = folders.iter().map(|folder| name_of(folder)).collect();
    let head = format!(
        "# The constants of the cost model. Made by `fit_plan` from the runs of {}; do not edit.\n{FIELDS}\n",
        names.join(" and ")
    );
    let (mut product, mut papers) = (head.clone(), head);
    let fits: Vec<_> = all.iter().filter_map(|(name, runs)| Some((name, runs, fit(runs)?))).collect();
    let mut errors = Vec::new();
    for ((id, security), runs, fit) in &fits {
        let file = if vesica_protocols::registry::find(id).is_some() { &mut product } else { &mut papers };
        *file += &line(id, security, fit, extra_seconds(&fits, id, &runs[0].task));
        for run in runs.iter().filter(|run| run.extras == 0.0) {
            let error = fit.seconds(run) / run.seconds - 1.0;
            errors.push(error.abs());
            let link =
                run.link.map_or("loopback".into(), |(rate, trip)| format!("{} Mbit/s {} ms", rate / 1e6, trip * 1e3));
            eprintln!(
                "{id:12} {security:12} {:>9} x {:<9} {link:20} measured {:8.3} s, model {:8.3} s, {:+.0}%; memory \
                 {:+.0}% {:+.0}%, receiver's bytes {:+.1}%",
                run.senders,
                run.receivers,
                run.seconds,
                fit.seconds(run),
                error * 100.0,
                (fit.memory[0].at(run) / run.memory[0] - 1.0) * 100.0,
                (fit.memory[1].at(run) / run.memory[1] - 1.0) * 100.0,
                (fit.receiver_bytes.at(run) / run.receiver_bytes - 1.0) * 100.0,
            );
        }
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::write(crates.join("vesica/src/plan/costs.txt"), product)?;
    fs::write(crates.join("lab/src/plan/costs.txt"), papers)?;
    errors.sort_by(f64::total_cmp);
    if let (Some(most), false) = (errors.last(), errors.is_empty()) {
        let at = |share: usize| errors[(errors.len() - 1) * share / 100] * 100.0;
        eprintln!(
            "{} runs: error of the time {:.0}% (median), {:.0}% (90 of 100 runs), {:.0}% at most",
            errors.len(),
            at(50),
            at(90),
            most * 100.0
        );
    }
    Ok(())
}

fn name_of(folder: &str) -> String {
    Path::new(folder).file_name().map_or_else(|| folder.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn read(report: &Value) -> Option<Run> {
    let number = |field: &str| report[field].as_f64();
    let task = report["task"].as_str()?;
    let (senders, receivers) = (number("sender_items")?, number("receiver_items")?);
    let extras = match task {
        "intersect" | "shares" | "union" => {
            senders * number("payload_bytes")? + receivers * number("receiver_payload_bytes").unwrap_or(0.0)
        }
        _ => senders.max(receivers) * (number("columns")? - 1.0).max(0.0),
    };
    let samples = report["samples"].as_array()?;
    let link = report["link"].as_str()?;
    let link = match link.split_once("bit,") {
        Some((rate, trip)) => Some((rate.parse().ok()?, trip.strip_suffix("us")?.parse::<f64>().ok()? / 1e6)),
        None => None,
    };
    Some(Run {
        senders,
        receivers,
        link,
        task: task.into(),
        extras,
        seconds: samples.iter().filter_map(|sample| sample["total_seconds"].as_f64()).min_by(f64::total_cmp)?,
        bytes: number("total_bytes")?,
        receiver_bytes: number("receiver_bytes")?,
        cpu: number("cpu_seconds_sender")? + number("cpu_seconds_receiver")?,
        memory: [number("peak_rss_sender")?, number("peak_rss_receiver")?],
    })
}

/// Adds a run. Of several of one kind the least disturbed time and the most memory count.
fn add(runs: &mut Vec<Run>, run: Run) {
    let same = |old: &&mut Run| {
        (old.senders, old.receivers, old.link, old.extras) == (run.senders, run.receivers, run.link, run.extras)
    };
    match runs.iter_mut().find(same) {
        None => runs.push(run),
        Some(old) => {
            old.seconds = old.seconds.min(run.seconds);
            old.cpu = old.cpu.min(run.cpu);
            old.memory = [old.memory[0].max(run.memory[0]), old.memory[1].max(run.memory[1])];
        }
    }
}

fn fit(runs: &[Run]) -> Option<Fit> {
    let plain: Vec<&Run> = runs.iter().filter(|run| run.extras == 0.0).collect();
    let local: Vec<&Run> = plain.iter().copied().filter(|run| run.link.is_none()).collect();
    let mut seconds = Surface::fit(&local, |run| run.seconds)?;
    // Which side's items cost more is seen in processor time, which a busy machine disturbs less.
    seconds.sender_share = Surface::fit(&local, |run| run.cpu)?.sender_share;

    // Runs over a fast link with a long round trip: what comes on top of the loopback run is waiting.
    let mut waits: Vec<(f64, f64)> = plain
        .iter()
        .filter_map(|run| match run.link {
            Some((rate, trip)) if rate >= 1e10 => Some((run.receivers, (run.seconds - seconds.at(run)) / trip)),
            _ => None,
        })
        .collect();
    waits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (&(few, least), &(many, most)) = (waits.first()?, waits.last()?);
    let items_a_round_trip = if many > few && most > least { (many - few) / (most - least) } else { f64::INFINITY };
    Some(Fit {
        seconds,
        round_trips: (least - few / items_a_round_trip).max(0.5),
        items_a_round_trip,
        memory: [Surface::fit(&local, |run| run.memory[0])?, Surface::fit(&local, |run| run.memory[1])?],
        receiver_bytes: Surface { sender_share: 0.0, ..Surface::fit(&local, |run| run.receiver_bytes)? },
    })
}

impl Surface {
    fn fit(runs: &[&Run], figure: impl Fn(&Run) -> f64) -> Option<Self> {
        let equal = runs.iter().filter(|run| run.senders == run.receivers);
        let mut points: Vec<(u32, f64)> = equal.map(|run| (run.senders.log2().round() as u32, figure(run))).collect();
        points.sort_by_key(|&(log, _)| log);
        // No figure falls with the size: where it seems to, the smaller run was the more disturbed of the
        // two.
        for i in (1..points.len()).rev() {
            points[i - 1].1 = points[i - 1].1.min(points[i].1);
        }
        points.first()?;
        let of = |share| Self { points: points.clone(), sender_share: share };
        let unequal = || runs.iter().filter(|run| run.senders != run.receivers);
        let misfit =
            |surface: &Self| -> f64 { unequal().map(|run| (surface.at(run) / figure(run)).ln().powi(2)).sum() };
        (0..=1000).map(|permille| of(f64::from(permille) / 1e3)).min_by(|a, b| misfit(a).total_cmp(&misfit(b)))
    }

    fn equal(&self, n: f64) -> f64 {
        let points: Vec<(f64, f64)> =
            self.points.iter().map(|&(log, figure)| (f64::from(log).exp2(), figure)).collect();
        let Some(at) = points.windows(2).position(|pair| n <= pair[1].0).or(points.len().checked_sub(2)) else {
            return points[0].1;
        };
        let [(x0, y0), (x1, y1)] = [points[at], points[at + 1]];
        if n <= x0 { y0 } else { y0 + (y1 - y0) * (n - x0) / (x1 - x0) }
    }

    fn at(&self, run: &Run) -> f64 {
        self.sender_share * self.equal(run.senders) + (1.0 - self.sender_share) * self.equal(run.receivers)
    }

    /// Thousandths that follow the sender's items, and `log2(n):figure` for each size.
    fn text(&self, unit: f64) -> String {
        let points = self.points.iter().map(|&(log, figure)| format!(" {log}:{:.0}", figure * unit));
        format!("{:.0}{}", self.sender_share * 1e3, points.collect::<String>())
    }
}

impl Fit {
    fn seconds(&self, run: &Run) -> f64 {
        let (rate, trip) = run.link.unwrap_or((f64::INFINITY, 0.0));
        self.seconds.at(run)
            + run.bytes * 8.0 / rate
            + (self.round_trips + run.receivers / self.items_a_round_trip) * trip
    }
}

/// Seconds for each of a row's extras: the most that its runs with some show above the model
/// without; of another row of the task if it has no such run.
fn extra_seconds(fits: &[(&(String, String), &Vec<Run>, Fit)], id: &str, task: &str) -> f64 {
    let of = |belongs: &dyn Fn(&str, &Run) -> bool| {
        let rows = fits.iter().flat_map(|((id, _), runs, fit)| runs.iter().map(move |run| (id, run, fit)));
        let with = rows.filter(|(id, run, _)| run.extras > 0.0 && run.link.is_none() && belongs(id, run));
        with.map(|(_, run, fit)| (run.seconds - fit.seconds.at(run)) / run.extras).fold(0.0, f64::max)
    };
    let own = of(&|other, _| other == id);
    if own > 0.0 { own } else { of(&|_, run| run.task == task) }
}

/// A protocol's line in a mode, with its line feed.
fn line(id: &str, security: &str, fit: &Fit, extra_seconds: f64) -> String {
    let curve = registry::find(id).is_some_and(|entry| entry.cost == CostClass::GroupOperations);
    let work = if curve { "curve" } else { "vole" };
    let a_trip = if fit.items_a_round_trip.is_finite() { fit.items_a_round_trip.round() } else { 0.0 };
    format!(
        "{id} {security} {work} {:.0} {a_trip} {:.0} | {} | {} | {} | {}\n",
        fit.round_trips * 1e2,
        extra_seconds * 1e12,
        fit.seconds.text(1e6),
        fit.memory[0].text(1.0 / 1024.0),
        fit.memory[1].text(1.0 / 1024.0),
        fit.receiver_bytes.text(1.0)
    )
}
