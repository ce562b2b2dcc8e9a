//! Several files of one format and with the same columns as one table.
//!
//! The files are opened one after the other, in both passes, so that their number is not bounded by
//! that of open files. A file that is another one in the second pass than in the first is refused.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::table::error::looks_like_data;
use crate::table::input::State;
use crate::table::source::{Scanner, Source, Stored, Wanted};
use crate::table::{Format, Head, Input, InputOptions, KeptRows, Position, RowBatch, Sink, TableError, WriteStats};

/// A folder or a pattern as a table: the rows of its files, in order of the files' names.
#[derive(Debug)]
pub struct Parts {
    /// The name of the folder, or the pattern.
    name: String,
    options: InputOptions,
    parts: Vec<Part>,
    schema: SchemaRef,
    stored: Stored,
    /// How far a pass has come, in bytes of all files.
    position: Position,
}

#[derive(Debug)]
struct Part {
    path: String,
    /// What tells another file of the same name from it.
    state: State,
    /// Bytes of the files before it.
    before: u64,
}

impl Parts {
    /// Compares the columns of all files, of which there is at least one.
    pub(crate) fn open(name: &str, paths: Vec<String>, options: &InputOptions) -> Result<Self, TableError> {
        let mut parts = Vec::with_capacity(paths.len());
        let mut first: Option<(SchemaRef, Stored)> = None;
        for path in paths {
            let input = Input::open(&path, options)?;
            let (schema, stored) = (input.schema()?, input.stored_as());
            let before = first.as_ref().map_or(0, |(_, known)| known.bytes);
            first = Some(match (first, parts.first()) {
                (Some((one, known)), Some(Part { path: before, .. })) => {
                    let difference = storage_difference(known, stored).or_else(|| difference(&one, &schema));
                    if let Some(difference) = difference {
                        return Err(TableError::UnlikeParts { one: before.clone(), other: path, difference });
                    }
                    let packing = known.packing.or(stored.packing);
                    (with_nulls_of(&one, &schema), Stored { bytes: known.bytes + stored.bytes, packing, ..known })
                }
                _ => (schema, stored),
            });
            parts.push(Part { path, state: input.state(), before });
        }
        let (schema, stored) = first.ok_or_else(|| TableError::NoParts { path: name.to_owned() })?;
        let position = Position::of(stored.bytes);
        Ok(Self { name: name.to_owned(), options: options.clone(), parts, schema, stored, position })
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// The first file.
    pub(crate) fn first(&self) -> Result<Input, TableError> {
        self.parts.first().map_or_else(|| Err(TableError::NoParts { path: self.name.clone() }), |part| self.part(part))
    }

    fn part(&self, part: &Part) -> Result<Input, TableError> {
        let input = Input::open(&part.path, &self.options)?;
        if input.state() == part.state {
            Ok(input.part_of(self.position.clone(), part.before))
        } else {
            Err(TableError::Changed { path: part.path.clone() })
        }
    }
}

impl Source for Parts {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> Result<SchemaRef, TableError> {
        Ok(self.schema.clone())
    }

    fn scan(&self, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        self.parts.iter().try_for_each(|part| self.part(part)?.scan(wanted, scanner))
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        let mut joined = Joined { table: self, sink, has_begun: false, before: 0 };
        for part in &self.parts {
            joined.before = kept.begin_part();
            self.part(part)?.keep(kept, &mut joined)?;
        }
        Ok(())
    }

    fn stored(&self) -> Option<Stored> {
        Some(self.stored)
    }

    fn position(&self) -> Option<Position> {
        Some(self.position.clone())
    }

    /// A row of the first part that has one. It looks at all parts, so that a damaged one is known.
    fn sample(&self) -> Result<RecordBatch, TableError> {
        let mut sample = self.first()?.sample()?;
        for part in self.parts.iter().skip(1) {
            let other = self.part(part)?.sample()?;
            if sample.num_rows() == 0 {
                sample = other;
            }
        }
        Ok(sample)
    }
}

/// Takes the rows of all parts, and hands them on as those of one table.
struct Joined<'a> {
    table: &'a Parts,
    sink: &'a mut dyn Sink,
    has_begun: bool,
    /// Rows of the parts before the current one.
    before: usize,
}

impl Sink for Joined<'_> {
    fn name(&self) -> &str {
        self.sink.name()
    }

    fn takes_records(&self, delimiter: u8) -> bool {
        self.sink.takes_records(delimiter)
    }

    fn takes_lines(&self) -> bool {
        self.sink.takes_lines()
    }

    fn begin(&mut self, head: &Head<'_>) -> Result<(), TableError> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        // The dictionaries of Arrow files differ from part to part, as those of no format do.
        let format = head.format.filter(|&format| format != Format::ArrowFile);
        self.sink.begin(&Head { source: &self.table.name, schema: self.table.schema.clone(), format, ..head.clone() })
    }

    fn record(&mut self, record: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
        self.sink.record(record, end, payload)
    }

    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows.columns.num_rows()));
        let columns = rows.columns.columns().to_vec();
        let columns = RecordBatch::try_new_with_options(self.table.schema.clone(), columns, &options)
            .map_err(|error| TableError::unfit_result(self.sink.name(), error))?;
        let row_numbers: Vec<u64> = rows.row_numbers.iter().map(|row| row + self.before as u64).collect();
        self.sink.batch(&RowBatch { columns: &columns, payloads: rows.payloads, row_numbers: &row_numbers })
    }

    fn finish(&mut self) -> Result<WriteStats, TableError> {
        self.sink.finish()
    }
}

/// In which point two files are stored differently, as far as it matters. Packings may differ.
fn storage_difference(one: Stored, other: Stored) -> Option<String> {
    if one.format != other.format {
        return Some(format!(
            "the first is a {} file and the second a {} file",
            one.format.name(),
            other.format.name()
        ));
    }
    let shown = |delimiter| if delimiter == b'\t' { "tab".to_owned() } else { format!("'{}'", char::from(delimiter)) };
    (one.format == Format::Csv && one.delimiter != other.delimiter).then(|| {
        let (one, other) = (shown(one.delimiter), shown(other.delimiter));
        format!("fields are separated by {one} in the first and by {other} in the second")
    })
}

/// The first difference of names and types. Whether there may be nulls, and metadata, may differ.
fn difference(one: &Schema, other: &Schema) -> Option<String> {
    let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let (ones, others) = (names(one), names(other));
    if ones != others {
        // The first row of a file without a header is taken for its names.
        if ones.iter().chain(&others).any(|name| looks_like_data(name)) {
            return Some("their column names differ, and some look like data: is a header row missing?".to_owned());
        }
        if let Some(name) = ones.iter().find(|name| !others.contains(name)) {
            return Some(format!("only the first has a column `{name}`"));
        }
        if let Some(name) = others.iter().find(|name| !ones.contains(name)) {
            return Some(format!("only the second has a column `{name}`"));
        }
        if ones.len() != others.len() {
            return Some(format!("the first has {} columns and the second {}", ones.len(), others.len()));
        }
        return Some("the same columns stand in another order".to_owned());
    }
    one.fields().iter().zip(other.fields()).find(|(one, other)| one.data_type() != other.data_type()).map(
        |(one, other)| {
            format!(
                "column `{}` is of type {} in the first and {} in the second",
                one.name(),
                one.data_type(),
                other.data_type()
            )
        },
    )
}

/// The columns of `one`, which may be null where those of `other` may.
fn with_nulls_of(one: &SchemaRef, other: &Schema) -> SchemaRef {
    let both = || one.fields().iter().zip(other.fields());
    if both().all(|(one, other)| one.is_nullable() || !other.is_nullable()) {
        return one.clone();
    }
    let field = |(one, other): (&Arc<Field>, &Arc<Field>)| {
        Arc::new(one.as_ref().clone().with_nullable(one.is_nullable() || other.is_nullable()))
    };
    Arc::new(Schema::new_with_metadata(both().map(field).collect::<Vec<_>>(), one.metadata().clone()))
}
