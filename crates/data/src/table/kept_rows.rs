//! Which rows of the own table are the result, as the second pass over it asks.

use std::cell::Cell;
use std::fmt;

use crate::table::{PayloadSchema, ReceivedPayload, TableError};

/// The key of a row that has no usable one: the row never matches.
pub const NO_KEY: u32 = u32::MAX;

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
    /// Indices into [`KeyTable::digests`](crate::table::KeyTable::digests) (which may have been moved into the protocol) of the keys
    /// that the partner has too.
    pub keys: &'a [u32],
    /// One record a match, in the order of `keys`. Not for [`Join::Difference`].
    pub payload: Option<ReceivedPayload<'a>>,
}

/// The keys of a table's rows, as its first pass found them.
#[derive(Clone, Copy)]
pub(crate) struct RowKeys<'a> {
    /// For each row and alternative of the key the number of a distinct key, or [`NO_KEY`].
    pub all: &'a [u32],
    /// Entries of a row in `all`.
    pub per_row: usize,
    /// How many distinct keys there are.
    pub distinct: usize,
}

/// In [`KeptRows::rank`]: the key is no match.
const NO_MATCH: u32 = u32::MAX;

/// The rows of the own table that are the result, as [`Source::keep`](crate::table::Source::keep) asks for them.
pub struct KeptRows<'a> {
    keys: RowKeys<'a>,
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
    /// The rows of a table with these keys that `join` keeps.
    pub(crate) fn new(keys: RowKeys<'a>, matches: &Matches<'a>, join: Join) -> Result<Self, TableError> {
        let mut rank = vec![NO_MATCH; keys.distinct];
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
            ..Self::all(keys)
        })
    }

    /// All rows of a table with these keys, those without a usable key among them.
    pub(crate) fn all(keys: RowKeys<'a>) -> Self {
        let (asked, first) = (Cell::new(0), Cell::new(0));
        let (rank, null_record) = (Vec::new(), Vec::new());
        Self { keys, rank, join: Join::Left, payload: None, null_record, asked, first }
    }

    /// Whether the row, counted from 0, is part of the result; if it is, the payload of its match, or
    /// nulls for it. A row matches if one of its keys does, in any alternative.
    /// A second pass asks this of every row.
    #[inline]
    pub fn row(&self, row: usize) -> Option<Option<&[u8]>> {
        let row = self.first.get() + row;
        self.asked.set(self.asked.get().max(row + 1));
        let of_key = |key: u32| self.rank.get(key as usize).copied().unwrap_or(NO_MATCH);
        let rank = match self.keys.per_row {
            1 => of_key(self.keys.all.get(row).copied().unwrap_or(NO_KEY)),
            keys => {
                let of_row = self.keys.all.get(row * keys..(row + 1) * keys).unwrap_or_default();
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
        let seen_all = self.asked.get() * self.keys.per_row == self.keys.all.len();
        if seen_all { Ok(()) } else { Err(TableError::Changed { path: source.to_owned() }) }
    }
}
