//! What the user can do about a fault of a table.

use std::io;

use super::error::TableError;

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
            Self::KeyMemory { .. } => {
                "keep them on disk with --work FOLDER, and say --buckets auto on both sides; or give it more with --memory"
            }
            Self::Work { folder, source } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "the disk is full: free space, or name a folder on a larger disk with --work; nothing was left there"
                }
                io::ErrorKind::FileTooLarge => {
                    "raise the limit on file sizes (RLIMIT_FSIZE, `ulimit -f`), or name a folder on another file system \
                     with --work; nothing was left there"
                }
                io::ErrorKind::NotFound => place_of(folder).unwrap_or("create the folder of --work first"),
                io::ErrorKind::PermissionDenied => "name a folder in which you may write with --work",
                _ => "name another folder with --work, on a disk that works; nothing was left there",
            },
            Self::PeerPayload(_) => "ask your partner to update or check its installation",
        };
        text.to_owned()
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
