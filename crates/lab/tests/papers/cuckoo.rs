//! Experiments on cuckoo tables that a paper repeats for months, beside ours of reduced scale.

use std::fmt::Write;

use serde::Deserialize;
use vesica_lab::papers::{Hashing, HashingSaid};

use super::super::{folders, parse};
use super::machine_of;

/// Loads by `log2` of the limit.
#[derive(Deserialize)]
struct Depths {
    bin_bits: u32,
    functions: u32,
    runs: u64,
    mean_load: Vec<f64>,
    moves_per_item: Vec<f64>,
}

/// Items of which `2^-i` of all tables have failed.
#[derive(Deserialize)]
struct Failures {
    bin_bits: u32,
    functions: u32,
    runs: u64,
    items: Vec<f64>,
}

/// `log2` of the limits that are shown.
const SHOWN: [usize; 12] = [0, 2, 4, 6, 7, 8, 9, 10, 11, 12, 14, 16];

/// Rates of failures with fewer tables than that are not part of a line.
const FEWEST_FAILED: u64 = 8;

/// `-log2` of rates from which on they are part of it.
const FIRST_RATE: usize = 3;

/// The load where a line through `log2` of the rates, by bins an item, meets `2^-40`, as the paper
/// extrapolates.
fn load_at_2_40(failures: &Failures) -> f64 {
    let bins = 2f64.powi(failures.bin_bits as i32);
    let last = (failures.runs / FEWEST_FAILED).ilog2() as usize;
    let points: Vec<(f64, f64)> =
        (FIRST_RATE..=last).map(|rate| (bins / failures.items[rate], -(rate as f64))).collect();
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    1.0 / (x + (-40.0 - y) / slope)
}

/// The newest lines whose names begin so, in the order of their names, and where they are from.
fn recorded<T: serde::de::DeserializeOwned>(prefix: &str) -> Option<(String, Vec<T>)> {
    let (folder, mut lines) = folders(|name| name.starts_with(prefix)).next()?;
    lines.sort_by(|a, b| a.name.cmp(&b.name));
    Some((folder, lines.iter().map(parse).collect()))
}

pub fn lines(text: &mut String, paper: &Hashing, said: &[HashingSaid]) {
    let Some((folder, depths)) = recorded::<Depths>("cuckoo-depths-") else { return };
    let origin = format!("Ours: bench/runs/{folder}, on {}.", machine_of(&folder));
    let _ = writeln!(text, "\n## Figure {}: {}\n\n{} {origin}\n", paper.figure, paper.caption, paper.note);
    let heads: Vec<String> = SHOWN.iter().map(|log| format!("2^{log}")).collect();
    let of = |functions: u32| {
        said.iter().find(|said| said.functions == f64::from(functions)).expect("what the paper says of them")
    };
    let table = |text: &mut String, what: Option<&str>, cell: &dyn Fn(&Depths, usize) -> String| {
        let what_head = what.map_or(String::new(), |what| format!(" {what} |"));
        let _ = writeln!(text, "| bins | functions |{what_head} {} | runs |", heads.join(" | "));
        let _ = writeln!(text, "|---|---|{}---|", "---|".repeat(SHOWN.len() + usize::from(what.is_some())));
        for run in &depths {
            let cells: Vec<String> = SHOWN.iter().map(|&log| cell(run, log)).collect();
            let Depths { bin_bits, functions, runs, .. } = run;
            let said = what.map_or(String::new(), |_| format!(" {} |", of(*functions).figure));
            let _ = writeln!(text, "| 2^{bin_bits} | {functions} |{said} {} | {runs} |", cells.join(" | "));
        }
    };
    table(text, Some("paper"), &|run, log| format!("{:.3}", run.mean_load[log]));
    let _ = writeln!(text, "\nMoves of items that are in the table already, for each item inserted until then:\n");
    table(text, None, &|run, log| format!("{:.2}", run.moves_per_item[log]));

    let Some((folder, failures)) = recorded::<Failures>("cuckoo-failures-") else { return };
    let origin = format!("Ours: bench/runs/{folder}.");
    let _ = writeln!(text, "\n## Table {}: {}\n\n{} {origin}\n", paper.table, paper.table_caption, paper.table_note);
    let _ = writeln!(
        text,
        "| functions | paper: items, load | a half have failed | 2^-4 | 2^-8 | the line's load at 2^-40 | runs |\n\
         |---|---|---|---|---|---|---|"
    );
    for run in &failures {
        let bins = 2f64.powi(run.bin_bits as i32);
        let said = of(run.functions);
        let at = |rate: usize| format!("{}, {:.4}", run.items[rate], run.items[rate] / bins);
        let _ = writeln!(
            text,
            "| {} | {}, {:.4} | {} | {} | {} | about {:.2} | {} |",
            run.functions,
            said.items,
            said.items / bins,
            at(1),
            at(4),
            at(8),
            load_at_2_40(run),
            run.runs
        );
    }
}

#[test]
fn a_line_through_its_own_points_is_found() {
    // Rates that fall by one for each 0.01 of bins an item.
    let bins = 65_536.0;
    let items: Vec<f64> = (0..=10).map(|rate| bins / (1.1 + 0.01 * f64::from(rate))).collect();
    let load = load_at_2_40(&Failures { bin_bits: 16, functions: 3, runs: 1024, items });
    assert!((load - 1.0 / 1.5).abs() < 1e-9, "{load}");
}
