//! The first pass: rows become key digests, digests become distinct keys in first-seen order.

use std::fmt;

use crate::key::{Chain, KeyFrame, KeySpec};
use crate::table::payload::PayloadCollector;
use crate::table::{ColumnarReader, CsvReader, Format, Input, PayloadSpec, PayloadTable, TableError};

/// In [`KeyTable::row_key`]: the row has no usable key and never matches.
pub const NO_KEY: u32 = u32::MAX;

/// Digests looked up together, so that their cache misses overlap.
const BATCH: usize = 512;

/// What the first pass found.
pub struct KeyTable {
    /// Digests of the distinct keys, in the order in which they first occur.
    pub digests: Vec<u128>,
    /// For each row the index of its key in `digests`, or [`NO_KEY`].
    pub row_key: Vec<u32>,
    /// Counts, for the local report.
    pub stats: KeyStats,
    /// One padded payload a distinct key, when payload columns were asked for.
    pub payload: Option<PayloadTable>,
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
}

/// Reads the key columns (and the payload columns) of a whole table, of which at least one row has a usable key.
pub fn read_keys(input: &Input, spec: &KeySpec, payload: Option<&PayloadSpec>) -> Result<KeyTable, TableError> {
    let table = collect_keys(input, spec, payload)?;
    if table.digests.is_empty() {
        return Err(TableError::NoKeys { path: input.path().to_owned(), why: no_keys(&table.stats) });
    }
    Ok(table)
}

/// [`read_keys`] for a report: a table without usable keys is no error.
pub(crate) fn collect_keys(input: &Input, spec: &KeySpec, payload: Option<&PayloadSpec>) -> Result<KeyTable, TableError> {
    let mut collector = Collector::new(input, spec);
    match input.format() {
        Format::Csv => from_csv(input, &mut collector, payload)?,
        _ => from_columns(input, &mut collector, payload)?,
    }
    collector.finish()
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

fn from_csv(input: &Input, collector: &mut Collector, payload: Option<&PayloadSpec>) -> Result<(), TableError> {
    let mut reader = CsvReader::open(input)?;
    let column = |name: &str| input.column(reader.header(), name);
    let keys = collector.spec.columns().iter().map(|c| column(&c.name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(payload) = payload {
        let columns = payload.columns.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
        collector.payload = Some(PayloadCollector::for_csv(payload, columns));
    }
    for stats in &mut collector.stats.columns {
        stats.kind = "text";
    }
    let mut scratch = String::new();
    while let Some(record) = reader.next()? {
        collector.begin_row();
        for (index, &column) in keys.iter().enumerate() {
            match record.cell(column, &mut scratch) {
                Some(text) => collector.text(index, text)?,
                None => collector.null(index),
            }
        }
        if let Some(payload) = &mut collector.payload {
            payload.csv_row(&record);
        }
        collector.end_row()?;
    }
    Ok(())
}

fn from_columns(input: &Input, collector: &mut Collector, payload: Option<&PayloadSpec>) -> Result<(), TableError> {
    let key_names: Vec<&str> = collector.spec.columns().iter().map(|c| c.name.as_str()).collect();
    let payload_names = payload.iter().flat_map(|p| p.columns.iter().map(String::as_str));
    let names: Vec<&str> = key_names.iter().copied().chain(payload_names).collect();
    let mut reader = ColumnarReader::open(input, Some(&names))?;
    for (index, name) in key_names.iter().enumerate() {
        collector.stats.columns[index].kind = reader.key_kind(name)?;
    }
    if let Some(payload) = payload {
        collector.payload = Some(PayloadCollector::for_columns(input, payload, reader.schema())?);
    }
    let mut scratch = String::new();
    while let Some(batch) = reader.next()? {
        let keys = key_names.iter().map(|name| batch.key_column(name)).collect::<Result<Vec<_>, _>>()?;
        let rows = match &collector.payload {
            Some(payload) => Some(payload.columns_of(&batch)?),
            None => None,
        };
        for row in 0..batch.rows() {
            collector.begin_row();
            for (index, column) in keys.iter().enumerate() {
                match column.canonical(row, &mut scratch) {
                    Ok(Some(value)) => collector.bytes(index, value)?,
                    Ok(None) => collector.null(index),
                    Err(_) => return Err(collector.out_of_range(index)),
                }
            }
            if let (Some(payload), Some(rows)) = (&mut collector.payload, &rows) {
                payload.columnar_row(rows, row);
            }
            collector.end_row()?;
        }
    }
    Ok(())
}

/// Turns components into rows, rows into digests, digests into distinct keys.
struct Collector<'a> {
    input: &'a Input,
    spec: &'a KeySpec,
    chains: Vec<Chain<'a>>,
    frame: KeyFrame,
    row_is_null: bool,
    row_is_unmatchable: bool,
    /// Digests of rows not yet looked up, with their row.
    pending: Vec<(u32, u128)>,
    index: Distinct,
    row_key: Vec<u32>,
    stats: KeyStats,
    payload: Option<PayloadCollector>,
}

impl<'a> Collector<'a> {
    fn new(input: &'a Input, spec: &'a KeySpec) -> Self {
        let columns = spec.columns();
        let stats = columns.iter().map(|c| ColumnStats { name: c.name.clone(), ..ColumnStats::default() }).collect();
        Self {
            input,
            spec,
            chains: columns.iter().map(|c| Chain::new(&c.normalisers)).collect(),
            frame: KeyFrame::default(),
            row_is_null: false,
            row_is_unmatchable: false,
            pending: Vec::with_capacity(BATCH),
            index: Distinct::new(),
            row_key: Vec::new(),
            stats: KeyStats { columns: stats, ..KeyStats::default() },
            payload: None,
        }
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
                if !self.frame.push(value.as_bytes()) {
                    return Err(self.out_of_range(index));
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
        if value.is_empty() {
            return self.text(index, "");
        }
        if self.chains[index].is_empty() {
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

    fn end_row(&mut self) -> Result<(), TableError> {
        let row = u32::try_from(self.row_key.len()).ok().filter(|&row| row != NO_KEY);
        let row = row.ok_or_else(|| TableError::TooManyRows { path: self.input.path().to_owned(), limit: u64::from(NO_KEY) })?;
        self.row_key.push(NO_KEY);
        if self.row_is_null {
            self.stats.null_rows += 1;
        } else if self.row_is_unmatchable {
            self.stats.unmatchable_rows += 1;
        } else {
            self.pending.push((row, self.frame.digest()));
            // A payload is kept or dropped as soon as its row ends.
            if self.pending.len() == BATCH || self.payload.is_some() {
                return self.look_up();
            }
        }
        Ok(())
    }

    fn look_up(&mut self) -> Result<(), TableError> {
        for &(row, digest) in &self.pending {
            let (key, new) = self.index.insert(digest);
            self.row_key[row as usize] = key;
            self.stats.duplicate_rows += u64::from(!new);
            if let Some(payload) = &mut self.payload {
                payload.end_row(self.input, key as usize, new, u64::from(row) + 1)?;
            }
        }
        self.pending.clear();
        Ok(())
    }

    fn out_of_range(&self, index: usize) -> TableError {
        let column = self.spec.columns()[index].name.clone();
        TableError::Value { path: self.input.path().to_owned(), row: self.row_key.len() as u64 + 1, column }
    }

    fn finish(mut self) -> Result<KeyTable, TableError> {
        self.look_up()?;
        self.stats.rows = self.row_key.len() as u64;
        self.stats.distinct = self.index.digests.len() as u64;
        if self.stats.rows == 0 {
            return Err(TableError::Empty { path: self.input.path().to_owned() });
        }
        Ok(KeyTable {
            digests: self.index.digests,
            row_key: self.row_key,
            stats: self.stats,
            payload: self.payload.map(PayloadCollector::finish),
        })
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

/// Distinct digests in first-seen order, behind an open-addressing table. Digests are uniform, so their bits are the hash.
struct Distinct {
    digests: Vec<u128>,
    /// Power of two, at most half full. A slot is `tag << 32 | index + 1`, or 0 when free; the tag spares most reads of `digests`.
    slots: Vec<u64>,
}

impl Distinct {
    fn new() -> Self {
        Self { digests: Vec::new(), slots: vec![0; 1 << 12] }
    }

    fn tag(digest: u128) -> u64 {
        (digest >> 96) as u64
    }

    /// The digest's index and whether it is new. The caller inserts fewer than `2^32 - 1`.
    fn insert(&mut self, digest: u128) -> (u32, bool) {
        if 2 * self.digests.len() >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = digest as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                let index = self.digests.len() as u32;
                self.slots[at] = Self::tag(digest) << 32 | (u64::from(index) + 1);
                self.digests.push(digest);
                return (index, true);
            }
            if slot >> 32 == Self::tag(digest) {
                let index = slot as u32 - 1;
                if self.digests[index as usize] == digest {
                    return (index, false);
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        self.slots = vec![0; size];
        for (index, &digest) in self.digests.iter().enumerate() {
            let mut at = digest as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = Self::tag(digest) << 32 | (index as u64 + 1);
        }
    }
}
