//! Which rows of the own table are the result, as the second pass over it asks.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
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

/// In [`MatchedRows::InMemory`]: the key is no match.
const NO_MATCH: u32 = u32::MAX;

/// Which rows have a match.
enum MatchedRows<'a> {
    /// Those of these keys.
    InMemory {
        keys: RowKeys<'a>,
        /// For each distinct key its place among the matches, or [`NO_MATCH`].
        rank: Vec<u32>,
        /// The records of the matches, one behind the other.
        records: &'a [u8],
    },
    /// Those that come next, each with its record, of a table of so many rows.
    Ascending { next: RefCell<NextRow<'a>>, rows: usize },
}

/// Rows with a match, ascending, each with its record.
pub type AscendingRows<'a> = Box<dyn Iterator<Item = Result<(u32, Vec<u8>), TableError>> + 'a>;

/// The next row of those that come one after the other.
struct NextRow<'a> {
    ascending: AscendingRows<'a>,
    row: Option<(usize, Vec<u8>)>,
}

impl NextRow<'_> {
    fn advance(&mut self) -> Result<(), TableError> {
        self.row = self.ascending.next().transpose()?.map(|(row, record)| (row as usize, record));
        Ok(())
    }

    /// The record of a row, if it has a match. Rows are asked for in their order.
    fn take(&mut self, row: usize) -> Result<Option<Vec<u8>>, TableError> {
        while self.row.as_ref().is_some_and(|(next, _)| *next < row) {
            self.advance()?;
        }
        if self.row.as_ref().is_none_or(|(next, _)| *next != row) {
            return Ok(None);
        }
        let taken = self.row.take();
        self.advance()?;
        Ok(taken.map(|(_, record)| record))
    }
}

/// The rows of the own table that are the result, as [`Source::keep`](crate::table::Source::keep) asks for them.
pub struct KeptRows<'a> {
    matched: MatchedRows<'a>,
    join: Join,
    /// What the partner's columns are, where they go along.
    schema: Option<&'a PayloadSchema>,
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
        let records = payload.map_or(&[][..], |payload| payload.bytes);
        Ok(Self::of(MatchedRows::InMemory { keys, rank, records }, join, payload.map(|payload| payload.schema)))
    }

    /// The rows of a table of `rows` rows that `join` keeps, where those with a match come one after the other, each with its
    /// record of these columns.
    ///
    /// # Errors
    /// If the columns are none that a sender declares, or the first row cannot be read.
    pub fn ascending(
        ascending: AscendingRows<'a>,
        rows: usize,
        join: Join,
        schema: Option<&'a PayloadSchema>,
    ) -> Result<Self, TableError> {
        let schema = schema.filter(|_| join != Join::Difference);
        schema.map_or(Ok(()), PayloadSchema::check)?;
        let mut next = NextRow { ascending, row: None };
        next.advance()?;
        Ok(Self::of(MatchedRows::Ascending { next: RefCell::new(next), rows }, join, schema))
    }

    fn of(matched: MatchedRows<'a>, join: Join, schema: Option<&'a PayloadSchema>) -> Self {
        let (asked, first) = (Cell::new(0), Cell::new(0));
        Self {
            matched,
            join,
            null_record: schema.map(PayloadSchema::null_record).unwrap_or_default(),
            schema,
            asked,
            first,
        }
    }

    /// All rows of a table with these keys, those without a usable key among them.
    pub(crate) fn all(keys: RowKeys<'a>) -> Self {
        Self::of(MatchedRows::InMemory { keys, rank: Vec::new(), records: &[] }, Join::Left, None)
    }

    /// Whether the row, counted from 0, is part of the result; if it is, the payload of its match, or
    /// nulls for it. A row matches if one of its keys does, in any alternative.
    /// A second pass asks this of every row, once and in their order.
    ///
    /// # Errors
    /// If what matched cannot be read back from a work folder.
    #[inline]
    pub fn row(&self, row: usize) -> Result<Option<Option<Cow<'_, [u8]>>>, TableError> {
        let row = self.first.get() + row;
        self.asked.set(self.asked.get().max(row + 1));
        let record = match &self.matched {
            MatchedRows::InMemory { keys, rank, records } => {
                let place = place_of(keys, rank, row);
                let width = self.schema.map_or(0, |schema| schema.width);
                let start = place as usize * width;
                (place != NO_MATCH).then(|| Cow::Borrowed(records.get(start..start + width).unwrap_or_default()))
            }
            MatchedRows::Ascending { next, .. } => next.borrow_mut().take(row)?.map(Cow::Owned),
        };
        let is_kept = match self.join {
            Join::Inner => record.is_some(),
            Join::Left => true,
            Join::Difference => record.is_none(),
        };
        Ok(is_kept.then(|| {
            self.schema?;
            Some(record.unwrap_or(Cow::Borrowed(&self.null_record)))
        }))
    }

    /// Counts rows from 0 again, behind those that were asked for. How many these are.
    pub(crate) fn begin_part(&self) -> usize {
        self.first.set(self.asked.get());
        self.asked.get()
    }

    /// The partner's columns that go along.
    pub fn payload_schema(&self) -> Option<&'a PayloadSchema> {
        self.schema
    }

    /// Refuses a second pass that did not see as many rows as the first.
    pub(crate) fn check_rows(&self, source: &str) -> Result<(), TableError> {
        let seen_all = match &self.matched {
            MatchedRows::InMemory { keys, .. } => self.asked.get() * keys.per_row == keys.all.len(),
            MatchedRows::Ascending { next, rows } => self.asked.get() == *rows && next.borrow().row.is_none(),
        };
        if seen_all { Ok(()) } else { Err(TableError::Changed { path: source.to_owned() }) }
    }
}

/// Records as sinks take them.
pub(crate) fn borrowed<'a>(records: &'a [Option<Cow<'_, [u8]>>]) -> Vec<Option<&'a [u8]>> {
    records.iter().map(Option::as_deref).collect()
}

/// The place of a row's first match among the matches, or [`NO_MATCH`].
#[inline]
fn place_of(keys: &RowKeys<'_>, rank: &[u32], row: usize) -> u32 {
    let of_key = |key: u32| rank.get(key as usize).copied().unwrap_or(NO_MATCH);
    match keys.per_row {
        1 => of_key(keys.all.get(row).copied().unwrap_or(NO_KEY)),
        per_row => {
            let of_row = keys.all.get(row * per_row..(row + 1) * per_row).unwrap_or_default();
            of_row.iter().map(|&key| of_key(key)).find(|&place| place != NO_MATCH).unwrap_or(NO_MATCH)
        }
    }
}
