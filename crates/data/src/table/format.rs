//! The names, endings and first bytes of file formats.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::path::Path;

use crate::table::Packing;

/// File formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Separated values, RFC 4180.
    Csv,
    /// One JSON object a line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC file, also known as Feather version 2.
    ArrowFile,
    /// Arrow IPC stream.
    ArrowStream,
}

/// By what a format is recognised and named.
struct Names {
    /// What errors call it.
    name: &'static str,
    /// Values of `--format`.
    options: &'static [&'static str],
    /// Endings of the names of files, without a dot.
    endings: &'static [&'static str],
    /// The first bytes of its files; text has none.
    magic: &'static [u8],
}

const CSV: Names = Names { name: "CSV", options: &["csv"], endings: &["csv", "tsv", "tab", "txt"], magic: &[] };
const JSON_LINES: Names =
    Names { name: "JSON lines", options: &["jsonl", "ndjson"], endings: &["jsonl", "ndjson"], magic: &[] };
const PARQUET: Names = Names { name: "Parquet", options: &["parquet"], endings: &["parquet", "pq"], magic: b"PAR1" };
const ARROW_FILE: Names =
    Names { name: "Arrow", options: &["arrow"], endings: &["arrow", "feather", "ipc"], magic: b"ARROW1" };
const ARROW_STREAM: Names =
    Names { name: "Arrow stream", options: &["arrow-stream"], endings: &["arrows"], magic: &[0xff; 4] };

impl Format {
    const ALL: [Self; 5] = [Self::Csv, Self::JsonLines, Self::Parquet, Self::ArrowFile, Self::ArrowStream];

    fn names(self) -> &'static Names {
        match self {
            Self::Csv => &CSV,
            Self::JsonLines => &JSON_LINES,
            Self::Parquet => &PARQUET,
            Self::ArrowFile => &ARROW_FILE,
            Self::ArrowStream => &ARROW_STREAM,
        }
    }

    /// Reads a `--format` value.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.names().options.contains(&name))
    }

    /// The name that errors use.
    pub fn name(self) -> &'static str {
        self.names().name
    }

    /// Whether its rows are lines of text, which can be compressed as a whole.
    pub(crate) fn is_text(self) -> bool {
        self.names().magic.is_empty()
    }

    /// The format that a file name's extension says (that of a [`Packing`] is passed over), if it is known.
    pub fn of_name(path: &str) -> Option<Self> {
        let lower = path.to_ascii_lowercase();
        let (name, _) = Packing::of_name(&lower);
        let ending = Path::new(name).extension()?.to_str()?;
        Self::ALL.into_iter().find(|format| format.names().endings.contains(&ending))
    }

    /// The format of a file that begins so, unless it is text.
    pub(crate) fn of_magic(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|format| !format.is_text() && head.starts_with(format.names().magic))
    }
}
