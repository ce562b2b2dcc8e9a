//! How a file is stored: by the user's options, its name and its first bytes. What is no table is refused.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::table::formats::csv;
use crate::table::formats::foreign::{self, Foreign, HEAD_BYTES};
use crate::table::formats::opened_file::Storage;
use crate::table::{Format, Packing, TableError};

/// How to read an input, where its name does not say it.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// `--format`.
    pub format: Option<Format>,
    /// `--delimiter`: an ASCII character; comma unless told, tab for `.tsv`.
    pub delimiter: Option<u8>,
}

/// How `file` is stored, whose name is `path`. Leaves it at its start.
pub(super) fn recognise(file: &mut File, path: &str, options: &InputOptions) -> Result<Storage, TableError> {
    let failed = |source| TableError::Open { path: path.to_owned(), source };
    let magic = first_bytes(file).map_err(failed)?;
    if let Some(foreign) = foreign::of_head(&magic) {
        return Err(foreign.error(path.to_owned(), None));
    }
    let packing = Packing::of_magic(&magic);
    let head = match packing {
        Some(packing) => first_unpacked(file, packing).map_err(failed)?,
        None => magic.clone(),
    };
    let format = choose_format(path, options, (&magic, &head), packing)?;
    if format.is_text()
        && let Some(foreign) = foreign_text(path, &head, format, packing)
    {
        return Err(foreign.error(path.to_owned(), packing));
    }
    let separator = csv::separator_line(&head).filter(|_| format == Format::Csv);
    let delimiter = match (options.delimiter, separator) {
        (Some(delimiter), _) | (None, Some((delimiter, _))) => delimiter,
        (None, None) => default_delimiter(path),
    };
    if !delimiter.is_ascii() || matches!(delimiter, b'"' | b'\r' | b'\n' | 0) {
        return Err(TableError::Option(
            "the delimiter is not a single ASCII character other than a quote or a line end".to_owned(),
            "use for example ',' ';' '|' or a tab",
        ));
    }
    Ok(Storage { format, delimiter, packing, separator_line: separator.map_or(0, |(_, bytes)| bytes) })
}

/// The format of a file that begins with `magic`, or with `head` once it is unpacked.
fn choose_format(
    path: &str,
    options: &InputOptions,
    (magic, head): (&[u8], &[u8]),
    packing: Option<Packing>,
) -> Result<Format, TableError> {
    let by_magic = Format::of_magic(magic);
    // A CSV file may begin so as well, if it says that it is one.
    let begun = begin_of_text(head).starts_with(b"{") || is_named_json(path);
    let otherwise = if begun { Format::JsonLines } else { Format::Csv };
    let named = options.format.or_else(|| Format::of_name(path)).or(by_magic).unwrap_or(otherwise);
    // Both Arrow formats go by `.arrow`; the first bytes tell them apart.
    let format = match (named, by_magic) {
        (Format::ArrowFile, Some(Format::ArrowStream)) => Format::ArrowStream,
        (Format::ArrowStream, Some(Format::ArrowFile)) => Format::ArrowFile,
        (named, _) => named,
    };
    let damaged =
        |reason: &str| TableError::Damaged { path: path.to_owned(), format: format.name(), reason: reason.to_owned() };
    match format {
        Format::Csv | Format::JsonLines => match (by_magic, Packing::of_name(&path.to_ascii_lowercase()).1) {
            (Some(other), _) => Err(damaged(&format!("its first bytes are those of a {} file", other.name()))),
            (None, Some(named)) if packing != Some(named) => Err(damaged(&format!(
                "its name ends in {}, and its first bytes are not those of {}",
                named.ending(),
                named.name()
            ))),
            (None, _) => Ok(format),
        },
        _ if packing.is_some() => {
            let name = packing.map_or("", Packing::name);
            Err(damaged(&format!("it is compressed with {name} as a whole; unpack it first")))
        }
        _ if magic.is_empty() => Err(damaged("it is empty")),
        _ if by_magic == Some(format) => Ok(format),
        _ => Err(match foreign::of_old_arrow(magic).filter(|_| format != Format::Parquet) {
            Some(foreign) => foreign.error(path.to_owned(), None),
            None => damaged("its first bytes are those of another format"),
        }),
    }
}

/// What separates the fields of CSV, by the name of its file.
fn default_delimiter(path: &str) -> u8 {
    let lower = path.to_ascii_lowercase();
    let (name, _) = Packing::of_name(&lower);
    if name.ends_with(".tsv") || name.ends_with(".tab") { b'\t' } else { b',' }
}

fn first_bytes(file: &mut File) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    file.take(HEAD_BYTES as u64).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(first)
}

/// The first bytes of the text in a packed file, as far as it can be unpacked: its reader tells why not.
fn first_unpacked(file: &mut File, packing: Packing) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    if let Ok(text) = packing.unpack(file.try_clone()?) {
        let _ = text.take(HEAD_BYTES as u64).read_to_end(&mut first);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(first)
}

/// What a text begins with, behind a byte-order mark and blanks.
fn begin_of_text(head: &[u8]) -> &[u8] {
    head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head).trim_ascii_start()
}

/// Whether a name says JSON: an array, or lines.
fn is_named_json(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    Packing::of_name(&lower).0.ends_with(".json")
}

/// What a text is that begins with `head`, if it is no table of its format.
fn foreign_text(path: &str, head: &[u8], format: Format, packing: Option<Packing>) -> Option<Foreign> {
    let inside = || foreign::of_head(head).or_else(|| Packing::of_magic(head).map(Foreign::packed));
    let is_json = format == Format::JsonLines || is_named_json(path);
    packing.and_then(|_| inside()).or_else(|| foreign::of_text(head, is_json))
}
