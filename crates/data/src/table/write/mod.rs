//! The second pass: every own row of the result, once, in input order.

mod columns;
mod text;

pub use text::new_rows;

use crate::table::{CsvReader, Format, Input, KeyTable, NO_KEY, Output, ReceivedPayload, TableError};

/// Which rows are the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// Rows whose key the partner has.
    #[default]
    Inner,
    /// The other rows, those without a usable key among them.
    Difference,
}

/// What the protocol found.
#[derive(Clone, Copy, Debug)]
pub struct Matches<'a> {
    /// Indices into [`KeyTable::digests`] (which may have been moved into the protocol) of the keys that the partner has too.
    pub keys: &'a [u32],
    /// One record a match, in the order of `keys`. Only for [`Join::Inner`].
    pub payload: Option<ReceivedPayload<'a>>,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WriteStats {
    /// Rows of the result.
    pub rows: u64,
    /// Their bytes, before compression.
    pub bytes: u64,
}

/// In [`Selection::rank`]: the key is no match.
const NO_MATCH: u32 = u32::MAX;

/// Decides row by row.
struct Selection<'a> {
    row_key: &'a [u32],
    /// For each distinct key its place among the matches, or [`NO_MATCH`].
    rank: Vec<u32>,
    join: Join,
    payload: Option<ReceivedPayload<'a>>,
}

impl<'a> Selection<'a> {
    fn new(table: &'a KeyTable, matches: &Matches<'a>, join: Join) -> Result<Self, TableError> {
        let mut rank = vec![NO_MATCH; table.stats.distinct as usize];
        for (place, &key) in (0u32..).zip(matches.keys) {
            if let Some(rank) = rank.get_mut(key as usize) {
                *rank = place;
            }
        }
        let payload = matches.payload.filter(|_| join == Join::Inner);
        if let Some(payload) = &payload {
            payload.schema.check()?;
            if payload.schema.width.checked_mul(matches.keys.len()) != Some(payload.bytes.len()) {
                return Err(TableError::PeerPayload("its length is not that of the matches"));
            }
        }
        Ok(Self { row_key: &table.row_key, rank, join, payload })
    }

    /// Whether the row is part of the result, and then the record of its match.
    fn row(&self, row: usize) -> Option<Option<&'a [u8]>> {
        let key = self.row_key.get(row).copied().unwrap_or(NO_KEY);
        let rank = self.rank.get(key as usize).copied().unwrap_or(NO_MATCH);
        if (rank != NO_MATCH) != (self.join == Join::Inner) {
            return None;
        }
        let record = self.payload.and_then(|payload| {
            let start = rank as usize * payload.schema.width;
            payload.bytes.get(start..start + payload.schema.width)
        });
        Some(record)
    }

    /// The second pass must see as many rows as the first.
    fn check_rows(&self, input: &Input, rows: usize) -> Result<(), TableError> {
        if rows == self.row_key.len() { Ok(()) } else { Err(TableError::Changed { path: input.path().to_owned() }) }
    }
}

/// Refuses rows that `format` cannot hold, as far as the columns and the first rows say: before the protocol, not after
/// it.
pub(crate) fn check(input: &Input, format: Format, path: &str) -> Result<(), TableError> {
    match (input.format(), format) {
        (Format::Csv, Format::Csv) => Ok(()),
        (Format::Csv, _) => columns::check_names(CsvReader::open(input)?.header(), path),
        (_, Format::Csv) => text::check(input, path),
        _ => columns::check(input, format, path),
    }
}

/// Writes the result's rows with all their columns, and the payload's behind them, and moves the file under its final name.
///
/// CSV to CSV copies each record byte by byte; Parquet and Arrow keep their schema. Another output format converts: CSV columns
/// are text, columnar values get the text of [`crate::key`], floats their shortest exact decimal and binary hexadecimal digits.
pub fn write_matches(
    input: &Input,
    table: &KeyTable,
    matches: &Matches<'_>,
    join: Join,
    mut output: Output,
) -> Result<WriteStats, TableError> {
    let selection = Selection::new(table, matches, join)?;
    let stats = match (input.format(), output.format()) {
        (Format::Csv, Format::Csv) => text::csv_to_csv(input, &selection, &mut output)?,
        (Format::Csv, _) => columns::csv_to_columns(input, &selection, &mut output)?,
        (_, Format::Csv) => text::columns_to_csv(input, &selection, &mut output)?,
        _ => columns::columns_to_columns(input, &selection, &mut output)?,
    };
    output.commit()?;
    Ok(stats)
}

/// Names for the payload's columns that do not collide with those of the table or with each other.
fn payload_names(own: &[String], payload: &ReceivedPayload<'_>) -> Vec<String> {
    let mut taken = own.to_vec();
    for field in &payload.schema.fields {
        let mut name = field.name.clone();
        while taken.contains(&name) {
            name.insert_str(0, "partner_");
        }
        taken.push(name);
    }
    taken.split_off(own.len())
}
