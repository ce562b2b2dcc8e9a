//! A comparison as text for a terminal, as Markdown and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Cell, Comparison, Line, PaperCell, Table, amount};

/// What stands where there is nothing to say.
const NONE: &str = "–";

/// The width of lines of text.
const WIDTH: usize = 80;

/// What marks mean, and what a comparison is worth.
const LEGEND: &str = "Sizes are those of the sender and of the receiver. The ratio is ours over theirs. Times are of \
                      whole runs, and ours are medians; a ratio of times also compares the machines. ~: computed \
                      from our run at the next faster rate. *: by our protocol's formula, without framing.";

/// What our parties are connected by.
const NETWORK: &str = "Network: loopback for the LAN; other links are shaped inside of the transport.";

/// The comparison as text, at most 80 columns wide where names permit.
pub fn text(comparison: &Comparison<'_>) -> String {
    let mut text = String::new();
    wrapped(&mut text, "", &comparison.paper.title);
    text.push('\n');
    wrapped(&mut text, "", LEGEND);
    for (table, lines) in &comparison.tables {
        text.push('\n');
        wrapped(&mut text, "", &format!("Table {}: {}", table.number, table.caption));
        for about in about(comparison, table, lines) {
            wrapped(&mut text, "  ", &about);
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{:<34} {:>14} {:>19} {:>8}", "", "theirs", "ours", "ratio");
        for line in lines {
            let (theirs, ours) = names(line, comparison);
            let sizes = sizes(line).map_or(String::new(), |sizes| format!("{sizes}, "));
            let _ = writeln!(text, "{sizes}{}: {theirs}; ours {ours}", line.security);
            for [quantity, theirs, ours, ratio] in cells(table, line) {
                let _ = writeln!(text, "  {quantity:<32} {theirs:>14} {ours:>19} {ratio:>8}");
            }
        }
    }
    text
}

/// The comparison as Markdown: a table for each of the paper.
pub fn markdown(comparison: &Comparison<'_>) -> String {
    let mut text = format!("# {}\n\n{}.\n\n{LEGEND}\n", comparison.paper.key, comparison.paper.title);
    for (table, lines) in &comparison.tables {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n## Table {}: {}\n", table.number, table.caption);
        for about in about(comparison, table, lines) {
            let _ = writeln!(text, "- {about}");
        }
        text.push_str("\n| sizes | mode | theirs | ours | quantity | theirs | ours | ratio |\n");
        text.push_str("|---|---|---|---|---|--:|--:|--:|\n");
        for line in lines {
            let (theirs, ours) = names(line, comparison);
            let [theirs, ours] = [theirs, ours].map(|name| name.replace('|', "\\|"));
            let head =
                format!("{} | {} | {theirs} | {ours}", sizes(line).unwrap_or_else(|| NONE.into()), line.security);
            for cells in cells(table, line) {
                let _ = writeln!(text, "| {head} | {} |", cells.join(" | "));
            }
        }
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
        .map(|(table, lines)| {
            json!({
                "number": table.number,
                "caption": table.caption,
                "note": said(&table.note),
                "machine": said(&table.machine),
                "network": said(&table.network),
                "threads_per_party": table.threads(),
                "rows": lines.iter().map(|line| json_line(table, line)).collect::<Vec<Value>>(),
            })
        })
        .collect();
    let paper = comparison.paper;
    json!({ "paper": paper.key, "title": paper.title, "recordings": recordings, "tables": tables })
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
            "ours_state": match ours {
                Cell::Sent(_) | Cell::Took(_) => "measured",
                Cell::Computed(_) => "computed",
                Cell::Formula(_) | Cell::FormulaBits(_) => "formula",
                Cell::NotMeasured => "not-measured",
                Cell::NotServed => "not-served",
                Cell::NotHere => "not-in-this-release",
            },
            "ratio": line.ratio(at),
        })
    });
    json!({
        "sender_log2": line.sizes.map(|sizes| sizes.0),
        "receiver_log2": line.sizes.map(|sizes| sizes.1),
        "security": line.security,
        "theirs": line.row.map(|row| row.protocol.as_str()),
        "ours": line.ours,
        "is_broken": line.is_broken,
        "recording": line.recording,
        "cells": cells.collect::<Vec<Value>>(),
    })
}

/// A text of a paper's file, which says `-` for none.
fn said(text: &str) -> Option<&str> {
    (text != "-").then_some(text)
}

/// Where both sides of a table were measured, and what else is to be known.
fn about(comparison: &Comparison<'_>, table: &Table, lines: &[Line<'_>]) -> Vec<String> {
    let threads = match table.threads() {
        1 => "one thread a party".into(),
        threads => format!("{threads} threads a party"),
    };
    let machine = said(&table.machine).unwrap_or("a machine that the paper does not name");
    let network = said(&table.network).map_or(String::new(), |network| format!(" Network: {network}."));
    let mut all = vec![format!("Theirs: {machine}; {threads}.{network}")];
    let used = comparison.recordings.iter().enumerate();
    let used = used.filter(|(at, _)| lines.iter().any(|line| line.recording == Some(*at)));
    all.extend(used.map(|(at, recording)| {
        let machine = recording.machine.as_deref().unwrap_or("a machine that its README.md does not name");
        format!("Ours{}: {}, on {machine}; {threads}. {NETWORK}", mark(at, comparison), recording.label)
    }));
    if all.len() == 1 {
        all.push("Ours: not measured.".into());
    }
    all.extend(said(&table.note).map(str::to_owned));
    all
}

/// Tells a recording from others, where there are several.
fn mark(at: usize, comparison: &Comparison<'_>) -> String {
    if comparison.recordings.len() > 1 { format!(" [{}]", at + 1) } else { String::new() }
}

/// The names of both protocols.
fn names(line: &Line<'_>, comparison: &Comparison<'_>) -> (String, String) {
    let theirs = line.row.map_or_else(|| NONE.into(), |row| row.protocol.clone());
    let broken = if line.is_broken { " (broken)" } else { "" };
    let recording = line.recording.map_or(String::new(), |at| mark(at, comparison));
    (theirs, line.ours.map_or_else(|| NONE.into(), |id| format!("{id}{broken}{recording}")))
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
            passed_over: 0,
        }]
    }

    #[test]
    fn text_fits_a_terminal_and_names_both_machines() {
        let (paper, recordings) = (small(), recordings());
        let text = text(&Comparison::new(&paper, &recordings).expect("a comparison"));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for part in [
            "Theirs: one machine; one thread a party. Network: tc.",
            "Ours: day, on a fast one; one thread a party.",
            "loopback for the LAN",
            "2^16 x 2^16, semi-honest: FIRST|ONE; ours vole-fast\n",
            "2^16 x 2^16, malicious: SECOND; ours –\n",
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
        let row = "| 2^16 x 2^16 | semi-honest | FIRST\\|ONE | vole-fast | MB | 2.5 | 1.25 | 0.500 |\n";
        assert!(text.contains(row), "{text}");
        let rows = text.lines().filter(|line| line.starts_with("| "));
        assert!(rows.clone().all(|row| row.replace("\\|", "").matches('|').count() == 9), "{text}");
        assert_eq!(rows.count(), 1 + 2 * 3);
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
        assert_eq!(rows[1]["ours"], Value::Null);
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
    fn several_recordings_are_told_apart() {
        let paper = small();
        let [one] = recordings();
        let [other] = recordings();
        let empty = Recording { runs: Vec::new(), label: "empty".into(), ..other };
        let recordings = [empty, one];
        let text = text(&Comparison::new(&paper, &recordings).expect("a comparison"));
        assert!(
            text.contains("Ours [2]: day") && text.contains("ours vole-fast [2]") && !text.contains("empty"),
            "{text}"
        );
    }
}
