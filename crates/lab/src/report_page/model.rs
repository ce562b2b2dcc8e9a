//! The model by which runs over other links are predicted: that of `vesica plan`
//! (`vesica/src/plan/model.rs`), on recorded runs.

use serde::Serialize;

use super::link::link_label;
use super::series::Series;
use crate::{Network, Report};

/// What a channel has under way in one round trip at most: `Link::transfer_us` of the transport
/// counts by it, and so does the page's script.
pub(super) const WINDOW_BYTES: u64 = 8 << 20;

/// What a series computes and sends at one size.
#[derive(Debug, Serialize)]
pub struct Point {
    series: usize,
    sender_items: usize,
    receiver_items: usize,
    seconds: f64,
    sender_bytes: u64,
    receiver_bytes: u64,
    /// The link of the run that the seconds are taken from, if it is shaped.
    from: Option<String>,
}

/// Seconds by the model for a run over a shaped link, unless the model's computing is taken from
/// that run.
pub(super) fn seconds(series: &Series, place: usize, points: &[Point], report: &Report) -> Option<f64> {
    report.link.shape()?;
    let label = link_label(report.link);
    let base = points.iter().find(|point| has_size(point, place, report) && point.from.as_ref() != Some(&label))?;
    Some(base.seconds + under_way(report.link, report.total_bytes, round_trips(series)?))
}

/// Round trips that a run waits for. A round is one message that waits for the one before it, and so
/// half a round trip.
fn round_trips(series: &Series) -> Option<f64> {
    series.rounds.map(|[_, most]| most as f64 / 2.0)
}

fn has_size(point: &Point, series: usize, report: &Report) -> bool {
    point.series == series && point.sender_items == report.sender_items && point.receiver_items == report.receiver_items
}

/// Microseconds as seconds.
fn in_seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Seconds of transfer and of waiting over a link, as `vesica plan` counts them.
fn under_way(network: Network, bytes: u64, round_trips: f64) -> f64 {
    let link = network.link();
    in_seconds(link.transfer_us(bytes)) + round_trips * in_seconds(link.round_trip_us)
}

/// Computing at each size of each series: the time over a link that is not shaped; where there is
/// none, that over the fastest link, without transfer and waiting as the model counts them.
pub(super) fn points(series: &[Series], runs: &[(usize, String, Report)]) -> Vec<Point> {
    let is_shaped = |report: &Report| report.link.shape().is_some();
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
                let link = under_way(report.link, report.total_bytes, round_trips(series.get(*place)?)?);
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

#[cfg(test)]
mod tests {
    use vesica_party::transport::Link;

    use super::*;

    /// The page's script counts transfers as the transport does, by this number.
    #[test]
    fn a_window_a_round_trip_is_what_a_link_carries_at_most() {
        let link = Link { bits_per_second: u64::MAX, round_trip_us: 40_000 };
        assert_eq!(link.transfer_us(10 * WINDOW_BYTES), 10 * link.round_trip_us);
    }
}
