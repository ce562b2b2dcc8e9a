//! A table of ratios: what a paper compares itself with over its own protocol, and the same of our runs.

use std::fmt::Write;

use vesica::task;
use vesica_lab::papers::{Column, Paper, PaperCell, Ratios, Runs, amount};
use vesica_lab::report_page::Recording;
use vesica_papers::registry;
use vesica_party::Security;

/// The table. Ours are of one recording each: times of two machines are not divided.
pub fn lines(text: &mut String, paper: &Paper, table: &Ratios, recordings: &[Recording]) {
    let _ = writeln!(text, "\n## Table {}: {}\n\n{}\n", table.number, table.caption, table.note);
    let heads: Vec<String> = table.columns.iter().map(Column::head).collect();
    let _ = writeln!(text, "| what | over | {} |\n|---|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
    for row in &paper.ratio {
        let cells: Vec<String> = row.cells.iter().map(PaperCell::to_string).collect();
        let _ = writeln!(text, "| {} | {} | {} |", row.baseline, row.own, cells.join(" | "));
        for own in &row.ours_own {
            let ratio = |column: &Column| {
                let of = |recording: &Recording| {
                    Some(number(recording, &row.ours_baseline, table, column)? / number(recording, own, table, column)?)
                };
                recordings.iter().find_map(of).map_or("not measured".into(), amount)
            };
            let cells: Vec<String> = table.columns.iter().map(ratio).collect();
            let _ = writeln!(text, "| **`{}`** | **`{own}`** | {} |", row.ours_baseline, cells.join(" | "));
        }
    }
}

/// What a recording says of a protocol in a column.
fn number(recording: &Recording, id: &str, table: &Ratios, column: &Column) -> Option<f64> {
    let entry = registry::find(id).unwrap_or_else(|| panic!("there is no protocol {id}"));
    let runs = Runs::of_recording(task::find(entry.task).expect("a task"), recording);
    let log = table.log as u32;
    runs.cell(id, Security::SemiHonest, Some((log, log)), column).number()
}
