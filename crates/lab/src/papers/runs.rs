//! Our cells: measured, computed from a faster link, by formula, or said to be missing.

use std::fmt;

use vesica::task::AnyTask;
use vesica_party::{Entry, Role, Security};
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;

use super::{Column, Part, What};
use crate::report_page::Recording;
use crate::spread::median;
use crate::suite::{LeftOut, Why};
use crate::{Network, Report};

/// A cell of ours. Numbers are in the unit of the column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// What a run sent.
    Sent(f64),
    /// The median of a run's seconds.
    Took(f64),
    /// Computed: the run at the next faster rate with the same round trip, and the time that its
    /// bytes take longer at this one.
    Computed(f64),
    /// Communication by the protocol's formula, without framing.
    Formula(f64),
    /// Bits an item by the protocol's formula.
    FormulaBits(f64),
    /// The recording says why this machine cannot make the run.
    CannotRun(Why),
    /// There is no run to say it from.
    NotMeasured,
    /// The protocol does not serve the mode or the sizes.
    NotServed,
    /// There is no such protocol.
    NotHere,
}

impl Cell {
    /// What a run said.
    pub fn measured(self) -> Option<f64> {
        match self {
            Self::Sent(value) | Self::Took(value) => Some(value),
            _ => None,
        }
    }

    /// The number, whatever it is from.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Sent(value)
            | Self::Took(value)
            | Self::Computed(value)
            | Self::Formula(value)
            | Self::FormulaBits(value) => Some(value),
            Self::CannotRun(_) | Self::NotMeasured | Self::NotServed | Self::NotHere => None,
        }
    }

    /// What kind of cell it is.
    pub fn kind(self) -> Kind {
        match self {
            Self::Sent(_) | Self::Took(_) => Kind::Measured,
            Self::Computed(_) => Kind::Computed,
            Self::Formula(_) | Self::FormulaBits(_) => Kind::Formula,
            Self::CannotRun(_) => Kind::CannotRun,
            Self::NotMeasured => Kind::NotMeasured,
            Self::NotServed => Kind::NotServed,
            Self::NotHere => Kind::NotHere,
        }
    }
}

/// What a cell of ours rests on, or why it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A run.
    Measured,
    /// A run over a faster link.
    Computed,
    /// A formula.
    Formula,
    /// The machine of the recording cannot make the run.
    CannotRun,
    /// The protocol has no such mode, or does not serve the sizes.
    NotServed,
    /// There is no such protocol.
    NotHere,
    /// There is no run yet.
    NotMeasured,
}

impl Kind {
    /// All kinds, holes last.
    pub const ALL: [Self; 7] = [
        Self::Measured,
        Self::Computed,
        Self::Formula,
        Self::CannotRun,
        Self::NotServed,
        Self::NotHere,
        Self::NotMeasured,
    ];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Computed => "computed",
            Self::Formula => "formula",
            Self::CannotRun => "cannot-be-run-here",
            Self::NotServed => "not-served",
            Self::NotHere => "not-in-this-release",
            Self::NotMeasured => "not-measured",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Sent(value) => f.write_str(&amount(value)),
            Self::Took(value) => f.write_str(&seconds(value)),
            Self::Computed(value) => write!(f, "~{}", seconds(value)),
            Self::Formula(value) => write!(f, "{}*", amount(value)),
            Self::FormulaBits(value) => write!(f, "{value:.0}*"),
            Self::CannotRun(why) => write!(f, "not here: {why}"),
            Self::NotMeasured => f.write_str("not measured"),
            Self::NotServed => f.write_str("–"),
            Self::NotHere => f.write_str("not in this release"),
        }
    }
}

/// Seconds, and whether a run said so.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// The seconds.
    pub seconds: f64,
    /// Whether they are not computed.
    pub is_measured: bool,
}

/// What runs a cell can be from.
#[derive(Clone, Copy, Debug)]
pub struct Which<'a> {
    /// The protocol.
    pub id: &'a str,
    /// The mode.
    pub security: Security,
    /// `log2` of the sender's and of the receiver's items.
    pub sizes: (u32, u32),
    /// Threads of each party.
    pub threads: usize,
}

impl Which<'_> {
    fn fits(&self, id: &str, security: Security, items: [usize; 2], threads: usize) -> bool {
        let is_size = |items: usize, log: u32| 1usize.checked_shl(log) == Some(items);
        let [sender, receiver] = items;
        (self.id, self.security, self.threads) == (id, security, threads)
            && is_size(sender, self.sizes.0)
            && is_size(receiver, self.sizes.1)
    }
}

/// Recorded runs of a task that can stand in a paper's table: items without payloads, in one group.
#[derive(Debug)]
pub struct Runs {
    task: &'static dyn AnyTask,
    list: Vec<Report>,
    left_out: Vec<LeftOut>,
    cores: Option<usize>,
}

const MIB: f64 = (1 << 20) as f64;

impl Runs {
    /// Those of a recording that are of this task and have right outputs, and what it left out.
    pub fn of_recording(task: &'static dyn AnyTask, recording: &Recording) -> Self {
        let mut list: Vec<Report> = recording.runs.iter().map(|(_, run)| run.clone()).collect();
        let mut left_out = recording.left_out.clone();
        list.retain(|run| {
            let bare = run.payload_bytes == 0 && run.receiver_payload_bytes == 0 && run.groups <= 1;
            run.correct && run.task == task.name() && bare
        });
        left_out.retain(|left_out| left_out.settings.task == task.name());
        Self { task, list, left_out, cores: recording.cores() }
    }

    /// No runs: what is left are formulas.
    pub fn none(task: &'static dyn AnyTask) -> Self {
        crate::install();
        Self { task, list: Vec::new(), left_out: Vec::new(), cores: None }
    }

    /// All of them.
    pub fn list(&self) -> &[Report] {
        &self.list
    }

    /// Whether the protocol has this mode, or is not there at all, which is to be said.
    pub fn serves(&self, id: &str, security: Security, sizes: (u32, u32)) -> bool {
        self.task.find(id).ok().flatten().is_none_or(|entry| self.predicted(entry, security, sizes).is_ok())
    }

    /// Whether the protocol is broken, and runs for research only.
    pub fn is_broken(&self, id: &str) -> bool {
        self.task.find(id).ok().flatten().is_some_and(|entry| entry.warning().is_some())
    }

    /// The runs of a protocol on sizes given as `log2`, with one thread a party.
    pub fn of<'a>(&'a self, id: &'a str, security: Security, sizes: (u32, u32)) -> impl Iterator<Item = &'a Report> {
        self.which(Which { id, security, sizes, threads: 1 })
    }

    fn which<'a>(&'a self, which: Which<'a>) -> impl Iterator<Item = &'a Report> {
        self.list.iter().filter(move |run| {
            which.fits(&run.protocol, run.security, [run.sender_items, run.receiver_items], run.threads_per_party)
        })
    }

    /// Why the recording has no run for a column: over its link, or any where it states no time. Runs that lack cores are
    /// not listed one by one.
    fn why_left_out(&self, which: Which<'_>, column: &Column) -> Option<Why> {
        let is_it = |left_out: &&LeftOut| {
            let of = &left_out.settings;
            which.fits(&of.protocol, of.security, [of.sender_items, of.receiver_items], of.threads)
                && column.link().is_none_or(|link| link == of.link)
        };
        let cores = 2 * which.threads;
        let lacks_cores = which.threads > 1 && self.cores.is_some_and(|there| there < cores);
        self.left_out.iter().find(is_it).map(|left_out| left_out.why).or(lacks_cores.then_some(Why::Cores(cores)))
    }

    /// The cell of a column, in a row of these sizes.
    pub fn cell(&self, id: &str, security: Security, sizes: Option<(u32, u32)>, column: &Column) -> Cell {
        self.recorded(id, security, sizes, column).unwrap_or_else(|| self.unrecorded(id, security, sizes, column))
    }

    /// The same by runs, or by what their recording left out; none where it says nothing.
    pub(super) fn recorded(
        &self,
        id: &str,
        security: Security,
        sizes: Option<(u32, u32)>,
        column: &Column,
    ) -> Option<Cell> {
        let which = Which { id, security, sizes: column.sizes(sizes)?, threads: column.threads };
        let unit = match column.what {
            What::Bits => return None,
            What::Seconds(link) => {
                let cell = self.time_of(which, link, column).map(|time| match time {
                    Time { seconds, is_measured: true } => Cell::Took(seconds),
                    Time { seconds, .. } => Cell::Computed(seconds),
                });
                return cell.or_else(|| self.why_left_out(which, column).map(Cell::CannotRun));
            }
            What::MiB => MIB,
            What::MB => 1e6,
        };
        let sent = self.which(which).find_map(|run| bytes_of(run, column)).map(|bytes| Cell::Sent(bytes / unit));
        let has_formula = (column.part, column.side) == (Part::Whole, None);
        sent.or_else(|| self.why_left_out(which, column).filter(|_| !has_formula).map(Cell::CannotRun))
    }

    /// The same without any run: by formula, or why there is nothing.
    pub(super) fn unrecorded(&self, id: &str, security: Security, sizes: Option<(u32, u32)>, column: &Column) -> Cell {
        let Some(sizes) = column.sizes(sizes) else { return Cell::NotMeasured };
        let Ok(Some(entry)) = self.task.find(id) else { return Cell::NotHere };
        let Ok(predicted) = self.predicted(entry, security, sizes) else { return Cell::NotServed };
        let has_formula = (column.part, column.side) == (Part::Whole, None);
        match column.what {
            What::Bits => {
                let items = 2f64.powf(f64::from(sizes.0.max(sizes.1)));
                Cell::FormulaBits(predicted * 8.0 / items)
            }
            What::MiB if has_formula => Cell::Formula(predicted / MIB),
            What::MB if has_formula => Cell::Formula(predicted / 1e6),
            What::MiB | What::MB | What::Seconds(_) => Cell::NotMeasured,
        }
    }

    /// What a run with one thread a party takes over a link; computed where it was run over a faster one only.
    pub fn time(&self, id: &str, security: Security, sizes: (u32, u32), link: Network) -> Option<Time> {
        let whole = Column { threads: 1, part: Part::Whole, side: None, what: What::Seconds(link), log: None };
        self.time_of(Which { id, security, sizes, threads: 1 }, link, &whole)
    }

    /// What a column states of a run over a link; computed where it was run over a faster one only.
    fn time_of(&self, which: Which<'_>, link: Network, column: &Column) -> Option<Time> {
        if let Some(run) = self.which(which).find(|run| run.link == link) {
            return Some(Time { seconds: time_of(run, column)?, is_measured: true });
        }
        let (rate, trip) = shape(link)?;
        let faster = self.which(which).filter_map(|run| Some((shape(run.link)?, run)));
        let faster = faster.filter(|((other, of_run), _)| *other > rate && *of_run == trip);
        let ((other, _), run) = faster.min_by_key(|((other, _), _)| *other)?;
        let bits = bytes_of(run, &Column { side: None, ..*column })? * 8.0;
        // A processor does not work longer because bytes are under way longer.
        let longer = if column.side.is_some() { 0.0 } else { bits / rate as f64 - bits / other as f64 };
        Some(Time { seconds: time_of(run, column)? + longer, is_measured: false })
    }

    /// The most bytes of payload by the protocol's formula.
    fn predicted(&self, entry: &Entry, security: Security, sizes: (u32, u32)) -> Result<f64, Unsupported> {
        let [sender, receiver] = [sizes.0, sizes.1].map(|log| 1usize.checked_shl(log).unwrap_or(usize::MAX));
        let extent = Extent::new(sender, receiver, security);
        let workload = self.task.workload(&extent, &self.task.least_amounts_of(entry))?;
        workload.predicted_bytes(entry).map(|bytes| *bytes.end() as f64)
    }
}

/// The rate and the round trip of a shaped link.
fn shape(link: Network) -> Option<(u64, u128)> {
    link.shape().map(|link| (link.bits_per_second, u128::from(link.round_trip_us)))
}

/// The phase in which a service prepares and clients enrol.
const ONCE: &str = "precompute";

/// What the column's side, or both, sent in its part of a run, framing included.
fn bytes_of(run: &Report, column: &Column) -> Option<f64> {
    let of_sides = |sides: [u64; 2]| {
        let [sender, receiver] = sides.map(|bytes| bytes as f64);
        match column.side {
            None => sender + receiver,
            Some(Role::Sender) => sender,
            Some(Role::Receiver) => receiver,
        }
    };
    let whole = of_sides([run.sender_bytes, run.receiver_bytes]);
    let first = match column.part {
        Part::Whole => 0.0,
        Part::SetUp | Part::Online => of_sides(run.setup_bytes?),
        Part::OneTime | Part::Query | Part::QueryOf(_) if run.phases.is_empty() => return None,
        Part::OneTime | Part::Query | Part::QueryOf(_) => of_sides(
            [Role::Sender, Role::Receiver]
                .map(|role| run.phases.get(&role).and_then(|phases| phases.get(ONCE)).map_or(0, |phase| phase.bytes)),
        ),
    };
    Some(column.part.of(first, whole - first))
}

/// The median of what the column's part of a run took, in seconds; of a side, its processor's seconds for all of it.
fn time_of(run: &Report, column: &Column) -> Option<f64> {
    match (column.side, column.part) {
        (None, Part::Whole) => return Some(run.total_spread.median),
        (Some(Role::Sender), Part::Whole) => return Some(run.cpu_seconds_sender),
        (Some(Role::Receiver), Part::Whole) => return Some(run.cpu_seconds_receiver),
        (Some(_), _) => return None,
        (None, _) => {}
    }
    if matches!(column.part, Part::OneTime | Part::Query | Part::QueryOf(_)) {
        if run.phases.is_empty() {
            return None;
        }
        if !run.phases.values().any(|phases| phases.contains_key(ONCE)) {
            // Nothing is done once: a query is a whole run, with its set-up.
            return Some(column.part.of(0.0, run.total_spread.median));
        }
    }
    let of_sample = |sample: &crate::report::Sample| {
        column.part.of(sample.setup_seconds, sample.total_seconds - sample.setup_seconds)
    };
    (!run.samples.is_empty()).then(|| median(run.samples.iter().map(of_sample)))
}

/// Three digits that count.
pub fn amount(value: f64) -> String {
    let decimals = match value {
        v if v < 0.9995 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Two digits of seconds that count.
pub fn seconds(value: f64) -> String {
    let decimals = match value {
        v if v < 0.0995 => 3,
        v if v < 0.995 => 2,
        v if v < 9.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A run of `vole-fast` on 2^16 items a side, which sent 1.25 MB.
#[cfg(test)]
pub(super) fn run(link: &str, seconds: f64) -> Report {
    let spread = crate::Spread::of([seconds]);
    serde_json::from_value(serde_json::json!({
        "protocol": "vole-fast", "task": "intersect", "security": "semi-honest", "sender_items": 65536, "receiver_items": 65536,
        "intersection": 32768, "correct": true, "link": link, "threads_per_party": 1, "in_process": false,
        "item_bytes": 16, "payload_bytes": 0, "repeats": 1, "setup_seconds": 0.0, "online_seconds": seconds,
        "total_seconds": seconds, "total_spread": spread,
        "samples": [{"total_seconds": seconds, "setup_seconds": 0.0}],
        "cpu_seconds_sender": 0.0, "cpu_seconds_receiver": 0.0, "sender_bytes": 1_000_000, "receiver_bytes": 250_000,
        "total_bytes": 1_250_000, "bits_per_item": 1.0, "predicted_bytes": [0, 0], "peak_rss_sender": 0,
        "peak_rss_receiver": 0, "cost_usd": null, "phases": {"sender": {}, "receiver": {}},
    }))
    .expect("a run")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vesica::task;

    use super::*;

    fn intersections(list: Vec<Report>) -> Runs {
        let runs = list.into_iter().map(|run| (String::new(), run)).collect();
        let recording = Recording { runs, machine: Some("one, 2 cores".into()), ..Recording::default() };
        Runs::of_recording(task::find("intersect").expect("the task"), &recording)
    }

    fn cell(runs: &Runs, column: &str) -> String {
        let column = Column::parse(column).expect("a column");
        runs.cell("vole-fast", Security::SemiHonest, Some((16, 16)), &column).to_string()
    }

    #[test]
    fn two_digits_of_seconds_count() {
        for (value, text) in [
            (0.0491, "0.049"),
            (0.0996, "0.10"),
            (0.449, "0.45"),
            (0.996, "1.0"),
            (2.44, "2.4"),
            (9.96, "10"),
            (17.6, "18"),
        ] {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn cells_are_measured_computed_or_missing() {
        let runs = intersections(vec![run("loopback", 0.5), run("100mbit,80ms", 1.0), run("10mbit,40ms", 9.0)]);
        assert_eq!(["s loopback", "s 100mbit 80ms", "MiB"].map(|column| cell(&runs, column)), ["0.50", "1.0", "1.19"]);
        // 10^7 bits take 0.1 s at the faster rate and 10 s at this one.
        assert_eq!(["s 1mbit 80ms", "MB"].map(|column| cell(&runs, column)), ["~11", "1.25"]);
        assert_eq!(cell(&runs, "s loopback 20"), "not measured");
        assert_eq!(cell(&runs, "4 threads s loopback"), "not here: 8 cores");
        assert!(cell(&runs, "MiB 20").ends_with('*') && cell(&runs, "bits 20").ends_with('*'));
        let mib = Column::parse("MiB").expect("a column");
        let of = |id| runs.cell(id, Security::SemiHonest, Some((16, 16)), &mib).to_string();
        assert_eq!(of("no-such"), "not in this release");
        assert!(
            !runs.serves("ecdh-hfh99", Security::Malicious, (16, 16))
                && runs.serves("no-such", Security::Malicious, (16, 16))
        );
    }

    #[test]
    fn runs_that_do_not_fit_are_left_out() {
        let others = [
            Report { task: "shares".into(), ..run("loopback", 0.5) },
            Report { threads_per_party: 2, ..run("loopback", 0.5) },
            Report { payload_bytes: 8, ..run("loopback", 0.5) },
            Report { correct: false, ..run("loopback", 0.5) },
        ];
        assert_eq!(cell(&intersections(others.into()), "s loopback"), "not measured");
    }

    #[test]
    fn a_query_has_its_share_of_what_is_done_once() {
        let sample = [crate::report::Sample { total_seconds: 2.5, setup_seconds: 2.0 }];
        let mut measured = Report { samples: sample.into(), ..run("loopback", 2.5) };
        measured.phases = serde_json::from_value(json!({
            "sender": {"precompute": {"seconds": 2.0, "bytes": 500_000}},
            "receiver": {"precompute": {"seconds": 2.0, "bytes": 500_000}, "match": {"seconds": 0.5, "bytes": 1}},
        }))
        .expect("phases");
        let runs = intersections(vec![measured]);
        let cells = ["one-time s loopback", "query s loopback", "query-of 4 s loopback", "s loopback"];
        assert_eq!(cells.map(|column| cell(&runs, column)), ["2.0", "0.50", "1.0", "2.5"]);
        let cells = ["one-time MB", "query MB", "query-of 4 MB", "MB"];
        assert_eq!(cells.map(|column| cell(&runs, column)), ["1.00", "0.250", "0.500", "1.25"]);
        let query = Column::parse("query MB").expect("a column");
        assert_eq!(runs.cell("rr22", Security::SemiHonest, Some((16, 16)), &query), Cell::NotMeasured);
        // A protocol that does nothing once has no part that could be left out.
        let mut whole = Report { samples: sample.into(), ..run("loopback", 2.5) };
        let side = json!({"base-ot": {"seconds": 2.0, "bytes": 1_000}});
        whole.phases = serde_json::from_value(json!({"sender": side, "receiver": side})).expect("phases");
        let runs = intersections(vec![whole]);
        let cells = ["query s loopback", "one-time s loopback", "query MB"];
        assert_eq!(cells.map(|column| cell(&runs, column)), ["2.5", "0.000", "1.25"]);
    }
}
