//! What is read beside the digests of a table's keys: a payload, the keys themselves, values to
//! compute with, or the integers that keys are.

pub(crate) mod integers;
mod keyed_row;
pub(crate) mod payload;
pub(crate) mod union;
pub(crate) mod values;

pub(crate) use keyed_row::KeyedRow;

use self::integers::{IntegerCollector, IntegerRows};
use self::payload::{PayloadCollector, PayloadRows};
use self::union::{UnionCollector, UnionRows};
use self::values::{ValueCollector, ValueRows};
use crate::table::payload::{KeyKind, UnionSpec};
use crate::table::read::faults::OnFault;
use crate::table::source::{Cell, WrongForm};
use crate::table::{PayloadSpec, TableError, ValueSpec};

/// What is read beside the keys.
#[derive(Clone, Copy, Debug)]
pub enum BesideKeys<'a> {
    /// Nothing.
    Nothing,
    /// Columns as they stand.
    Payload(&'a PayloadSpec),
    /// The sender's side of a union, or its receiver's.
    Union(Option<&'a UnionSpec>),
    /// Columns of numbers, and groups.
    Values(&'a ValueSpec),
    /// The key itself, an integer of at most so many bits.
    Integers(u32),
}

/// Gathers what is read beside the keys, for each distinct key.
pub(super) enum Gatherer {
    Nothing,
    Payload(PayloadCollector),
    /// The kinds of key columns, for which no row is read.
    Kinds(Vec<KeyKind>),
    Union(Box<UnionCollector>),
    Values(ValueCollector),
    Integers(IntegerCollector),
}

/// What some rows say beside their keys.
pub(super) enum GatheredRows {
    Nothing,
    Payload(PayloadRows),
    Union(UnionRows),
    Values(ValueRows),
    Integers(IntegerRows),
}

impl Gatherer {
    /// No rows.
    pub fn rows(&self) -> GatheredRows {
        match self {
            Self::Nothing | Self::Kinds(_) => GatheredRows::Nothing,
            Self::Payload(payload) => GatheredRows::Payload(payload.rows()),
            Self::Union(union) => GatheredRows::Union(union.rows()),
            Self::Values(values) => GatheredRows::Values(values.rows()),
            Self::Integers(integers) => GatheredRows::Integers(integers.rows()),
        }
    }

    /// Takes what row `row` of the table says of its key: the one at `place` among `rows`.
    pub fn take(
        &mut self,
        rows: &GatheredRows,
        place: usize,
        at: KeyedRow<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        match (self, rows) {
            (Self::Payload(payload), GatheredRows::Payload(rows)) => payload.take(rows, place, at, on_fault),
            (Self::Union(union), GatheredRows::Union(rows)) => union.take(rows, place, at, on_fault),
            (Self::Values(values), GatheredRows::Values(rows)) => values.take(rows, place, at, on_fault),
            (Self::Integers(integers), GatheredRows::Integers(rows)) => integers.take(rows, place, at, on_fault),
            _ => Ok(()),
        }
    }
}

impl GatheredRows {
    /// Takes a component of the row's key, in key order: what its normalisers made of it.
    #[inline]
    pub fn key(&mut self, index: usize, component: &[u8]) {
        match self {
            Self::Union(rows) => rows.keys.bytes(index, component),
            Self::Integers(rows) => rows.key(component),
            Self::Nothing | Self::Payload(_) | Self::Values(_) => {}
        }
    }

    /// Whether a component of the row's key that a normaliser refused is an error: it is told with
    /// the row's number when the row is taken.
    pub fn refuse(&mut self) -> bool {
        match self {
            Self::Integers(rows) => {
                rows.refuse();
                true
            }
            _ => false,
        }
    }

    #[inline]
    pub fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), WrongForm> {
        match self {
            Self::Nothing | Self::Integers(_) => Ok(()),
            Self::Payload(rows) => rows.cell(place, cell),
            Self::Union(rows) => rows.cell(place, cell),
            Self::Values(rows) => rows.cell(place, cell),
        }
    }

    #[inline]
    pub fn end_row(&mut self, keep: bool) {
        match self {
            Self::Nothing => {}
            Self::Payload(rows) => rows.end_row(keep),
            Self::Union(rows) => rows.end_row(keep),
            Self::Values(rows) => rows.end_row(keep),
            Self::Integers(rows) => rows.end_row(keep),
        }
    }

    pub fn clear(&mut self) {
        match self {
            Self::Nothing => {}
            Self::Payload(rows) => rows.clear(),
            Self::Union(rows) => rows.clear(),
            Self::Values(rows) => rows.clear(),
            Self::Integers(rows) => rows.clear(),
        }
    }
}
