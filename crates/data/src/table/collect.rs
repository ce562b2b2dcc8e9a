//! The first pass: rows become key digests, digests become distinct keys in first-seen order.

use std::fmt;
use std::mem::take;

use rayon::prelude::*;

use crate::key::{Chain, Digests, KeyBatch, KeyColumn, KeyFrame, KeySpec, KindCounts, Normaliser, Reading};
use crate::table::columnar::Batch;
use crate::table::csv::{Record, Records};
use crate::table::distinct::Distinct;
use crate::table::payload::{PayloadCollector, PayloadColumn};
use crate::table::values::{ValueArrays, ValueCollector};
use crate::table::{ColumnarReader, CsvReader, Format, Input, LONGEST_VALUE, PayloadSpec, PayloadTable, TableError, ValueSpec, ValueTable};

/// In [`KeyTable::row_key`]: the row has no usable key and never matches.
pub const NO_KEY: u32 = u32::MAX;

/// Bytes of CSV that are worth a thread.
const PART: usize = 1 << 16;

/// What the first pass found.
pub struct KeyTable {
    /// Digests of the distinct keys, in the order in which they first occur.
    pub digests: Digests,
    /// For each row the index of its key in `digests`, or [`NO_KEY`].
    pub row_key: Vec<u32>,
    /// Counts, for the local report.
    pub stats: KeyStats,
    /// One padded payload a distinct key, when payload columns were asked for.
    pub payload: Option<PayloadTable>,
    /// Values and groups of the distinct keys, when these were asked for.
    pub values: Option<ValueTable>,
}

impl fmt::Debug for KeyTable {
    /// Digests invite guessing, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyTable").field("stats", &self.stats).finish_non_exhaustive()
    }
}

/// Counts over the rows of one table. Never a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct KeyStats {
    /// All rows.
    pub rows: u64,
    /// Rows with a null or empty key component.
    pub null_rows: u64,
    /// Other rows with a component that a normaliser refused.
    pub unmatchable_rows: u64,
    /// Distinct keys.
    pub distinct: u64,
    /// Rows with a usable key that an earlier row has too.
    pub duplicate_rows: u64,
    /// By key column, in key order.
    pub columns: Vec<ColumnStats>,
}

/// Counts over one key column.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ColumnStats {
    /// Name of the column.
    pub name: String,
    /// `text`, `integer`, `boolean`, `date`, `timestamp`, `timestamp with time zone`, `binary`, `null`. CSV is text.
    pub kind: &'static str,
    /// Nulls; in CSV, empty fields without quotes.
    pub nulls: u64,
    /// Empty values, before or after normalising.
    pub empty: u64,
    /// Values that a normaliser refused.
    pub unmatchable: u64,
    /// Telephone numbers without `+` that begin with the own calling code and were read as numbers of the country.
    pub bare_national: u64,
    /// The same, read as international numbers.
    pub bare_international: u64,
    /// How the values are written after normalising.
    pub written: KindCounts,
}

impl ColumnStats {
    /// What is to be said of telephone numbers that `column` might mean in two ways, if their user did not say which.
    pub fn bare_numbers(&self, column: &KeyColumn) -> Option<String> {
        let count = self.bare_national + self.bare_international;
        let phone = column.normalisers.iter().find_map(|normaliser| match normaliser {
            Normaliser::E164(phone) if count > 0 && !phone.decides_bare_numbers() => Some(phone),
            _ => None,
        })?;
        Some(format!(
            "`{}`: {count} telephone numbers have no + and begin with {}, their country's own calling code; {} of them were read as numbers \
             of the country, {} as international ones. To have them read otherwise, add :bare=national, :bare=international or :bare=refuse \
             to {phone}",
            self.name,
            phone.calling_code(),
            self.bare_national,
            self.bare_international,
        ))
    }
}

impl KeyStats {
    fn of(spec: &KeySpec) -> Self {
        let columns = spec.columns().iter().map(|c| ColumnStats { name: c.name.clone(), ..ColumnStats::default() }).collect();
        Self { columns, ..Self::default() }
    }

    /// Takes over the counts of further rows.
    fn add(&mut self, more: &mut Self) {
        self.rows += take(&mut more.rows);
        self.null_rows += take(&mut more.null_rows);
        self.unmatchable_rows += take(&mut more.unmatchable_rows);
        for (column, more) in self.columns.iter_mut().zip(&mut more.columns) {
            column.nulls += take(&mut more.nulls);
            column.empty += take(&mut more.empty);
            column.unmatchable += take(&mut more.unmatchable);
            column.bare_national += take(&mut more.bare_national);
            column.bare_international += take(&mut more.bare_international);
            column.written.add(&take(&mut more.written));
        }
    }
}

/// Reads the key columns (and the payload columns) of a whole table, of which at least one row has a usable key.
pub fn read_keys(input: &Input, spec: &KeySpec, payload: Option<&PayloadSpec>) -> Result<KeyTable, TableError> {
    with_keys(input, collect(input, spec, payload.map_or(Along::Nothing, Along::Payload))?)
}

/// Reads the key columns and the columns to compute with of a whole table, of which at least one row has a usable key.
pub fn read_values(input: &Input, spec: &KeySpec, values: &ValueSpec) -> Result<KeyTable, TableError> {
    with_keys(input, collect(input, spec, Along::Values(values))?)
}

fn with_keys(input: &Input, table: KeyTable) -> Result<KeyTable, TableError> {
    if table.digests.is_empty() {
        return Err(TableError::NoKeys { path: input.path().to_owned(), why: no_keys(&table.stats) });
    }
    Ok(table)
}

/// [`read_keys`] for a report: a table without usable keys is no error.
pub(crate) fn collect_keys(input: &Input, spec: &KeySpec) -> Result<KeyTable, TableError> {
    collect(input, spec, Along::Nothing)
}

fn collect(input: &Input, spec: &KeySpec, along: Along<'_>) -> Result<KeyTable, TableError> {
    match input.format() {
        Format::Csv => from_csv(input, spec, along),
        _ => from_columns(input, spec, along),
    }
}

/// What is read beside the keys.
#[derive(Clone, Copy)]
enum Along<'a> {
    Nothing,
    Payload(&'a PayloadSpec),
    Values(&'a ValueSpec),
}

impl<'a> Along<'a> {
    /// The names of the columns.
    fn names(self) -> Vec<&'a str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Payload(spec) => spec.columns.iter().map(String::as_str).collect(),
            Self::Values(spec) => spec.columns.iter().map(|column| column.name.as_str()).chain(spec.group_by.as_deref()).collect(),
        }
    }
}

/// Gathers it, one row after the other.
enum Gatherer {
    Payload(PayloadCollector),
    Values(ValueCollector),
}

/// Its columns of a batch.
enum Gathered {
    Payload(Vec<PayloadColumn>),
    Values(ValueArrays),
}

impl Gatherer {
    fn csv_row(&mut self, record: &Record) {
        match self {
            Self::Payload(payload) => payload.csv_row(record),
            Self::Values(values) => values.csv_row(record),
        }
    }

    fn columns_of(&self, batch: &Batch) -> Result<Gathered, TableError> {
        Ok(match self {
            Self::Payload(payload) => Gathered::Payload(payload.columns_of(batch)?),
            Self::Values(values) => Gathered::Values(values.columns_of(batch)?),
        })
    }

    fn columnar_row(&mut self, columns: &Gathered, row: usize) {
        match (self, columns) {
            (Self::Payload(payload), Gathered::Payload(columns)) => payload.columnar_row(columns, row),
            (Self::Values(values), Gathered::Values(columns)) => values.columnar_row(columns, row),
            _ => unreachable!("columns are those of their own gatherer"),
        }
    }

    fn end_row(&mut self, input: &Input, key: usize, new: bool, row: u64) -> Result<(), TableError> {
        match self {
            Self::Payload(payload) => payload.end_row(input, key, new, row),
            Self::Values(values) => values.end_row(input, key, new, row),
        }
    }
}

/// Calls `each` with the place in `names` and the canonical value of every cell of the named columns, row by row. `None` is null.
pub(crate) fn for_each_cell(input: &Input, names: &[&str], mut each: impl FnMut(usize, Option<&[u8]>)) -> Result<(), TableError> {
    let mut scratch = String::new();
    if input.format() == Format::Csv {
        let mut reader = CsvReader::open(input)?;
        let places = names.iter().map(|name| input.column(reader.header(), name)).collect::<Result<Vec<_>, _>>()?;
        while let Some(record) = reader.next()? {
            for (index, &place) in places.iter().enumerate() {
                each(index, record.cell(place, &mut scratch).map(str::as_bytes));
            }
        }
        return Ok(());
    }
    let mut reader = ColumnarReader::open(input, Some(names))?;
    let mut rows = 0;
    while let Some(batch) = reader.next()? {
        let columns = names.iter().map(|name| batch.key_column(name)).collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.rows() {
            rows += 1;
            for (index, column) in columns.iter().enumerate() {
                let out_of_range = |_| TableError::Value { path: input.path().to_owned(), row: rows, column: names[index].to_owned() };
                each(index, column.canonical(row, &mut scratch).map_err(out_of_range)?);
            }
        }
    }
    Ok(())
}

fn from_csv(input: &Input, spec: &KeySpec, along: Along<'_>) -> Result<KeyTable, TableError> {
    let threads = rayon::current_num_threads();
    let mut reader = CsvReader::open_for(input, threads)?;
    let column = |name: &str| input.column(reader.header(), name);
    let keys = spec.columns().iter().map(|c| column(&c.name)).collect::<Result<Vec<_>, _>>()?;
    let mut collector = Collector::new(input, spec, reader.rows_expected());
    for stats in &mut collector.stats.columns {
        stats.kind = "text";
    }
    let mut rows = Rows::new(input, spec);
    let along = match along {
        Along::Nothing => None,
        Along::Payload(payload) => {
            let columns = payload.columns.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
            Some(Gatherer::Payload(PayloadCollector::for_csv(payload, columns)))
        }
        Along::Values(values) => Some(Gatherer::Values(ValueCollector::for_csv(values, column)?)),
    };
    if along.is_some() {
        collector.along = along;
        let mut scratch = String::new();
        while let Some(record) = reader.next()? {
            rows.csv_row(&record, &keys, &mut scratch)?;
            if let Some(along) = &mut collector.along {
                along.csv_row(&record);
            }
            collector.take(&mut rows)?;
        }
        return collector.finish();
    }
    loop {
        let mut records = reader.records();
        let parts = threads.min(records.len() / PART);
        let taken = if parts > 1 { in_parts(&mut collector, spec, &records, &keys, parts)? } else { None };
        let (bytes, lines) = match taken {
            Some(taken) => taken,
            None => {
                rows.first = collector.stats.rows;
                rows.csv_rows(&mut records, &keys)?;
                collector.take(&mut rows)?;
                records.passed()
            }
        };
        if !reader.refill(bytes, lines)? {
            return collector.finish();
        }
    }
}

/// Takes records on several threads. `None`, and nothing taken, when one is malformed: only a walk from the first one knows its line.
fn in_parts(
    collector: &mut Collector,
    spec: &KeySpec,
    records: &Records,
    keys: &[usize],
    parts: usize,
) -> Result<Option<(usize, u64)>, TableError> {
    let input = collector.input;
    let read = |mut records: Records| {
        let mut rows = Rows::new(input, spec);
        rows.csv_rows(&mut records, keys).map(|()| (rows, records.passed()))
    };
    let Ok(parts) = records.split(parts).into_par_iter().map(read).collect::<Result<Vec<_>, _>>() else { return Ok(None) };
    let (mut bytes, mut lines) = (0, 0);
    for (mut rows, passed) in parts {
        collector.take(&mut rows)?;
        bytes += passed.0;
        lines += passed.1;
    }
    Ok(Some((bytes, lines)))
}

fn from_columns(input: &Input, spec: &KeySpec, along: Along<'_>) -> Result<KeyTable, TableError> {
    let key_names: Vec<&str> = spec.columns().iter().map(|c| c.name.as_str()).collect();
    let names: Vec<&str> = key_names.iter().copied().chain(along.names()).collect();
    let mut reader = ColumnarReader::open(input, Some(&names))?;
    let mut collector = Collector::new(input, spec, 0);
    for (index, name) in key_names.iter().enumerate() {
        collector.stats.columns[index].kind = reader.key_kind(name)?;
    }
    collector.along = match along {
        Along::Nothing => None,
        Along::Payload(payload) => Some(Gatherer::Payload(PayloadCollector::for_columns(input, payload, reader.schema())?)),
        Along::Values(values) => Some(Gatherer::Values(ValueCollector::for_columns(input, values, reader.schema())?)),
    };
    let mut rows = Rows::new(input, spec);
    let mut scratch = String::new();
    while let Some(batch) = reader.next()? {
        let keys = key_names.iter().map(|name| batch.key_column(name)).collect::<Result<Vec<_>, _>>()?;
        let gathered = collector.along.as_ref().map(|along| along.columns_of(&batch)).transpose()?;
        for row in 0..batch.rows() {
            rows.begin_row();
            for (index, column) in keys.iter().enumerate() {
                match column.canonical(row, &mut scratch) {
                    Ok(Some(value)) => rows.bytes(index, value)?,
                    Ok(None) => rows.null(index),
                    Err(_) => return Err(rows.out_of_range(index)),
                }
            }
            rows.end_row();
            if let (Some(along), Some(gathered)) = (&mut collector.along, &gathered) {
                along.columnar_row(gathered, row);
                collector.take(&mut rows)?;
            }
        }
        collector.take(&mut rows)?;
    }
    collector.finish()
}

/// Turns components into rows, and rows into digests.
struct Rows<'a> {
    input: &'a Input,
    spec: &'a KeySpec,
    chains: Vec<Chain<'a>>,
    frame: KeyFrame,
    batch: KeyBatch,
    row_is_null: bool,
    row_is_unmatchable: bool,
    /// Rows of the table before these.
    first: u64,
    /// Rows with a usable key, by their place among these rows.
    keyed: Vec<u32>,
    /// Their digests, but for those in `batch`.
    digests: Digests,
    /// Without distinct and repeated keys.
    stats: KeyStats,
}

impl<'a> Rows<'a> {
    fn new(input: &'a Input, spec: &'a KeySpec) -> Self {
        Self {
            input,
            spec,
            chains: spec.columns().iter().map(|c| Chain::new(&c.normalisers)).collect(),
            frame: KeyFrame::default(),
            batch: KeyBatch::default(),
            row_is_null: false,
            row_is_unmatchable: false,
            first: 0,
            keyed: Vec::new(),
            digests: Digests::default(),
            stats: KeyStats::of(spec),
        }
    }

    fn csv_rows(&mut self, records: &mut Records, keys: &[usize]) -> Result<(), TableError> {
        let mut scratch = String::new();
        while let Some(record) = records.next()? {
            self.csv_row(&record, keys, &mut scratch)?;
        }
        Ok(())
    }

    fn csv_row(&mut self, record: &Record, keys: &[usize], scratch: &mut String) -> Result<(), TableError> {
        self.begin_row();
        for (index, &column) in keys.iter().enumerate() {
            match record.cell(column, scratch) {
                Some(text) => self.text(index, text)?,
                None => self.null(index),
            }
        }
        self.end_row();
        Ok(())
    }

    fn begin_row(&mut self) {
        self.frame.begin(self.chains.len() as u32);
        self.row_is_null = false;
        self.row_is_unmatchable = false;
    }

    fn null(&mut self, index: usize) {
        self.stats.columns[index].nulls += 1;
        self.row_is_null = true;
    }

    fn text(&mut self, index: usize, value: &str) -> Result<(), TableError> {
        match self.chains[index].apply(value) {
            Ok("") => {
                self.stats.columns[index].empty += 1;
                self.row_is_null = true;
            }
            Ok(value) => {
                let stats = &mut self.stats.columns[index];
                stats.written.count(value.as_bytes());
                if !self.frame.push(value.as_bytes()) {
                    return Err(self.out_of_range(index));
                }
                match self.chains[index].reading {
                    Reading::Only => {}
                    Reading::BareNational => stats.bare_national += 1,
                    Reading::BareInternational => stats.bare_international += 1,
                }
            }
            Err(_) => {
                self.stats.columns[index].unmatchable += 1;
                self.row_is_unmatchable = true;
            }
        }
        Ok(())
    }

    /// Canonical bytes of a columnar value. Normalisers read text, so binary that is not UTF-8 is unmatchable under them.
    fn bytes(&mut self, index: usize, value: &[u8]) -> Result<(), TableError> {
        if value.len() > LONGEST_VALUE {
            let column = self.spec.columns()[index].name.clone();
            let row = self.first + self.stats.rows + 1;
            return Err(TableError::LongKey { path: self.input.path().to_owned(), row, column, limit: LONGEST_VALUE });
        }
        if value.is_empty() {
            return self.text(index, "");
        }
        if self.chains[index].is_empty() {
            self.stats.columns[index].written.count(value);
            return if self.frame.push(value) { Ok(()) } else { Err(self.out_of_range(index)) };
        }
        match std::str::from_utf8(value) {
            Ok(text) => self.text(index, text),
            Err(_) => {
                self.stats.columns[index].unmatchable += 1;
                self.row_is_unmatchable = true;
                Ok(())
            }
        }
    }

    fn end_row(&mut self) {
        if self.row_is_null {
            self.stats.null_rows += 1;
        } else if self.row_is_unmatchable {
            self.stats.unmatchable_rows += 1;
        } else {
            self.keyed.push(self.stats.rows as u32);
            self.batch.push(&self.frame, &mut self.digests);
        }
        self.stats.rows += 1;
    }

    fn out_of_range(&self, index: usize) -> TableError {
        let column = self.spec.columns()[index].name.clone();
        TableError::Value { path: self.input.path().to_owned(), row: self.first + self.stats.rows + 1, column }
    }
}

/// Turns digests into distinct keys.
struct Collector<'a> {
    input: &'a Input,
    index: Distinct,
    row_key: Vec<u32>,
    stats: KeyStats,
    along: Option<Gatherer>,
}

impl<'a> Collector<'a> {
    fn new(input: &'a Input, spec: &'a KeySpec, rows: usize) -> Self {
        let row_key = Vec::with_capacity(rows);
        Self { input, index: Distinct::with_capacity(rows), row_key, stats: KeyStats::of(spec), along: None }
    }

    /// Takes the rows that follow those taken before, and leaves none.
    fn take(&mut self, rows: &mut Rows) -> Result<(), TableError> {
        rows.batch.finish(&mut rows.digests);
        let first = self.row_key.len();
        let end = first + rows.stats.rows as usize;
        if end > NO_KEY as usize {
            return Err(TableError::TooManyRows { path: self.input.path().to_owned(), limit: u64::from(NO_KEY) });
        }
        self.row_key.resize(end, NO_KEY);
        let mut keyed = rows.keyed.drain(..);
        self.index.insert_all(&rows.digests, |key, new| {
            let row = first + keyed.next().unwrap_or_default() as usize;
            self.row_key[row] = key;
            self.stats.duplicate_rows += u64::from(!new);
            match &mut self.along {
                Some(along) => along.end_row(self.input, key as usize, new, row as u64 + 1),
                None => Ok(()),
            }
        })?;
        drop(keyed);
        rows.digests.clear();
        self.stats.add(&mut rows.stats);
        rows.first = end as u64;
        Ok(())
    }

    fn finish(mut self) -> Result<KeyTable, TableError> {
        self.stats.distinct = self.index.digests.len() as u64;
        if self.stats.rows == 0 {
            return Err(TableError::Empty { path: self.input.path().to_owned() });
        }
        let (payload, values) = match self.along {
            None => (None, None),
            Some(Gatherer::Payload(payload)) => (Some(payload.finish()), None),
            Some(Gatherer::Values(values)) => (None, Some(values.finish())),
        };
        Ok(KeyTable { digests: self.index.digests, row_key: self.row_key, stats: self.stats, payload, values })
    }
}

fn no_keys(stats: &KeyStats) -> String {
    let guilty = stats.columns.iter().find(|c| c.nulls + c.empty + c.unmatchable == stats.rows);
    match guilty {
        Some(c) if c.unmatchable == 0 => format!("key column `{}` is null or empty in every row", c.name),
        Some(c) if c.unmatchable == stats.rows => format!("the normalisers of key column `{}` refuse every value", c.name),
        Some(c) => format!("key column `{}` is null, empty or refused by its normalisers in every row", c.name),
        None => "every row has a null, empty or refused component in some key column".to_owned(),
    }
}
