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

impl Format {
    /// Reads a `--format` value.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "parquet" => Some(Self::Parquet),
            "arrow" => Some(Self::ArrowFile),
            "arrow-stream" => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// The name that errors use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::JsonLines => "JSON lines",
            Self::Parquet => "Parquet",
            Self::ArrowFile => "Arrow",
            Self::ArrowStream => "Arrow stream",
        }
    }

    /// Whether its rows are lines of text, which can be compressed as a whole.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::JsonLines)
    }

    /// The format that a file name's extension says (that of a
    /// [`Packing`] is passed over), if it is known.
    pub fn of_name(path: &str) -> Option<Self> {
        let lower = path.to_ascii_lowercase();
        let (name, _) = Packing::of_name(&lower);
        match Path::new(name).extension()?.to_str()? {
            "csv" | "tsv" | "tab" | "txt" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" => Some(Self::ArrowFile),
            "arrows" => Some(Self::ArrowStream),
            _ => None,
        }
    }

    pub(crate) fn of_magic(magic: &[u8]) -> Option<Self> {
        match magic {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::ArrowFile),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::ArrowStream),
            _ => None,
        }
    }
}
