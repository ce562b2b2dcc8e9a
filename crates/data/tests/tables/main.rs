//! Tables, keys and profiles.

mod columnar_tables;
mod csv_errors;
mod csv_tables;
mod foreign;
mod glued;
mod json_lines;
mod key_page;
mod keys;
mod left;
mod normalisers;
mod notations;
mod null_words;
mod or_keys;
mod outputs;
mod parquet_columns;
mod partitions;
mod parts;
mod payloads;
mod profiles;
mod reference;
mod sources;
mod spilled;
mod splitter;
mod threads;
mod toy_source;
mod types;

use std::path::{Path, PathBuf};

use vesica_data::key::KeySpec;
use vesica_data::table::{
    Format, Input, InputOptions, Join, KeyTable, Matches, Output, OutputOptions, ReceivedPayload, Source, TableError,
    read_keys, write_matches,
};

/// A folder that is removed at the end of the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file of these bytes.
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn open(path: &Path) -> Result<Input, TableError> {
    Input::open(path.to_str().unwrap(), &InputOptions::default())
}

fn key(names: &[&str]) -> KeySpec {
    KeySpec::parse(names, &[]).unwrap()
}

/// Both passes' first half: the keys of a file.
fn keys_of(path: &Path, spec: &KeySpec) -> Result<KeyTable, TableError> {
    read_keys(&open(path)?, spec, None)
}

/// Writes the result for the matches `keys` to `to`.
fn join(
    input: &Input,
    table: &KeyTable,
    keys: &[u32],
    payload: Option<ReceivedPayload<'_>>,
    join: Join,
    to: &Path,
) -> Result<u64, TableError> {
    let output = Output::create(to.to_str().unwrap(), &OutputOptions { force: false, format: None }, input)?;
    Ok(write_matches(input, table, &Matches { keys, payload }, join, output)?.rows)
}

/// Fault and mend in one text.
fn told(error: &TableError) -> String {
    format!("{error}; {}", error.mend())
}

/// The format of a file by its first bytes.
fn format_of(path: &Path) -> Format {
    let input = Input::open(path.to_str().unwrap(), &InputOptions::default()).unwrap();
    input.stored().unwrap().format
}
