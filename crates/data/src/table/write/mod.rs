//! The second pass: every own row of the result, once, in input order.

mod collected;
pub(crate) mod ending;
mod output;
mod partial;
mod place;
mod union;

pub use collected::{Collected, Delivered};
pub use output::{Output, OutputOptions};
pub use place::{Place, STANDARD_OUTPUT};
pub use union::{NewKeys, UnionStats, write_union};

use std::cell::Cell;
use std::fmt;

use arrow_schema::Schema;

use crate::table::formats::columns_writer as columns;
use crate::table::formats::csv::write as text;
use crate::table::write::ending::RowsAs;
use crate::table::{Format, KeyTable, NO_KEY, PayloadSchema, ReceivedPayload, Sink, Source, TableError};

/// Which rows are the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// Rows whose key the partner has.
    #[default]
    Inner,
    /// All rows. The partner's columns are null where it does not have the key, or the row has no usable one.
    Left,
    /// Rows whose key the partner does not have, those without a usable key among them.
    Difference,
}

/// What the protocol found.
#[derive(Clone, Copy, Debug)]
pub struct Matches<'a> {
    /// Indices into [`KeyTable::digests`] (which may have been moved into the protocol) of the keys
    /// that the partner has too.
    pub keys: &'a [u32],
    /// One record a match, in the order of `keys`. Not for [`Join::Difference`].
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

/// In [`KeptRows::rank`]: the key is no match.
const NO_MATCH: u32 = u32::MAX;

/// The rows of the own table that are the result, as [`Source::keep`] asks for them.
pub struct KeptRows<'a> {
    row_key: &'a [u32],
    keys_per_row: usize,
    /// For each distinct key its place among the matches, or [`NO_MATCH`].
    rank: Vec<u32>,
    join: Join,
    payload: Option<ReceivedPayload<'a>>,
    /// A record of nulls, for rows of [`Join::Left`] without a match.
    null_record: Vec<u8>,
    /// One more than the last row that was asked for.
    asked: Cell<usize>,
    /// The row that [`Self::row`] takes for 0.
    first: Cell<usize>,
}

impl fmt::Debug for KeptRows<'_> {
    /// Which keys match is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptRows").field("join", &self.join).finish_non_exhaustive()
    }
}

impl<'a> KeptRows<'a> {
    /// The rows of `table` that `join` keeps.
    pub fn new(table: &'a KeyTable, matches: &Matches<'a>, join: Join) -> Result<Self, TableError> {
        let mut rank = vec![NO_MATCH; table.stats.distinct as usize];
        for (place, &key) in (0u32..).zip(matches.keys) {
            if let Some(rank) = rank.get_mut(key as usize) {
                *rank = place;
            }
        }
        let payload = matches.payload.filter(|_| join != Join::Difference);
        if let Some(payload) = &payload {
            payload.schema.check()?;
            if payload.schema.width.checked_mul(matches.keys.len()) != Some(payload.bytes.len()) {
                return Err(TableError::PeerPayload("its length is not that of the matches"));
            }
        }
        Ok(Self {
            rank,
            join,
            null_record: payload.map(|payload| payload.schema.null_record()).unwrap_or_default(),
            payload,
            ..Self::all(table)
        })
    }

    /// All rows of `table`, those without a usable key among them.
    pub(crate) fn all(table: &'a KeyTable) -> Self {
        let (row_key, keys_per_row) = (&table.row_key[..], table.keys_per_row());
        let (asked, first) = (Cell::new(0), Cell::new(0));
        let (rank, null_record) = (Vec::new(), Vec::new());
        Self { row_key, keys_per_row, rank, join: Join::Left, payload: None, null_record, asked, first }
    }

    /// Whether the row, counted from 0, is part of the result; if it is, the payload of its match, or
    /// nulls for it. A row matches if one of its keys does, in any alternative.
    /// A second pass asks this of every row.
    #[inline]
    pub fn row(&self, row: usize) -> Option<Option<&[u8]>> {
        let row = self.first.get() + row;
        self.asked.set(self.asked.get().max(row + 1));
        let of_key = |key: u32| self.rank.get(key as usize).copied().unwrap_or(NO_MATCH);
        let rank = match self.keys_per_row {
            1 => of_key(self.row_key.get(row).copied().unwrap_or(NO_KEY)),
            keys => {
                let of_row = self.row_key.get(row * keys..(row + 1) * keys).unwrap_or_default();
                of_row.iter().map(|&key| of_key(key)).find(|&rank| rank != NO_MATCH).unwrap_or(NO_MATCH)
            }
        };
        let is_match = rank != NO_MATCH;
        let is_kept = match self.join {
            Join::Inner => is_match,
            Join::Left => true,
            Join::Difference => !is_match,
        };
        is_kept.then(|| {
            let ReceivedPayload { schema, bytes } = self.payload?;
            let start = rank as usize * schema.width;
            if is_match { bytes.get(start..start + schema.width) } else { Some(self.null_record.as_slice()) }
        })
    }

    /// Counts rows from 0 again, behind those that were asked for. How many these are.
    pub(crate) fn begin_part(&self) -> usize {
        self.first.set(self.asked.get());
        self.asked.get()
    }

    /// The partner's columns that go along.
    pub fn payload_schema(&self) -> Option<&'a PayloadSchema> {
        self.payload.map(|payload| payload.schema)
    }

    /// Refuses a second pass that did not see as many rows as the first.
    pub(crate) fn check_rows(&self, source: &str) -> Result<(), TableError> {
        let seen_all = self.asked.get() * self.keys_per_row == self.row_key.len();
        if seen_all { Ok(()) } else { Err(TableError::Changed { path: source.to_owned() }) }
    }
}

/// Refuses rows that `format` cannot hold, as far as the columns and the first row say: before the
/// protocol, not after it.
pub(crate) fn check(source: &dyn Source, rows: RowsAs, path: &str) -> Result<(), TableError> {
    let from = source.stored().map(|stored| stored.format);
    match rows.format {
        Format::Csv if from.is_some_and(Format::is_text) => Ok(()),
        Format::JsonLines if from == Some(Format::JsonLines) => Ok(()),
        Format::JsonLines => {
            columns::check_names(source.schema()?.as_ref(), path)?;
            text::check(source, rows.format, path)
        }
        Format::Csv => text::check(source, rows.format, path),
        format @ (Format::Parquet | Format::ArrowFile | Format::ArrowStream) => {
            if from == Some(Format::Csv) {
                columns::check_names(source.schema()?.as_ref(), path)?;
            }
            columns::check(source, format, path)
        }
    }
}

/// Writes the result's rows with all their columns, and the payload's behind them, and completes
/// the result.
///
/// CSV to CSV copies each record byte by byte, and JSON lines to JSON lines each line; Parquet and
/// Arrow keep their schema. Another output format converts: columns of CSV and JSON lines are text,
/// columnar values get the text of [`crate::key`], floats their shortest exact decimal and binary
/// hexadecimal digits.
pub fn write_matches(
    source: &dyn Source,
    table: &KeyTable,
    matches: &Matches<'_>,
    join: Join,
    mut sink: impl Sink,
) -> Result<WriteStats, TableError> {
    let kept = KeptRows::new(table, matches, join)?;
    source.keep(&kept, &mut sink)?;
    kept.check_rows(source.name())?;
    sink.finish()
}

/// Names for the payload's columns that do not collide with those of the table or with each other.
pub(crate) fn payload_names(schema: &Schema, payload: &PayloadSchema) -> Vec<String> {
    let mut taken: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let own = taken.len();
    for field in &payload.fields {
        let mut name = field.name.clone();
        while taken.contains(&name) {
            name.insert_str(0, "partner_");
        }
        taken.push(name);
    }
    taken.split_off(own)
}
