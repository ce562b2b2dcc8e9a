//! What an output's name says about what is written to it. A name with an ending that is not
//! written is refused: its readers would go by it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::path::Path;

use crate::table::formats::RowsAs;
use crate::table::{Format, Packing, Stored, TableError};

const ROWS: &str = "give --output a name that ends in .csv or .txt (also with .gz or .zst), .tsv or .tab, .jsonl, .parquet, \
                    .arrow, .feather or .arrows, or one without an ending for the input's format";
const NUMBERS: &str = "give --output a name that ends in .csv, .json or .jsonl, or one without an ending for CSV";
const SHARES: &str = "give --output a name that ends in .shares, or one without an ending";

/// How rows of a table that is stored like `source` go to `path`: in the format that is asked for, else by the name,
/// else as the source; as CSV where the source is no file.
pub(crate) fn of_rows(path: &str, asked: Option<Format>, source: Option<Stored>) -> Result<RowsAs, TableError> {
    let source = source.unwrap_or(Stored { format: Format::Csv, delimiter: b',', packing: None, bytes: 0 });
    let (ending, packing) = ending(path);
    let tabs = matches!(ending.as_deref(), Some("tsv" | "tab"));
    let format = match (asked.or_else(|| Format::of_name(path)), &ending) {
        (Some(format), _) => format,
        (None, None) => source.format,
        (None, Some(_)) => return Err(not_written(path, "rows of a table", ROWS)),
    };
    match packing {
        Some(Packing::Bzip2) => return Err(not_written(path, "rows of a table", ROWS)),
        Some(_) if !format.is_text() => {
            let fault = format!("cannot write {path}: only CSV and JSON lines are compressed as a whole");
            let mend = "leave the last ending away, or give the output a name that ends in .csv.gz or .csv.zst";
            return Err(TableError::Option(fault, mend));
        }
        _ => {}
    }
    let mut delimiter = source.delimiter;
    if tabs && format == Format::Csv && delimiter != b'\t' {
        // Rows of CSV are copied as they stand.
        if source.format == Format::Csv {
            let fault = format!(
                "cannot write {path}: its name says tabs, and the input's fields are separated by '{}'",
                char::from(delimiter)
            );
            return Err(TableError::Option(fault, "give --output a name that ends in .csv"));
        }
        delimiter = b'\t';
    }
    Ok(RowsAs { format, packing, delimiter })
}

/// How the numbers of an aggregate are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumbersAs {
    Csv,
    /// An array of objects.
    Json,
    /// An object a line.
    JsonLines,
}

/// How the numbers of an aggregate go to `path`.
pub(crate) fn of_numbers(path: &str) -> Result<NumbersAs, TableError> {
    match ending(path) {
        (None, None) => Ok(NumbersAs::Csv),
        (Some(ending), None) if ending == "csv" => Ok(NumbersAs::Csv),
        (Some(ending), None) if ending == "json" => Ok(NumbersAs::Json),
        (Some(ending), None) if ending == "jsonl" || ending == "ndjson" => Ok(NumbersAs::JsonLines),
        _ => Err(not_written(path, "the numbers of an aggregate", NUMBERS)),
    }
}

/// Refuses names that say that something else than shares is there.
pub(crate) fn check_shares(path: &str) -> Result<(), TableError> {
    match ending(path) {
        (None, None) => Ok(()),
        (Some(ending), None) if ending == "shares" => Ok(()),
        _ => Err(not_written(path, "shares", SHARES)),
    }
}

/// The ending in small letters, without that of a packing, and this packing.
fn ending(path: &str) -> (Option<String>, Option<Packing>) {
    let lower = path.to_ascii_lowercase();
    let (name, packing) = Packing::of_name(&lower);
    let ending = Path::new(name).extension().map(|ending| ending.to_string_lossy().into_owned());
    (ending.filter(|ending| !ending.is_empty()), packing)
}

fn not_written(path: &str, what: &str, mend: &'static str) -> TableError {
    TableError::Option(format!("cannot write {what} to {path}: files with this ending are not written"), mend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Input, InputOptions, Source};

    /// How rows of a file with this name and content go to `to`.
    fn rows(from: &str, content: &[u8], to: &str) -> Result<RowsAs, TableError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(from);
        std::fs::write(&path, content).expect("written");
        let input = Input::open(path.to_str().expect("text"), &InputOptions::default()).expect("readable");
        of_rows(to, None, input.stored())
    }

    #[test]
    fn rows_go_by_the_name_and_unknown_endings_are_refused() {
        let csv = |to| rows("in.csv", b"a\n1\n", to);
        let written = |format, packing| RowsAs { format, packing, delimiter: b',' };
        for (name, expected) in [
            ("out.csv", written(Format::Csv, None)),
            ("OUT.CSV.GZ", written(Format::Csv, Some(Packing::Gzip))),
            ("out.csv.zst", written(Format::Csv, Some(Packing::Zstd))),
            ("out.jsonl", written(Format::JsonLines, None)),
            ("out.ndjson.zst", written(Format::JsonLines, Some(Packing::Zstd))),
            ("out.txt", written(Format::Csv, None)),
            ("out.parquet", written(Format::Parquet, None)),
            ("out.feather", written(Format::ArrowFile, None)),
            ("out.arrows", written(Format::ArrowStream, None)),
            ("folder.d/out", written(Format::Csv, None)),
            ("out.gz", written(Format::Csv, Some(Packing::Gzip))),
            ("-", written(Format::Csv, None)),
            ("/dev/fd/63", written(Format::Csv, None)),
        ] {
            assert_eq!(csv(name).expect(name), expected, "{name}");
        }
        for name in [
            "out.json",
            "out.xlsx",
            "out.tsv",
            "out.tab.gz",
            "out.parquet.gz",
            "out.parquet.zst",
            "out.json.gz",
            "out.CSV.bz2",
        ] {
            let error = csv(name).expect_err(name);
            assert!(error.to_string().contains(name) && error.mend().contains(".csv"), "{error}");
        }
    }

    #[test]
    fn tabs_are_written_where_the_name_says_so() {
        let tabs = RowsAs { format: Format::Csv, packing: None, delimiter: b'\t' };
        assert_eq!(rows("in.tsv", b"a\tb\n1\t2\n", "out.tsv").expect("tabs"), tabs);
        assert_eq!(rows("in.tsv", b"a\tb\n1\t2\n", "out.csv").expect("tabs"), tabs);
        assert_eq!(rows("in.arrow", b"ARROW1\0\0", "out.tsv").expect("tabs"), tabs);
    }

    #[test]
    fn numbers_and_shares_have_their_own() {
        for (name, written) in [
            ("r.csv", NumbersAs::Csv),
            ("r", NumbersAs::Csv),
            ("-", NumbersAs::Csv),
            ("r.JSON", NumbersAs::Json),
            ("r.jsonl", NumbersAs::JsonLines),
            ("r.ndjson", NumbersAs::JsonLines),
        ] {
            assert_eq!(of_numbers(name).expect(name), written, "{name}");
        }
        for name in ["r.parquet", "r.tsv", "r.csv.gz", "r.csv.zst", "r.jsonl.gz", "r.shares"] {
            assert!(of_numbers(name).expect_err(name).mend().contains(".json"), "{name}");
        }
        assert!(check_shares("ours.shares").is_ok() && check_shares("ours").is_ok());
        for name in ["ours.csv", "ours.json", "ours.shares.gz"] {
            assert!(check_shares(name).expect_err(name).mend().contains(".shares"), "{name}");
        }
    }
}
