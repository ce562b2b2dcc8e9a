//! Several files of one format and with the same columns as one table.
//!
//! The files are opened one after the other, in both passes, so that their number is not bounded by
//! that of open files. A file that is another one in the second pass than in the first is refused.
//! A file without a byte, or without a row, is an empty part.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::invisible::visible;
use crate::table::column_names::looks_like_data;
use crate::table::files::part_names::PartNames;
use crate::table::files::partitions::{FolderValues, Partitions};
use crate::table::formats::opened_file::FileState;
use crate::table::source::{Scanner, Source, Stored, Wanted};
use crate::table::{
    CsvHead, Format, Head, Input, InputOptions, KeptRows, Position, RowBatch, Sink, TableError, WriteStats,
};

/// A folder or a pattern as a table: the rows of its files, in order of the files' names.
#[derive(Debug)]
pub struct Parts {
    /// The name of the folder, or the pattern.
    name: String,
    options: InputOptions,
    parts: Vec<Part>,
    /// The columns that stand in the names of folders. They come behind those of the files.
    partitions: Partitions,
    /// How many columns the files have.
    file_columns: usize,
    schema: SchemaRef,
    stored: Stored,
    /// How far a pass has come, in bytes of all files.
    position: Position,
}

#[derive(Debug)]
struct Part {
    path: String,
    /// What tells another file of the same name from it.
    state: FileState,
    /// Bytes of the files before it.
    before: u64,
}

impl Parts {
    /// Compares the columns of all files, of which there is at least one.
    pub(crate) fn open(name: &str, names: PartNames, options: &InputOptions) -> Result<Self, TableError> {
        let mut opening = Opening::default();
        for path in names.paths {
            let folders = FolderValues::of_path(path.get(names.base.len()..).unwrap_or_default());
            opening.add(path, folders, options)?;
        }
        let Opening { mut parts, folders, known, nameless, headless } = opening;
        let nameless = nameless.map(|(part, files, stored)| {
            if known.is_none() {
                parts.push(part);
            }
            (files, stored)
        });
        let Some((files, stored)) = known.or(nameless) else {
            return Err(headless.unwrap_or_else(|| TableError::NoParts { path: name.to_owned() }));
        };
        let damaged = |error: ArrowError| TableError::Damaged {
            path: name.to_owned(),
            format: stored.format.name(),
            reason: error.to_string(),
        };
        let partitions = Partitions::new(&folders, stored.format).map_err(damaged)?;
        if let Some(column) = partitions.doubled(&files) {
            return Err(TableError::FolderColumn { path: name.to_owned(), column: column.to_owned() });
        }
        let schema = if partitions.is_empty() { files.clone() } else { Arc::new(partitions.behind(&files)) };
        let position = Position::of(stored.bytes);
        Ok(Self {
            name: name.to_owned(),
            options: options.clone(),
            parts,
            partitions,
            file_columns: files.fields().len(),
            schema,
            stored,
            position,
        })
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// The first file.
    pub(crate) fn first(&self) -> Result<Input, TableError> {
        self.parts.first().map_or_else(|| Err(TableError::NoParts { path: self.name.clone() }), |part| self.part(part))
    }

    /// Rows of the part at `place`, with the columns of its folders.
    fn widened(&self, place: usize, rows: &RecordBatch, path: &str) -> Result<RecordBatch, TableError> {
        let columns = self.partitions.widened(place, rows, &self.schema);
        columns.map_err(|error| TableError::unfit_result(path, error))
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
        for (place, part) in self.parts.iter().enumerate() {
            let input = self.part(part)?;
            if self.partitions.is_empty() {
                input.scan(wanted, scanner)?;
                continue;
            }
            let scan = self.partitions.scan(place, self.file_columns, wanted, &mut *scanner);
            let (wanted, mut scanner) = scan.map_err(|error| input.file().damaged(error))?;
            input.scan(&wanted, &mut scanner)?;
        }
        Ok(())
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        let mut joined = JoinedParts { table: self, sink, has_begun: false, before: 0, part: 0, behind: Vec::new() };
        for (place, part) in self.parts.iter().enumerate() {
            joined.before = kept.begin_part();
            joined.begin_part(place);
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
        let (mut sample, mut at) = (self.first()?.sample()?, 0);
        for (number, part) in self.parts.iter().enumerate().skip(1) {
            let other = self.part(part)?.sample()?;
            if sample.num_rows() == 0 {
                (sample, at) = (other, number);
            }
        }
        if self.partitions.is_empty() { Ok(sample) } else { self.widened(at, &sample, &self.name) }
    }
}

/// What is known of a table while its files are opened.
#[derive(Default)]
struct Opening {
    parts: Vec<Part>,
    /// What the folders of each part say.
    folders: Vec<FolderValues>,
    /// The columns so far, and how all files are stored.
    known: Option<(SchemaRef, Stored)>,
    /// A first part without a line, in a format in which lines name the columns.
    nameless: Option<(Part, SchemaRef, Stored)>,
    /// The error of a first part without a header.
    headless: Option<TableError>,
}

impl Opening {
    fn add(&mut self, path: String, folders: FolderValues, options: &InputOptions) -> Result<(), TableError> {
        let input = Input::open(&path, options)?;
        let (schema, stored) = match input.schema() {
            // Beside others, a file that has not even a header is an empty part.
            Err(error @ TableError::Empty { .. }) => {
                self.headless.get_or_insert(error);
                return Ok(());
            }
            schema => (schema?, input.file().stored()),
        };
        if schema.fields().is_empty() && stored.format == Format::JsonLines {
            self.nameless.get_or_insert((Part { path, state: input.state(), before: 0 }, schema, stored));
            return Ok(());
        }
        let before = self.known.as_ref().map_or(0, |(_, known)| known.bytes);
        self.known = Some(match (self.known.take(), self.parts.first()) {
            (Some((one, known)), Some(Part { path: first, .. })) => {
                let difference = storage_difference(known, stored)
                    .or_else(|| difference(&one, &schema))
                    .or_else(|| self.folders.first().and_then(|first| first.difference(&folders)));
                if let Some(difference) = difference {
                    return Err(TableError::UnlikeParts { one: first.clone(), other: path, difference });
                }
                let packing = known.packing.or(stored.packing);
                (with_nulls_of(&one, &schema), Stored { bytes: known.bytes + stored.bytes, packing, ..known })
            }
            _ => (schema, stored),
        });
        self.parts.push(Part { path, state: input.state(), before });
        self.folders.push(folders);
        Ok(())
    }
}

/// Takes the rows of all parts, and hands them on as those of one table.
struct JoinedParts<'a> {
    table: &'a Parts,
    sink: &'a mut dyn Sink,
    has_begun: bool,
    /// Rows of the parts before the current one.
    before: usize,
    /// The place of the current part.
    part: usize,
    /// What the names of its folders add to each record of text.
    behind: Vec<u8>,
}

impl JoinedParts<'_> {
    fn begin_part(&mut self, place: usize) {
        let Parts { partitions, stored, .. } = self.table;
        self.part = place;
        self.behind = match stored.format {
            _ if partitions.is_empty() => Vec::new(),
            Format::Csv => partitions.csv_fields(place, stored.delimiter),
            Format::JsonLines => partitions.json_members(place),
            _ => Vec::new(),
        };
    }

    /// A record with the columns of the folders behind its own, and where its line end begins.
    fn widened(&self, record: &[u8], end: usize) -> Option<(Vec<u8>, usize)> {
        let (own, line_end) = record.split_at_checked(end)?;
        let mut wide = Vec::with_capacity(record.len() + self.behind.len() + 1);
        match self.table.stored.format {
            Format::JsonLines => {
                let open = own.strip_suffix(b"}")?.trim_ascii_end();
                wide.extend_from_slice(open);
                if !open.ends_with(b"{") {
                    wide.push(b',');
                }
                wide.extend_from_slice(&self.behind);
                wide.push(b'}');
            }
            _ => {
                wide.extend_from_slice(own);
                wide.extend_from_slice(&self.behind);
            }
        }
        let end = wide.len();
        wide.extend_from_slice(line_end);
        Some((wide, end))
    }
}

impl Sink for JoinedParts<'_> {
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
        let Parts { name, schema, partitions, stored, .. } = self.table;
        let header = head.csv.map(|csv| [csv.header, &partitions.csv_names(stored.delimiter)].concat());
        let csv = head.csv.zip(header.as_deref()).map(|(csv, header)| CsvHead { header, ..csv });
        // Of other formats than JSON lines it stays empty.
        let bare = if head.bare.is_empty() { Vec::new() } else { [head.bare, partitions.are_integers()].concat() };
        self.sink.begin(&Head { source: name, schema: schema.clone(), format, csv, bare: &bare, ..head.clone() })
    }

    fn record(&mut self, record: &[u8], end: usize, payload: Option<&[u8]>) -> Result<(), TableError> {
        if self.behind.is_empty() {
            return self.sink.record(record, end, payload);
        }
        let changed = || TableError::Changed { path: self.table.name.clone() };
        let (wide, end) = self.widened(record, end).ok_or_else(changed)?;
        self.sink.record(&wide, end, payload)
    }

    fn batch(&mut self, rows: &RowBatch<'_>) -> Result<(), TableError> {
        let columns = self.table.widened(self.part, rows.columns, self.sink.name())?;
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
            return Some(format!("only the first has a column `{}`", visible(name)));
        }
        if let Some(name) = others.iter().find(|name| !ones.contains(name)) {
            return Some(format!("only the second has a column `{}`", visible(name)));
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
