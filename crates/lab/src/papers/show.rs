//! A comparison as text for a terminal, as Markdown and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Compared, Comparison, Counts, Kind, Line, PaperCell, Table, amount};

/// What stands where there is nothing to say.
const NONE: &str = "–";

/// The width of lines of text.
const WIDTH: usize = 80;

/// What marks mean, and what a comparison is worth.
const LEGEND: &str = "Sizes are those of the sender and of the receiver. The ratio is ours over theirs. Times are of \
                      whole runs where no part is named, and ours are medians; a ratio of times also compares the machines. ~: computed \
                      from our run at the next faster rate. *: by our protocol's formula, without framing. not here: \
                      the machine of the recording cannot make the run; what it would take stands behind it.";

/// What our parties are connected by.
const NETWORK: &str = "Our network: loopback for the LAN; other links are shaped inside of the transport.";

/// The comparison as text, at most 80 columns wide where names permit.
pub fn text(comparison: &Comparison<'_>) -> String {
    let mut text = String::new();
    wrapped(&mut text, "", &comparison.paper.title);
    text.push('\n');
    wrapped(&mut text, "", LEGEND);
    wrapped(&mut text, "", NETWORK);
    for compared in &comparison.tables {
        let Compared { table, lines, .. } = compared;
        text.push('\n');
        wrapped(&mut text, "", &format!("{}: {}", titled(table), table.caption));
        for about in about(comparison, compared) {
            wrapped(&mut text, "  ", &about);
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{:<34} {:>14} {:>19} {:>8}", "", "theirs", "ours", "ratio");
        for line in lines {
            let (theirs, ours) = names(line);
            let sizes = sizes(line).map_or(String::new(), |sizes| format!("{sizes}, "));
            wrapped(&mut text, "", &format!("{sizes}{}: {theirs}; {ours}", line.security));
            for [mut quantity, theirs, ours, ratio] in cells(table, line) {
                if quantity.chars().count() > 32 {
                    let _ = writeln!(text, "  {quantity}");
                    quantity.clear();
                }
                let _ = writeln!(text, "  {quantity:<32} {theirs:>14} {ours:>19} {ratio:>8}");
            }
        }
    }
    text
}

/// What marks in a table of Markdown mean.
const MARKS: &str = "\
- A row of the paper is as the paper has it, on its machine. Ours are **bold**: runs of two processes, whole ones with their set-up where a column names no part, each table from \
                     one recording on one machine. What is slower or faster by the machine alone, these tables cannot \
                     tell; the communication is comparable.
- A number of ours: measured, the median. MiB are 2^20 and MB 10^6 bytes of payload and framing.
- `~`: computed. The run at the next faster rate with the same round trip, and the time that its bytes take longer at this one.
- `*`: by the protocol's formula, without framing (below 0.1% of it from 2^16 items).
- *not here*: the machine of the recording cannot make the run: what it would take stands behind it, an estimate by \
                     smaller runs. *not measured*: there is no run yet. *not in this release*: there is no such \
                     protocol. –: the paper leaves the cell empty, or our protocol has no such mode or size.
- *cannot be read*: our copy of the paper is not legible there.
- (broken): an attack is known, and the row is here for comparison only.
";

/// The comparison as Markdown: a table for each of the paper.
pub fn markdown(comparison: &Comparison<'_>) -> String {
    let paper = comparison.paper;
    let mut text = format!("# {}\n\n{}.\n\n{MARKS}- {NETWORK}\n", paper.key, paper.title);
    // Writing to a String cannot fail.
    let _ = write!(text, "\n{}", counted(&[(&paper.key, comparison.counts())]));
    for compared in &comparison.tables {
        markdown_table(&mut text, comparison, compared);
    }
    text
}

fn markdown_table(text: &mut String, comparison: &Comparison<'_>, compared: &Compared<'_>) {
    let Compared { table, lines, .. } = compared;
    let _ = writeln!(text, "\n## {}: {}\n", titled(table), table.caption);
    for about in about(comparison, compared) {
        let _ = writeln!(text, "- {about}");
    }
    let mut without: Vec<(&str, &str)> = Vec::new();
    for row in lines.iter().filter_map(|line| line.row) {
        let Some(why) = row.none_of_ours.as_deref() else { continue };
        if !without.contains(&(row.protocol.as_str(), why)) {
            without.push((&row.protocol, why));
        }
    }
    for (protocol, why) in without {
        let _ = writeln!(text, "- None of ours stands beside {protocol}: {why}.");
    }
    let by_size = lines.iter().any(|line| line.sizes.is_some());
    let heads: Vec<String> = table.columns.iter().map(|column| column.head()).collect();
    let first = if by_size { " sender x receiver |" } else { "" };
    let rule = "---|".repeat(2 + usize::from(by_size)) + &"--:|".repeat(heads.len());
    let _ = writeln!(text, "\n|{first} mode | protocol | {} |\n|{rule}", heads.join(" | "));
    for line in lines {
        let size = sizes(line).map_or(String::new(), |sizes| format!(" {sizes} |"));
        let mut put = |protocol: &str, cells: Vec<String>| {
            let _ = writeln!(text, "|{size} {} | {protocol} | {} |", line.security, cells.join(" | "));
        };
        if let Some(row) = line.row {
            put(&row.protocol.replace('|', "\\|"), row.cells.iter().map(PaperCell::to_string).collect());
        }
        if let Some(id) = line.ours.filter(|_| !line.is_again) {
            let broken = if line.is_broken { " (broken)" } else { "" };
            put(&format!("**`{id}`**{broken}"), line.cells.iter().map(ToString::to_string).collect());
        }
    }
}

/// A table of Markdown: how many cells of each kind each paper has, and all of them together if they are several.
pub fn counted(papers: &[(&str, Counts)]) -> String {
    let mut text = String::from(
        "| paper | measured | computed `~` | formula `*` | not here | no such mode or size | not in this release | **not measured** | theirs: stated \
         | of these, none of ours beside it | cannot be read | left empty |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut put = |name: &str, counts: &Counts| {
        let theirs = [counts.stated, counts.without_ours, counts.unreadable, counts.empty];
        let cells: Vec<String> =
            Kind::ALL.map(|kind| counts.of(kind)).into_iter().chain(theirs).map(|count| count.to_string()).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    };
    for (name, counts) in papers {
        put(name, counts);
    }
    if papers.len() > 1 {
        put("all", &papers.iter().fold(Counts::default(), |sum, (_, counts)| sum.and(counts)));
    }
    text
}

/// The same for a terminal: a paragraph a paper.
pub fn counted_text(papers: &[(&str, Counts)]) -> String {
    let mut text = String::new();
    for (name, counts) in papers {
        let ours = Kind::ALL.map(|kind| (kind.name(), counts.of(kind)));
        let ours = ours.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| format!("{count} {kind}"));
        let ours: Vec<String> = ours.collect();
        let theirs = format!(
            "theirs: {} stated, {} of them with none of ours beside them, {} that cannot be read, {} left empty",
            counts.stated, counts.without_ours, counts.unreadable, counts.empty
        );
        wrapped(&mut text, "", &format!("{name}: ours: {}; {theirs}.", ours.join(", ")));
    }
    text
}

/// The comparison as JSON. A cell that is no number is null, and says why in its `state`.
pub fn json(comparison: &Comparison<'_>) -> Value {
    let recordings: Vec<Value> = comparison
        .recordings
        .iter()
        .map(|recording| json!({ "label": recording.label, "machine": recording.machine }))
        .collect();
    let tables: Vec<Value> = comparison
        .tables
        .iter()
        .map(|Compared { table, recording, lines }| {
            json!({
                "number": table.number,
                "caption": table.caption,
                "note": said(&table.note),
                "machine": said(&table.machine),
                "network": said(&table.network),
                "recording": recording,
                "rows": lines.iter().map(|line| json_line(table, line)).collect::<Vec<Value>>(),
            })
        })
        .collect();
    let paper = comparison.paper;
    let counts = comparison.counts();
    let ours: serde_json::Map<String, Value> =
        Kind::ALL.map(|kind| (kind.name().to_owned(), counts.of(kind).into())).into_iter().collect();
    json!({
        "paper": paper.key,
        "title": paper.title,
        "cells": {
            "ours": ours,
            "stated": counts.stated,
            "without_ours": counts.without_ours,
            "unreadable": counts.unreadable,
            "empty": counts.empty,
        },
        "recordings": recordings,
        "tables": tables,
    })
}

fn json_line(table: &Table, line: &Line<'_>) -> Value {
    let cells = table.columns.iter().zip(&line.cells).enumerate().map(|(at, (column, ours))| {
        let theirs = line.row.and_then(|row| row.cells.get(at));
        json!({
            "quantity": column.head(),
            "theirs": theirs.and_then(PaperCell::number),
            "theirs_state": match theirs {
                Some(PaperCell::Number(_)) => "stated",
                Some(PaperCell::Below(_)) => "bound",
                Some(PaperCell::Unreadable) => "unreadable",
                Some(PaperCell::Nothing) | None => "none",
            },
            "ours": ours.number(),
            "ours_state": ours.kind().name(),
            "ours_said": ours.number().is_none().then(|| ours.to_string()),
            "threads_per_party": column.threads,
            "ratio": line.ratio(at),
        })
    });
    json!({
        "sender_log2": line.sizes.map(|sizes| sizes.0),
        "receiver_log2": line.sizes.map(|sizes| sizes.1),
        "security": line.security,
        "theirs": line.row.map(|row| row.protocol.as_str()),
        "ours": line.ours,
        "none_of_ours": line.row.and_then(|row| row.none_of_ours.as_deref()),
        "is_broken": line.is_broken,
        "cells": cells.collect::<Vec<Value>>(),
    })
}

/// The table's name in the paper; some stand for figures.
fn titled(table: &Table) -> String {
    if table.number.starts_with("Figure") { table.number.clone() } else { format!("Table {}", table.number) }
}

/// A text of a paper's file, which says `-` for none.
fn said(text: &str) -> Option<&str> {
    (text != "-").then_some(text)
}

/// Where both sides of a table were measured, and what else is to be known.
fn about(comparison: &Comparison<'_>, compared: &Compared<'_>) -> Vec<String> {
    let Compared { table, recording, .. } = compared;
    let machine = said(&table.machine).unwrap_or("a machine that the paper does not name");
    let network = said(&table.network).map_or(String::new(), |network| format!(" Network: {network}."));
    let mut all = vec![format!("Theirs: {machine}.{network}")];
    all.push(match recording.and_then(|at| comparison.recordings.get(at)) {
        Some(recording) => {
            let machine = recording.machine.as_deref().unwrap_or("a machine that its README.md does not name");
            format!(
                "Ours: {}, on {machine}; one thread a party, where a column does not say otherwise.",
                recording.label
            )
        }
        None => "Ours: no recording has a run for this table; numbers are by formula.".into(),
    });
    all.extend(said(&table.note).map(str::to_owned));
    all
}

/// The name of their protocol, and that of ours or why there is none.
fn names(line: &Line<'_>) -> (String, String) {
    let theirs = line.row.map_or_else(|| NONE.into(), |row| row.protocol.clone());
    let broken = if line.is_broken { " (broken)" } else { "" };
    let none = line.row.and_then(|row| row.none_of_ours.as_deref()).unwrap_or(NONE);
    (theirs, line.ours.map_or_else(|| format!("none of ours: {none}"), |id| format!("ours {id}{broken}")))
}

fn sizes(line: &Line<'_>) -> Option<String> {
    line.sizes.map(|(sender, receiver)| format!("2^{sender} x 2^{receiver}"))
}

/// What is stated, theirs, ours, and the ratio, for each column.
fn cells(table: &Table, line: &Line<'_>) -> Vec<[String; 4]> {
    let columns = table.columns.iter().zip(&line.cells).enumerate();
    let cells = columns.map(|(at, (column, ours))| {
        let theirs = line.row.and_then(|row| row.cells.get(at)).map_or_else(|| NONE.into(), PaperCell::to_string);
        [column.head(), theirs, ours.to_string(), line.ratio(at).map_or_else(|| NONE.into(), amount)]
    });
    cells.collect()
}

/// Adds a paragraph, its lines broken between words.
fn wrapped(text: &mut String, indent: &str, paragraph: &str) {
    let mut line = String::new();
    for word in paragraph.split_whitespace() {
        let is_full = indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH;
        if is_full && !line.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{indent}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{indent}{line}");
}

#[cfg(test)]
mod tests {
    use super::super::paper::small;
    use super::super::runs::run;
    use super::*;
    use crate::report_page::Recording;

    fn recordings() -> [Recording; 1] {
        let runs = [run("loopback", 0.5), run("10mbit,80ms", 6.0)].map(|run| (String::new(), run)).into();
        [Recording {
            label: "day".into(),
            machine: Some("a fast one".into()),
            runs,
            programs: Vec::new(),
            left_out: Vec::new(),
            passed_over: 0,
        }]
    }

    #[test]
    fn text_fits_a_terminal_and_names_both_machines() {
        let (paper, recordings) = (small(), recordings());
        let text = text(&Comparison::new(&paper, &recordings).expect("a comparison"));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for part in [
            "Theirs: one machine. Network: tc.",
            "Ours: day, on a fast one; one thread a party, where a column",
            "loopback for the LAN",
            "2^16 x 2^16, semi-honest: FIRST|ONE; ours vole-fast\n",
            "2^16 x 2^16, malicious: SECOND; none of ours: it is second\n",
            "cannot be read",
            "not measured",
            "below 0.1",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
        let row = format!("  {:<32} {:>14} {:>19} {:>8}\n", "s, 10 Mbit/s, 80 ms", "12", "6.0", "0.500");
        assert!(text.contains(&row), "{text}");
    }

    #[test]
    fn markdown_keeps_its_columns() {
        let (paper, recordings) = (small(), recordings());
        let text = markdown(&Comparison::new(&paper, &recordings).expect("a comparison"));
        for part in [
            "| 2^16 x 2^16 | semi-honest | FIRST\\|ONE | 2.5 | cannot be read | 12 |\n",
            "| 2^16 x 2^16 | semi-honest | **`vole-fast`** | 1.25 | 0.50 | 6.0 |\n",
            "- None of ours stands beside SECOND: it is second.\n",
            "| Small | 3 | 0 | 1 | 0 | 0 | 0 | 2 | 4 | 2 | 1 | 1 |\n",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
        let (_, table) = text.split_once("## Table").expect("a table");
        let rows = table.lines().filter(|line| line.starts_with("| "));
        assert!(rows.clone().all(|row| row.replace("\\|", "").matches('|').count() == 7), "{text}");
        assert_eq!(rows.count(), 1 + 4);
    }

    #[test]
    fn json_says_why_a_cell_is_none() {
        let (paper, recordings) = (small(), recordings());
        let json = json(&Comparison::new(&paper, &recordings).expect("a comparison"));
        assert_eq!(json["recordings"][0]["machine"], "a fast one");
        let rows = &json["tables"][0]["rows"];
        let first = &rows[0]["cells"];
        assert_eq!((&first[0]["ratio"], &first[0]["ours_state"]), (&0.5f64.into(), &"measured".into()));
        assert_eq!((&first[1]["theirs"], &first[1]["theirs_state"]), (&Value::Null, &"unreadable".into()));
        assert_eq!((&rows[1]["ours"], &rows[1]["none_of_ours"]), (&Value::Null, &"it is second".into()));
        assert_eq!(json["cells"]["ours"]["measured"], 3);
        assert_eq!(rows[1]["cells"][1]["theirs_state"], "bound");
        assert_eq!(rows[1]["cells"][0]["ours_state"], "not-measured");
    }

    #[test]
    fn broken_protocols_are_marked() {
        let paper = crate::papers::Paper::built_in("ltsxq26").expect("a paper");
        let text = text(&Comparison::new(&paper, &[]).expect("a comparison"));
        assert!(text.contains("; ours ltsxq26 (broken)\n"), "{text}");
    }

    #[test]
    fn the_recording_that_a_table_is_from_is_named() {
        let paper = small();
        let [one] = recordings();
        let [other] = recordings();
        let empty = Recording { runs: Vec::new(), label: "empty".into(), ..other };
        let recordings = [empty, one];
        let text = text(&Comparison::new(&paper, &recordings).expect("a comparison"));
        assert!(text.contains("Ours: day") && !text.contains("empty"), "{text}");
    }
}
