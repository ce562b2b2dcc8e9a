//! What is read beside the digests of a table's keys: a payload, the keys themselves, or values to
//! compute with.

use crate::table::payload::{KeyKind, PayloadCollector, PayloadRows, UnionCollector, UnionRows, UnionSpec};
use crate::table::source::{Cell, WrongForm};
use crate::table::values::{ValueCollector, ValueRows};
use crate::table::{PayloadSpec, TableError, ValueSpec};

/// What is read beside the keys.
#[derive(Clone, Copy)]
pub(super) enum Along<'a> {
    Nothing,
    Payload(&'a PayloadSpec),
    /// The sender's side of a union, or its receiver's.
    Union(Option<&'a UnionSpec>),
    Values(&'a ValueSpec),
}

/// Gathers what is read beside the keys, for each distinct key.
pub(super) enum Gatherer {
    Nothing,
    Payload(PayloadCollector),
    /// The kinds of key columns, for which no row is read.
    Kinds(Vec<KeyKind>),
    Union(Box<UnionCollector>),
    Values(ValueCollector),
}

/// What some rows say beside their keys.
pub(super) enum GatheredRows {
    Nothing,
    Payload(PayloadRows),
    Union(UnionRows),
    Values(ValueRows),
}

impl Gatherer {
    /// No rows.
    pub fn rows(&self) -> GatheredRows {
        match self {
            Self::Nothing | Self::Kinds(_) => GatheredRows::Nothing,
            Self::Payload(payload) => GatheredRows::Payload(payload.rows()),
            Self::Union(union) => GatheredRows::Union(union.rows()),
            Self::Values(values) => GatheredRows::Values(values.rows()),
        }
    }

    /// Takes what row `row` of the table says of its key: the one at `place` among `rows`.
    pub fn take(&mut self, rows: &GatheredRows, place: usize, at: At<'_>) -> Result<(), TableError> {
        match (self, rows) {
            (Self::Payload(payload), GatheredRows::Payload(rows)) => payload.take(rows, place, at),
            (Self::Union(union), GatheredRows::Union(rows)) => union.take(rows, place, at),
            (Self::Values(values), GatheredRows::Values(rows)) => values.take(rows, place, at),
            _ => Ok(()),
        }
    }
}

/// A row and its key.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    /// The name of the table.
    pub source: &'a str,
    /// The index of the key among the distinct ones.
    pub key: usize,
    /// Whether no earlier row has the key.
    pub new: bool,
    /// The row's number, from 1.
    pub row: u64,
}

impl GatheredRows {
    /// Takes a component of the row's key, in key order: what its normalisers made of it.
    #[inline]
    pub fn key(&mut self, index: usize, component: &[u8]) {
        if let Self::Union(rows) = self {
            rows.keys.bytes(index, component);
        }
    }

    #[inline]
    pub fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), WrongForm> {
        match self {
            Self::Nothing => Ok(()),
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
        }
    }

    pub fn clear(&mut self) {
        match self {
            Self::Nothing => {}
            Self::Payload(rows) => rows.clear(),
            Self::Union(rows) => rows.clear(),
            Self::Values(rows) => rows.clear(),
        }
    }
}
