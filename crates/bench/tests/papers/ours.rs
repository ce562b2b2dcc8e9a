//! Our cells: measured, computed from a faster link, by formula, or said to be missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;
use vesica::plan::{Prediction, Prices};
use vesica::task::{self, AnyTask, SampleWorkload};
use vesica_bench::Network;
use vesica_party::{Entry, Security};
use vesica_protocols::tasks::Extent;

use super::super::{PhaseCost, Run, SidePhases, Spread};
use super::seconds;

/// What a column states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// Bits over the number of items.
    Bits,
    /// Communication of both sides in MiB.
    MiB,
    /// The same in MB.
    MB,
    /// Seconds over a link.
    Seconds(Network),
}

/// The part of a run that a column is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    Whole,
    /// What a service does once for a set and a client.
    OneTime,
    /// One query.
    Query,
    /// One of so many queries, with its share of what is done once.
    QueryOf(u32),
}

impl Part {
    /// What the part takes of what is done once, and of a query.
    fn of(self, one_time: f64, query: f64) -> f64 {
        match self {
            Self::Whole => one_time + query,
            Self::OneTime => one_time,
            Self::Query => query,
            Self::QueryOf(queries) => one_time / f64::from(queries) + query,
        }
    }
}

/// A column; where rows have no sizes, with one of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    pub part: Part,
    pub what: What,
    pub log: Option<u32>,
}

impl Column {
    /// `bits`, `MiB`, `s loopback` or `s RATE RTT`, and perhaps `log2` of a size behind it; before
    /// it perhaps a part: `one-time`, `query` or `query-of M`.
    pub fn parse(text: &str) -> Self {
        let words: Vec<&str> = text.split(' ').collect();
        let (part, words) = match words.as_slice() {
            ["one-time", words @ ..] => (Part::OneTime, words),
            ["query", words @ ..] => (Part::Query, words),
            ["query-of", queries, words @ ..] => (Part::QueryOf(queries.parse().expect("a number")), words),
            words => (Part::Whole, words),
        };
        let (what, rest) = match words {
            ["bits", rest @ ..] => (What::Bits, rest),
            ["MiB", rest @ ..] => (What::MiB, rest),
            ["MB", rest @ ..] => (What::MB, rest),
            ["s", "loopback", rest @ ..] => (What::Seconds(Network::Loopback), rest),
            ["s", rate, trip, rest @ ..] => (What::Seconds(format!("{rate},{trip}").parse().expect("a link")), rest),
            _ => panic!("no column {text:?}"),
        };
        Self { part, what, log: rest.first().map(|log| log.parse().expect("a size")) }
    }

    /// Its title.
    pub fn head(&self) -> String {
        let what = match self.what {
            What::Bits => "bits an item".into(),
            What::MiB => "MiB".into(),
            What::MB => "MB".into(),
            What::Seconds(link) => format!("s, {}", link_name(link)),
        };
        let what = match self.part {
            Part::Whole => what,
            Part::OneTime => format!("once: {what}"),
            Part::Query => format!("a query: {what}"),
            Part::QueryOf(queries) => format!("m = {queries}: {what}"),
        };
        self.log.map_or(what.clone(), |log| format!("{what}, 2^{log}"))
    }
}

pub fn link_name(link: Network) -> String {
    match link {
        Network::Loopback | Network::Lan => "LAN".into(),
        Network::Shaped(link) => {
            let rate = match link.bits_per_second as f64 {
                rate if rate < 1e9 => format!("{} Mbit/s", rate / 1e6),
                rate => format!("{} Gbit/s", rate / 1e9),
            };
            format!("{rate}, {} ms", link.round_trip_us as f64 / 1e3)
        }
    }
}

/// The rate and the round trip of a shaped link.
fn shape(link: Network) -> Option<(u64, u128)> {
    match link {
        Network::Loopback | Network::Lan => None,
        Network::Shaped(link) => Some((link.bits_per_second, u128::from(link.round_trip_us))),
    }
}

const MIB: f64 = (1 << 20) as f64;

/// Seconds, and whether a run said so.
struct Time {
    seconds: f64,
    is_measured: bool,
}

/// All recorded runs of a task.
pub struct Runs {
    pub task: &'static dyn AnyTask,
    pub list: Vec<Run>,
}

impl Runs {
    /// Whether the protocol has this mode, or is not there at all, which is to be said.
    pub fn serves(&self, id: &str, security: Security, sizes: (u32, u32)) -> bool {
        self.task
            .find(id)
            .ok()
            .flatten()
            .is_none_or(|entry| self.workload(entry, security, sizes).predicted_bytes(entry).is_ok())
    }

    /// The text of a cell.
    pub fn cell(&self, id: &str, security: Security, sizes: Option<(u32, u32)>, column: &Column) -> String {
        let sizes = column.log.map(|log| (log, log)).or(sizes).expect("sizes of the row or the column");
        let Ok(Some(entry)) = self.task.find(id) else { return "not in this release".into() };
        let predicted = self.workload(entry, security, sizes).predicted_bytes(entry).map(|bytes| *bytes.end() as f64);
        match column.what {
            What::Bits => predicted
                .map_or("–".into(), |bytes| format!("{:.0}*", bytes * 8.0 / f64::from(1u32 << sizes.0.max(sizes.1)))),
            What::MiB | What::MB => {
                let unit = if column.what == What::MiB { MIB } else { 1e6 };
                match (self.bytes(id, security, sizes, column.part), predicted) {
                    (Some(bytes), _) => amount(bytes / unit),
                    (None, Ok(bytes)) if column.part == Part::Whole => format!("{}*", amount(bytes / unit)),
                    (None, Ok(_)) => "not measured".into(),
                    (None, Err(_)) => "–".into(),
                }
            }
            What::Seconds(link) => match self.time(id, security, sizes, link, column.part) {
                Some(Time { seconds: time, is_measured: true }) => seconds(time),
                Some(Time { seconds: time, .. }) => format!("~{}", seconds(time)),
                None => "not measured".into(),
            },
        }
    }

    /// What a run said, as a number: megabytes, or seconds over the column's link.
    pub fn measured(&self, id: &str, security: Security, sizes: (u32, u32), column: &Column) -> Option<f64> {
        match column.what {
            What::Bits => None,
            What::MiB => self.bytes(id, security, sizes, column.part).map(|bytes| bytes / MIB),
            What::MB => self.bytes(id, security, sizes, column.part).map(|bytes| bytes / 1e6),
            What::Seconds(link) => self
                .time(id, security, sizes, link, column.part)
                .filter(|time| time.is_measured)
                .map(|time| time.seconds),
        }
    }

    fn of(&self, id: &str, security: Security, sizes: (u32, u32)) -> impl Iterator<Item = &Run> {
        let security = security.to_string();
        self.list
            .iter()
            .filter(move |run| run.protocol == id && run.security == security && run.has_sizes(sizes.0, sizes.1))
    }

    /// What both sides sent, the same over all links.
    fn bytes(&self, id: &str, security: Security, sizes: (u32, u32), part: Part) -> Option<f64> {
        self.of(id, security, sizes).find_map(|run| bytes_of(run, part))
    }

    fn time(&self, id: &str, security: Security, sizes: (u32, u32), link: Network, part: Part) -> Option<Time> {
        let measured = |run: &&Run| run.link.is_some_and(|of_run| of_run == link);
        if let Some(run) = self.of(id, security, sizes).find(measured) {
            return Some(Time { seconds: time_of(run, part)?, is_measured: true });
        }
        let (rate, trip) = shape(link)?;
        let faster = self.of(id, security, sizes).filter_map(|run| Some((shape(run.link?)?, run)));
        let faster = faster.filter(|((other, of_run), _)| *other > rate && *of_run == trip);
        let ((other, _), run) = faster.min_by_key(|((other, _), _)| *other)?;
        let bits = bytes_of(run, part)? * 8.0;
        Some(Time { seconds: time_of(run, part)? + bits / rate as f64 - bits / other as f64, is_measured: false })
    }

    fn workload(&self, entry: &Entry, security: Security, (sender, receiver): (u32, u32)) -> Box<dyn SampleWorkload> {
        let extent = Extent::new(1 << sender, 1 << receiver, security);
        self.task.workload(&extent, &self.task.least_amounts_of(entry)).expect("the least")
    }

    /// What each phase takes: seconds over each of the links and megabytes. Empty without a run.
    pub fn phases(&self, id: &str, log: u32, links: &[Network]) -> Vec<(String, Vec<String>)> {
        let of_link = |link: &Network| {
            self.of(id, Security::SemiHonest, (log, log)).find(|run| run.link == Some(*link))?.phases.as_ref()
        };
        let of_links: Vec<_> = links.iter().map(of_link).collect();
        let names: BTreeSet<&String> = of_links
            .iter()
            .flatten()
            .flat_map(|of_sides| of_sides.sender.keys().chain(of_sides.receiver.keys()))
            .collect();
        let row = |phase: &String| {
            let both = |of_sides: &SidePhases| {
                [&of_sides.sender, &of_sides.receiver].map(|side| side.get(phase).copied().unwrap_or_default())
            };
            let of_sides = || of_links.iter().map(|of_sides| of_sides.map(both));
            let time = |both: Option<[PhaseCost; 2]>| {
                both.map_or("not measured".into(), |[one, other]| seconds(one.seconds.max(other.seconds)))
            };
            let bytes = of_sides().flatten().next().map_or(0, |[one, other]| one.bytes + other.bytes);
            let cells = of_sides().map(time).chain([amount(bytes as f64 / 1e6)]).collect();
            (phase.clone(), cells)
        };
        names.into_iter().map(row).collect()
    }

    /// What runs cost, as section 6.2 of SpOT-Light counts it.
    pub fn costs(&self, prices: &Prices) -> String {
        let slow = |rate: &str| format!("{rate},80ms").parse::<Network>().expect("a link");
        let places = [
            ("same-site", Network::Loopback),
            ("other-site", slow("100mbit")),
            ("internet", slow("100mbit")),
            ("internet", slow("10mbit")),
        ];
        let mut text = format!(
            "\n## What a run costs\n\nUS dollars for 1000 runs, counted as section 6.2 of SpOT-Light does: the time \
             of one core on either side, and what each side sends at its site's rate. Prices: \
             {}\n([prices-2026-11.toml](prices-2026-11.toml)); between businesses both are in the cloud, at one site \
             or two; over the internet both pay for what they send. Times of a\n`~` cell are computed. SpOT-Light \
             shows its costs in figures only.\n\n",
            prices.title
        );
        let heads = places.map(|(kind, link)| format!("{kind}, {}", link_name(link)));
        let _ = writeln!(
            text,
            "| sets | mode | protocol | {} |\n|---|---|---|{}",
            heads.join(" | "),
            "---|".repeat(places.len())
        );
        for log in [16, 20] {
            let wanted = self.list.iter().filter(|run| run.has_sizes(log, log) && run.task == "intersect");
            let ids: BTreeSet<(&str, &str)> =
                wanted.map(|run| (run.security.as_str(), run.protocol.as_str())).collect();
            for (security, id) in ids.into_iter().rev() {
                let mode = if security == "malicious" { Security::Malicious } else { Security::SemiHonest };
                let cells = places
                    .map(|(kind, link)| self.cost(prices, kind, id, mode, log, link).unwrap_or("not measured".into()));
                let _ = writeln!(text, "| 2^{log} x 2^{log} | {security} | `{id}` | {} |", cells.join(" | "));
            }
        }
        text
    }

    fn cost(
        &self,
        prices: &Prices,
        kind: &str,
        id: &str,
        security: Security,
        log: u32,
        link: Network,
    ) -> Option<String> {
        let time = self.time(id, security, (log, log), link, Part::Whole)?;
        let run = self.of(id, security, (log, log)).next()?;
        let prediction = Prediction {
            compute_us: (time.seconds * 1e6) as u64,
            transfer_us: 0,
            round_trips_us: 0,
            bytes: run.sender_bytes + run.receiver_bytes,
            sender_bytes: run.sender_bytes,
            receiver_bytes: run.receiver_bytes,
            sender_memory: 0,
            receiver_memory: 0,
        };
        let usd = prices.usd(prices.of(kind).ok()?, &prediction, 1);
        Some(format!("{}{}", if time.is_measured { "" } else { "~" }, amount(usd * 1000.0)))
    }
}

/// What both sides sent in a part of a run, framing included.
fn bytes_of(run: &Run, part: Part) -> Option<f64> {
    let whole = (run.sender_bytes + run.receiver_bytes) as f64;
    if part == Part::Whole {
        return Some(whole);
    }
    let phases = run.phases.as_ref()?;
    let once = |side: &BTreeMap<String, PhaseCost>| side.get(ONCE).map_or(0, |cost| cost.bytes);
    let one_time = (once(&phases.sender) + once(&phases.receiver)) as f64;
    Some(part.of(one_time, whole - one_time))
}

/// The median of what a part of a run took, in seconds.
fn time_of(run: &Run, part: Part) -> Option<f64> {
    if part == Part::Whole {
        return Some(run.spread().median);
    }
    let phases = run.phases.as_ref()?;
    if ![&phases.sender, &phases.receiver].into_iter().any(|side| side.contains_key(ONCE)) {
        // Nothing is done once: a query is a whole run, with its set-up.
        return Some(part.of(0.0, run.spread().median));
    }
    let of_sample = |sample: &Value| {
        let [total, one_time] = ["total_seconds", "setup_seconds"].map(|name| sample[name].as_f64());
        Some(part.of(one_time?, total? - one_time?))
    };
    let samples: Option<Vec<f64>> = run.samples.iter().map(of_sample).collect();
    samples.map(|samples| Spread::of(samples).median)
}

/// The phase in which a service prepares and clients enrol.
const ONCE: &str = "precompute";

/// Three digits that count.
fn amount(value: f64) -> String {
    let decimals = match value {
        v if v < 0.9995 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(link: &str, seconds: f64) -> Run {
        serde_json::from_value(serde_json::json!({
            "protocol": "vole-fast", "task": "intersect", "security": "semi-honest", "sender_items": 65536, "receiver_items": 65536,
            "intersection": 32768, "link": link, "key_bytes": null, "samples": [seconds], "bits_per_item": 1.0,
            "peak_rss_sender": 0, "peak_rss_receiver": 0, "sender_bytes": 1_000_000, "receiver_bytes": 250_000,
        }))
        .expect("a run")
    }

    fn intersections(list: Vec<Run>) -> Runs {
        Runs { task: task::find("intersect").expect("the task"), list }
    }

    #[test]
    fn cells_are_measured_computed_or_missing() {
        let runs = intersections(vec![run("loopback", 0.5), run("100mbit,80ms", 1.0), run("10mbit,40ms", 9.0)]);
        let cell = |column: &str| runs.cell("vole-fast", Security::SemiHonest, Some((16, 16)), &Column::parse(column));
        assert_eq!(
            (cell("s loopback"), cell("s 100mbit 80ms"), cell("MiB")),
            ("0.50".into(), "1.0".into(), "1.19".into())
        );
        // 10^7 bits take 0.1 s at the faster rate and 10 s at this one.
        assert_eq!((cell("s 1mbit 80ms"), cell("MB")), ("~11".into(), "1.25".into()));
        assert_eq!(cell("s loopback 20"), "not measured");
        assert!(cell("MiB 20").ends_with('*') && cell("bits 20").ends_with('*'));
        assert_eq!(
            runs.cell("no-such", Security::SemiHonest, Some((16, 16)), &Column::parse("MiB")),
            "not in this release"
        );
        assert!(
            !runs.serves("ecdh-hfh99", Security::Malicious, (16, 16))
                && runs.serves("no-such", Security::Malicious, (16, 16))
        );
    }

    #[test]
    fn a_query_has_its_share_of_what_is_done_once() {
        let mut measured = run("loopback", 0.0);
        measured.samples = vec![serde_json::json!({"total_seconds": 2.5, "setup_seconds": 2.0})];
        measured.phases = serde_json::from_value(serde_json::json!({
            "sender": {"precompute": {"seconds": 2.0, "bytes": 500_000}},
            "receiver": {"precompute": {"seconds": 2.0, "bytes": 500_000}, "match": {"seconds": 0.5, "bytes": 1}},
        }))
        .expect("phases");
        let runs = intersections(vec![measured]);
        let cell = |column: &str| runs.cell("vole-fast", Security::SemiHonest, Some((16, 16)), &Column::parse(column));
        let cells = ["one-time s loopback", "query s loopback", "query-of 4 s loopback", "s loopback"].map(cell);
        assert_eq!(cells, ["2.0", "0.50", "1.0", "2.5"]);
        assert_eq!(["one-time MB", "query MB", "query-of 4 MB", "MB"].map(cell), ["1.00", "0.250", "0.500", "1.25"]);
        assert_eq!(runs.cell("rr22", Security::SemiHonest, Some((16, 16)), &Column::parse("query MB")), "not measured");
        // A protocol that does nothing once has no part that could be left out.
        let mut whole = run("loopback", 0.0);
        whole.samples = vec![serde_json::json!({"total_seconds": 2.5, "setup_seconds": 2.0})];
        let side = serde_json::json!({"base-ot": {"seconds": 2.0, "bytes": 1_000}});
        whole.phases = serde_json::from_value(serde_json::json!({"sender": side, "receiver": side})).expect("phases");
        let runs = intersections(vec![whole]);
        let cell = |column: &str| runs.cell("vole-fast", Security::SemiHonest, Some((16, 16)), &Column::parse(column));
        assert_eq!(["query s loopback", "one-time s loopback", "query MB"].map(cell), ["2.5", "0.000", "1.25"]);
    }

    #[test]
    fn a_phase_takes_the_time_of_its_slower_side_and_the_bytes_of_both() {
        let mut measured = run("loopback", 0.5);
        measured.phases = serde_json::from_value(serde_json::json!({
            "sender": {"encode": {"seconds": 0.25, "bytes": 1_000_000}},
            "receiver": {"encode": {"seconds": 0.5, "bytes": 500_000}, "decode": {"seconds": 0.1, "bytes": 0}},
        }))
        .expect("phases");
        let wan = "100mbit,80ms".parse().expect("a link");
        let phases = intersections(vec![measured]).phases("vole-fast", 16, &[Network::Loopback, wan]);
        let expected = [("decode", ["0.10", "not measured", "0.000"]), ("encode", ["0.50", "not measured", "1.50"])];
        assert_eq!(phases, expected.map(|(phase, cells)| (phase.into(), cells.map(String::from).into())));
    }

    #[test]
    fn a_thousand_runs_cost_their_time_and_bytes() {
        let prices = Prices::built_in().expect("the project's prices");
        let runs = intersections(vec![run("loopback", 3.6)]);
        let expected = 1000.0
            * (2.0 * prices.core.usd_per_hour / 1000.0
                + 1.25e-3 * prices.of("same-site").expect("a kind").sender_usd_per_gb);
        let shown = runs.cost(&prices, "same-site", "vole-fast", Security::SemiHonest, 16, Network::Loopback);
        assert_eq!(shown, Some(amount(expected)));
        assert!(runs.costs(&prices).contains("not measured"));
    }
}
