//! The sender's side: rows to records.

use crate::table::TableError;
use crate::table::payload::{
    Duplicates, LONGEST_NAME, MAX_PAYLOAD_WIDTH, MOST_COLUMNS, PayloadField, PayloadKind, PayloadSchema, PayloadSpec,
    PayloadTable,
};
use crate::table::read::beside::KeyedRow;
use crate::table::read::faults::OnFault;
use crate::table::read::named_columns::NamedColumns;
use crate::table::source::{Cell, CellForm, Wanted, WrongForm};

/// Gathers one record a distinct key while the table is read.
pub(crate) struct PayloadCollector {
    fields: Vec<PayloadField>,
    duplicates: Duplicates,
    records: PayloadRecords,
}

/// Unpadded records one behind the other, and where each ends.
#[derive(Default)]
pub(crate) struct PayloadRecords {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl PayloadRecords {
    fn get(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        start.zip(self.ends.get(place)).and_then(|(start, &end)| self.bytes.get(start..end)).unwrap_or_default()
    }

    pub(crate) fn push(&mut self, record: &[u8]) {
        self.bytes.extend_from_slice(record);
        self.ends.push(self.bytes.len());
    }

    /// Bytes of the longest one.
    pub(crate) fn width(&self) -> usize {
        (0..self.ends.len()).map(|place| self.get(place).len()).max().unwrap_or(0)
    }

    /// Pads all records to the longest, if there is room for them.
    pub(crate) fn padded(
        self,
        fields: Vec<PayloadField>,
        source: &str,
        room: &dyn Fn() -> Option<u64>,
    ) -> Result<PayloadTable, TableError> {
        // Without a row there is no longest record: the bits that say which values are null have a place in each.
        let (count, width) = (self.ends.len(), self.width().max(fields.len().div_ceil(8)));
        let padded = width as u64 * count as u64;
        if let Some(limit) = room().filter(|&limit| padded > limit) {
            return Err(TableError::PayloadMemory { path: source.to_owned(), keys: count, width, limit });
        }
        let mut bytes = vec![0; width * count];
        for (place, padded) in bytes.chunks_exact_mut(width.max(1)).enumerate() {
            padded.iter_mut().zip(self.get(place)).for_each(|(to, from)| *to = *from);
        }
        Ok(PayloadTable { schema: PayloadSchema { fields, width }, bytes })
    }
}

/// Records of consecutive rows.
pub(crate) struct PayloadRows {
    /// The kind of each field.
    kinds: Vec<PayloadKind>,
    /// Bytes of presence bits at the start of a record.
    presence: usize,
    /// The current row's record.
    row: Vec<u8>,
    /// Those of the rows that count.
    records: PayloadRecords,
}

impl PayloadCollector {
    /// For these columns, which are appended to the wanted ones; refuses columns whose type does
    /// not travel.
    pub fn new(spec: &PayloadSpec, columns: &NamedColumns<'_>, wanted: &mut Vec<Wanted>) -> Result<Self, TableError> {
        if spec.columns.len() > MOST_COLUMNS {
            let fault = format!("--payload names {} columns, more than {MOST_COLUMNS}", spec.columns.len());
            return Err(TableError::Option(fault, "name fewer columns"));
        }
        let field = |name: &String| {
            if name.len() > LONGEST_NAME {
                let fault = format!("--payload names a column whose name is longer than {LONGEST_NAME} bytes");
                return Err(TableError::Option(fault, "rename the column in the table"));
            }
            let (column, found) = columns.find(name)?;
            let kind = PayloadKind::of(found).ok_or_else(|| {
                columns.refused(
                    name,
                    found,
                    "a payload",
                    "choose a column of text, numbers, dates, timestamps, booleans, UUIDs or binary, or write it as text",
                )
            })?;
            wanted.push(Wanted { column, form: CellForm::Payload });
            Ok(PayloadField { name: name.clone(), kind })
        };
        let fields = spec.columns.iter().map(field).collect::<Result<_, TableError>>()?;
        Ok(Self { fields, duplicates: spec.duplicates, records: PayloadRecords::default() })
    }

    /// No rows.
    pub fn rows(&self) -> PayloadRows {
        PayloadRows::of(self.fields.iter().map(|field| field.kind.clone()).collect())
    }

    /// Keeps a row's record when its key is new; else compares it with the key's first one.
    pub fn take(
        &mut self,
        rows: &PayloadRows,
        place: usize,
        at: KeyedRow<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        let mut record = rows.records.get(place);
        let (path, row, width) = (|| at.source.to_owned(), at.row, record.len());
        if width > MAX_PAYLOAD_WIDTH {
            on_fault.see(TableError::PayloadTooWide { path: path(), row, width, limit: MAX_PAYLOAD_WIDTH })?;
            // No sound record is empty: it has presence bits.
            record = &[];
        }
        let kept = self.records.get(at.key);
        if at.new {
            self.records.push(record);
        } else if self.duplicates == Duplicates::Refuse && kept != record && !kept.is_empty() && !record.is_empty() {
            on_fault.see(TableError::ConflictingPayloads { path: path(), row })?;
        }
        Ok(())
    }

    /// What becomes of rows that share a key.
    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }

    /// The payload of keys whose records are kept elsewhere, the longest of so many bytes.
    pub fn without_records(self, longest: usize) -> PayloadTable {
        let width = longest.max(self.fields.len().div_ceil(8));
        PayloadTable { schema: PayloadSchema { fields: self.fields, width }, bytes: Vec::new() }
    }

    /// Pads all records to the longest, if there is room for them.
    pub fn finish(self, source: &str, room: &dyn Fn() -> Option<u64>) -> Result<PayloadTable, TableError> {
        self.records.padded(self.fields, source, room)
    }
}

impl PayloadRows {
    /// No rows, of fields of these kinds.
    pub fn of(kinds: Vec<PayloadKind>) -> Self {
        let presence = kinds.len().div_ceil(8);
        Self { kinds, presence, row: vec![0; presence], records: PayloadRecords::default() }
    }

    /// The record of the row at `place` among those that count.
    pub fn record(&self, place: usize) -> &[u8] {
        self.records.get(place)
    }

    /// Appends the current row's value of a field. A null leaves its presence bit clear.
    pub fn cell(&mut self, field: usize, cell: Cell<'_>) -> Result<(), WrongForm> {
        // The receiver reads a record by the kinds alone.
        if !self.kinds.get(field).is_some_and(|kind| takes(kind, cell)) {
            return Err(WrongForm);
        }
        match cell {
            Cell::Text(text) => framed(&mut self.row, text.as_bytes()),
            Cell::Bytes(bytes) => framed(&mut self.row, bytes),
            Cell::Boolean(value) => self.row.push(u8::from(value)),
            Cell::Fixed(value) => self.row.extend_from_slice(value),
            Cell::Null => return Ok(()),
            Cell::Decimal(..) | Cell::OutOfRange => return Err(WrongForm),
        }
        self.note(field);
        Ok(())
    }

    /// Appends the bytes of the current row's value of a field of text or binary.
    pub fn bytes(&mut self, field: usize, value: &[u8]) {
        framed(&mut self.row, value);
        self.note(field);
    }

    /// Sets the presence bit of a field.
    fn note(&mut self, field: usize) {
        if let Some(bits) = self.row.get_mut(field / 8) {
            *bits |= 1 << (field % 8);
        }
    }

    /// Ends the row. One without a usable key says nothing.
    pub fn end_row(&mut self, keep: bool) {
        if keep {
            self.records.push(&self.row);
        }
        self.begin_row();
    }

    fn begin_row(&mut self) {
        self.row.clear();
        self.row.resize(self.presence, 0);
    }

    pub fn clear(&mut self) {
        self.records.bytes.clear();
        self.records.ends.clear();
        self.begin_row();
    }
}

/// Whether a field of this kind may have this cell.
fn takes(kind: &PayloadKind, cell: Cell<'_>) -> bool {
    use PayloadKind as K;
    match cell {
        Cell::Null => true,
        Cell::Text(_) => matches!(kind, K::Text | K::LargeText | K::TextView | K::Json),
        Cell::Bytes(_) => matches!(kind, K::Binary | K::LargeBinary | K::BinaryView),
        Cell::Boolean(_) => *kind == K::Boolean,
        Cell::Fixed(value) => kind.width() == Some(value.len()),
        Cell::Decimal(..) | Cell::OutOfRange => false,
    }
}

/// Appends a value behind its length as LEB128.
fn framed(row: &mut Vec<u8>, value: &[u8]) {
    let mut length = value.len();
    while length >= 0x80 {
        row.push(length as u8 | 0x80);
        length >>= 7;
    }
    row.push(length as u8);
    row.extend_from_slice(value);
}
