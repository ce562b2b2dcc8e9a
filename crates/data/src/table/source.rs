//! What a table is to its readers: columns, a first pass over some of their cells, and a second
//! pass that keeps rows.
//!
//! A kind of table that comes in Arrow record batches implements [`Source`] by
//! [`scan_batch`](crate::table::scan_batch) and [`keep_batch`](crate::table::keep_batch). One that comes as text gives [`Cell::Text`] and [`Cell::Null`] alone.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::table::{Format, KeptRows, Packing, Position, Sink, TableError};

/// A table that is read twice. What can be read only once is copied first, as
/// [`crate::table::Input`] does with standard input and [`crate::table::Input::spool_batches`] with
/// record batches.
///
/// Both passes must give the same rows in the same order: a result names rows by their place.
/// Another number of rows is an error ([`TableError::Changed`]). Other rows, or the same ones in
/// another order, are not noticed: the result then has the rows that stand at the places of the
/// matches. The result of a query, which may come in any order, is copied too.
pub trait Source: Send {
    /// The name that errors show.
    fn name(&self) -> &str;

    /// The columns and their types. A table of text has columns of nullable text.
    fn schema(&self) -> Result<SchemaRef, TableError>;

    /// The first pass: gives the wanted cells of all rows to `scanner`, in the order of the rows.
    fn scan(&self, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError>;

    /// The second pass: asks [`KeptRows::row`] of every row, and gives all columns of those that it
    /// names to `sink`, in the order of the rows. It starts with [`Sink::begin`] and leaves
    /// [`Sink::finish`] to its caller.
    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError>;

    /// How the table is stored, if it is a file. An output follows it where nothing else decides.
    fn stored(&self) -> Option<Stored> {
        None
    }

    /// How far the pass that goes on has come, for another thread; `None` if the table does not tell. A
    /// pass sets it back when it begins.
    fn position(&self) -> Option<Position> {
        None
    }

    /// At most one row with all columns. A sink finds out by it, before a protocol starts, whether
    /// it can hold the columns.
    fn sample(&self) -> Result<RecordBatch, TableError> {
        Ok(RecordBatch::new_empty(self.schema()?))
    }
}

/// How a table file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The file's format.
    pub format: Format,
    /// What separates the fields of CSV.
    pub delimiter: u8,
    /// How the file is compressed as a whole, if it is.
    pub packing: Option<Packing>,
    /// Length of the file in bytes.
    pub bytes: u64,
}

/// A column that a scan gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its place in the source's schema.
    pub column: usize,
    /// What its values are wanted for.
    pub form: CellForm,
}

/// In which form a column of a typed source gives its values. Text is given as it stands in any
/// form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellForm {
    /// The canonical bytes of a key: see [`crate::key`].
    Key,
    /// The value as a payload carries it: see [`crate::table::PayloadKind`].
    Payload,
    /// An exact number.
    Number,
}

/// A cell of a row, borrowed from its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// Text, in any form.
    Text(&'a str),
    /// Canonical bytes of a key, or binary of a payload.
    Bytes(&'a [u8]),
    /// A truth value of a payload.
    Boolean(bool),
    /// A value of a payload that has a fixed width, as Arrow stores it.
    Fixed(&'a [u8]),
    /// A number, in units of `10^-scale`.
    Decimal(i128, i8),
    /// A value that has no canonical form, such as a date beyond the year 9999.
    OutOfRange,
}

/// A cell in a form that its column does not have.
#[derive(Debug)]
pub(crate) struct WrongForm;

/// Takes the cells of a scan.
///
/// Rows come in parts, which may be filled on several threads. A source asks for empty parts, fills
/// them with consecutive rows, and commits them; a later part holds later rows. Asking for parts
/// again forgets what was filled and not committed, so that a source can fall back to one part
/// where a row is malformed.
pub trait Scanner {
    /// Announces about how many rows will come. Only room is made by it.
    fn expect_rows(&mut self, _rows: usize) {}

    /// Empty parts for the next rows: at least one, and at most `most`.
    fn parts(&mut self, most: usize) -> Vec<Box<dyn ScannerPart + '_>>;

    /// Takes the complete rows of the parts that were asked for last.
    fn commit(&mut self) -> Result<(), TableError>;
}

/// Takes consecutive rows, cell by cell.
pub trait ScannerPart: Send {
    /// The current row's cell of the column that stands at `place` among the wanted ones. Each
    /// wanted column comes once, in order.
    ///
    /// # Errors
    /// If the value does not serve, or the cell is not in the form that is wanted of the column.
    fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), TableError>;

    /// Ends the current row.
    ///
    /// # Errors
    /// As of [`Self::cell`], for cells that stand in no file.
    fn end_row(&mut self) -> Result<(), TableError>;

    /// Tells of a record that repeats the header of a table of text, and is no row.
    fn header_again(&mut self);

    /// Ends the current row, which cannot be read to its end because of `error`. A source calls it if it can go on
    /// with the next row, and one that cannot returns the error.
    ///
    /// # Errors
    /// Gives the error back unless faults are counted.
    fn refuse(&mut self, error: TableError) -> Result<(), TableError> {
        Err(error)
    }
}

impl<P: ScannerPart + ?Sized> ScannerPart for &mut P {
    #[inline]
    fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), TableError> {
        (**self).cell(place, cell)
    }

    #[inline]
    fn end_row(&mut self) -> Result<(), TableError> {
        (**self).end_row()
    }

    fn header_again(&mut self) {
        (**self).header_again();
    }

    fn refuse(&mut self, error: TableError) -> Result<(), TableError> {
        (**self).refuse(error)
    }
}
