//! docs/paper-tables.md: tables of papers (bench/papers) with ours beside them, from the newest
//! recorded runs of `bench/papers-record` and from the protocols' own formulas.

mod cuckoo;
mod figure;
mod money;
mod ours;
mod plot;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use vesica::plan::Prices;
use vesica::task;
use vesica_lab::papers::{
    self, Cell, Column, Figure, KEYS, Line, Paper, PaperCell, PaperRow, PhaseRow, Phases, Runs, Table, link_name,
    seconds,
};
use vesica_lab::{Network, Report};
use vesica_party::Security;

use super::{BLESS, Run, folders, fs, newest, parse, recorded, top};
use figure::Curve;

fn paper(key: &str) -> Paper {
    Paper::built_in(key).unwrap_or_else(|failure| panic!("{}", failure.fault))
}

fn lines(text: &mut String, table: &Table, rows: &[&PaperRow], runs: &Runs) {
    let by_size = rows[0].sizes().is_some();
    let heads: Vec<String> = table.columns.iter().map(Column::head).collect();
    let _ = writeln!(
        text,
        "|{} mode | protocol | {} |",
        if by_size { " sender x receiver |" } else { "" },
        heads.join(" | ")
    );
    let _ = writeln!(text, "|{}", "---|".repeat(heads.len() + 2 + usize::from(by_size)));
    for group in papers::lines(table, rows, std::slice::from_ref(runs)).chunk_by(|a, b| a.sizes == b.sizes) {
        let sizes = group[0].sizes;
        let size = sizes.map_or(String::new(), |(sender, receiver)| format!(" 2^{sender} x 2^{receiver} |"));
        let mut shown = BTreeSet::new();
        for Line { security, row, ours, cells, .. } in group {
            let mut put = |protocol: &str, cells: Vec<String>| {
                let _ = writeln!(text, "|{size} {security} | {protocol} | {} |", cells.join(" | "));
            };
            if let Some(row) = row {
                put(&row.protocol, row.cells.iter().map(PaperCell::to_string).collect());
            }
            let Some(id) = ours else { continue };
            // Ours stand once behind several rows of theirs.
            let is_new = row.is_none() || shown.insert((id, security.to_string()));
            if is_new && runs.serves(id, *security, sizes.unwrap_or((16, 16))) {
                put(&format!("**`{id}`**"), cells.iter().map(Cell::to_string).collect());
            }
        }
    }
}

/// A folder of runs, and whose newest ones it has.
struct Origin {
    folder: String,
    protocols: BTreeSet<String>,
}

impl Origin {
    /// The same for those of its protocols that `shown` says; nothing if there are none.
    fn of(&self, shown: impl Fn(&String) -> bool) -> Option<Self> {
        let protocols: BTreeSet<String> = self.protocols.iter().filter(|id| shown(id)).cloned().collect();
        (!protocols.is_empty()).then(|| Self { folder: self.folder.clone(), protocols })
    }
}

/// The newest run of each name that begins in one of these ways, and the folders that they are in.
fn recorded_runs(prefixes: &[&str], task: &str) -> (Vec<Origin>, Runs) {
    let (mut origins, mut names, mut list) = (Vec::new(), BTreeSet::new(), Vec::new());
    for (folder, lines) in folders(|name| prefixes.iter().any(|prefix| name.starts_with(prefix))) {
        let newest: Vec<Report> =
            lines.into_iter().filter(|line| names.insert(line.name.clone())).map(|line| parse(&line)).collect();
        if !newest.is_empty() {
            origins.push(Origin { folder, protocols: newest.iter().map(|run| run.protocol.clone()).collect() });
        }
        list.extend(newest);
    }
    (origins, Runs::new(task::find(task).expect("a task"), 1, list))
}

/// Where our rows were measured.
fn told(origins: &[Origin]) -> String {
    match origins {
        [] => "There are no runs of ours beside it yet.".into(),
        [only] => format!("Ours here are of bench/runs/{}, on {}.", only.folder, machine_of(&only.folder)),
        several => {
            let each = several.iter().map(|origin| {
                let ids: Vec<String> = origin.protocols.iter().map(|id| format!("`{id}`")).collect();
                format!("\n- {}: bench/runs/{}, on {}.", ids.join(", "), origin.folder, machine_of(&origin.folder))
            });
            format!(
                "Ours here are of several recordings; compare times only within one of them:\n{}",
                each.collect::<String>()
            )
        }
    }
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
    let _ = writeln!(text, "\n### Table {}: {}\n\n{}\n", table.number, table.caption, table.note);
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

/// A figure: a picture for each column of its table, with the paper's rows and the measured ones of ours.
fn figure_lines(text: &mut String, paper: &Paper, figure: &Figure, runs: &Runs, pictures: &mut Pictures) {
    let table = paper.table.iter().find(|table| table.number == figure.table).expect("the table that it draws");
    let rows = paper.rows_of(table);
    let _ = writeln!(text, "\n### Figure {}: {}\n\n{}\n", figure.number, figure.caption, figure.note);
    for (at, column) in table.columns.iter().enumerate() {
        let mut curves: Vec<Curve> = Vec::new();
        let mut add = |name: &str, is_theirs: bool, sizes: Option<(u32, u32)>, value: Option<f64>| {
            let Some(point) = sizes.map(|(log, _)| log).zip(value) else { return };
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name: name.into(), is_theirs, points: vec![point] }),
            }
        };
        for row in &rows {
            add(&row.protocol, true, row.sizes(), row.cells[at].number());
            for id in row.ours.iter().chain(&table.also) {
                let value = runs.cell(id, row.security, row.sizes(), column).measured();
                add(id, false, row.sizes(), value);
            }
        }
        let file = format!("{}-figure-{}{}.svg", paper.key.to_lowercase(), figure.number, char::from(b'a' + at as u8));
        let _ = writeln!(text, "![{} by items a side](figures/{file})", column.head());
        pictures.insert(file, figure::draw(&column.head(), &curves));
    }
}

/// Pictures by the names of their files in docs/figures.
type Pictures = BTreeMap<String, String>;

fn document() -> (String, Pictures) {
    let mut pictures = Pictures::new();
    let (origins, runs) = recorded_runs(&["papers-"], "intersect");
    let folder = origins.first().map_or_else(String::new, |origin| origin.folder.clone());
    let processor = machine_of(&folder);
    let prices = Prices::built_in().expect("the project's prices");
    let mut text = format!(
        "# Tables of papers, and ours\n\nMade from `bench/papers` (numbers of the papers), the newest folder of runs \
         of `bench/papers-record` (bench/runs/{folder}) and the protocols' own formulas, by\n`VESICA_BLESS=1 cargo \
         test --release -p vesica-lab --test readme`; do not edit.\n\nA paper's rows are as it has them, on its \
         machine; ours are **bold**: two processes, one thread each, set-up included, on {processor}.\nWhat is slower \
         or faster by the machine alone, these tables cannot tell; the communication is comparable.\n\n- A number: \
         measured, the median. MiB are 2^20 and MB 10^6 bytes of payload and framing.\n- `~`: computed. The run at the next \
         faster rate with the same round trip, and the time that its bytes take longer at this one.\n- `*`: by the \
         protocol's formula, without framing (below 0.1% of it from 2^16 items).\n- *not measured*: there is no run \
         to say it from. *not in this release*: there is no such protocol.\n- *cannot be read*: our copy of the \
         paper is not legible there.\n- Links are shaped inside of the \
         transport; loopback is as it is. `ltsxq26` and its kind are broken ([ltsxq26.md](ltsxq26.md)) and are here \
         for comparison only.\n"
    );
    for key in KEYS {
        let paper = paper(key);
        let _ = writeln!(
            text,
            "\n## {}\n\n{}. Numbers: [bench/papers/{key}.toml](../bench/papers/{key}.toml).",
            paper.key, paper.title
        );
        let (of_paper, runs) = recorded_runs(&[&paper.runs], &paper.task);
        if of_paper.iter().map(|origin| &origin.folder).ne([&folder]) {
            let _ = writeln!(text, "\n{}", told(&of_paper));
        }
        for table in &paper.table {
            let rows = paper.rows_of(table);
            let _ = writeln!(text, "\n### Table {}: {}\n", table.number, table.caption);
            let said: Vec<String> = [("Its machine", &table.machine), ("its network", &table.network)]
                .iter()
                .filter(|(_, said)| *said != "-")
                .map(|(what, said)| format!("{what}: {said}."))
                .collect();
            let note = if table.note == "-" { "" } else { &table.note };
            let _ = writeln!(text, "{}\n", [&said.join(" "), note].join(" ").trim());
            if table.task.is_none() && table.runs.is_none() {
                lines(&mut text, table, &rows, &runs);
                continue;
            }
            let prefixes: Vec<&str> = [&paper.runs].into_iter().chain(&table.runs).map(String::as_str).collect();
            let (origins, runs) = recorded_runs(&prefixes, paper.task_of(table));
            let shown = |id: &String| table.also.contains(id) || rows.iter().any(|row| row.ours.as_ref() == Some(id));
            let _ =
                writeln!(text, "{}\n", told(&origins.iter().filter_map(|origin| origin.of(shown)).collect::<Vec<_>>()));
            lines(&mut text, table, &rows, &runs);
        }
        if let Some(phases) = &paper.phases {
            phase_lines(&mut text, phases, &paper.phase, &runs);
        }
        if let Some(figure) = &paper.figure {
            figure_lines(&mut text, &paper, figure, &runs, &mut pictures);
        }
        if let Some(hashing) = &paper.hashing {
            cuckoo::lines(&mut text, hashing, &paper.hashing_said);
        }
    }
    text.push_str(&ours::costs(&runs, &prices));
    let (of_psibench, psibench) = recorded_runs(&["psibench-"], "intersect");
    let told_of = |origins: &[Origin]| {
        let shown = |id: &String| money::SHOWN.contains(&id.as_str());
        told(&origins.iter().filter_map(|origin| origin.of(shown)).collect::<Vec<_>>())
    };
    let recordings = [(told_of(&origins), &runs), (told_of(&of_psibench), &psibench)]
        .map(|(told, runs)| money::Recording { told, runs });
    text.push_str(&money::section(&paper("spot-light"), &recordings, &mut pictures));
    text.push_str(&link_check());
    (text, pictures)
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
    let path = top().join("docs/paper-tables.md");
    let figures = top().join("docs/figures");
    let (is, pictures) = document();
    if std::env::var_os(BLESS).is_some() {
        fs::write(&path, is).expect("a document that can be written");
        fs::create_dir_all(&figures).expect("a folder for figures");
        for (file, picture) in pictures {
            fs::write(figures.join(file), picture).expect("a figure that can be written");
        }
        return;
    }
    for (file, picture) in pictures {
        let was = fs::read_to_string(figures.join(&file)).unwrap_or_default();
        assert!(was == picture, "docs/figures/{file} is not what bench/papers and bench/runs say; {BLESS}=1 writes it");
    }
    let was = fs::read_to_string(&path).unwrap_or_default();
    let differs = was.lines().zip(is.lines()).find(|(was, is)| was != is);
    assert!(
        was == is,
        "docs/paper-tables.md is not what bench/papers and bench/runs say; {BLESS}=1 writes it\n  {differs:?}"
    );
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
    let at = |security, column| cell(&ltsxq26, "III", Some((24, 24)), "Ours, RR", security, column);
    assert_eq!(
        (at(Security::SemiHonest, 0), at(Security::Malicious, 0), at(Security::SemiHonest, 1)),
        (490.8, 570.8, 14.4)
    );
    // "3.6x faster" in the LAN, and less traffic, than circuit PSI by VOLE.
    let at = |protocol, column| cell(&ltsxq26, "IV", Some((20, 20)), protocol, Security::SemiHonest, column);
    let less = |column| at("VOLE-based CPSI, RR", column) / at("Ours, RR", column);
    assert_eq!([less(1), less(0)].map(|times| (times * 10.0).round()), [36.0, 11.0]);
    assert_eq!(cell(&ltsxq26, "VIII", Some((22, 14)), "Ours, RR", Security::Malicious, 1), 0.36);
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
    // "reduces the communication cost ... by as much as one order of magnitude compared to CLR", and
    // Tables II and III are sums of what Table IV has, up to rounding.
    assert!(at("IV", 20, "CLR", 3) / at("IV", 20, "Fast Intersection", 3) > 8.0);
    for protocol in ["Fast Setup", "Fast Intersection"] {
        for (column, queries) in [1.0, 4.0, 16.0, 64.0].into_iter().enumerate() {
            let sum = at("IV", 20, protocol, 0) / queries + at("IV", 20, protocol, 3);
            assert!((at("III", 20, protocol, column) - sum).abs() < 0.02, "{protocol}, {queries} queries");
        }
    }
    let psibench = paper("psibench");
    let at =
        |table, log, protocol, security, column| cell(&psibench, table, Some((log, log)), protocol, security, column);
    // Rows whose text is easily misread.
    assert_eq!(at("3", 16, "KKRT16", Security::SemiHonest, 1), 0.41);
    assert_eq!(at("4", 20, "RT21", Security::Malicious, 0), 78.67);
    // With a small set at the receiver, RA17 only looks up what it has computed before; RS21 over the
    // OKVS of RR22 is RR22.
    let unbalanced = |sizes, column| cell(&psibench, "5", Some(sizes), "RA17", Security::SemiHonest, column);
    assert_eq!((unbalanced((20, 10), 0), unbalanced((10, 20), 0)), (6.36, 67.11));
    let of_rr22 = |column| at("4", 20, "RR22", Security::Malicious, column);
    let over_its_okvs = |column| at("7", 20, "RS21, BLAZE-GCT", Security::Malicious, column);
    assert_eq!([0, 1, 2, 3, 4].map(of_rr22), [0, 1, 2, 3, 4].map(over_its_okvs));
    assert!(at("6", 20, "RR22", Security::Malicious, 0) < of_rr22(0));
    for paper in [&spot, &ltsxq26, &cssw25, &cm25, &psibench] {
        assert!(
            paper.row.iter().all(|row| row.four_threads.is_empty() || row.four_threads.len() + 1 == row.cells.len()),
            "{}",
            paper.key
        );
    }
}
