//! A table of ratios: what a paper compares itself with over its own protocol, and the same of our runs.

use std::fmt::Write;
use std::iter;

use vesica::task;
use vesica_lab::Report;
use vesica_lab::papers::{Column, Paper, PaperCell, Ratios, Runs, amount};
use vesica_papers::registry;
use vesica_party::Security;

use super::{folders, parse};

/// The table. Ours are of one folder of runs each: times of two machines are not divided.
pub fn lines(text: &mut String, paper: &Paper, table: &Ratios) {
    let prefixes: Vec<&String> =
        iter::once(&paper.runs).chain(paper.table.iter().filter_map(|table| table.runs.as_ref())).collect();
    let is_wanted = |name: &str| prefixes.iter().any(|prefix| name.starts_with(*prefix));
    let recordings: Vec<Vec<Report>> = folders(is_wanted).map(|(_, lines)| lines.iter().map(parse).collect()).collect();
    let _ = writeln!(text, "\n### Table {}: {}\n\n{}\n", table.number, table.caption, table.note);
    let heads: Vec<String> = table.columns.iter().map(Column::head).collect();
    let _ = writeln!(text, "| what | over | {} |\n|---|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
    for row in &paper.ratio {
        let cells: Vec<String> = row.cells.iter().map(PaperCell::to_string).collect();
        let _ = writeln!(text, "| {} | {} | {} |", row.baseline, row.own, cells.join(" | "));
        for own in &row.ours_own {
            let ratio = |column: &Column| {
                let of = |reports: &Vec<Report>| {
                    Some(number(reports, &row.ours_baseline, table, column)? / number(reports, own, table, column)?)
                };
                recordings.iter().find_map(of).map_or("not measured".into(), amount)
            };
            let cells: Vec<String> = table.columns.iter().map(ratio).collect();
            let _ = writeln!(text, "| **`{}`** | **`{own}`** | {} |", row.ours_baseline, cells.join(" | "));
        }
    }
}

/// What these runs say of a protocol in a column.
fn number(reports: &[Report], id: &str, table: &Ratios, column: &Column) -> Option<f64> {
    let entry = registry::find(id).unwrap_or_else(|| panic!("there is no protocol {id}"));
    let runs = Runs::new(task::find(entry.task).expect("a task"), 1, reports.to_vec());
    let log = table.log as u32;
    runs.cell(id, Security::SemiHonest, Some((log, log)), column).number()
}
