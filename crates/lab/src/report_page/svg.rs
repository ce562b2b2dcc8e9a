//! Plots as files of SVG: time against bytes and time against size, for each recording, task, mode and
//! further settings.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::data::{Data, Run};
use super::programs::ProgramRun;
use super::series::Series;
use crate::programs::MARK;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
/// The drawing's edges; the legend stands to its right.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 600.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 410.0;
const LEGEND_LINE: f64 = 18.0;

/// The style of the page's plots: the same colours, in light and dark.
const STYLE: &str = "\
<style>
:root { --ground: #fff; --text: #1a1d21; --quiet: #5a626d; --line: #d5dae1 }
svg { background: var(--ground); font: 12px system-ui, sans-serif;
  --c0: #1f6feb; --c1: #d4570a; --c2: #1a8754; --c3: #8250df;
  --c4: #c4317c; --c5: #0f8b9d; --c6: #8a6d00; --c7: #5c6670;
  --c8: #a3122f; --c9: #5b8c00; --c10: #1b2a8f; --c11: #7d4b2a }
text { fill: var(--quiet) } .name { fill: var(--text) } .title { font-size: 15px; fill: var(--text) }
.grid { stroke: var(--line) } .line { fill: none; stroke-width: 2 } .ground { fill: var(--ground) }
@media (prefers-color-scheme: dark) {
:root { --ground: #14171b; --text: #e6e9ed; --quiet: #a2abb7; --line: #343b45 }
svg { --c0: #6ea8ff; --c1: #ff9d5c; --c2: #5fd39a; --c3: #c0a0ff;
  --c4: #ff86bd; --c5: #5ed3e4; --c6: #e0c04a; --c7: #aeb7c2;
  --c8: #ff6b7d; --c9: #b6e04f; --c10: #8f9bff; --c11: #d9a679 }
}
</style>
";
const COLOURS: usize = 12;
/// How often a colour can come again, with other marks and dashes.
const ROUNDS: usize = 3;

/// One plot: what it shows, and the points of each protocol.
struct Plot<'a> {
    title: String,
    x: Axis,
    is_joined: bool,
    sets: BTreeMap<&'a str, Vec<(f64, f64)>>,
}

/// What the x axis counts.
#[derive(Clone, Copy)]
enum Axis {
    Bytes,
    Items,
}

/// What one plot is of: a recording, and three of a run's words.
type Group<'a> = (usize, &'a str, &'a str, &'a str);

/// All plots, each with the name of its file. A plot shows runs over the link of most runs, and time
/// against bytes those of the sizes of most protocols. Programs of others are in plots of their own.
pub fn plots(data: &Data) -> Vec<(String, String)> {
    let mut groups: BTreeMap<Group<'_>, Vec<(&Series, &Run)>> = BTreeMap::new();
    for run in data.runs.iter().filter(|run| run.correct) {
        let Some(series) = data.series.get(run.series) else { continue };
        let key = (series.recording, series.task.as_str(), series.security.as_str(), series.amounts.as_str());
        groups.entry(key).or_default().push((series, run));
    }
    let mut files = Vec::new();
    for ((recording, task, security, amounts), runs) in groups {
        let Some(source) = data.recordings.get(recording) else { continue };
        let Some(link) = most(runs.iter().map(|(_, run)| run.link.label.as_str())) else { continue };
        let runs: Vec<(&Series, &Run)> = runs.into_iter().filter(|(_, run)| run.link.label == link).collect();
        let settings = if amounts.is_empty() { String::new() } else { format!(", {amounts}") };
        let about = format!("{task}, {security}{settings}, over {link}");
        let name = |kind: &str| {
            let parts = [&source.label, task, security, amounts, kind];
            format!("{}.svg", plain(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")))
        };
        files.extend(by_bytes(&runs, &about).map(|plot| (name("bytes"), plot.draw())));
        files.extend(by_size(&runs, &about).map(|plot| (name("size"), plot.draw())));
    }
    for (place, source) in data.recordings.iter().enumerate() {
        let runs: Vec<&ProgramRun> = data.programs.iter().filter(|run| run.recording == place && run.correct).collect();
        let name = plain(&format!("{}-programs-csv-to-csv-size.svg", source.label));
        files.extend(programs_by_size(&runs).map(|plot| (name, plot.draw())));
    }
    files
}

/// Times of programs along the rows of both tables together.
fn programs_by_size<'a>(runs: &[&'a ProgramRun]) -> Option<Plot<'a>> {
    let link = most(runs.iter().map(|run| run.link.label.as_str()))?;
    let mut points: BTreeMap<&str, BTreeMap<usize, f64>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.link.label == link) {
        let rows = run.sender_items + run.receiver_items;
        points.entry(run.label.as_str()).or_default().extend(run.seconds.map(|seconds| (rows, seconds)));
    }
    let line = |points: BTreeMap<usize, f64>| points.into_iter().map(|(rows, time)| (rows as f64, time)).collect();
    let sets = points.into_iter().map(|(label, points)| (label, line(points))).collect();
    let title = format!("Each a {MARK}: time against rows of both tables together, over {link}");
    Some(Plot { title, x: Axis::Items, is_joined: true, sets })
}

fn by_bytes<'a>(runs: &[(&'a Series, &Run)], about: &str) -> Option<Plot<'a>> {
    let (senders, receivers) = most(runs.iter().map(|(_, run)| (run.sender_items, run.receiver_items)))?;
    let mut sets = BTreeMap::new();
    for (series, run) in runs.iter().filter(|(_, run)| (run.sender_items, run.receiver_items) == (senders, receivers)) {
        sets.insert(series.protocol.as_str(), vec![(run.bytes as f64, run.seconds)]);
    }
    let title = format!("Time against bytes: {} x {} items, {about}", items(senders as f64), items(receivers as f64));
    Some(Plot { title, x: Axis::Bytes, is_joined: false, sets })
}

/// Along equal sizes, or along the sender's with the receiver's that most runs have, or the other way
/// round: whatever most runs are of.
fn by_size<'a>(runs: &[(&'a Series, &Run)], about: &str) -> Option<Plot<'a>> {
    let senders = most(runs.iter().map(|(_, run)| run.sender_items))?;
    let receivers = most(runs.iter().map(|(_, run)| run.receiver_items))?;
    type Way<'w> = (String, &'w dyn Fn(&Run) -> bool, fn(&Run) -> usize);
    let ways: [Way; 3] = [
        ("on either side".into(), &|run| run.sender_items == run.receiver_items, |run| run.sender_items),
        (
            format!("of the sender, with {} of the receiver", items(receivers as f64)),
            &|run| run.receiver_items == receivers,
            |run| run.sender_items,
        ),
        (
            format!("of the receiver, with {} of the sender", items(senders as f64)),
            &|run| run.sender_items == senders,
            |run| run.receiver_items,
        ),
    ];
    let count = |way: &Way| runs.iter().filter(|(_, run)| way.1(run)).count();
    // Of equal counts, the first.
    let (words, is_on_way, size) = ways.into_iter().rev().max_by_key(count)?;
    let mut points: BTreeMap<&str, BTreeMap<usize, f64>> = BTreeMap::new();
    for (series, run) in runs.iter().filter(|(_, run)| is_on_way(run)) {
        points.entry(series.protocol.as_str()).or_default().insert(size(run), run.seconds);
    }
    let line = |points: BTreeMap<usize, f64>| points.into_iter().map(|(size, time)| (size as f64, time)).collect();
    let sets = points.into_iter().map(|(protocol, points)| (protocol, line(points))).collect();
    Some(Plot { title: format!("Time against items {words}, {about}"), x: Axis::Items, is_joined: true, sets })
}

impl Plot<'_> {
    fn draw(&self) -> String {
        let points = || self.sets.values().flatten().filter(|(x, y)| *x > 0.0 && *y > 0.0);
        let (x_low, x_high) = span(points().map(|point| point.0));
        let (y_low, y_high) = span(points().map(|point| point.1));
        let across = |x: f64| LEFT + (RIGHT - LEFT) * (x / x_low).ln() / (x_high / x_low).ln();
        let up = |y: f64| BOTTOM - (BOTTOM - TOP) * (y / y_low).ln() / (y_high / y_low).ln();
        let height = HEIGHT.max(TOP + LEGEND_LINE * (self.sets.len() as f64 + 1.0));
        let title = escaped(&self.title);
        // Writing to a String cannot fail.
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n\
             {STYLE}<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
             <text class=\"title\" x=\"12\" y=\"24\">{title}</text>\n"
        );
        let (base, written): (f64, fn(f64) -> String) = match self.x {
            Axis::Bytes => (10.0, bytes),
            Axis::Items => (2.0, items),
        };
        for (tick, place) in ticks(x_low, x_high, base).map(|tick| (tick, across(tick))) {
            let _ = writeln!(
                text,
                "<line class=\"grid\" x1=\"{place:.1}\" x2=\"{place:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>\
                 <text x=\"{place:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 18.0,
                written(tick)
            );
        }
        for (tick, place) in ticks(y_low, y_high, 10.0).map(|tick| (tick, up(tick))) {
            let _ = writeln!(
                text,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{place:.1}\" y2=\"{place:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick} s</text>",
                LEFT - 6.0,
                place + 4.0
            );
        }
        for (number, (protocol, points)) in self.sets.iter().enumerate() {
            let look = |x: f64, y: f64| mark(number, x, y);
            let at = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|&(x, y)| (across(x), up(y)));
            if self.is_joined {
                let corners: Vec<String> = at.clone().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                let _ = writeln!(
                    text,
                    "<polyline class=\"line\" stroke=\"var(--c{})\" stroke-dasharray=\"{}\" points=\"{}\"/>",
                    number % COLOURS,
                    dashes(number),
                    corners.join(" ")
                );
            }
            at.for_each(|(x, y)| text.push_str(&look(x, y)));
            let line = TOP + LEGEND_LINE * (number as f64 + 0.5);
            text.push_str(&look(RIGHT + 24.0, line));
            let name = escaped(protocol);
            let _ = writeln!(text, "<text class=\"name\" x=\"{}\" y=\"{}\">{name}</text>", RIGHT + 36.0, line + 4.0);
        }
        text.push_str("</svg>\n");
        text
    }
}

/// The dashes of the line of the set of this number.
fn dashes(number: usize) -> &'static str {
    match number / COLOURS % ROUNDS {
        0 => "none",
        1 => "7 4",
        _ => "2 3",
    }
}

/// The mark of the set of this number: a colour, and another shape for each round of the colours.
fn mark(number: usize, x: f64, y: f64) -> String {
    let colour = number % COLOURS;
    let path = match number / COLOURS % ROUNDS {
        0 => return format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"var(--c{colour})\"/>\n"),
        1 => "m-5 -5h10v10h-10z",
        _ => "m0 -6l6 11h-12z",
    };
    format!("<path d=\"M{x:.1} {y:.1}{path}\" fill=\"var(--c{colour})\"/>\n")
}

/// Least and most, with some room.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
    if low.is_finite() { (low / 1.4, high * 1.4) } else { (0.5, 2.0) }
}

/// Powers of the base within a span, not more than twelve.
fn ticks(low: f64, high: f64, base: f64) -> impl Iterator<Item = f64> {
    let (first, last) = (low.log(base).ceil() as i32, high.log(base).floor() as i32);
    let step = usize::try_from((last - first) / 12 + 1).unwrap_or(1);
    (first..=last).step_by(step).map(move |power| base.powi(power))
}

fn bytes(count: f64) -> String {
    match count {
        1e9.. => format!("{} GB", count / 1e9),
        1e6.. => format!("{} MB", count / 1e6),
        _ => format!("{} kB", count / 1e3),
    }
}

/// A power of two as one.
fn items(count: f64) -> String {
    let log = count.log2();
    if log >= 6.0 && log.fract() == 0.0 { format!("2^{log}") } else { count.to_string() }
}

/// What occurs most often; of equals, the greatest.
fn most<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts.into_iter().max_by_key(|&(_, count)| count).map(|(value, _)| value)
}

/// A name that any file system takes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_powers_of_their_base() {
        assert_eq!(ticks(0.5, 150.0, 10.0).collect::<Vec<_>>(), [1.0, 10.0, 100.0]);
        assert_eq!(ticks(1.0, 2f64.powi(30), 2.0).count(), 11);
        assert_eq!(span([2.0, 8.0].into_iter()), (2.0 / 1.4, 8.0 * 1.4));
        assert_eq!((items(65536.0), items(1000.0), bytes(2e7)), ("2^16".into(), "1000".into(), "20 MB".into()));
    }

    #[test]
    fn names_and_texts_are_plain() {
        assert_eq!(plain("a/b c-x"), "a-b-c-x");
        assert_eq!(escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        assert_eq!(most([3, 1, 3, 1, 2].into_iter()), Some(3));
    }
}
