//! `check`: what a table's key columns hold. A [`Profile`] tells it in counts and never in values;
//! [`Examples`] and a [`Comparison`] hold values, for the user whose tables these are.

mod cells;
mod column;
mod compare;
mod examples;
mod show;

pub use column::{ColumnProfile, NormaliserEffect};
pub use compare::{ComparedAlternative, ComparedColumn, Comparison, Meeting, MeetingRows, compare};
pub use examples::{Component, ExampleKey, Examples, RefusedValue, RefusedValues, examples};

use std::collections::HashSet;

use crate::key::KeySpec;
use crate::table::{CsvReader, Format, Input, KeyStats, NO_KEY, Packing, Source, TableError, TableFile, collect_keys};

/// How many of the largest multiplicities are listed.
const LISTED_MULTIPLICITIES: usize = 5;

/// The local report on one table. Nothing of it leaves this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Profile {
    /// The name of the file, as the user gave it.
    pub path: String,
    /// Format found.
    pub format: Format,
    /// How many files it is in.
    pub files: usize,
    /// Bytes on disk.
    pub bytes: u64,
    /// How it is compressed as a whole, if it is.
    pub packing: Option<Packing>,
    /// Only for CSV.
    pub csv: Option<CsvProfile>,
    /// Rows, nulls, duplicates and distinct keys under the declared normalisers.
    pub keys: KeyStats,
    /// Rows of the most frequent keys, descending: how often, not which.
    pub top_multiplicities: Vec<u64>,
    /// Keys with more than one row.
    pub repeated_keys: u64,
    /// The key columns, in key order.
    pub columns: Vec<ColumnProfile>,
    /// What deserves a look, with what to do about it.
    pub warnings: Vec<String>,
}

/// How a CSV file is written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CsvProfile {
    /// The delimiter in use.
    pub delimiter: char,
    /// Columns of the header.
    pub header_columns: usize,
    /// Starts with a byte-order mark.
    pub byte_order_mark: bool,
    /// `LF`, `CRLF` or `CR`, as the header ends.
    pub line_end: &'static str,
}

/// Reads the table twice and reports on its key.
pub fn check(input: &Input, spec: &KeySpec) -> Result<Profile, TableError> {
    report(input, input, 1, spec)
}

/// [`check`] of a table in one file or in several. How CSV is written is said of the first one.
pub fn check_file(table: &TableFile, spec: &KeySpec) -> Result<Profile, TableError> {
    match table {
        TableFile::One(input) => check(input, spec),
        TableFile::Parts(parts) => report(parts, &parts.first()?, parts.count(), spec),
    }
}

/// Reports on a table whose first file is `first`.
fn report(input: &dyn Source, first: &Input, files: usize, spec: &KeySpec) -> Result<Profile, TableError> {
    let mut warnings = Vec::new();
    let stored = input.stored().unwrap_or(first.file().stored());
    let csv = if stored.format == Format::Csv { Some(csv_profile(first)?) } else { None };
    let table = collect_keys(input, spec)?;
    let mut multiplicities = vec![0u64; table.digests.len()];
    for &key in table.row_key.iter().filter(|&&key| key != NO_KEY) {
        if let Some(rows) = multiplicities.get_mut(key as usize) {
            *rows += 1;
        }
    }
    let repeated_keys = multiplicities.iter().filter(|&&rows| rows > 1).count() as u64;
    multiplicities.sort_unstable_by(|a, b| b.cmp(a));
    multiplicities.truncate(LISTED_MULTIPLICITIES);

    let mut columns: Vec<_> =
        spec.columns().iter().zip(&table.stats.columns).map(|(c, stats)| column::Inspector::new(c, stats)).collect();
    cells::for_each_cell(input, spec, &mut |index, cell| {
        if let (Some(inspector), Some(value)) = (columns.get_mut(index), cell) {
            inspector.value(value);
        }
    })?;
    let columns: Vec<ColumnProfile> = columns.into_iter().map(column::Inspector::finish).collect();
    for (column, declared) in columns.iter().zip(spec.columns()) {
        column.warn(!declared.normalisers.is_empty(), &mut warnings);
    }
    for (declared, stats) in spec.columns().iter().zip(&table.stats.columns) {
        if declared.normalisers.is_empty() {
            continue;
        }
        let pitfalls = stats.pitfalls().into_iter().filter(|pitfall| !pitfall.only_beside_other_kinds);
        warnings.extend(pitfalls.map(|pitfall| {
            let (name, flag) = (&declared.name, declared.flag_with(pitfall.normaliser));
            format!("`{name}`: after normalising, {}: consider --normalise {flag} on both sides", pitfall.what)
        }));
    }
    warnings.extend(table.stats.warnings(spec));
    if let Err(refused) = table.stats.check_null_words(input.name(), spec) {
        warnings.push(format!("`send` and `receive` will refuse this table: {refused}"));
    }
    if table.stats.rows == 0 {
        warnings.push("the table has no rows: a run takes it, with nothing to match".to_owned());
    } else if table.digests.is_empty() {
        warnings.push("no row has a usable key: `send` and `receive` will refuse this table".to_owned());
    }
    // A column may stand in several alternatives of the key.
    let mut told = HashSet::new();
    warnings.retain(|warning| told.insert(warning.clone()));
    Ok(Profile {
        path: input.name().to_owned(),
        format: stored.format,
        files,
        bytes: stored.bytes,
        packing: stored.packing,
        csv,
        keys: table.stats,
        top_multiplicities: multiplicities,
        repeated_keys,
        columns,
        warnings,
    })
}

fn csv_profile(input: &Input) -> Result<CsvProfile, TableError> {
    let reader = CsvReader::open(input.file())?;
    let line_end = match reader.line_end() {
        b"\r\n" => "CRLF",
        b"\r" => "CR",
        _ => "LF",
    };
    Ok(CsvProfile {
        delimiter: char::from(input.file().delimiter()),
        header_columns: reader.header().len(),
        byte_order_mark: reader.marked(),
        line_end,
    })
}
