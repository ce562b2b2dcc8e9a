//! A table by the name that a user gives: a file, standard input, or several files.

use std::path::Path;

use crate::table::files::part_names::{Named, named};
use crate::table::{FileIdentity, Input, InputOptions, OpenSource, Parts, Source, TableError};

/// A table file, standard input for `-`, a folder of files, or a pattern that names files: `*` stands
/// for any text without `/` and `?` for one character, unless there is a file of that name. The
/// files of a folder or pattern are one table: they have one format and the same columns, and their
/// rows come in the order of their names. Of a folder, names that begin with a dot or `_` are left
/// out, and folders in it whose names are like `dt=2026-01-01` are gone into: their names are columns.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name.
    pub path: String,
    /// How to read it.
    pub options: InputOptions,
}

impl OpenSource for SourceFile {
    fn name(&self) -> String {
        self.path.clone()
    }

    fn open(&self) -> Result<Box<dyn Source>, TableError> {
        Ok(match TableFile::open(&self.path, &self.options)? {
            TableFile::One(input) => Box::new(input),
            TableFile::Parts(parts) => Box::new(parts),
        })
    }

    fn files(&self) -> Vec<FileIdentity> {
        match self.path.as_str() {
            "-" => FileIdentity::of_standard_input().into_iter().collect(),
            _ => self.paths().iter().filter_map(|path| FileIdentity::of_path(Path::new(path))).collect(),
        }
    }

    fn paths(&self) -> Vec<String> {
        match (self.path.as_str(), named(&self.path)) {
            ("-", _) => Vec::new(),
            (_, Ok(Named::Parts(parts))) => parts.paths,
            // An error of the name comes when the table is opened.
            (path, _) => vec![path.to_owned()],
        }
    }
}

/// A table in one file or in several.
#[derive(Debug)]
pub enum TableFile {
    /// A file, or standard input.
    One(Input),
    /// A folder, or the files that a pattern names.
    Parts(Parts),
}

impl TableFile {
    /// Opens what `path` names, as a [`SourceFile`] does.
    pub fn open(path: &str, options: &InputOptions) -> Result<Self, TableError> {
        Ok(match named(path)? {
            Named::One => Self::One(Input::open(path, options)?),
            Named::Parts(parts) => Self::Parts(Parts::open(path, parts, options)?),
        })
    }

    /// Its rows.
    pub fn source(&self) -> &dyn Source {
        match self {
            Self::One(input) => input,
            Self::Parts(parts) => parts,
        }
    }
}
