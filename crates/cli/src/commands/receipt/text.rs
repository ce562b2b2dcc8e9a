//! The page of a receipt as plain text.

use super::words::{Page, PageRow};
use crate::layout::wrapped;

/// Characters in a line of text.
const WIDTH: usize = 110;
/// Characters of a label with the space behind it.
const LABEL: usize = 22;

/// The page for a terminal.
pub fn text(page: &Page) -> String {
    let mut text = String::new();
    for line in wrapped(&page.verdict, WIDTH) {
        text.push_str(&line);
        text.push('\n');
    }
    for section in &page.sections {
        text.push_str(&format!("\n{}\n", section.title));
        for line in wrapped(section.note, WIDTH) {
            text.push_str(&format!("{line}\n"));
        }
        section.rows.iter().for_each(|row| push_row(row, &mut text));
    }
    text
}

/// A row: its label once, and each value on lines of its own.
fn push_row(row: &PageRow, text: &mut String) {
    let mut label = row.label;
    for value in &row.values {
        for line in wrapped(value, WIDTH - LABEL) {
            text.push_str(&format!("  {label:<0$}{line}\n", LABEL - 2));
            label = "";
        }
    }
}
