//! The keys of a union's side, which travel: gathered as records, with what goes along with them.

use arrow_schema::Field;

use crate::key::{KeySpec, date, uuid};
use crate::table::TableError;
use crate::table::payload::{
    KeyKind, MAX_PAYLOAD_WIDTH, PayloadKind, PayloadSchema, PayloadTable, UnionKeys, Value, key_schema,
};
use crate::table::read::beside::KeyedRow;
use crate::table::read::beside::payload::{PayloadCollector, PayloadRecords, PayloadRows};
use crate::table::read::faults::OnFault;
use crate::table::source::{Cell, WrongForm};

/// The kinds of a side's key columns, which `columns` are. A type that has no kind is
/// one whose values are null, and no row with it has a usable key.
pub(crate) fn key_kinds(spec: &KeySpec, columns: &[&Field]) -> Vec<KeyKind> {
    let kind = |(column, found): (&crate::key::KeyColumn, &&Field)| {
        let is_normalised = !column.normalisers.is_empty();
        let kind = if is_normalised { None } else { PayloadKind::of(found) };
        KeyKind { kind: kind.unwrap_or(PayloadKind::Text), reads_as: Vec::new() }
    };
    spec.columns().iter().zip(columns).map(kind).collect()
}

/// Gathers one record of a key and one of its payload a distinct key.
pub(crate) struct UnionCollector {
    columns: Vec<String>,
    kinds: Vec<KeyKind>,
    readings: Vec<Readings>,
    schema: PayloadSchema,
    records: PayloadRecords,
    payload: Option<PayloadCollector>,
    most_bytes: usize,
}

/// Keys and payloads of consecutive rows.
pub(crate) struct UnionRows {
    pub keys: PayloadRows,
    pub payload: Option<PayloadRows>,
}

impl UnionCollector {
    pub fn new(spec: &KeySpec, kinds: Vec<KeyKind>, payload: Option<PayloadCollector>, most_bytes: usize) -> Self {
        Self {
            columns: spec.columns().iter().map(|column| column.name.clone()).collect(),
            readings: vec![Readings::default(); kinds.len()],
            schema: key_schema(&kinds, MAX_PAYLOAD_WIDTH),
            kinds,
            records: PayloadRecords::default(),
            payload,
            most_bytes,
        }
    }

    /// No rows.
    pub fn rows(&self) -> UnionRows {
        UnionRows {
            keys: PayloadRows::of(self.schema.fields.iter().map(|field| field.kind.clone()).collect()),
            payload: self.payload.as_ref().map(PayloadCollector::rows),
        }
    }

    /// Keeps a row's key when it is new, and its payload as the payload's spec says.
    pub fn take(
        &mut self,
        rows: &UnionRows,
        place: usize,
        at: KeyedRow<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        if at.new {
            let record = rows.keys.record(place);
            if record.len() > MAX_PAYLOAD_WIDTH {
                // A record is little more than its longest value.
                on_fault.see(TableError::WideKey {
                    path: at.source.to_owned(),
                    row: at.row,
                    columns: self.columns.join("`, `"),
                    limit: MAX_PAYLOAD_WIDTH,
                })?;
                self.records.push(&[]);
                return self.take_payload(rows, place, at, on_fault);
            }
            let mut readings = self.readings.iter_mut();
            self.schema.decode_each(record, |_, value| {
                let readings = readings.next();
                if let (Some(readings), Value::Text(text)) = (readings, value) {
                    readings.see(text);
                }
                Ok(())
            })?;
            self.records.push(record);
        }
        self.take_payload(rows, place, at, on_fault)
    }

    fn take_payload(
        &mut self,
        rows: &UnionRows,
        place: usize,
        at: KeyedRow<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        match (&mut self.payload, &rows.payload) {
            (Some(payload), Some(rows)) => payload.take(rows, place, at, on_fault),
            _ => Ok(()),
        }
    }

    /// Pads all records to the longest. Refuses records that are wider than this side lets travel.
    pub fn finish(
        self,
        source: &str,
        room: &dyn Fn() -> Option<u64>,
    ) -> Result<(UnionKeys, Option<PayloadTable>), TableError> {
        let Self { columns, mut kinds, readings, schema, records, payload, most_bytes } = self;
        let keys = records.padded(schema.fields, source, room)?;
        let payload = payload.map(|payload| payload.finish(source, room)).transpose()?;
        let width = keys.schema.width + payload.as_ref().map_or(0, |payload| payload.schema.width);
        if width > most_bytes {
            let longest = longest(&keys, &columns).into_iter().chain(payload.iter().flat_map(|payload| {
                let names: Vec<String> = payload.schema.fields.iter().map(|field| field.name.clone()).collect();
                longest(payload, &names)
            }));
            let (longest, column) = longest.max_by_key(|(longest, _)| *longest).unwrap_or_default();
            return Err(TableError::WideRecord { path: source.to_owned(), column, longest, width, limit: most_bytes });
        }
        kinds.iter_mut().zip(&readings).for_each(|(kind, readings)| kind.reads_as = readings.kinds());
        Ok((UnionKeys { kinds, records: Some(keys) }, payload))
    }
}

/// For each column its longest value in bytes, and its name.
fn longest(table: &PayloadTable, names: &[String]) -> Vec<(usize, String)> {
    let mut longest = vec![0; names.len()];
    let mut values = Vec::new();
    for record in table.bytes.chunks_exact(table.schema.width.max(1)) {
        // Own records decode.
        if table.schema.decode(record, &mut values).is_err() {
            continue;
        }
        for (longest, value) in longest.iter_mut().zip(&values) {
            *longest = (*longest).max(match value {
                Value::Null => 0,
                Value::Boolean(_) => 1,
                Value::Text(text) => text.len(),
                Value::Binary(bytes) | Value::Fixed(bytes) => bytes.len(),
            });
        }
    }
    longest.into_iter().zip(names.iter().cloned()).collect()
}

impl UnionRows {
    pub fn clear(&mut self) {
        self.keys.clear();
        if let Some(payload) = &mut self.payload {
            payload.clear();
        }
    }

    pub fn end_row(&mut self, keep: bool) {
        self.keys.end_row(keep);
        if let Some(payload) = &mut self.payload {
            payload.end_row(keep);
        }
    }

    /// The payload's value of a column.
    pub fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), WrongForm> {
        self.payload.as_mut().map_or(Ok(()), |payload| payload.cell(place, cell))
    }
}

/// Which types hold all keys of a column so far.
#[derive(Clone, Debug)]
struct Readings([bool; KeyKind::READINGS.len()]);

impl Default for Readings {
    fn default() -> Self {
        Self([true; KeyKind::READINGS.len()])
    }
}

impl Readings {
    fn see(&mut self, text: &str) {
        if self.0 == [false; KeyKind::READINGS.len()] {
            return;
        }
        let number = integer(text);
        let holds = [
            number.is_some_and(|number| i32::try_from(number).is_ok()),
            number.is_some_and(|number| i64::try_from(number).is_ok()),
            number.is_some_and(|number| u32::try_from(number).is_ok()),
            number.is_some_and(|number| u64::try_from(number).is_ok()),
            text.len() == "2013-01-31".len() && date::from_iso(text).is_ok(),
            text == "true" || text == "false",
            uuid::is_normal(text.as_bytes()),
        ];
        self.0.iter_mut().zip(holds).for_each(|(all, holds)| *all &= holds);
    }

    fn kinds(&self) -> Vec<PayloadKind> {
        KeyKind::READINGS.into_iter().zip(self.0).filter(|(_, holds)| *holds).map(|(kind, _)| kind).collect()
    }
}

/// The integer whose shortest decimal this is: `042` and `+42` are other keys than `42`.
fn integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_shortest = match digits.as_bytes() {
        [b'0'] => text == "0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if is_shortest { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_spells_a_value_in_full_reads_as_it() {
        let kinds = |texts: &[&str]| {
            let mut readings = Readings::default();
            texts.iter().for_each(|text| readings.see(text));
            readings.kinds()
        };
        let [int_32, int_64, uint_32, uint_64, date, boolean, uuid] = KeyKind::READINGS;
        assert_eq!(kinds(&["0", "42"]), [int_32.clone(), int_64.clone(), uint_32.clone(), uint_64.clone()]);
        assert_eq!(kinds(&["-7", "2147483647"]), [int_32, int_64.clone()]);
        assert_eq!(kinds(&["2147483648", "4294967295"]), [int_64.clone(), uint_32, uint_64.clone()]);
        assert_eq!(kinds(&["9223372036854775807", "-1"]), [int_64]);
        assert_eq!(kinds(&["18446744073709551615"]), [uint_64]);
        assert_eq!(kinds(&["2013-01-31"]), std::slice::from_ref(&date));
        assert!(!kinds(&["20130131"]).contains(&date), "an integer is no date");
        assert_eq!(kinds(&["true", "false"]), [boolean]);
        assert_eq!(kinds(&["78dde6e5-fd29-f057-ce73-018173b720d4"]), [uuid]);
        assert_eq!(kinds(&["78DDE6E5-fd29-f057-ce73-018173b720d4"]), []);
        for text in ["", "-", "-0", "042", "+42", "4 2", "1e3", "2013-02-31", "2013-1-31", "True", "a"] {
            assert_eq!(kinds(&["42", text]), [], "{text:?}");
        }
        assert_eq!(kinds(&["18446744073709551616"]), []);
    }
}
