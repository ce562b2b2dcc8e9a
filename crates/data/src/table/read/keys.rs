//! The first pass: rows become key digests, digests become distinct keys in first-seen order.

use std::fmt;
use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use crate::key::{Digests, KeySpec};
use crate::table::kept_rows::RowKeys;
use crate::table::payload::{UnionKeys, UnionSpec};
use crate::table::read::beside::integers::IntegerCollector;
use crate::table::read::beside::payload::PayloadCollector;
use crate::table::read::beside::union::{UnionCollector, key_kinds};
use crate::table::read::beside::values::ValueCollector;
use crate::table::read::beside::{BesideKeys, Gatherer, KeyedRow};
use crate::table::read::distinct::DistinctKeys;
use crate::table::read::faults::OnFault;
use crate::table::read::named_columns::NamedColumns;
use crate::table::read::row_digests::RowDigests;
use crate::table::read::spilled::{BesideSpilled, FromPartitions, Partitions, SpilledKeys};
use crate::table::source::{Scanner, ScannerPart, Source, Wanted};
use crate::table::{KeyStats, NO_KEY, PayloadSpec, PayloadTable, TableError, ValueSpec, ValueTable};

/// Memory that must be left while keys are read.
const LEAST_LEFT: u64 = 64 << 20;

/// Keys between two looks at what is left of memory.
const KEYS_BETWEEN_LOOKS: usize = 1 << 18;

/// The most rows for which room is made in advance.
const MAX_EXPECTED_ROWS: usize = 1 << 24;

/// What the first pass found.
pub struct KeyTable {
    /// Digests of the distinct keys, in the order in which they first occur.
    pub digests: Digests,
    /// For each row and alternative of the key the index of the row's key in `digests`, or [`NO_KEY`]:
    /// with `n` alternatives, a row has `n` entries.
    pub row_key: Vec<u32>,
    /// Counts, for the local report.
    pub stats: KeyStats,
    /// One padded payload a distinct key, when payload columns were asked for.
    pub payload: Option<PayloadTable>,
    /// Values and groups of the distinct keys, when these were asked for.
    pub values: Option<ValueTable>,
    /// The keys themselves, when the table is a side of a union.
    pub union: Option<UnionKeys>,
    /// The integers that the distinct keys are, when these were asked for.
    pub integers: Option<Vec<u64>>,
    /// The keys of a table that outgrows memory, and their payloads. Then `digests`, `row_key` and the payload's bytes are
    /// empty.
    pub spilled: Option<SpilledKeys>,
}

impl KeyTable {
    /// How many distinct keys there are, wherever they are now.
    pub fn distinct(&self) -> usize {
        self.stats.distinct as usize
    }

    /// Entries of a row in `row_key`.
    pub fn keys_per_row(&self) -> usize {
        self.stats.alternatives.len().max(1)
    }

    /// The keys of the rows, for a second pass.
    pub(crate) fn row_keys(&self) -> RowKeys<'_> {
        RowKeys { all: &self.row_key, per_row: self.keys_per_row(), distinct: self.stats.distinct as usize }
    }

    /// How many of these distinct keys are of each alternative.
    pub fn by_alternative(&self, keys: &[u32]) -> Vec<u64> {
        let mut is_left = vec![false; self.stats.distinct as usize];
        for &key in keys {
            if let Some(is_left) = is_left.get_mut(key as usize) {
                *is_left = true;
            }
        }
        let mut counts = vec![0; self.keys_per_row()];
        for row in self.row_key.chunks_exact(self.keys_per_row()) {
            for (&key, count) in row.iter().zip(&mut counts) {
                *count += u64::from(is_left.get_mut(key as usize).is_some_and(take));
            }
        }
        counts
    }
}

impl fmt::Debug for KeyTable {
    /// Digests invite guessing, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyTable").field("stats", &self.stats).finish_non_exhaustive()
    }
}

/// Reads the key columns (and the payload columns) of a whole table, of which at least one row has
/// a usable key if it has rows.
pub fn read_keys(source: &dyn Source, spec: &KeySpec, payload: Option<&PayloadSpec>) -> Result<KeyTable, TableError> {
    read_keys_within(source, spec, payload, &|| None)
}

/// [`read_keys`], but refuses a payload that takes more memory once it is padded than there is room
/// for: `room` says how many bytes are left, once all rows have been read.
pub fn read_keys_within(
    source: &dyn Source,
    spec: &KeySpec,
    payload: Option<&PayloadSpec>,
    room: &dyn Fn() -> Option<u64>,
) -> Result<KeyTable, TableError> {
    read(source, spec, payload.map_or(BesideKeys::Nothing, BesideKeys::Payload), room)
}

/// Reads the key columns and the columns to compute with of a whole table, of which at least one
/// row has a usable key.
pub fn read_values(source: &dyn Source, spec: &KeySpec, values: &ValueSpec) -> Result<KeyTable, TableError> {
    read_values_within(source, spec, values, &|| None)
}

/// [`read_values`] in the memory that is left, in bytes, as `room` says.
///
/// # Errors
/// As of [`read_values`], and if the keys take more.
pub fn read_values_within(
    source: &dyn Source,
    spec: &KeySpec,
    values: &ValueSpec,
    room: &dyn Fn() -> Option<u64>,
) -> Result<KeyTable, TableError> {
    read(source, spec, BesideKeys::Values(values), room)
}

/// Reads the key column of a whole table, of which at least one row has a usable key: integers below
/// `2^bits`.
///
/// # Errors
/// As of [`read_keys`], for a key of several columns, and for the first row with a value that is no
/// such integer. A row with a null or empty value has no key, as always.
pub fn read_integers(source: &dyn Source, spec: &KeySpec, bits: u32) -> Result<KeyTable, TableError> {
    if spec.columns().len() != 1 {
        return Err(TableError::Option("integers come from one key column".into(), "name one column with --key"));
    }
    read(source, spec, BesideKeys::Integers(bits), &|| None)
}

/// Reads the key columns of a whole table that is a side of a union; of the sender's, also what
/// `sender` says. `room` is as for [`read_keys_within`].
pub fn read_union_within(
    source: &dyn Source,
    spec: &KeySpec,
    sender: Option<&UnionSpec>,
    room: &dyn Fn() -> Option<u64>,
) -> Result<KeyTable, TableError> {
    read(source, spec, BesideKeys::Union(sender), room)
}

fn read(
    source: &dyn Source,
    spec: &KeySpec,
    beside: BesideKeys<'_>,
    room: &dyn Fn() -> Option<u64>,
) -> Result<KeyTable, TableError> {
    with_keys(source, spec, collect(source, spec, beside, room, &mut OnFault::default())?)
}

/// [`read_keys`] of a table that may outgrow memory: its keys, and the payload or the values beside them, are kept in
/// files of the folder `work`, of which none has a name. With `hash_key`, the table is hashed under it.
///
/// # Errors
/// As of [`read_keys`] and its relatives, for a key with alternatives, for groups, and if the folder takes no file.
pub fn read_spilled(
    source: &dyn Source,
    spec: &KeySpec,
    beside: BesideKeys<'_>,
    work: &Path,
    hash_key: Option<&[u8; 32]>,
) -> Result<KeyTable, TableError> {
    with_keys(source, spec, collect_spilled(source, spec, beside, work, hash_key, &mut OnFault::default())?)
}

/// [`read_spilled`], where no usable key is no error and faults become what `on_fault` makes of them.
pub(super) fn collect_spilled(
    source: &dyn Source,
    spec: &KeySpec,
    beside: BesideKeys<'_>,
    work: &Path,
    hash_key: Option<&[u8; 32]>,
    on_fault: &mut OnFault,
) -> Result<KeyTable, TableError> {
    if matches!(beside, BesideKeys::Values(values) if values.group_by.is_some()) {
        return Err(TableError::Option("groups are not kept in a work folder".into(), "omit --group-by, or --work"));
    }
    if spec.has_alternatives() {
        let fault = "keys with alternatives are not kept in a work folder";
        return Err(TableError::Option(fault.into(), "omit --or-key, or --work"));
    }
    let keys = Keys::Spilled(Box::new(Partitions::create(work, hash_key)?));
    collect_to(keys, source, spec, beside, &|| None, on_fault)
}

/// Refuses a table of which no row has a usable key, and one of whose words for a missing value a run wants to hear more.
/// A table without rows is as good as any other.
pub(super) fn with_keys(source: &dyn Source, spec: &KeySpec, table: KeyTable) -> Result<KeyTable, TableError> {
    if table.distinct() == 0 && table.stats.rows > 0 {
        return Err(TableError::NoKeys { path: source.name().to_owned(), why: no_keys(&table.stats) });
    }
    table.stats.check_null_words(source.name(), spec)?;
    Ok(table)
}

/// [`read_keys`] for a report: no usable key is no error.
pub fn collect_keys(source: &dyn Source, spec: &KeySpec) -> Result<KeyTable, TableError> {
    collect(source, spec, BesideKeys::Nothing, &|| None, &mut OnFault::default())
}

/// Reads the key columns of a part of a table, and what is asked for beside them: no usable key is no error.
///
/// # Errors
/// As of [`read_keys`] and its relatives.
pub fn collect_part(source: &dyn Source, spec: &KeySpec, beside: BesideKeys<'_>) -> Result<KeyTable, TableError> {
    collect(source, spec, beside, &|| None, &mut OnFault::default())
}

/// Reads a table, which may have no usable key. Faults become what `on_fault` makes of them.
pub(super) fn collect(
    source: &dyn Source,
    spec: &KeySpec,
    beside: BesideKeys<'_>,
    room: &dyn Fn() -> Option<u64>,
    on_fault: &mut OnFault,
) -> Result<KeyTable, TableError> {
    collect_to(Keys::in_memory(), source, spec, beside, room, on_fault)
}

/// [`collect`], with the keys in memory or elsewhere.
fn collect_to(
    keys: Keys,
    source: &dyn Source,
    spec: &KeySpec,
    beside: BesideKeys<'_>,
    room: &dyn Fn() -> Option<u64>,
    on_fault: &mut OnFault,
) -> Result<KeyTable, TableError> {
    if spec.has_alternatives() && !matches!(beside, BesideKeys::Nothing) {
        let fault = "columns beside a key with alternatives: two rows may meet one row of the partner, each by another \
                     alternative, and nothing says whose columns count";
        return Err(TableError::Option(fault.into(), "omit --or-key, or the columns"));
    }
    let schema = source.schema()?;
    let columns = NamedColumns::new(source, &schema);
    let mut collector = Collector::new(keys, source.name(), spec, room, on_fault);
    let (mut wanted, mut types) = (Vec::new(), Vec::new());
    for (column, stats) in spec.columns().iter().zip(&mut collector.stats.columns) {
        let (wanted_column, kind) = columns.key(&column.name, "a key")?;
        stats.kind = kind;
        wanted.push(wanted_column);
        types.push(columns.find(&column.name)?.1);
    }
    collector.beside = match beside {
        BesideKeys::Nothing => Gatherer::Nothing,
        BesideKeys::Payload(payload) => Gatherer::Payload(PayloadCollector::new(payload, &columns, &mut wanted)?),
        BesideKeys::Union(None) => Gatherer::Kinds(key_kinds(spec, &types)),
        BesideKeys::Union(Some(union)) => {
            let payload = union.payload.as_ref();
            let payload = payload.map(|payload| PayloadCollector::new(payload, &columns, &mut wanted)).transpose()?;
            let kinds = key_kinds(spec, &types);
            Gatherer::Union(Box::new(UnionCollector::new(spec, kinds, payload, union.most_bytes)))
        }
        BesideKeys::Values(values) => Gatherer::Values(ValueCollector::new(values, &columns, &mut wanted)?),
        BesideKeys::Integers(bits) => {
            Gatherer::Integers(IntegerCollector::new(spec.columns().first().map_or("", |column| &column.name), bits))
        }
    };
    let name =
        |wanted: &Wanted| schema.fields().get(wanted.column).map_or_else(String::new, |field| field.name().clone());
    collector.columns = wanted.iter().map(name).collect();
    source.scan(&wanted, &mut collector)?;
    collector.finish()
}

/// Where the keys of rows go.
enum Keys {
    /// Distinct digests, and for each row and alternative which of them its key is.
    InMemory { index: DistinctKeys, row_key: Vec<u32> },
    /// All digests, of which the distinct ones are found at the end.
    Spilled(Box<Partitions>),
}

impl Keys {
    fn in_memory() -> Self {
        Self::InMemory { index: DistinctKeys::with_capacity(0), row_key: Vec::new() }
    }
}

/// Turns digests into distinct keys.
struct Collector<'a> {
    source: &'a str,
    spec: &'a KeySpec,
    keys: Keys,
    /// How many bytes of memory are left.
    room: &'a dyn Fn() -> Option<u64>,
    /// At how many keys this is asked next.
    next_look: usize,
    stats: KeyStats,
    beside: Gatherer,
    on_fault: &'a mut OnFault,
    /// The names of the wanted columns.
    columns: Arc<[String]>,
    /// Rows that are not taken yet: those of the first `open` parts.
    parts: Vec<RowDigests<'a>>,
    open: usize,
}

impl<'a> Collector<'a> {
    fn new(
        keys: Keys,
        source: &'a str,
        spec: &'a KeySpec,
        room: &'a dyn Fn() -> Option<u64>,
        on_fault: &'a mut OnFault,
    ) -> Self {
        Self {
            source,
            spec,
            keys,
            room,
            next_look: KEYS_BETWEEN_LOOKS,
            stats: KeyStats::of(spec),
            beside: Gatherer::Nothing,
            on_fault,
            columns: Arc::default(),
            parts: Vec::new(),
            open: 0,
        }
    }

    /// Takes the rows that follow those taken before.
    fn take(&mut self, rows: &mut RowDigests) -> Result<(), TableError> {
        rows.batch.finish(&mut rows.digests);
        self.on_fault.append(&mut rows.on_fault);
        let keys_per_row = self.stats.alternatives.len() as u64;
        let first = self.stats.rows * keys_per_row;
        let end = first + rows.stats.rows * keys_per_row;
        if end > u64::from(NO_KEY) {
            let limit = u64::from(NO_KEY) / keys_per_row;
            return Err(TableError::TooManyRows { path: self.source.to_owned(), limit });
        }
        match &mut self.keys {
            Keys::Spilled(partitions) => partitions.take(self.source, first, rows, self.on_fault)?,
            Keys::InMemory { index, row_key } => {
                let (keys, grows_by) = (index.digests.len(), index.grows_by(rows.digests.len()));
                if keys >= self.next_look || grows_by > LEAST_LEFT {
                    self.next_look = keys + KEYS_BETWEEN_LOOKS;
                    if let Some(left) = (self.room)().filter(|&left| left < LEAST_LEFT.max(grows_by)) {
                        return Err(TableError::KeyMemory { path: self.source.to_owned(), keys, left });
                    }
                }
                row_key.resize(end as usize, NO_KEY);
                let (first, keys_per_row) = (first as usize, keys_per_row as usize);
                let mut keyed = rows.keyed.iter().enumerate();
                // One more than the last row that was counted as a duplicate.
                let mut counted = 0;
                index.insert_all(&rows.digests, |key, new| {
                    let (place, &in_part) = keyed.next().unwrap_or((0, &0));
                    let entry = first + in_part as usize;
                    row_key[entry] = key;
                    let row = if keys_per_row == 1 { entry } else { entry / keys_per_row } as u64 + 1;
                    if !new && counted != row {
                        self.stats.duplicate_rows += 1;
                        counted = row;
                    }
                    let at = KeyedRow { source: self.source, key: key as usize, new, row };
                    self.beside.take(&rows.beside, place, at, self.on_fault)
                })?;
            }
        }
        self.stats.add(&mut rows.stats);
        Ok(())
    }

    fn finish(mut self) -> Result<KeyTable, TableError> {
        let room = self.room;
        let (mut payload, mut values, mut union, mut integers, mut spilled) = (None, None, None, None, None);
        let mut beside = self.beside;
        let (digests, row_key) = match self.keys {
            Keys::InMemory { index, row_key } => (index.digests, row_key),
            Keys::Spilled(partitions) => {
                let with = match std::mem::replace(&mut beside, Gatherer::Nothing) {
                    Gatherer::Payload(collector) => BesideSpilled::Payload(collector),
                    Gatherer::Values(collector) => BesideSpilled::Values(collector),
                    _ => BesideSpilled::Nothing,
                };
                let found = partitions.finish(self.source, with, &mut self.stats, self.on_fault)?;
                let FromPartitions { keys, payload: with_payload, values: with_values } = found;
                (spilled, payload, values) = (Some(keys), with_payload, with_values);
                (Digests::default(), Vec::new())
            }
        };
        if spilled.is_none() {
            self.stats.distinct = digests.len() as u64;
        }
        count_alternatives(&mut self.stats, &row_key);
        match beside {
            Gatherer::Nothing => {}
            Gatherer::Payload(collector) => payload = Some(collector.finish(self.source, room)?),
            Gatherer::Values(collector) => values = Some(collector.finish()),
            Gatherer::Integers(collector) => integers = Some(collector.finish()),
            Gatherer::Kinds(kinds) => union = Some(UnionKeys { kinds, records: None }),
            Gatherer::Union(collector) => {
                let (keys, with_keys) = collector.finish(self.source, room)?;
                (union, payload) = (Some(keys), with_keys);
            }
        }
        Ok(KeyTable { digests, row_key, stats: self.stats, payload, values, union, integers, spilled })
    }
}

/// Counts the distinct keys of each alternative. They are numbered as they first occur.
fn count_alternatives(stats: &mut KeyStats, row_key: &[u32]) {
    if let [only] = &mut stats.alternatives[..] {
        only.distinct = stats.distinct;
        return;
    }
    let mut next = 0;
    for row in row_key.chunks_exact(stats.alternatives.len()) {
        for (&key, alternative) in row.iter().zip(&mut stats.alternatives) {
            if key == next {
                alternative.distinct += 1;
                next += 1;
            }
        }
    }
}

impl Scanner for Collector<'_> {
    fn expect_rows(&mut self, rows: usize) {
        if let Keys::InMemory { index, row_key } = &mut self.keys
            && row_key.is_empty()
        {
            let rows = rows.min(MAX_EXPECTED_ROWS);
            *index = DistinctKeys::with_capacity(rows);
            row_key.reserve(rows * self.stats.alternatives.len());
        }
    }

    fn parts(&mut self, most: usize) -> Vec<Box<dyn ScannerPart + '_>> {
        // Only a walk from the first row knows the row of a fault that is counted.
        self.open = if self.on_fault.counts() { 1 } else { most.max(1) };
        while self.parts.len() < self.open {
            self.parts.push(RowDigests::new(
                self.source,
                self.spec,
                self.columns.clone(),
                self.beside.rows(),
                self.on_fault.alike(),
            ));
        }
        let first = self.stats.rows;
        let parts = self.parts.iter_mut().take(self.open);
        parts
            .map(|part| {
                part.restart(first);
                Box::new(part) as Box<dyn ScannerPart + '_>
            })
            .collect()
    }

    fn commit(&mut self) -> Result<(), TableError> {
        let mut parts = take(&mut self.parts);
        let taken = parts.iter_mut().take(take(&mut self.open)).try_for_each(|part| self.take(part));
        self.parts = parts;
        taken
    }
}

fn no_keys(stats: &KeyStats) -> String {
    if stats.alternatives.len() > 1 {
        return "every row has, in each alternative of the key, a null, empty or refused component".to_owned();
    }
    let guilty = stats.columns.iter().find(|c| c.nulls + c.empty + c.unmatchable == stats.rows);
    match guilty {
        Some(c) if c.unmatchable == 0 => format!("key column `{}` is null or empty in every row", c.name),
        Some(c) if c.unmatchable == stats.rows => {
            format!("the normalisers of key column `{}` refuse every value", c.name)
        }
        Some(c) => format!("key column `{}` is null, empty or refused by its normalisers in every row", c.name),
        None => "every row has a null, empty or refused component in some key column".to_owned(),
    }
}
