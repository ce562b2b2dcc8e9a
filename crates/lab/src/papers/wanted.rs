//! The runs that tables of papers need: what `vesica-lab bench suite --paper` records.

use std::collections::HashSet;

use vesica::plan;
use vesica::task;
use vesica_structures::facts::Unsupported;

use super::{Column, Kind, Paper, Runs, Table, What, lines};
use crate::suite::{LeftOut, Planned, Suite, Why};
use crate::{Network, Report, Settings};

/// Seconds that a run may take where the user does not say.
pub const HOUR: f64 = 3600.0;

/// A run over a slower link than others of its round trip is computed from theirs, if its bytes take longer than that.
const SLOW_SECONDS: f64 = 20.0;

/// Seconds that all repeats of a run may take together; the first one may take longer.
const REPEATS_SECONDS: f64 = 30.0;

/// A run that takes longer needs no warm-up.
const LONG_SECONDS: f64 = 5.0;

/// The most repeats.
const REPEATS: usize = 5;

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Seconds.
    pub seconds: f64,
    /// Bytes of memory, for both parties.
    pub memory: u64,
}

/// The suite of all runs that cells of these papers need and that have a core for each thread, small ones first, so that larger ones can be estimated from them.
///
/// # Errors
/// If a task of a paper is not in this release.
pub fn wanted(name: String, papers: &[Paper], cores: usize) -> Result<Suite, Unsupported> {
    let mut runs = Vec::new();
    let mut names = HashSet::new();
    for paper in papers {
        for table in &paper.table {
            for run in of_table(paper, table)? {
                let threads = run.settings.threads;
                if (threads == 1 || 2 * threads <= cores) && names.insert(run.name.clone()) {
                    runs.push(run);
                }
            }
        }
    }
    let place = |run: &Planned| {
        let Settings { sender_items, receiver_items, threads, link, .. } = run.settings;
        let seconds_a_bit = link.shape().map_or(0.0, |link| 1.0 / link.bits_per_second as f64);
        (threads, sender_items.saturating_add(receiver_items), seconds_a_bit)
    };
    runs.sort_by(|a, b| place(a).partial_cmp(&place(b)).unwrap_or(std::cmp::Ordering::Equal));
    Ok(Suite { name, runs, programs: Vec::new() })
}

/// The runs of a table, each perhaps several times.
fn of_table(paper: &Paper, table: &Table) -> Result<Vec<Planned>, Unsupported> {
    let task = task::find(paper.task_of(table))?;
    let none = Runs::none(task);
    let mut runs = Vec::new();
    for line in lines(table, &paper.rows_of(table), &none) {
        let Some(id) = line.ours.filter(|_| !line.is_again) else { continue };
        let Ok(Some(entry)) = task.find(id) else { continue };
        for (column, cell) in table.columns.iter().zip(&line.cells) {
            let (Some((sender, receiver)), Kind::Formula | Kind::NotMeasured) = (column.sizes(line.sizes), cell.kind())
            else {
                continue;
            };
            let Some(link) = link_of(column, table) else { continue };
            let [sender, receiver] = [sender, receiver].map(|log| 1usize.checked_shl(log).unwrap_or(usize::MAX));
            let settings = Settings {
                link,
                threads: column.threads,
                repeat: REPEATS,
                overlap: table.all_match.then_some(receiver.min(sender)),
                ..Settings::new(task.name(), entry.id, line.security, sender, receiver)
                    .with_amounts(&task.least_amounts_of(entry))
            };
            if is_computed(&settings, column, table) {
                continue;
            }
            let all = if table.all_match { "-all" } else { "" };
            let name = format!(
                "papers-{}-{}-{}-{sender}x{receiver}-{link}-{}t{all}",
                task.name(),
                entry.id,
                line.security,
                column.threads
            );
            runs.push(Planned { name, settings });
        }
    }
    Ok(runs)
}

/// The link over which a column's run is made. Where it states no time, that is any that the table has; none for what
/// formulas say.
fn link_of(column: &Column, table: &Table) -> Option<Network> {
    let is_like_it = |other: &&Column| other.threads == column.threads && other.log == column.log;
    match column.what {
        What::Bits => None,
        What::Seconds(link) => Some(link),
        What::MiB | What::MB => {
            Some(table.columns.iter().filter(is_like_it).find_map(Column::link).unwrap_or(Network::Loopback))
        }
    }
}

/// Whether the table computes it from a run over a faster link of the same round trip: it would wait for bytes alone.
fn is_computed(settings: &Settings, column: &Column, table: &Table) -> bool {
    let Some(shape) = settings.link.shape() else { return false };
    let is_faster = |other: &Column| {
        other.threads == column.threads
            && other.link().and_then(Network::shape).is_some_and(|link| {
                link.round_trip_us == shape.round_trip_us && link.bits_per_second > shape.bits_per_second
            })
    };
    let bytes = settings.workload().and_then(|workload| {
        let entry = task::find(&settings.task)?.find(&settings.protocol)?;
        entry.map_or(Ok(0), |entry| workload.predicted_bytes(entry).map(|bytes| *bytes.end()))
    });
    let seconds = bytes.map_or(0.0, |bytes| bytes as f64 * 8.0 / shape.bits_per_second as f64);
    seconds > SLOW_SECONDS && table.columns.iter().any(is_faster)
}

impl Planned {
    /// Why the machine cannot make the run, by the memory model and by what runs of the same protocol took.
    pub fn beyond(&self, limits: &Limits, recorded: &[Report]) -> Option<LeftOut> {
        let settings = &self.settings;
        let memory = settings.workload().ok().and_then(|workload| {
            plan::memory(&settings.protocol, workload.workload())
                .map(|memory| memory.sender.saturating_add(memory.receiver))
        });
        let why = if let Some(memory) = memory.filter(|memory| *memory > limits.memory) {
            Why::Memory(memory)
        } else {
            Why::Seconds(self.expected_seconds(recorded).filter(|seconds| *seconds > limits.seconds)?)
        };
        Some(LeftOut { settings: settings.clone(), why })
    }

    /// The run with as many repeats as fit into half a minute, by what is expected of one.
    #[must_use]
    pub fn paced(&self, recorded: &[Report]) -> Self {
        let seconds = self.expected_seconds(recorded).unwrap_or(LONG_SECONDS);
        let fit = (REPEATS_SECONDS / seconds.max(1e-3)) as usize;
        let repeat = fit.clamp(1, self.settings.repeat);
        let cold = seconds > LONG_SECONDS;
        Self { name: self.name.clone(), settings: Settings { repeat, cold, ..self.settings.clone() } }
    }

    /// Seconds of one repeat: what the largest smaller run of the same protocol took, times how much larger this one
    /// is; without any, what the model of `vesica plan` predicts.
    fn expected_seconds(&self, recorded: &[Report]) -> Option<f64> {
        let settings = &self.settings;
        let like = recorded.iter().filter(|run| {
            run.protocol == settings.protocol
                && run.task == settings.task
                && run.security == settings.security
                && run.sender_items <= settings.sender_items
                && run.receiver_items <= settings.receiver_items
        });
        // Of runs as large as each other, the one over this link says most.
        let largest = like.max_by_key(|run| (run.sender_items + run.receiver_items, run.link == settings.link));
        let Some(run) = largest else {
            return self.predicted_seconds().map(|seconds| seconds / settings.repeats().count() as f64);
        };
        let ratio = |all: usize, of: usize| all as f64 / of.max(1) as f64;
        let larger =
            ratio(settings.sender_items, run.sender_items).max(ratio(settings.receiver_items, run.receiver_items));
        let under_way = match settings.link.shape().filter(|_| run.link != settings.link) {
            Some(link) => run.total_bytes as f64 * 8.0 / link.bits_per_second as f64,
            None => 0.0,
        };
        Some((run.total_seconds + under_way) * larger)
    }
}

#[cfg(test)]
mod tests {
    use super::super::paper::small;
    use super::super::runs::run;
    use super::super::{KEYS, Paper};
    use super::*;

    const AMPLE: Limits = Limits { seconds: HOUR, memory: u64::MAX };

    #[test]
    fn every_cell_that_is_no_formula_has_its_run() {
        let suite = wanted("small".into(), &[small()], 2).expect("a suite");
        let names: Vec<&str> = suite.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "papers-intersect-vole-fast-semi-honest-65536x65536-loopback-1t",
                "papers-intersect-vole-lean-semi-honest-65536x65536-loopback-1t",
                "papers-intersect-vole-fast-semi-honest-65536x65536-10000000bit,80000us-1t",
                "papers-intersect-vole-lean-semi-honest-65536x65536-10000000bit,80000us-1t",
            ]
        );
        assert_eq!(suite.name, "small");
    }

    #[test]
    fn runs_of_all_papers_can_be_made_and_are_named_once() {
        let papers = KEYS.map(|key| Paper::built_in(key).unwrap_or_else(|failure| panic!("{}", failure.fault)));
        let suite = wanted("all".into(), &papers, 64).expect("a suite");
        assert!(suite.runs.len() > 500, "{}", suite.runs.len());
        for run in &suite.runs {
            let settings = run.settings.clone().checked();
            settings.unwrap_or_else(|refused| panic!("{}: {refused}", run.name));
        }
        let items = |run: &Planned| run.settings.sender_items + run.settings.receiver_items;
        let one_thread = suite.runs.iter().filter(|run| run.settings.threads == 1);
        assert!(one_thread.clone().zip(one_thread.skip(1)).all(|(a, b)| items(a) <= items(b)));
        // What waits for bytes alone is computed from a run over a faster link.
        let over = |id, rate| format!("papers-intersect-{id}-semi-honest-1048576x1048576-{rate}bit,80000us-1t");
        let has = |name: String| suite.runs.iter().any(|run| run.name == name);
        assert!(has(over("spot-fast", 100_000_000)) && !has(over("spot-fast", 10_000_000)));
        assert!(has(over("vole-fast", 10_000_000)));
    }

    #[test]
    fn a_run_beyond_the_machine_is_left_out_with_the_reason() {
        let suite = wanted("small".into(), &[small()], 2).expect("a suite");
        let planned = &suite.runs[0];
        assert!(planned.beyond(&AMPLE, &[]).is_none());
        let why = |limits: Limits, recorded: &[Report]| planned.beyond(&limits, recorded).expect("beyond").why;
        assert!(matches!(why(Limits { memory: 1 << 20, ..AMPLE }, &[]), Why::Memory(bytes) if bytes > 1 << 20));
        // A run of a quarter of the items took a quarter of the time.
        let smaller = Report { sender_items: 1 << 14, receiver_items: 1 << 14, ..run("loopback", 1000.0) };
        assert_eq!(why(AMPLE, std::slice::from_ref(&smaller)), Why::Seconds(4000.0));
        let paced = planned.paced(&[Report { total_seconds: 2.5, ..smaller }]);
        assert_eq!((paced.settings.repeat, paced.settings.cold), (3, true));
        let quick = planned.paced(&[run("loopback", 0.1)]);
        assert_eq!((quick.settings.repeat, quick.settings.cold), (REPEATS, false));
    }
}
