//! What SpOT-Light (PRTY19) shows of money in its Figures 1 and 10 to 12, counted for our runs with its prices, which are
//! of 2019: bench/papers/prices.

use std::fmt::Write;

use vesica::plan::Prices;
use vesica_lab::Network;
use vesica_lab::papers::{Paper, Runs, amount, seconds};
use vesica_party::Security;

use super::plot::{Curve, Kind, plot};
use super::{Pictures, fs, ours, top};

/// The rows that the figures have, and the fastest of ours.
pub const SHOWN: [&str; 5] = ["kkrt16", "ecdh-hfh99", "spot-low", "spot-fast", "vole-fast"];

/// The cores of a machine, which is rented whole.
const CORES: usize = 2;

/// A pair of places: what it is called, its file of prices, and the rate between the two in the paper's Figure 9 where ours
/// were not run at a lower one.
struct Places {
    name: &'static str,
    prices: &'static str,
    kind: &'static str,
    link: &'static str,
}

const fn places(name: &'static str, prices: &'static str, kind: &'static str, link: &'static str) -> Places {
    Places { name, prices, kind, link }
}

/// Figure 10, both organisations in the cloud, and Figure 11, one of them.
const FIGURES: [(&str, &str, &[Places]); 2] = [
    (
        "10",
        "business to business: both sides in the cloud",
        &[
            places("Virginia alone, LAN", "usa", "same-site", "loopback"),
            places("USA, 100 Mbit/s", "usa", "other-site", "100mbit,80ms"),
            places("Mumbai, 63 Mbit/s", "mumbai", "other-site", "63mbit,80ms"),
            places("Sydney, 68 Mbit/s", "sydney", "other-site", "68mbit,80ms"),
            places("Sao Paulo, 84 Mbit/s", "sao-paulo", "other-site", "84mbit,80ms"),
        ],
    ),
    (
        "11",
        "over the internet: the receiver alone in the cloud",
        &[
            places("USA, 100 Mbit/s", "usa", "internet", "100mbit,80ms"),
            places("Mumbai, 63 Mbit/s", "mumbai", "internet", "63mbit,80ms"),
            places("Sydney, 68 Mbit/s", "sydney", "internet", "68mbit,80ms"),
            places("Sao Paulo, 84 Mbit/s", "sao-paulo", "internet", "84mbit,80ms"),
        ],
    ),
];

/// Recorded runs, and where they are from.
pub struct Recording<'a> {
    pub told: String,
    pub runs: &'a Runs,
}

/// The columns of the paper's Table 2 over links of one round trip, by their rates.
const RATES: [(u32, usize); 3] = [(1, 4), (10, 3), (100, 2)];

/// The paper's rows whose running times stand in the pictures.
const THEIRS: [&str; 4] = ["KKRT", "DH-PSI (25519)", "spot-low", "spot-fast"];

/// The section of docs/paper-tables.md; of each size the first recording counts that has `kkrt16`, else the first.
pub fn section(paper: &Paper, recordings: &[Recording<'_>], pictures: &mut Pictures) -> String {
    let mut text = String::from(
        "\n## What SpOT-Light shows of money\n\nIts Figures 1 and 10 to 12, whose numbers the paper does not print, \
         counted from our runs as its section 6.2 counts: the time of both machines, of two cores each and rented \
         whole, what each side sends at its site's rate, and 0.01 a GB for public addresses. The prices are *the \
         paper's, of 2019* ([bench/papers/prices](../../bench/papers/prices)): no list of today's prices of these sites was \
         at hand. The sender is in Virginia, the receiver where the column says. Rates are those of the paper's Figure 9, \
         at most 100 Mbit/s, with 80 ms there and back. A `~` cell is computed from the time at a faster rate. US dollars for 1000 \
         runs, semi-honest.\n",
    );
    for log in [16, 20] {
        let recording = recording_of(recordings, log);
        let _ = writeln!(text, "\n### 2^{log} items a side\n\n{}", recording.told);
        for (figure, what, places) in &FIGURES {
            let _ = writeln!(text, "\nFigure {figure}, {what}:\n");
            cost_lines(&mut text, recording.runs, places, log);
        }
    }
    break_even_lines(&mut text, paper, recordings);
    let _ = writeln!(text, "\n![seconds by Mbit/s](../figures/prty19-figure-12.svg)\n");
    pictures.insert("prty19-figure-12.svg".into(), times_by_rate(paper, recordings));
    let _ = writeln!(
        text,
        "### Figure 1: communication and time at 2^20 items\n\nGrey: lines of equal cost for 1000 runs between two sites of \
         the USA. Hollow: the paper's Table 2, on its machine.\n"
    );
    for (letter, link, column) in [('a', "loopback", 1), ('b', "100mbit,80ms", 2), ('c', "10mbit,80ms", 3)] {
        let file = format!("prty19-figure-1{letter}.svg");
        let _ = writeln!(text, "![time by communication, {link}](../figures/{file})");
        pictures.insert(file, times_by_bytes(paper, recordings, link, column));
    }
    text
}

fn recording_of<'a>(recordings: &'a [Recording<'a>], log: u32) -> &'a Recording<'a> {
    let compares = |one: &&Recording<'_>| one.runs.of("kkrt16", Security::SemiHonest, (log, log)).next().is_some();
    recordings.iter().find(compares).unwrap_or(&recordings[0])
}

fn network(link: &str) -> Network {
    link.parse().expect("a link")
}

/// The paper's prices for one pair of places.
fn prices(name: &str) -> Prices {
    let path = top().join(format!("bench/papers/prices/prty19-{name}.toml"));
    let text = fs::read_to_string(&path).expect("a file of prices");
    Prices::parse(&text, name).unwrap_or_else(|failure| panic!("{}", failure.fault))
}

/// A table of costs: a row a protocol, a column a pair of places.
fn cost_lines(text: &mut String, runs: &Runs, places: &[Places], log: u32) {
    let heads: Vec<&str> = places.iter().map(|places| places.name).collect();
    let _ = writeln!(text, "| protocol | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
    let costs = |id: &str| -> Vec<Option<(f64, bool)>> {
        let one = |at: &Places| {
            let place = (at.kind, network(at.link));
            ours::thousand_runs(runs, &prices(at.prices), place, id, Security::SemiHonest, log, CORES)
        };
        places.iter().map(one).collect()
    };
    for id in SHOWN {
        let cells = costs(id).into_iter().map(ours::shown);
        let _ = writeln!(text, "| `{id}` | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    let [kkrt, spot] = ["kkrt16", "spot-fast"].map(costs);
    let less = kkrt.iter().zip(&spot).map(|(kkrt, spot)| match (kkrt, spot) {
        (Some((kkrt, _)), Some((spot, _))) => format!("{:.0}%", 100.0 * (1.0 - spot / kkrt)),
        _ => "not measured".into(),
    });
    let _ = writeln!(text, "| `spot-fast` costs less than `kkrt16` by | {} |", less.collect::<Vec<_>>().join(" | "));
}

/// Seconds and bytes of a run.
type Run = (f64, f64);

/// The bits a second at which the second takes as long as the first, which sends more: both from runs at `rate`, of which
/// a slower link takes the bytes' time longer. `None` if the second is faster at `rate` already.
fn break_even(rate: f64, (first_seconds, first_bytes): Run, (seconds, bytes): Run) -> Option<f64> {
    let lag = seconds - first_seconds;
    (lag > 0.0 && first_bytes > bytes).then(|| 1.0 / (1.0 / rate + lag / (8.0 * (first_bytes - bytes))))
}

/// The paper's run at a link of Table 2's column.
fn theirs(paper: &Paper, protocol: &str, log: u32, column: usize) -> Option<Run> {
    let is = |table: &str, name: &str| table == "2" && name == protocol;
    let row = paper.row.iter().find(|row| is(&row.table, &row.protocol) && row.sizes() == Some((log, log)))?;
    Some((row.cells.get(column)?.number()?, row.cells[0].number()? * f64::from(1 << 20)))
}

/// Our run over a link.
fn own(runs: &Runs, id: &str, log: u32, link: &str) -> Option<Run> {
    let sizes = (log, log);
    let time = runs.time(id, Security::SemiHonest, sizes, network(link))?;
    let run = runs.of(id, Security::SemiHonest, sizes).next()?;
    Some((time.seconds, (run.sender_bytes + run.receiver_bytes) as f64))
}

/// Figure 12: from which rate on `spot-fast` is faster than KKRT16.
fn break_even_lines(text: &mut String, paper: &Paper, recordings: &[Recording<'_>]) {
    let _ = writeln!(
        text,
        "\n### Figure 12: break-even with KKRT\n\nThe rate below which `spot-fast` takes less time than `kkrt16`, computed \
         from both runs at 100 Mbit/s with 80 ms and from what they send. The paper says 10 to 30 Mbit/s.\n\n| items | whose | KKRT, s \
         | `spot-fast`, s | break-even |\n|---|---|---|---|---|"
    );
    for log in [12, 16, 20, 24] {
        let runs = recording_of(recordings, log).runs;
        let of_ours = ["kkrt16", "spot-fast"].map(|id| own(runs, id, log, "100mbit,80ms"));
        let of_theirs = ["KKRT", "spot-fast"].map(|protocol| theirs(paper, protocol, log, 2));
        for (whose, pair) in [("the paper", of_theirs), ("**ours**", of_ours)] {
            let [kkrt, spot] = pair;
            let time = |run: Option<Run>| run.map_or("not measured".into(), |(time, _)| seconds(time));
            let rate = match (kkrt, spot) {
                (Some(kkrt), Some(spot)) => break_even(1e8, kkrt, spot)
                    .map_or("above 100 Mbit/s".into(), |rate| format!("{} Mbit/s", amount(rate / 1e6))),
                _ => "not measured".into(),
            };
            let _ = writeln!(text, "| 2^{log} | {whose} | {} | {} | {rate} |", time(kkrt), time(spot));
        }
    }
}

/// Figure 12: running times by the rate of the link.
fn times_by_rate(paper: &Paper, recordings: &[Recording<'_>]) -> String {
    let mut curves = Vec::new();
    for log in [16, 20] {
        let runs = recording_of(recordings, log).runs;
        let mut add = |name: String, kind, time: &dyn Fn(u32, usize) -> Option<Run>| {
            let points: Vec<(f64, f64)> =
                RATES.iter().filter_map(|&(rate, column)| Some((f64::from(rate), time(rate, column)?.0))).collect();
            if !points.is_empty() {
                curves.push(Curve { name: format!("{name}, 2^{log}"), kind, points });
            }
        };
        for id in SHOWN {
            add(id.into(), Kind::Ours, &|rate, _| own(runs, id, log, &format!("{rate}mbit,80ms")));
        }
        for protocol in THEIRS {
            let name = format!("{protocol} of the paper");
            add(name, Kind::Theirs, &|_, column| theirs(paper, protocol, log, column));
        }
    }
    plot("Mbit/s", "s", &curves)
}

/// Figure 1: running time by communication over one link, and lines of equal cost.
fn times_by_bytes(paper: &Paper, recordings: &[Recording<'_>], link: &str, column: usize) -> String {
    const LOG: u32 = 20;
    let runs = recording_of(recordings, LOG).runs;
    let point = |name: String, kind, (seconds, bytes): Run| Curve { name, kind, points: vec![(bytes / 1e6, seconds)] };
    let of_ours = SHOWN.iter().filter_map(|id| Some(point((*id).into(), Kind::Ours, own(runs, id, LOG, link)?)));
    let of_theirs = THEIRS.iter().filter_map(|protocol| {
        Some(point(format!("{protocol} of the paper"), Kind::Theirs, theirs(paper, protocol, LOG, column)?))
    });
    let mut curves: Vec<Curve> = of_ours.chain(of_theirs).collect();
    let prices = prices("usa");
    let traffic = prices.of("other-site").expect("a kind");
    let a_second = 1000.0 * 2.0 * CORES as f64 * prices.core.usd_per_hour / 3600.0;
    let a_megabyte = 1000.0 * traffic.sender_usd_per_gb / 1000.0;
    for usd in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0] {
        curves.push(Curve {
            name: format!("{usd} USD"),
            kind: Kind::Cost,
            points: equal_cost(usd, a_second, a_megabyte),
        });
    }
    plot("MB", "s", &curves)
}

/// Where a thousand runs cost this much: megabytes, and the seconds that are left for each.
fn equal_cost(usd: f64, a_second: f64, a_megabyte: f64) -> Vec<(f64, f64)> {
    let megabytes = (0..200).map(|step| 10.0 * 1.03f64.powi(step));
    megabytes.map(|mb| (mb, (usd - a_megabyte * mb) / a_second)).filter(|&(_, seconds)| seconds > 0.0).collect()
}

#[test]
fn the_papers_times_break_even_where_its_text_says() {
    let paper = super::paper("spot-light");
    for log in [16, 20] {
        let [kkrt, spot] = ["KKRT", "spot-fast"].map(|protocol| theirs(&paper, protocol, log, 2).expect("a number"));
        let rate = break_even(1e8, kkrt, spot).expect("a rate") / 1e6;
        assert!((10.0..=30.0).contains(&rate), "2^{log}: {rate} Mbit/s");
    }
    // Twice the bytes, half the time at 100 Mbit/s: ten seconds more for 100 MB less.
    let even = break_even(1e8, (10.0, 2e8), (20.0, 1e8)).expect("a rate");
    assert!((8.0 * 1e8 * (1.0 / even - 1.0 / 1e8) - 10.0).abs() < 1e-9);
    assert_eq!(break_even(1e8, (20.0, 2e8), (10.0, 1e8)), None);
}

/// Section 6.2 of the paper, with the address in the rates.
#[test]
fn the_files_have_the_papers_prices() {
    for (name, machine, other, internet) in [
        ("usa", 0.096, 0.02, 0.09),
        ("mumbai", 0.101, 0.086, 0.1093),
        ("sydney", 0.12, 0.14, 0.114),
        ("sao-paulo", 0.153, 0.16, 0.25),
    ] {
        let prices = prices(name);
        let receiver = prices.receiver_core.as_ref().unwrap_or(&prices.core);
        let [out, to_internet] = ["other-site", "internet"].map(|kind| prices.of(kind).expect("a kind").clone());
        for (stated, wanted) in [
            (2.0 * prices.core.usd_per_hour, 0.096),
            (2.0 * receiver.usd_per_hour, machine),
            (out.sender_usd_per_gb, 0.02 + 0.01),
            (out.receiver_usd_per_gb, other + 0.01),
            (to_internet.sender_usd_per_gb, 0.01),
            (to_internet.receiver_usd_per_gb, internet + 0.01),
        ] {
            assert!((stated - wanted).abs() < 1e-9, "{name}: {stated} is not {wanted}");
        }
        assert!(prices.title.contains("2019"), "{name}");
    }
    let same_site = prices("usa");
    assert_eq!(same_site.of("same-site").expect("a kind").sender_usd_per_gb, 0.02);
}

#[test]
fn on_a_line_of_equal_cost_all_costs_are_equal() {
    let line = equal_cost(8.0, 0.05, 0.03);
    assert!(line.len() > 100 && line.iter().all(|(mb, seconds)| (0.05 * seconds + 0.03 * mb - 8.0).abs() < 1e-9));
}
