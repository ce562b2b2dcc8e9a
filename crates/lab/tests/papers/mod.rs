//! docs/paper-tables.md, and a page a paper beside it: the tables of papers (bench/papers) with ours beside them, from
//! recorded runs and from the protocols' own formulas.

mod cuckoo;
mod figure;
mod money;
mod ours;
mod own;
mod plot;
mod ratios;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use vesica::plan::Prices;
use vesica::task;
use vesica_lab::papers::{
    self, Across, Column, Comparison, Counts, Figure, KEYS, Kind, Paper, PaperCell, PaperRow, PhaseRow, Phases, Runs,
    link_name, seconds,
};
use vesica_lab::report_page::Recording;
use vesica_lab::{Network, report_page};
use vesica_party::Security;

use super::{BLESS, Run, fs, newest, parse, recorded, top};
use figure::Curve;

/// How the names of runs begin that were recorded for papers.
const RECORDED_FOR_PAPERS: [&str; 5] = ["papers-", "union-", "recurrent-", "unbalanced-", "psibench-"];

fn paper(key: &str) -> Paper {
    Paper::built_in(key).unwrap_or_else(|failure| panic!("{}", failure.fault))
}

/// The recordings of bench/runs, the newest first.
fn recordings() -> Vec<Recording> {
    let folders = fs::read_dir(top().join("bench/runs")).expect("recorded runs");
    let folders: BTreeSet<PathBuf> = folders.map(|entry| entry.expect("a folder").path()).collect();
    // Names begin with their dates.
    let files: Vec<PathBuf> = folders.into_iter().rev().filter(|path| path.join(recorded::FILE).is_file()).collect();
    report_page::read(&files).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The same without what was not recorded for papers.
fn recordings_for_papers() -> Vec<Recording> {
    let mut recordings = recordings();
    for recording in &mut recordings {
        recording.runs.retain(|(name, _)| RECORDED_FOR_PAPERS.iter().any(|prefix| name.starts_with(prefix)));
    }
    recordings.retain(|recording| !recording.runs.is_empty());
    recordings
}

/// The runs that a table is from.
fn runs_of(comparison: &Comparison<'_>, number: &str) -> Runs {
    let compared = comparison.tables.iter().find(|compared| compared.table.number == number).expect("a table");
    let task = task::find(comparison.paper.task_of(compared.table)).expect("a task");
    let recording = compared.recording.and_then(|at| comparison.recordings.get(at));
    recording.map_or_else(|| Runs::none(task), |recording| Runs::of_recording(task, recording))
}

/// The machine of a folder of runs.
fn machine_of(folder: &str) -> String {
    let about = fs::read_to_string(top().join("bench/runs").join(folder).join("README.md")).unwrap_or_default();
    about.lines().find_map(|line| line.strip_prefix("- processor: ")).unwrap_or("none yet").to_owned()
}

/// The table of phases: the paper's, and for ours the seconds of the side that takes longer in a
/// phase, with the bytes of both.
fn phase_lines(text: &mut String, table: &Phases, rows: &[PhaseRow], runs: &Runs) {
    let links: Vec<Network> = table.links.iter().map(|link| link.parse().expect("a link")).collect();
    let heads: Vec<String> = links.iter().map(|&link| format!("s, {}", link_name(link))).collect();
    let _ = writeln!(text, "\n## Table {}: {}\n\n{}\n", table.number, table.caption, table.note);
    let _ = writeln!(
        text,
        "| protocol | phase | {} | MB |\n|---|---|{}---|",
        heads.join(" | "),
        "---|".repeat(links.len())
    );
    for row in rows {
        assert_eq!(row.cells.len(), links.len() + 1, "table {}, {}", table.number, row.name);
        let cells: Vec<String> = row.cells.iter().map(PaperCell::to_string).collect();
        let _ = writeln!(text, "| paper | {} | {} |", row.name, cells.join(" | "));
    }
    for id in &table.ours {
        for (phase, cells) in ours::phases(runs, id, table.log as u32, &links) {
            let _ = writeln!(text, "| **`{id}`** | {phase} | {} |", cells.join(" | "));
        }
    }
}

/// A figure: a picture for each column of its table, with the paper's rows and the measured ones of ours; or one picture with the
/// rates of the columns across.
fn figure_lines(text: &mut String, paper: &Paper, figure: &Figure, runs: &Runs, pictures: &mut Pictures) {
    let table = paper.table.iter().find(|table| table.number == figure.table).expect("the table that it draws");
    let mut rows = paper.rows_of(table);
    rows.retain(|row| figure.protocols.is_empty() || figure.protocols.contains(&row.protocol));
    let columns = table.columns.iter().enumerate();
    let columns: Vec<_> =
        columns.filter(|(_, column)| figure.columns.is_empty() || figure.columns.contains(column)).collect();
    let _ = writeln!(text, "\n## Figure {}: {}\n\n{}\n", figure.number, figure.caption, figure.note);
    let file = |letter: &str| format!("{}-figure-{}{letter}.svg", paper.key.to_lowercase(), figure.number);
    if figure.across == Across::Rate {
        let curves = by_rate(figure, &rows, &columns, runs);
        if !curves.is_empty() {
            let _ = writeln!(text, "![seconds by Mbit/s](../figures/{})", file(""));
            pictures.insert(file(""), plot::plot("Mbit/s", "s", &curves));
        }
        return;
    }
    for (letter, &(at, column)) in ('a'..).zip(&columns) {
        let mut curves: Vec<Curve> = Vec::new();
        let mut add = |name: &str, is_theirs: bool, sizes: Option<(u32, u32)>, value: Option<f64>| {
            let log = sizes.map(|(sender, receiver)| if figure.across == Across::Items { sender } else { receiver });
            let Some(point) = log.zip(value) else { return };
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name: name.into(), is_theirs, points: vec![point] }),
            }
        };
        for row in &rows {
            add(&row.protocol, true, row.sizes(), row.cells[at].number());
            let also = table.also.iter().filter(|_| figure.protocols.is_empty());
            for id in row.ours.iter().chain(also) {
                let value = runs.cell(id, row.security, row.sizes(), column).measured();
                add(id, false, row.sizes(), value);
            }
        }
        if curves.is_empty() {
            continue;
        }
        let file = file(&letter.to_string());
        let _ = writeln!(text, "![{} by items a side](../figures/{file})", column.head());
        pictures.insert(file, figure::draw(&column.head(), &curves));
    }
}

/// Curves of seconds by the rates of columns.
fn by_rate(figure: &Figure, rows: &[&PaperRow], columns: &[(usize, &Column)], runs: &Runs) -> Vec<plot::Curve> {
    /// What the LAN of papers is.
    const LAN_MBIT: f64 = 10_000.0;
    let log = figure.log as u32;
    let mut curves = Vec::new();
    for row in rows.iter().filter(|row| row.sizes() == Some((log, log))) {
        let points = |value: &dyn Fn(usize, &Column) -> Option<f64>| -> Vec<(f64, f64)> {
            let point = |&(at, column): &(usize, &Column)| {
                let rate = column.link()?.shape().map_or(LAN_MBIT, |link| link.bits_per_second as f64 / 1e6);
                Some((rate, value(at, column).filter(|value| *value > 0.0)?))
            };
            columns.iter().filter_map(point).collect()
        };
        let theirs = points(&|at, _| row.cells[at].number());
        let ours = |id: &String| points(&|_, column| runs.cell(id, row.security, row.sizes(), column).number());
        let of_ours = row.ours.iter().map(|id| (id.clone(), plot::Kind::Ours, ours(id)));
        for (name, kind, points) in
            of_ours.chain([(format!("{} of the paper", row.protocol), plot::Kind::Theirs, theirs)])
        {
            if !points.is_empty() {
                curves.push(plot::Curve { name, kind, points });
            }
        }
    }
    curves
}

/// Pictures by the names of their files in docs/figures.
type Pictures = BTreeMap<String, String>;

/// The pages, by their paths from the top of the tree, and the pictures.
fn documents() -> (BTreeMap<String, String>, Pictures) {
    let mut pictures = Pictures::new();
    let mut pages = BTreeMap::new();
    let recordings = recordings_for_papers();
    let prices = Prices::built_in().expect("the project's prices");
    let papers = KEYS.map(paper);
    let mut counts: Vec<(String, Counts)> = Vec::new();
    let mut costs = String::new();
    for (key, paper) in KEYS.iter().zip(&papers) {
        let comparison = Comparison::new(paper, &recordings).unwrap_or_else(|refused| panic!("{refused}"));
        let mut text = papers::markdown(&comparison);
        let of = format!(
            "Made from [bench/papers/{key}.toml](../../bench/papers/{key}.toml), from the runs in \
             [bench/runs](../../bench/runs/README.md) and from the protocols' own formulas by `VESICA_BLESS=1 cargo test --release -p \
             vesica-lab --test readme`; do not edit."
        );
        text = text.replacen("\n\n", &format!("\n\n{of}\n\n"), 1);
        if let Some(table) = &paper.ratios {
            ratios::lines(&mut text, paper, table, &recordings);
        }
        let first = &paper.table[0].number;
        if let Some(phases) = &paper.phases {
            phase_lines(&mut text, phases, &paper.phase, &runs_of(&comparison, first));
        }
        for figure in &paper.figure {
            figure_lines(&mut text, paper, figure, &runs_of(&comparison, &figure.table), &mut pictures);
        }
        if let Some(hashing) = &paper.hashing {
            cuckoo::lines(&mut text, hashing, &paper.hashing_said);
        }
        if *key == "spot-light" {
            let runs = runs_of(&comparison, "2");
            costs = ours::costs(&runs, &prices);
            let compared = comparison.tables.iter().find(|compared| compared.table.number == "2").expect("a table");
            let told = compared.recording.map_or("There are no runs yet.".into(), |at| {
                let Recording { label, machine, .. } = &recordings[at];
                format!("Runs: bench/runs/{label}, on {}.", machine.as_deref().unwrap_or("a machine that is not named"))
            });
            text.push_str(&money::section(paper, &[money::Recording { told, runs: &runs }], &mut pictures));
        }
        counts.push((format!("[{}](paper-tables/{key}.md)", paper.key), comparison.counts()));
        pages.insert(format!("docs/paper-tables/{key}.md"), text);
    }
    let counts: Vec<(&str, Counts)> = counts.iter().map(|(name, counts)| (name.as_str(), counts.clone())).collect();
    let index = format!(
        "# Tables of papers, and ours\n\nEach page has the tables of a paper with ours beside them. They are made from \
         `bench/papers` (numbers of the papers), recorded runs in `bench/runs` and the protocols' own formulas, by\n\
         `VESICA_BLESS=1 cargo test --release -p vesica-lab --test readme`; do not edit. `vesica-lab bench compare --all RUNS` \
         prints the same tables for runs of yours, and `vesica-lab bench suite --paper KEY --out FILE` makes them.\n\n\
         How many cells there are, ours by what they rest on:\n\n{}\n*not here*: the recording says why its machine \
         cannot make the run, in the cell. *not measured* is a hole: a run that could be made, and was not yet.\n\nOf ours alone: [building blocks](paper-tables/blocks.md) and \
         [threads](paper-tables/threads.md).\n{costs}{}",
        papers::counted(&counts),
        link_check()
    );
    pages.insert("docs/paper-tables.md".into(), index);
    let all = self::recordings();
    pages.insert("docs/paper-tables/blocks.md".into(), own::blocks(&all));
    pages.insert("docs/paper-tables/threads.md".into(), own::threads(&all));
    (pages, pictures)
}

/// The link shaped inside of the transport beside the kernel's.
fn link_check() -> String {
    let mut text = String::from(
        "\n## The shaped link, checked\n\nThe same runs over a link of that rate without delay: shaped inside of the \
         transport, as all runs above, and by `tc` (tbf) on the loopback of a network namespace, where\nboth \
         directions share the rate.\n\n| protocol | items | rate | s, shaped | s, tc |\n|---|---|---|---|---|\n",
    );
    let Some((_, recorded)) = newest(|name| name.starts_with("check-")) else {
        return text + "| not measured | | | | |\n";
    };
    for line in &recorded {
        let Some(name) = line.name.strip_suffix("-tc") else { continue };
        let tc: Run = parse(line);
        let is_twin = |other: &&recorded::Line| other.name.strip_suffix("-shaped") == Some(name);
        let shaped: Run = parse(recorded.iter().find(is_twin).expect("the same run over the shaped link"));
        let rate = name.rsplit('-').next().expect("a rate");
        let [shaped, tc_seconds] = [&shaped, &tc].map(|run| seconds(run.spread().median));
        let _ = writeln!(text, "| `{}` | {} | {rate} | {shaped} | {tc_seconds} |", tc.protocol, tc.sender_items);
    }
    text
}

#[test]
fn the_tables_of_papers_state_what_was_recorded() {
    let (pages, pictures) = documents();
    let pictures = pictures.into_iter().map(|(file, picture)| (format!("docs/figures/{file}"), picture));
    for (path, is) in pages.into_iter().chain(pictures) {
        let file = top().join(&path);
        if std::env::var_os(BLESS).is_some() {
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder that can be made");
            fs::write(&file, is).expect("a page that can be written");
            continue;
        }
        let was = fs::read_to_string(&file).unwrap_or_default();
        let differs = was.lines().zip(is.lines()).find(|(was, is)| was != is);
        assert!(was == is, "{path} is not what bench/papers and bench/runs say; {BLESS}=1 writes it\n  {differs:?}");
    }
}

/// Each cell is counted once, and of those of sizes to 2^20 with one thread a party, no more are holes than this: the
/// number goes down with each recording.
#[test]
fn holes_become_fewer() {
    const HOLES: usize = 1907;
    let recordings = recordings_for_papers();
    let mut holes = Vec::new();
    for key in KEYS {
        let paper = paper(key);
        let comparison = Comparison::new(&paper, &recordings).unwrap_or_else(|refused| panic!("{refused}"));
        let mut cells = 0;
        for compared in &comparison.tables {
            for line in compared.lines.iter().filter(|line| line.ours.is_some() && !line.is_again) {
                cells += line.cells.len();
                for (cell, column) in line.cells.iter().zip(&compared.table.columns) {
                    let largest = column.log.or(line.sizes.map(|(sender, receiver)| sender.max(receiver)));
                    if cell.kind() == Kind::NotMeasured && column.threads == 1 && largest.is_some_and(|log| log <= 20) {
                        holes.push(format!(
                            "{key}, table {}: {:?}, {}",
                            compared.table.number,
                            line.ours,
                            column.head()
                        ));
                    }
                }
            }
        }
        assert_eq!(comparison.counts().ours.values().sum::<usize>(), cells, "{key}");
    }
    assert!(holes.len() <= HOLES, "{}: {holes:#?}", holes.len());
}

/// The numbers that the papers state in their text as well.
#[test]
fn the_papers_numbers_are_theirs() {
    let cell = |paper: &Paper, table: &str, sizes, protocol: &str, security, column: usize| {
        let is = |row: &&PaperRow| {
            row.table == table && row.sizes() == sizes && row.protocol == protocol && row.security == security
        };
        let rows: Vec<&PaperRow> = paper.row.iter().filter(is).collect();
        assert_eq!(rows.len(), 1, "{table} {sizes:?} {protocol}");
        rows[0].cells[column].number().expect("a number")
    };
    let spot = paper("spot-light");
    let at = |protocol, column| cell(&spot, "2", Some((20, 20)), protocol, Security::SemiHonest, column);
    assert_eq!((at("spot-fast", 0), at("spot-fast", 1), at("KKRT", 3), at("spot-low", 0)), (76.4, 25.6, 120.1, 63.1));
    let ltsxq26 = paper("ltsxq26");
    let at = |security, column| cell(&ltsxq26, "III", Some((24, 24)), "Ours, RR †", security, column);
    assert_eq!(
        (at(Security::SemiHonest, 0), at(Security::Malicious, 0), at(Security::SemiHonest, 1)),
        (490.8, 570.8, 14.4)
    );
    // "3.6x faster" in the LAN, and less traffic, than circuit PSI by VOLE.
    let at = |protocol, column| cell(&ltsxq26, "IV", Some((20, 20)), protocol, Security::SemiHonest, column);
    let less = |column| at("VOLE-based CPSI, RR", column) / at("Ours, RR †‡", column);
    assert_eq!([less(1), less(0)].map(|times| (times * 10.0).round()), [36.0, 11.0]);
    assert_eq!(cell(&ltsxq26, "VIII", Some((22, 14)), "Ours, RR †", Security::Malicious, 1), 0.36);
    // Its Table I, of the tables behind it: a row for each column and size that it is of.
    for (row, column, table, log, theirs, own, at) in [
        (0, 0, "III", 24, "VOLE-based PSI, RR", "Ours, RR †", 1),
        (0, 1, "III", 24, "VOLE-based PSI, RR", "Ours, RR †", 2),
        (1, 0, "IV", 20, "VOLE-based CPSI, RR", "Ours, RR †‡", 1),
        (1, 1, "IV", 20, "VOLE-based CPSI, BPSY", "Ours, BPSY †‡", 2),
        (1, 2, "IV", 20, "VOLE-based CPSI, BPSY", "Ours, BPSY †‡", 3),
        (1, 3, "IV", 20, "VOLE-based CPSI, BPSY", "Ours, BPSY †‡", 0),
        (2, 0, "V", 24, "CZZ+", "Ours, RR †‡", 1),
        (2, 1, "V", 24, "CZZ+", "Ours, BPSY †‡", 2),
        (3, 0, "VI", 24, "CZZ+", "Ours, RR †‡", 1),
        (3, 1, "VI", 24, "CZZ+", "Ours, BPSY †‡", 2),
    ] {
        let is = |protocol| cell(&ltsxq26, table, Some((log, log)), protocol, Security::SemiHonest, at);
        let said = ltsxq26.ratio[row].cells[column].number().expect("a number");
        assert!((is(theirs) / is(own) / said - 1.0).abs() < 0.04, "Table I, {row}, {column}");
    }
    // "731x faster", of two of our tables.
    let at = |table: &str, protocol: &str, column| {
        cell(&ltsxq26, table, Some((20, 20)), protocol, Security::SemiHonest, column)
    };
    for (column, own, said) in [(1, "RR", 731.0), (2, "BPSY", 120.7), (3, "BPSY", 17.9), (0, "BPSY", 3.22)] {
        let is = at("VII, IKN+", "IKN+", column) / at("VII", &format!("Ours, {own} †‡"), column);
        assert!((is / said - 1.0).abs() < 0.01, "{column}: {is}");
    }
    let cssw25 = paper("cssw25");
    let at = |table, protocol, column| cell(&cssw25, table, Some((20, 20)), protocol, Security::SemiHonest, column);
    // "1.6 - 9.8x less communication", its section 7.4.
    let less = |protocol| at("3", protocol, 0) / at("3", "CSSW25, permutation network", 0);
    assert_eq!([less("ZCL23, symmetric-key"), less("KRTW19")].map(|times| (times * 10.0).round()), [16.0, 98.0]);
    assert_eq!((at("1", "BPSY23", 2), at("4", "CSSW25, permutation network", 1)), (345.59, 53.185));
    let phases = |of_set_up: bool| {
        let is_part = |row: &&PhaseRow| row.name.contains(", ") && row.name.starts_with("set-up") == of_set_up;
        cssw25.phase.iter().filter(is_part).map(|row| row.cells[0].number().expect("a number")).sum::<f64>()
    };
    // Its own sums are off by less than 10 ms.
    assert!((phases(true) - 10.8055).abs() < 0.01 && (phases(false) - 42.3796).abs() < 0.01);
    let cm25 = paper("cm25");
    let at = |table, log, protocol, column| cell(&cm25, table, Some((log, 2)), protocol, Security::SemiHonest, column);
    // "reduces the communication cost ... by as much as one order of magnitude compared to CLR", and Tables II and III
    // are sums of what Table IV has, up to rounding: of its computation, and of its bytes.
    const COMPUTATION: usize = 0;
    const BYTES: usize = 1;
    const OF_A_QUERY: usize = 4;
    let [of_clr, of_theirs] = ["CLR", "Fast Intersection"].map(|protocol| at("IV", 20, protocol, BYTES + OF_A_QUERY));
    assert!(of_clr / of_theirs > 8.0);
    let sum = |what, queries: f64, protocol| {
        at("IV", 20, protocol, what) / queries + at("IV", 20, protocol, what + OF_A_QUERY)
    };
    assert!((at("II", 20, "CLR", 1) - sum(COMPUTATION, 4.0, "CLR")).abs() < 0.01);
    for protocol in ["Fast Setup", "Fast Intersection"] {
        for (column, queries) in [1.0, 4.0, 16.0, 64.0].into_iter().enumerate() {
            let both = at("III", 20, protocol, 2 * column) + at("III", 20, protocol, 2 * column + 1);
            assert!((both - sum(BYTES, queries, protocol)).abs() < 0.02, "{protocol}, {queries} queries");
        }
    }
    let psibench = paper("psibench");
    let at =
        |table, log, protocol, security, column| cell(&psibench, table, Some((log, log)), protocol, security, column);
    const TOTAL: usize = 4;
    // Rows whose text is easily misread.
    assert_eq!(at("3", 16, "KKRT16", Security::SemiHonest, 6), 0.41);
    assert_eq!(at("3", 16, "GMR21", Security::SemiHonest, 8), 1.73);
    assert_eq!(at("4", 20, "RT21", Security::Malicious, TOTAL), 78.67);
    // The fifth cell is the sum of those before it, up to rounding and GMR21, whose set-up is not in it.
    for row in &psibench.row {
        let numbers: Vec<f64> = row.cells.iter().take(5).filter_map(PaperCell::number).collect();
        if let [parts @ .., total] = numbers.as_slice()
            && parts.len() == TOTAL
        {
            let off = (parts.iter().sum::<f64>() - total).abs();
            assert!(off < 0.05 + total / 1e3, "table {}, {}: {numbers:?}", row.table, row.protocol);
        }
    }
    // With a small set at the receiver, RA17 only looks up what it has computed before; RS21 over the
    // OKVS of RR22 is RR22.
    let unbalanced = |sizes, column| cell(&psibench, "5", Some(sizes), "RA17", Security::SemiHonest, column);
    assert_eq!((unbalanced((20, 10), TOTAL), unbalanced((10, 20), TOTAL)), (6.36, 67.11));
    let of_rr22 = |column| at("4", 20, "RR22", Security::Malicious, column);
    let over_its_okvs = |column| at("7", 20, "RS21, BLAZE-GCT", Security::Malicious, column);
    assert!((0..21).all(|column| of_rr22(column) == over_its_okvs(column)));
    assert!(at("6", 20, "RR22", Security::Malicious, TOTAL) < of_rr22(TOTAL));
}
