//! The two tables of a repeat as CSV files, and the check of what a program made of them.
//!
//! A table has one column, `key`, named in its first line. A key is an item of
//! [`inputs`](crate::inputs) in 32 hexadecimal digits, and no key is in a table twice.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use vesica::task::Sample;
use vesica_party::Role;

use crate::Settings;

/// The column of keys.
pub const KEY: &str = "key";

/// How many differing rows are told.
const TOLD_ROWS: usize = 3;

/// Writes the tables of repeat `round`; gives the common keys, each with its row in the receiver's
/// table. Rows count from 1, after the line of names.
pub(super) fn write(
    settings: &Settings,
    round: u64,
    sender: &Path,
    receiver: &Path,
) -> io::Result<HashMap<String, usize>> {
    write_one(&settings.sample(Role::Sender, round), sender)?;
    let asked = settings.sample(Role::Receiver, round);
    write_one(&asked, receiver)?;
    Ok(asked.common.iter().map(|&place| (hexadecimal(asked.item(place)), place as usize + 1)).collect())
}

fn write_one(sample: &Sample, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{KEY}")?;
    for item in sample.items() {
        writeln!(file, "{}", hexadecimal(item))?;
    }
    file.flush()
}

fn hexadecimal(item: &[u8]) -> String {
    item.iter().fold(String::with_capacity(2 * item.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A row that is not as it should be. Rows count from 1, after the line of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferingRow {
    /// This row of the output has a key that is not common to both tables.
    NotCommon(usize),
    /// This row of the output has a key that an earlier row has.
    Again(usize),
    /// The key in this row of the receiver's table is common and not in the output.
    Missing(usize),
}

impl fmt::Display for DifferingRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCommon(row) => write!(f, "row {row} of the output is no common key"),
            Self::Again(row) => write!(f, "row {row} of the output repeats a key"),
            Self::Missing(row) => write!(f, "the output lacks the key in row {row} of the receiver's table"),
        }
    }
}

/// What is wrong with an output.
#[derive(Debug)]
pub(super) enum WrongOutput {
    /// There is no such file, or it cannot be read as text.
    Unreadable(io::Error),
    /// Its first line names no column `key`.
    NoKeyColumn,
    /// Its keys are not the common ones.
    Rows {
        /// How many rows differ.
        count: usize,
        /// The first of them: those of the output, then what it lacks.
        first: Vec<DifferingRow>,
    },
}

/// Compares the keys of an output with the common ones, in any order. Other columns are passed over.
pub(super) fn check(output: &Path, common: &HashMap<String, usize>) -> Result<(), WrongOutput> {
    let file = File::open(output).map_err(WrongOutput::Unreadable)?;
    compare(BufReader::new(file), common)
}

fn compare(output: impl BufRead, common: &HashMap<String, usize>) -> Result<(), WrongOutput> {
    let mut lines = output.lines();
    let names = lines.next().transpose().map_err(WrongOutput::Unreadable)?.unwrap_or_default();
    // Some programs mark their text as UTF-8.
    let names = fields(names.trim_start_matches('\u{feff}'));
    let column = names.iter().position(|name| name == KEY).ok_or(WrongOutput::NoKeyColumn)?;
    let mut missing = common.clone();
    let (mut count, mut first) = (0, Vec::new());
    let mut row = 0;
    for line in lines {
        let line = line.map_err(WrongOutput::Unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        row += 1;
        let fields = fields(&line);
        let key = fields.get(column).map(String::as_str).unwrap_or_default();
        if missing.remove(key).is_none() {
            count += 1;
            if first.len() < TOLD_ROWS {
                first.push(if common.contains_key(key) {
                    DifferingRow::Again(row)
                } else {
                    DifferingRow::NotCommon(row)
                });
            }
        }
    }
    count += missing.len();
    let mut rows: Vec<usize> = missing.into_values().collect();
    rows.sort_unstable();
    first.extend(rows.into_iter().map(DifferingRow::Missing).take(TOLD_ROWS - first.len()));
    if count == 0 { Ok(()) } else { Err(WrongOutput::Rows { count, first }) }
}

/// The fields of a line. A field may stand in quotes, which have commas in them but no end of line.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.trim_end_matches('\r').chars() {
        match (letter, fields.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            (',', _) if !is_quoted => fields.push(String::new()),
            (_, Some(field)) => field.push(letter),
            (_, None) => {}
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::DifferingRow::{Again, Missing, NotCommon};
    use super::*;

    fn common() -> HashMap<String, usize> {
        [("aa", 2), ("bb", 5), ("cc", 9)].map(|(key, row)| (key.to_owned(), row)).into()
    }

    #[test]
    fn outputs_with_the_common_keys_are_right_in_any_order_and_dress() {
        for right in [
            "key\naa\nbb\ncc\n",
            "key\ncc\naa\nbb",
            "key\r\naa\r\nbb\r\ncc\r\n",
            "\u{feff}n,\"key\"\n1,\"cc\"\n\"2,5\",aa\n\n3,bb\n",
        ] {
            compare(right.as_bytes(), &common()).unwrap_or_else(|wrong| panic!("{right:?}: {wrong:?}"));
        }
        compare("key\n".as_bytes(), &HashMap::new()).expect("nothing in common");
    }

    #[test]
    fn differing_rows_are_counted_and_the_first_three_named() {
        for (wrong, rows, all) in [
            ("key\naa\nbb\n", vec![Missing(9)], 1),
            ("key\n", vec![Missing(2), Missing(5), Missing(9)], 3),
            ("key\naa\nxx\nbb\naa\ncc\n", vec![NotCommon(2), Again(4)], 2),
            ("key\nw\nx\ny\nz\naa\n", vec![NotCommon(1), NotCommon(2), NotCommon(3)], 6),
            ("n,key\n1\n2,aa\n3,bb\n4,cc\n", vec![NotCommon(1)], 1),
        ] {
            match compare(wrong.as_bytes(), &common()) {
                Err(WrongOutput::Rows { count, first }) => assert_eq!((count, first), (all, rows), "{wrong:?}"),
                other => panic!("{wrong:?}: {other:?}"),
            }
        }
        assert!(matches!(compare("".as_bytes(), &common()), Err(WrongOutput::NoKeyColumn)));
        assert!(matches!(compare("keys\naa\n".as_bytes(), &common()), Err(WrongOutput::NoKeyColumn)));
        assert!(matches!(compare(&b"key\n\xff\n"[..], &common()), Err(WrongOutput::Unreadable(_))));
    }

    #[test]
    fn tables_have_the_items_of_the_closed_division() {
        let settings = Settings {
            overlap: Some(7),
            ..Settings::new("intersect", "any", vesica_party::Security::SemiHonest, 30, 20)
        };
        let folder = std::env::temp_dir().join(format!("vesica-tables-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let [sender, receiver] = ["sender.csv", "receiver.csv"].map(|name| folder.join(name));
        let common = write(&settings, 3, &sender, &receiver).expect("written");
        let text = std::fs::read_to_string(&receiver).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines.len(), lines[1].len(), common.len()), ("key", 21, 32, 7));
        assert!(common.iter().all(|(key, &row)| lines[row] == key));
        assert_eq!(lines[1], hexadecimal(settings.sample(Role::Receiver, 3).item(0)));
        let sent = std::fs::read_to_string(&sender).expect("text");
        let sent: std::collections::HashSet<&str> = sent.lines().collect();
        assert_eq!(lines[1..].iter().filter(|key| sent.contains(**key)).count(), 7);
        // The receiver's whole table has keys that are not common.
        assert!(matches!(check(&receiver, &common), Err(WrongOutput::Rows { count: 13, .. })));
        assert!(matches!(check(&folder.join("none.csv"), &common), Err(WrongOutput::Unreadable(_))));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
