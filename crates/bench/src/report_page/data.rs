//! What the page and the Markdown table show, as plain data: runs, what a run over another link is
//! predicted from, and prices.

use serde::Serialize;
use vesica::plan::Prices;
use vesica::{Failure, task};
use vesica_party::Status;

use super::recordings::Recording;
use crate::{Network, Report};

/// What a channel has under way in one round trip at most: `Link::transfer_us` of the transport
/// counts by it, and so does the page's script.
const WINDOW_BYTES: u64 = 8 << 20;

/// Framing that a run may add to the bytes of its messages: 10 bytes a frame, and what sets up and
/// ends the conversation.
const fn framing(message_bytes: u64) -> u64 {
    (8 << 10) + message_bytes / (8 << 10)
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
    /// What is computed at one size, without any link.
    points: Vec<Point>,
    /// See [`WINDOW_BYTES`].
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

/// What runs of different sizes and links have in common.
#[derive(Debug, PartialEq, Serialize)]
pub struct Series {
    /// Place in [`Data::recordings`].
    pub recording: usize,
    /// Task.
    pub task: String,
    /// Protocol, with its choices.
    pub protocol: String,
    /// Mode.
    pub security: String,
    /// What else was asked for, in words; empty for what is asked by default.
    pub amounts: String,
    /// Least and most rounds by the registry; nothing for a protocol that it has no more.
    pub rounds: Option<[usize; 2]>,
    /// Whether the protocol is broken.
    pub broken: bool,
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

/// A link.
#[derive(Debug, Serialize)]
pub struct Link {
    /// As a reader writes it.
    pub label: String,
    /// Nothing for a link that is not shaped.
    bits_per_second: Option<u64>,
    round_trip_ms: f64,
}

/// What a series computes and sends at one size.
#[derive(Debug, Serialize)]
struct Point {
    series: usize,
    sender_items: usize,
    receiver_items: usize,
    seconds: f64,
    sender_bytes: u64,
    receiver_bytes: u64,
    /// The link of the run that the seconds are taken from, if it is shaped.
    from: Option<String>,
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
        let (mut sources, mut reports) = (Vec::new(), Vec::new());
        for (place, recording) in recordings.into_iter().enumerate() {
            let Recording { label, machine, runs, passed_over } = recording;
            sources.push(Source { label, machine, passed_over });
            reports.extend(runs.into_iter().map(|(name, report)| (place, name, report)));
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
        let points = points(&series, &placed);
        let runs = placed.into_iter().map(|(place, name, report)| run(place, &series, &points, name, report)).collect();
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            recordings: sources,
            series,
            runs,
            points,
            window_bytes: WINDOW_BYTES,
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

impl Series {
    fn new(recording: usize, report: &Report) -> Self {
        let entry = task::find(&report.task).ok().and_then(|task| task.find(&report.protocol).ok().flatten());
        let rounds = entry.and_then(|entry| entry.mode(report.security)).map(|mode| mode.rounds);
        Self {
            recording,
            task: report.task.clone(),
            protocol: report.protocol.clone(),
            security: report.security.to_string(),
            amounts: amounts(report),
            rounds: rounds.map(|rounds| [rounds.least, rounds.most]),
            broken: entry.is_some_and(|entry| matches!(entry.status, Status::Broken { .. })),
        }
    }

    /// Round trips that a run waits for. A round is one message that waits for the one before it, and
    /// so half a round trip.
    fn round_trips(&self) -> Option<f64> {
        self.rounds.map(|[_, most]| most as f64 / 2.0)
    }
}

/// What differs from a plain run.
fn amounts(report: &Report) -> String {
    let smaller = report.sender_items.min(report.receiver_items).max(1);
    let percent = (100.0 * report.intersection as f64 / smaller as f64).round() as u64;
    let told = [
        (percent != 50 && smaller > 1, format!("{percent}% in common")),
        (report.payload_bytes > 0, format!("payload of {} bytes", report.payload_bytes)),
        (report.receiver_payload_bytes > 0, format!("receiver's payload of {} bytes", report.receiver_payload_bytes)),
        (report.columns > 0, format!("{} column(s)", report.columns)),
        (report.groups > 1, format!("{} groups", report.groups)),
        (report.item_bytes != 16, format!("items of {} bytes", report.item_bytes)),
        (report.threads_per_party != 1, format!("{} threads a party", report.threads_per_party)),
        (report.in_process, "both parties in one process".into()),
    ];
    told.into_iter().filter_map(|(is_told, text)| is_told.then_some(text)).collect::<Vec<_>>().join(", ")
}

fn has_size(point: &Point, series: usize, report: &Report) -> bool {
    point.series == series && point.sender_items == report.sender_items && point.receiver_items == report.receiver_items
}

/// Microseconds as seconds.
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Seconds of transfer and of waiting over a link, as `vesica plan` counts them.
fn under_way(network: Network, bytes: u64, round_trips: f64) -> f64 {
    let link = network.link();
    seconds(link.transfer_us(bytes)) + round_trips * seconds(link.round_trip_us)
}

/// Computing at each size of each series: the time over a link that is not shaped; where there is
/// none, that over the fastest link, without transfer and waiting as the model counts them.
fn points(series: &[Series], runs: &[(usize, String, Report)]) -> Vec<Point> {
    let is_shaped = |report: &Report| matches!(report.link, Network::Shaped(_));
    let key = |report: &Report| (is_shaped(report), u64::MAX - report.link.link().bits_per_second);
    let mut best: Vec<&(usize, String, Report)> = Vec::new();
    // The time of a run with a wrong output means nothing.
    for run in runs.iter().filter(|(_, _, report)| report.correct) {
        let (place, _, report) = run;
        let same_size = |other: &&mut &(usize, String, Report)| {
            other.0 == *place
                && other.2.sender_items == report.sender_items
                && other.2.receiver_items == report.receiver_items
        };
        match best.iter_mut().find(same_size) {
            Some(other) if key(report) < key(&other.2) => *other = run,
            Some(_) => {}
            None => best.push(run),
        }
    }
    best.into_iter()
        .filter_map(|(place, _, report)| {
            let (seconds, from) = if is_shaped(report) {
                let link = under_way(report.link, report.total_bytes, series.get(*place)?.round_trips()?);
                ((report.total_seconds - link).max(0.0), Some(link_label(report.link)))
            } else {
                (report.total_seconds, None)
            };
            Some(Point {
                series: *place,
                sender_items: report.sender_items,
                receiver_items: report.receiver_items,
                seconds,
                sender_bytes: report.sender_bytes,
                receiver_bytes: report.receiver_bytes,
                from,
            })
        })
        .collect()
}

fn run(place: usize, series: &[Series], points: &[Point], name: String, report: Report) -> Run {
    let label = link_label(report.link);
    let base = points.iter().find(|point| has_size(point, place, &report));
    let base = base.filter(|base| base.from.as_ref() != Some(&label));
    let round_trips = series.get(place).and_then(Series::round_trips);
    let model_seconds = match (report.link, base, round_trips) {
        (Network::Shaped(_), Some(base), Some(round_trips)) => {
            Some(base.seconds + under_way(report.link, report.total_bytes, round_trips))
        }
        _ => None,
    };
    let [least, most] = report.predicted_bytes;
    let shaped = match report.link {
        Network::Shaped(link) => Some(link),
        Network::Loopback | Network::Lan => None,
    };
    Run {
        name,
        series: place,
        sender_items: report.sender_items,
        receiver_items: report.receiver_items,
        link: Link {
            label,
            bits_per_second: shaped.map(|link| link.bits_per_second),
            round_trip_ms: shaped.map_or(0.0, |link| link.round_trip_us as f64 / 1e3),
        },
        seconds: report.total_seconds,
        quartiles: [report.total_spread.lower_quartile, report.total_spread.upper_quartile],
        setup_seconds: report.setup_seconds,
        repeats: report.repeats,
        bytes: report.total_bytes,
        formula_bytes: report.predicted_bytes,
        bytes_as_formula: (least..=most.saturating_add(framing(most))).contains(&report.total_bytes),
        correct: report.correct,
        memory: [report.peak_rss_sender, report.peak_rss_receiver],
        model_seconds,
    }
}

/// A link as a reader writes it.
fn link_label(network: Network) -> String {
    let Network::Shaped(link) = network else { return network.to_string() };
    let rate = link.bits_per_second as f64;
    let (rate, unit) = match rate {
        1e9.. => (rate / 1e9, "Gbit/s"),
        1e6.. => (rate / 1e6, "Mbit/s"),
        _ => (rate / 1e3, "kbit/s"),
    };
    format!("{rate} {unit}, {} ms", link.round_trip_us as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use vesica_party::transport::Link as Shape;

    use super::*;

    /// The page's script counts transfers as the transport does, by this number.
    #[test]
    fn a_window_a_round_trip_is_what_a_link_carries_at_most() {
        let link = Shape { bits_per_second: u64::MAX, round_trip_us: 40_000 };
        assert_eq!(link.transfer_us(10 * WINDOW_BYTES), 10 * link.round_trip_us);
    }

    #[test]
    fn links_are_written_as_readers_write_them() {
        let label = |text: &str| link_label(text.parse().expect("a link"));
        assert_eq!(label("100mbit,40ms"), "100 Mbit/s, 40 ms");
        assert_eq!(label("10gbit,200us"), "10 Gbit/s, 0.2 ms");
        assert_eq!(label("512kbit,1s"), "512 kbit/s, 1000 ms");
        assert_eq!(label("loopback"), "loopback");
    }
}
