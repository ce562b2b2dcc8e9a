//! Columns whose values stand in the names of folders, as Hive, Spark and DuckDB lay out tables:
//! `dt=2026-01-01/part-0.parquet`.
//!
//! A column is of integers or dates if each of its values is the canonical text of one, and else of text: no digit is
//! lost, and a key column has the same canonical bytes in either case.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray, UInt32Array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use arrow_select::take::take;

use crate::table::formats::arrow::columns::WantedColumns;
use crate::table::formats::csv::write_field;
use crate::table::formats::json_lines::write_text;
use crate::table::source::{Cell, Scanner, ScannerPart, Wanted};
use crate::table::{Format, TableError};

/// What Hive, Spark and DuckDB write instead of a null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Whether a folder of this name holds one part of a partitioned table.
pub(crate) fn is_partition(name: &str) -> bool {
    name.split_once('=').is_some_and(|(name, _)| !name.is_empty())
}

/// The name and the value of each folder of a part, the outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FolderValues(Vec<(String, Option<String>)>);

impl FolderValues {
    /// Those in a path below the folder that was named, or below the first step with a `*` or `?`.
    pub fn of_path(below: &str) -> Self {
        let folders = below.rsplit_once('/').map_or("", |(folders, _)| folders);
        let values = folders.split('/').filter(|step| is_partition(step)).filter_map(|step| step.split_once('='));
        Self(values.map(|(name, value)| (decoded(name), (value != NULL).then(|| decoded(value)))).collect())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// In which point the columns of two parts differ, if they do.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.names().eq(other.names()) {
            return None;
        }
        let shown = |values: &Self| match values.names().map(|name| format!("{name}=")).collect::<Vec<_>>().join("/") {
            none if none.is_empty() => "in no such folder".to_owned(),
            folders => format!("in folders `{folders}`"),
        };
        Some(format!(
            "folders of the form `name=value` are columns; the first is {} and the second {}",
            shown(self),
            shown(other)
        ))
    }
}

/// A name or value with its `%20` and the like undone. What is no such escape stays.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let escaped = digits.filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The columns that folders give to a table.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    fields: Fields,
    /// For each part the only row of its columns.
    rows: Vec<RecordBatch>,
    /// Whether the values of each column are integers.
    are_integers: Vec<bool>,
}

impl Partitions {
    /// Those of all parts, which have the same names. Columns are of text in a table of text.
    pub fn new(parts: &[FolderValues], format: Format) -> Result<Self, ArrowError> {
        let Some(first) = parts.first().filter(|first| !first.0.is_empty()) else { return Ok(Self::default()) };
        let (mut fields, mut columns, mut are_integers) = (Vec::new(), Vec::new(), Vec::new());
        for (place, name) in first.names().enumerate() {
            let value = |part: &FolderValues| part.0.get(place).and_then(|(_, value)| value.clone());
            let text: ArrayRef = Arc::new(parts.iter().map(value).collect::<StringArray>());
            let typed = [DataType::Int64, DataType::Date32].iter().find_map(|to| round_trip(&text, to));
            are_integers.push(typed.as_ref().is_some_and(|typed| *typed.data_type() == DataType::Int64));
            let column = typed.filter(|_| !format.is_text()).unwrap_or(text);
            fields.push(Field::new(name, column.data_type().clone(), format.is_text() || column.null_count() > 0));
            columns.push(column);
        }
        let fields = Fields::from(fields);
        let all = RecordBatch::try_new(Arc::new(Schema::new(fields.clone())), columns)?;
        Ok(Self { fields, rows: (0..parts.len()).map(|part| all.slice(part, 1)).collect(), are_integers })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The columns of files, and these behind them.
    pub fn behind(&self, files: &Schema) -> Schema {
        let fields = files.fields().iter().chain(&self.fields).cloned();
        Schema::new_with_metadata(fields.collect::<Vec<_>>(), files.metadata().clone())
    }

    /// Which of these columns stands in the files, too.
    pub fn doubled<'a>(&'a self, files: &Schema) -> Option<&'a str> {
        let in_files = |name: &str| files.fields().iter().any(|field| field.name() == name);
        self.fields.iter().map(|field| field.name().as_str()).find(|name| in_files(name))
    }

    /// Rows of a part, and its values behind each.
    pub fn widened(&self, part: usize, rows: &RecordBatch, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let mut columns = rows.columns().to_vec();
        let firsts = UInt32Array::from(vec![0; rows.num_rows()]);
        for column in self.rows.get(part).iter().flat_map(|row| row.columns()) {
            columns.push(take(column, &firsts, None)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        RecordBatch::try_new_with_options(schema.clone(), columns, &options)
    }

    /// What stands behind the fields of each record of CSV of a part.
    pub fn csv_fields(&self, part: usize, delimiter: u8) -> Vec<u8> {
        let mut fields = Vec::new();
        for value in self.texts(part) {
            fields.push(delimiter);
            if let Some(value) = value {
                write_field(value, delimiter, &mut fields);
            }
        }
        fields
    }

    /// What stands behind the fields of a CSV header.
    pub fn csv_names(&self, delimiter: u8) -> Vec<u8> {
        let mut names = Vec::new();
        for field in &self.fields {
            names.push(delimiter);
            write_field(field.name(), delimiter, &mut names);
        }
        names
    }

    /// What stands behind the values of each JSON object of a part, without a comma in front.
    pub fn json_members(&self, part: usize) -> Vec<u8> {
        let mut members = Vec::new();
        for ((field, value), is_integer) in self.fields.iter().zip(self.texts(part)).zip(&self.are_integers) {
            if !members.is_empty() {
                members.push(b',');
            }
            write_text(field.name(), &mut members);
            members.push(b':');
            match value {
                None => members.extend_from_slice(b"null"),
                Some(value) if *is_integer => members.extend_from_slice(value.as_bytes()),
                Some(value) => write_text(value, &mut members),
            }
        }
        members
    }

    /// Whether the values of each column are integers.
    pub fn are_integers(&self) -> &[bool] {
        &self.are_integers
    }

    /// The values of a part of a table of text.
    fn texts(&self, part: usize) -> impl Iterator<Item = Option<&str>> {
        self.rows.get(part).into_iter().flat_map(|row| row.columns()).map(|column| {
            let text = column.as_any().downcast_ref::<StringArray>()?;
            text.iter().next().flatten()
        })
    }

    /// A scan over a part's file, of which all columns but these stand at the places below `files`.
    pub fn scan<'a>(
        &self,
        part: usize,
        files: usize,
        wanted: &[Wanted],
        scanner: &'a mut dyn Scanner,
    ) -> Result<(Vec<Wanted>, WithFolders<'a>), ArrowError> {
        let row = self.rows.get(part).ok_or_else(|| ArrowError::SchemaError("a part has no values".to_owned()))?;
        let (mut of_file, mut of_folders) = (Vec::new(), Vec::new());
        let (mut places, mut constants) = (Vec::new(), Vec::new());
        for (place, one) in wanted.iter().enumerate() {
            match one.column.checked_sub(files) {
                None => {
                    of_file.push(*one);
                    places.push(place);
                }
                Some(column) => {
                    of_folders.push(Wanted { column, ..*one });
                    constants.push(place);
                }
            }
        }
        let folders = Folders { places, constants, columns: WantedColumns::new(row, &of_folders)? };
        Ok((of_file, WithFolders { scanner, folders }))
    }
}

/// `text` as a column of this type, if each value is the canonical text of one and not all are null.
fn round_trip(text: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    let typed = cast(text, to).ok()?;
    let back = cast(&typed, &DataType::Utf8).ok()?;
    (text.null_count() < text.len() && back.as_ref() == text.as_ref()).then_some(typed)
}

/// Which wanted columns stand in the file, and which do not.
struct Folders {
    /// For each wanted column of the file its place among all wanted ones.
    places: Vec<usize>,
    /// The places of the others, ascending.
    constants: Vec<usize>,
    /// Their only row.
    columns: WantedColumns,
}

/// Hands on the cells of a file, with those of its folders among them.
pub(crate) struct WithFolders<'a> {
    scanner: &'a mut dyn Scanner,
    folders: Folders,
}

impl Scanner for WithFolders<'_> {
    fn expect_rows(&mut self, rows: usize) {
        self.scanner.expect_rows(rows);
    }

    fn parts(&mut self, most: usize) -> Vec<Box<dyn ScannerPart + '_>> {
        let folders = &self.folders;
        let wrap = |part| Box::new(PartWithFolders { part, folders, given: 0, scratch: String::new() }) as _;
        self.scanner.parts(most).into_iter().map(wrap).collect()
    }

    fn commit(&mut self) -> Result<(), TableError> {
        self.scanner.commit()
    }
}

struct PartWithFolders<'a> {
    part: Box<dyn ScannerPart + 'a>,
    folders: &'a Folders,
    /// How many cells of folders the current row has.
    given: usize,
    scratch: String,
}

impl PartWithFolders<'_> {
    /// Gives the cells of folders that stand in front of the wanted column at `place`.
    fn give(&mut self, place: usize) -> Result<(), TableError> {
        while let Some(&constant) = self.folders.constants.get(self.given).filter(|&&constant| constant < place) {
            let cell = self.folders.columns.cell(self.given, 0, &mut self.scratch);
            self.given += 1;
            self.part.cell(constant, cell)?;
        }
        Ok(())
    }
}

impl ScannerPart for PartWithFolders<'_> {
    fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), TableError> {
        let place = self.folders.places.get(place).copied().unwrap_or(usize::MAX);
        self.give(place)?;
        self.part.cell(place, cell)
    }

    fn end_row(&mut self) -> Result<(), TableError> {
        self.give(usize::MAX)?;
        self.given = 0;
        self.part.end_row()
    }

    fn header_again(&mut self) {
        self.part.header_again();
    }

    fn refuse(&mut self, error: TableError) -> Result<(), TableError> {
        self.given = 0;
        self.part.refuse(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_columns() {
        let of = |path: &str| FolderValues::of_path(path).0;
        let some = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(of("dt=2026-01-01/part-0.parquet"), [some("dt", "2026-01-01")]);
        assert_eq!(of("a/x=1/y=b%20c%2Fd/p=3.csv"), [some("x", "1"), some("y", "b c/d")]);
        assert_eq!(of(&format!("x={NULL}/p.csv")), [("x".to_owned(), None)]);
        assert_eq!(
            of("x=/y=%zz/z=%e4/a%3Db=a=b/p.csv"),
            [some("x", ""), some("y", "%zz"), some("z", "%e4"), some("a=b", "a=b")]
        );
        assert!(of("p=1.csv").is_empty() && of("=1/x/p.csv").is_empty());
    }

    #[test]
    fn columns_have_a_type_only_where_no_digit_is_lost() {
        let type_of = |values: &[&str]| {
            let parts: Vec<_> = values.iter().map(|value| FolderValues::of_path(&format!("x={value}/p"))).collect();
            let typed = Partitions::new(&parts, Format::Parquet).expect("columns");
            let text = Partitions::new(&parts, Format::Csv).expect("columns");
            assert_eq!(*text.fields[0].data_type(), DataType::Utf8);
            (typed.fields[0].data_type().clone(), typed.fields[0].is_nullable())
        };
        assert_eq!(type_of(&["1", "-20", "0"]), (DataType::Int64, false));
        assert_eq!(type_of(&["1", NULL]), (DataType::Int64, true));
        assert_eq!(type_of(&["2026-01-01", "0001-12-31"]), (DataType::Date32, false));
        for values in [
            &["01", "02"][..],
            &["+5"],
            &["-0"],
            &["1", "a"],
            &["1", ""],
            &["12345678901234567890123"],
            &["1.5"],
            &["2026-1-1"],
            &["2026-02-30"],
            &["2026-01-01 00%3A00%3A00"],
            &["true"],
            &["1", "2026-01-01"],
        ] {
            assert_eq!(type_of(values), (DataType::Utf8, false), "{values:?}");
        }
        assert_eq!(type_of(&[NULL]), (DataType::Utf8, true));
    }
}
