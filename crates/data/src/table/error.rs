//! What can be wrong with a table, with fault and mend. No variant holds a cell's content.

use std::io;

use crate::invisible::{code_points, visible};
use crate::nearest::nearest;

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
    /// The partner's payload does not decode under the agreed schema.
    #[error("the partner's payload is malformed: {0}")]
    PeerPayload(&'static str),
}

impl TableError {
    /// What the user can do about it.
    pub fn mend(&self) -> String {
        let text = match self {
            Self::Open { path, source } => match source.kind() {
                io::ErrorKind::NotFound => place_of(path).unwrap_or("check the path"),
                io::ErrorKind::PermissionDenied => "ask for the right to read it",
                io::ErrorKind::IsADirectory => {
                    "folders in it are not read unless their names are like dt=2026-01-01: name the files by a pattern, \
                     such as 'folder/*/*.csv'"
                }
                _ => "check the path and that the file can be read",
            },
            Self::Copy { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    "free space there, set TMPDIR to another folder, or raise the limit on file sizes (`ulimit -f`); or \
                     name a file, which is not copied"
                }
                _ => "set TMPDIR to a folder that you can write to, or name a file, which is not copied",
            },
            Self::Foreign { mend, .. } => mend,
            Self::NoParts { .. } => {
                "check the path and the pattern; names that begin with a dot or `_` are left out, and `*` does not stand \
                 for `/`"
            }
            Self::UnlikeParts { .. } => {
                "give all files the same format, names and types of columns, or name fewer files by a pattern"
            }
            Self::PackedTwin { .. } => {
                "remove one of them, or name the other files by a pattern, such as 'folder/*.csv'"
            }
            Self::FolderColumn { .. } => {
                "write the files without this column, or name those of one folder by themselves, such as \
                 'table/dt=2026-01-01/*.parquet': only folders below the name, or from its first `*` on, are columns"
            }
            Self::Read { .. } => "check where the table is stored, and run again",
            Self::Damaged { .. } => {
                "write or copy the file again (its end may be missing), or name its format with --format"
            }
            Self::Changed { .. } => "run again when nobody changes it",
            Self::Option(_, mend) => mend,
            Self::MissingColumn { mend, .. } => mend,
            Self::DuplicateColumn { .. } => "rename one of them",
            Self::Ragged { .. } => {
                "correct this line; a field that holds the delimiter needs quotes, and --delimiter names another one"
            }
            Self::CsvNotUtf8 { .. } => "convert the file to UTF-8, for example with iconv -f LATIN1 -t UTF-8",
            Self::Quote { .. } => {
                "correct this line; a quote inside of a quoted field is written twice. If the program writes a backslash \
                 before it, as Spark does, tell it otherwise: .option(\"escape\", \"\\\"\") in Spark"
            }
            Self::JsonLine { mend, .. } => mend,
            Self::LongRecord { .. } => "look there for a quoted field that is never closed, or a missing line end",
            Self::TooManyColumns { .. } => {
                "check that the file is a table and that --delimiter names what separates its columns"
            }
            Self::LongKey { .. } => {
                "choose a key column of shorter values, or write a hash of them to a column of its own in both tables"
            }
            Self::Empty { .. } => {
                "check what writes it; a CSV table of no rows, which runs like any other, has the line of its header"
            }
            Self::NoKeys { .. } => {
                "choose other key columns or normalisers; `vesica check` shows what each column holds"
            }
            Self::NullWords { mend, .. } => mend,
            Self::ColumnType { mend, .. } => mend,
            Self::Value { .. } => "correct or remove this row",
            Self::WrongForm { .. } => "report this to whoever provides the program that reads the table",
            Self::UnfitNumber { mend, .. } => mend,
            Self::TooManyGroups { .. } => "merge rare values into one",
            Self::ConflictingValues { .. } => {
                "remove duplicate keys, or let each key's first row count with --payload-duplicates first, or add up \
                 its values with sum"
            }
            Self::TooManyRows { .. } => "split the table",
            Self::ConflictingPayloads { .. } => {
                "remove duplicate keys, or send each key's first row with --payload-duplicates first"
            }
            Self::PayloadTooWide { .. } => "send fewer or shorter columns",
            Self::PayloadMemory { .. } => "send fewer or shorter columns, or give it more with --memory",
            Self::WideRecord { .. } => {
                "raise --max-item-bytes on both sides (each key of yours then costs that much), or send fewer or \
                 shorter columns"
            }
            Self::WideKey { .. } => "choose a key column of shorter values",
            Self::UnfitKey { .. } => {
                "cast the column to text in your table, or ask your partner for keys that are values of this type"
            }
            Self::OutputExists { .. } => "choose another name, or replace it with --force",
            Self::Output { path, source } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "the disk is full: free space or choose another place; nothing was left under this name"
                }
                io::ErrorKind::FileTooLarge => {
                    "it is larger than the limit on file sizes (RLIMIT_FSIZE, `ulimit -f`) or than the file system \
                     takes: raise the limit or choose another place; nothing was left under this name"
                }
                io::ErrorKind::NotFound => place_of(path).unwrap_or("create the folder first"),
                io::ErrorKind::IsADirectory => "name a file in it",
                io::ErrorKind::PermissionDenied => "ask for the right to write there, or choose another place",
                _ => "check the path and the disk; nothing was left under this name",
            },
            Self::OutputFormat { mend, .. } => mend,
            Self::PeerPayload(_) => "ask your partner to update or check its installation",
        };
        text.to_owned()
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
            Self::OutputExists { .. } | Self::Output { .. } | Self::OutputFormat { .. } => Blame::Output,
            Self::PeerPayload(_) | Self::UnfitKey { .. } => Blame::Peer,
            _ => Blame::Input,
        }
    }

    /// What the partner may be told: neither paths nor column names nor counts.
    pub fn for_peer(&self) -> &'static str {
        if let Self::WideRecord { .. } = self {
            return "a key of its table, with its payload, is wider than its --max-item-bytes";
        }
        match self.blame() {
            Blame::Usage => "its command line is not valid",
            Blame::Input => "its input table cannot be used",
            Blame::Output => "it cannot write its output",
            Blame::Peer => "the payload is malformed",
        }
    }
}

/// What is to be done about a name that exists nowhere because it is no path of this machine, or not yet one.
fn place_of(path: &str) -> Option<&'static str> {
    if path.starts_with('~') {
        return Some("the shell did not replace `~`: write $HOME, or a blank instead of `=` in front of it");
    }
    let (scheme, rest) = path.split_once(":/")?;
    let is_scheme =
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    match scheme {
        "file" => Some("give the path alone, without file://"),
        _ if is_scheme && (rest.starts_with('/') || scheme == "dbfs") => Some(
            "only files of this machine are read and written: copy it, for example with `aws s3 cp`, or let such a \
             program read or write it through a pipe, with --input - or --output -",
        ),
        _ => None,
    }
}

/// Text for [`TableError::MissingColumn`]: the columns that exist and the closest one. Names that
/// look like data are not listed: a file without a header would print its first row.
pub(crate) fn missing_column_mend(asked: &str, existing: &[String], delimiter: Option<u8>) -> String {
    if existing.iter().any(|name| looks_like_data(name)) {
        return "the column names look like data: if the header row is missing, add it".to_owned();
    }
    if let ([only], Some(used)) = (existing, delimiter)
        && let Some(other) = [';', '\t', '|', ','].into_iter().find(|&d| d != char::from(used) && only.contains(d))
    {
        let shown = if other == '\t' { "tab".to_owned() } else { format!("'{other}'") };
        return format!("the header is a single column; it seems to be separated by {shown}: try --delimiter {shown}");
    }
    let is_hidden = |text: &str| !code_points(text).is_empty();
    let alike = |name: &&String| (is_hidden(name) || is_hidden(asked)) && seen(name) == seen(asked);
    if let Some(name) = existing.iter().find(alike) {
        let (shown, marks) = (visible(name), code_points(name));
        let (whose, marks) = if marks.is_empty() { ("asked for", code_points(asked)) } else { ("in the table", marks) };
        return format!(
            "its column `{shown}` looks like that, but the name {whose} has characters that nobody sees ({}): remove them",
            marks.join(", ")
        );
    }
    let suggestion = nearest(asked, existing.iter().map(String::as_str))
        .map(|name| format!("did you mean `{}`? ", visible(name)))
        .unwrap_or_default();
    let shown: Vec<String> = existing.iter().take(50).map(|name| format!("`{}`", visible(name))).collect();
    let more = if existing.len() > 50 { format!(" and {} more", existing.len() - 50) } else { String::new() };
    format!("{suggestion}its columns are {}{more}", shown.join(", "))
}

/// What is seen of a name.
fn seen(name: &str) -> String {
    let is_seen = |&c: &char| code_points(c.encode_utf8(&mut [0; 4])).is_empty();
    name.chars().filter(is_seen).collect::<String>().trim().to_owned()
}

/// Whether a column's name is rather a cell of a table without a header.
pub(crate) fn looks_like_data(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    name.contains('@')
        || (digits >= 4 && name.starts_with(|c: char| c.is_ascii_digit() || "+-(".contains(c)))
        || name.chars().count() > 64
}
