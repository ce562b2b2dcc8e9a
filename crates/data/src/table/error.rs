//! What can be wrong with a table. No variant holds a cell's content.

use std::io;

/// Where the fault lies; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The command line asks for what cannot be.
    Usage,
    /// The input table.
    Input,
    /// The output file or its disk.
    Output,
    /// Bytes that the partner sent.
    Peer,
}

/// A table that cannot be read or written. `Display` is the fault; [`TableError::mend`] what the
/// user can do.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The input cannot be opened.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// What can be read only once cannot be copied.
    #[error("{path} is read twice, and cannot be copied to the temporary folder {folder}: {source}")]
    Copy {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The folder.
        folder: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The input is something else than a table that is read.
    #[error("{path} is {what}, which is not read")]
    Foreign {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// What it is.
        what: String,
        /// What the user can do.
        mend: &'static str,
    },
    /// A folder or pattern without files.
    #[error("{path} names no file")]
    NoParts {
        /// The folder or pattern, as the user gave it.
        path: String,
    },
    /// Two files that cannot be parts of one table.
    #[error("{one} and {other} are no parts of one table: {difference}")]
    UnlikeParts {
        /// The first file.
        one: String,
        /// The second one.
        other: String,
        /// How they differ.
        difference: String,
    },
    /// A file, and what may be the same one in a packing.
    #[error("{one} and {other} may hold the same rows: their names differ by the ending of a compression alone")]
    PackedTwin {
        /// The first file.
        one: String,
        /// The second one.
        other: String,
    },
    /// A column that stands in the files and in the names of their folders.
    #[error("column `{column}` stands in the files of {path} and in the names of their folders")]
    FolderColumn {
        /// The folder or pattern, as the user gave it.
        path: String,
        /// The column.
        column: String,
    },
    /// Reading failed in the middle.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The input is no intact file of its format.
    #[error("{path} is not a readable {format} file: {reason}")]
    Damaged {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Name of the format.
        format: &'static str,
        /// The reader's reason.
        reason: String,
    },
    /// Two passes over the file saw different bytes.
    #[error("{path} changed while it was in use")]
    Changed {
        /// The name of the table or file, as the user gave it.
        path: String,
    },
    /// An option that does not fit the input's format.
    #[error("{0}")]
    Option(String, &'static str),
    /// The table has no such column.
    #[error("{path} has no column `{column}`")]
    MissingColumn {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The column asked for.
        column: String,
        /// What to do instead, with the columns that exist.
        mend: String,
    },
    /// The column asked for stands there more than once.
    #[error("{path} has {count} columns named `{column}`")]
    DuplicateColumn {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The column asked for.
        column: String,
        /// How often it stands there.
        count: usize,
    },
    /// A CSV record with more or fewer fields than the header.
    #[error("line {line} of {path} has {found} columns, the header has {expected}")]
    Ragged {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Line on which the record starts, from 1.
        line: u64,
        /// Fields of the record.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// A CSV record that is not UTF-8.
    #[error("line {line} of {path} is not UTF-8 text (column {column} of {expected})")]
    CsvNotUtf8 {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Line on which the record starts, from 1.
        line: u64,
        /// Number of the first column that is not UTF-8, from 1.
        column: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// A quoted CSV field that does not end, or goes on after its closing quote.
    #[error("line {line} of {path} has a quoted field that {what}")]
    Quote {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Line on which the record starts, from 1.
        line: u64,
        /// How it is malformed.
        what: &'static str,
    },
    /// A line of JSON lines that is no row.
    #[error("line {line} of {path} {what}")]
    JsonLine {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
        /// What the user can do.
        mend: &'static str,
    },
    /// A CSV record or a line longer than any sound one.
    #[error("the record on line {line} of {path} is longer than {limit} bytes")]
    LongRecord {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Line on which the record starts, from 1.
        line: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A CSV record with more fields than any sound one.
    #[error("the record on line {line} of {path} has more than {limit} columns")]
    TooManyColumns {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Line on which the record starts, from 1.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// A key longer than any sound one.
    #[error("row {row} of {path} has a value in key column `{column}` that is longer than {limit} bytes")]
    LongKey {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row, from 1, without the header.
        row: u64,
        /// The column.
        column: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A file of CSV without a header.
    #[error("{path} is empty: it has not even a header")]
    Empty {
        /// The name of the table or file, as the user gave it.
        path: String,
    },
    /// No row can ever match, because of one column or of all together.
    #[error("no row of {path} has a usable key: {why}")]
    NoKeys {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Which column, and whether null or refused by a normaliser.
        why: String,
    },
    /// Words for a missing value in a key column, of which nobody has said what they are.
    #[error(
        "{count} of {rows} rows of {path} have a word in key column `{column}` that programs write where a value is \
         missing ({words}); they would match the partner's rows with the same word, which are other records"
    )]
    NullWords {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The column.
        column: String,
        /// Rows with such a word.
        count: u64,
        /// All rows.
        rows: u64,
        /// The words, which are some of a fixed list.
        words: String,
        /// What the user can say.
        mend: String,
    },
    /// A key column of a type without reliable equality, or a payload column that cannot be sent.
    #[error("column `{column}` of {path} is of type {found}, which cannot be {role}")]
    ColumnType {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// A key, a payload, CSV.
        role: &'static str,
        /// What the user can do.
        mend: &'static str,
    },
    /// A value that has no canonical form (a date beyond the year 9999, a component of 4 GiB).
    #[error("row {row} of {path} has a value in column `{column}` that is out of range for its type")]
    Value {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row, from 1, without the header.
        row: u64,
        /// The column.
        column: String,
    },
    /// A source gave a cell in another form than the one that its column has and that was wanted.
    #[error("row {row} of {path} has a value in column `{column}` that is not of the column's type")]
    WrongForm {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row, from 1, without the header.
        row: u64,
        /// The column.
        column: String,
    },
    /// A value to compute with that is no exact number with the agreed digits.
    #[error("row {row} of {path} (the header is not counted) has a value in column `{column}` that {what}")]
    UnfitNumber {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row, from 1, without the header.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong with it.
        what: String,
        /// What the user can do.
        mend: &'static str,
    },
    /// More groups than a run takes.
    #[error("column `{column}` of {path} has more than {limit} different values, too many groups")]
    TooManyGroups {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The column.
        column: String,
        /// The limit.
        limit: usize,
    },
    /// Rows with equal keys and different values or groups, and the side chose to refuse that.
    #[error("{path} has at least one key with several different values or groups (the second one is row {row})")]
    ConflictingValues {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row of the second one, from 1, without the header.
        row: u64,
    },
    /// More rows than an index holds.
    #[error("{path} has more than {limit} rows")]
    TooManyRows {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The limit.
        limit: u64,
    },
    /// Rows with equal keys and different payloads, and the sender chose to refuse that.
    #[error("{path} has at least one key with several different payloads (the second one is row {row})")]
    ConflictingPayloads {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row of the second payload, from 1, without the header.
        row: u64,
    },
    /// A payload row wider than the limit.
    #[error(
        "row {row} of {path} has a payload of {width} bytes; every match costs that much, and the limit is {limit}"
    )]
    PayloadTooWide {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row, from 1, without the header.
        row: u64,
        /// Encoded width, in bytes.
        width: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Padded to the longest one, the records take more memory than there is.
    #[error(
        "the payload of {path} takes {width} bytes for each of {keys} keys, as much as the longest one, which is more \
         than the {limit} bytes of memory that are left"
    )]
    PayloadMemory {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Distinct keys.
        keys: usize,
        /// Bytes of the longest record.
        width: usize,
        /// Bytes that are left.
        limit: u64,
    },
    /// The keys of a union, with their payload, are wider than the sender lets them be.
    #[error(
        "a key of {path} takes up to {width} bytes with its payload, more than the {limit} of --max-item-bytes; the \
         longest value has {longest} bytes and stands in column `{column}`"
    )]
    WideRecord {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The column with the longest value.
        column: String,
        /// Length of this value, in bytes.
        longest: usize,
        /// Width of all records, in bytes.
        width: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A key that is too wide for any record.
    #[error("row {row} of {path} has a key (column `{columns}`) that is longer than {limit} bytes")]
    WideKey {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// Row, from 1, without the header.
        row: u64,
        /// The key columns.
        columns: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A new key that is no value of the own key column.
    #[error("a new key of the partner is no value of column `{column}` of {path}, which is of type {found}")]
    UnfitKey {
        /// The name of the own table.
        path: String,
        /// The own column.
        column: String,
        /// Its type.
        found: String,
    },
    /// The output exists already.
    #[error("{path} exists already")]
    OutputExists {
        /// The name of the table or file, as the user gave it.
        path: String,
    },
    /// The output cannot be created, written or renamed.
    #[error("cannot write {path}: {source}")]
    Output {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The output cannot be under this name, or its format cannot take these rows.
    #[error("cannot write {path}: {reason}")]
    OutputFormat {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// The writer's reason.
        reason: String,
        /// What the user can do.
        mend: &'static str,
    },
    /// The keys take more memory than there is.
    #[error("the keys of {path} take more memory than there is: {} MiB are left after {keys} keys", .left >> 20)]
    KeyMemory {
        /// The name of the table or file, as the user gave it.
        path: String,
        /// How many distinct keys were read.
        keys: usize,
        /// Bytes that are left.
        left: u64,
    },
    /// The folder for what outgrows memory cannot be used.
    #[error("cannot keep the table in the work folder {folder}: {source}")]
    Work {
        /// The folder.
        folder: String,
        /// The operating system's error, or what is wrong with what it gave back.
        source: io::Error,
    },
    /// The partner's payload does not decode under the agreed schema.
    #[error("the partner's payload is malformed: {0}")]
    PeerPayload(&'static str),
}

impl TableError {
    /// How many keys the table has at least, if it takes more memory than there is.
    pub fn keys_beyond_memory(&self) -> Option<usize> {
        match self {
            Self::KeyMemory { keys, .. } | Self::PayloadMemory { keys, .. } => Some(*keys),
            _ => None,
        }
    }

    /// A result that `path` cannot take.
    pub(crate) fn unfit_result(path: &str, reason: impl ToString) -> Self {
        let mend = "choose another format by the extension of the output";
        Self::OutputFormat { path: path.to_owned(), reason: reason.to_string(), mend }
    }

    /// Where the fault lies.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Option(..) => Blame::Usage,
            Self::OutputExists { .. } | Self::Output { .. } | Self::OutputFormat { .. } | Self::Work { .. } => {
                Blame::Output
            }
            Self::PeerPayload(_) | Self::UnfitKey { .. } => Blame::Peer,
            _ => Blame::Input,
        }
    }

    /// What the partner may be told: neither paths nor column names nor counts.
    pub fn for_peer(&self) -> &'static str {
        match self {
            Self::WideRecord { .. } => {
                return "a key of its table, with its payload, is wider than its --max-item-bytes";
            }
            Self::Work { .. } => return "it cannot use its work folder",
            _ => {}
        }
        match self.blame() {
            Blame::Usage => "its command line is not valid",
            Blame::Input => "its input table cannot be used",
            Blame::Output => "it cannot write its output",
            Blame::Peer => "the payload is malformed",
        }
    }
}
