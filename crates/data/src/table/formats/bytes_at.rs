//! Bytes of an input at places that the file itself names, for the checks that come before a
//! library reads it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::table::TableError;
use crate::table::formats::opened_file::OpenedFile;

/// What a check found.
pub(crate) enum CheckError {
    /// The file cannot be read.
    Read(io::Error),
    /// The file contradicts itself or its format; says what is wrong with "it" (the file).
    Wrong(String),
    /// A column is of a type that cannot be read.
    Type {
        /// Its name.
        column: String,
        /// The type's name.
        found: String,
    },
}

impl CheckError {
    pub fn wrong<T>(what: impl Into<String>) -> Result<T, Self> {
        Err(Self::Wrong(what.into()))
    }

    /// The error of the whole input.
    pub fn of(self, input: &OpenedFile) -> TableError {
        match self {
            Self::Read(source) => input.unreadable(source),
            Self::Wrong(what) => input.damaged(what),
            Self::Type { column, found } => TableError::ColumnType {
                path: input.path().to_owned(),
                column,
                found,
                role: "read",
                mend: "write the table without this column, or with another type, for example as text",
            },
        }
    }
}

/// A file whose length is known.
#[derive(Clone, Copy)]
pub(crate) struct BytesAt<'a> {
    pub file: &'a File,
    pub len: u64,
}

impl BytesAt<'_> {
    /// `count` bytes at `at`, which must lie inside of the file; `what` they are.
    pub fn read(&self, at: u64, count: u64, what: &str) -> Result<Vec<u8>, CheckError> {
        self.inside(at, count, what)?;
        let Ok(count) = usize::try_from(count) else { return CheckError::wrong(cut_off(what)) };
        let mut bytes = vec![0; count];
        self.file.read_exact_at(&mut bytes, at).map_err(CheckError::Read)?;
        Ok(bytes)
    }

    /// As [`Self::read`], of a fixed length.
    pub fn array<const N: usize>(&self, at: u64, what: &str) -> Result<[u8; N], CheckError> {
        self.read(at, N as u64, what)?.try_into().map_err(|_| CheckError::Wrong(cut_off(what)))
    }

    /// Whether `count` bytes at `at` lie inside of the file.
    pub fn inside(&self, at: u64, count: u64, what: &str) -> Result<(), CheckError> {
        if at.checked_add(count).is_some_and(|end| end <= self.len) { Ok(()) } else { CheckError::wrong(cut_off(what)) }
    }
}

fn cut_off(what: &str) -> String {
    format!("it is cut off, or a length in it is wrong: {what} would lie outside of the file")
}
