//! Files that hold no table which can be read: what they are, by their first bytes, and what a user does with them.

use crate::table::{Packing, TableError};

/// First bytes of a file, or of the text in a packed one, by which it is recognised. A tar archive says late what it
/// is.
pub(crate) const HEAD_BYTES: usize = 512;

/// What a file is, behind "is", and what to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    what: &'static str,
    mend: &'static str,
}

const WORKBOOK: &str = "save the sheet as CSV (UTF-8), or convert it, for example with `libreoffice --headless \
                        --convert-to csv FILE`";
const ARCHIVE: &str = "unpack it, and name the table files that were in it";
const UNPACK: &str = "unpack it first, or pack it with gzip, zstd or bzip2, which are read";
const DECRYPT: &str = "decrypt it first, and name the decrypted file, or give it on standard input with --input -";
const DATABASE: &str = "export the table to Parquet or CSV, for example with DuckDB: COPY (FROM t) TO 't.parquet'";
const STATISTICS: &str = "write it as Parquet or CSV with the program that made it, or with pandas or R";
const DUMP: &str = "export the table itself, for example with psql: \\copy t to 't.csv' with (format csv, header)";
const ARRAY: &str = "write one JSON object a line: jq -c '.[]' FILE";
const PAGE: &str = "save it from there as CSV (UTF-8); a page's table can be read with pandas.read_html";

/// Files that begin so. A beginning that could be a header of CSV stands here with bytes behind it that no text has.
const BEGINNINGS: &[(&[u8], &str, &str)] = &[
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a workbook of old Excel (.xls) or another Office file", WORKBOOK),
    (b"SQLite format 3\0", "an SQLite database", DATABASE),
    (b"Obj\x01", "an Avro file", "write it as Parquet, for example with Spark or DuckDB's extension avro"),
    (b"FEA1", "a Feather file of version 1", "write it as Feather version 2 or as Parquet"),
    (b"PARE", "a Parquet file with an encrypted footer", DECRYPT),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", STATISTICS),
    (b"$FL2", "an SPSS file", STATISTICS),
    (b"$FL3", "an SPSS file", STATISTICS),
    (b"<stata_dta>", "a Stata file", STATISTICS),
    (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60", "a SAS file", STATISTICS),
    (b"RDX2\n", "an R data file", STATISTICS),
    (b"RDX3\n", "an R data file", STATISTICS),
    (b"\x80\x04\x95", "a Python pickle", STATISTICS),
    (b"\x80\x05\x95", "a Python pickle", STATISTICS),
    (b"PGDMP", "a PostgreSQL dump", DUMP),
    (b"PGCOPY\n\xff\r\n\0", "a binary PostgreSQL COPY file", DUMP),
    (b"%PDF-", "a PDF file", "ask for the table as CSV or Parquet"),
    (b"\xfd7zXZ\0", "packed with xz", UNPACK),
    (b"\x04\x22\x4d\x18", "packed with lz4", UNPACK),
    (b"\xff\x06\0\0sNaPpY", "packed with snappy", UNPACK),
    (b"LZIP\x01", "packed with lzip", UNPACK),
    (b"\x1f\x9d", "packed with compress (.Z)", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", ARCHIVE),
    (b"Rar!\x1a\x07", "a rar archive", ARCHIVE),
    (b"-----BEGIN PGP MESSAGE-----", "encrypted with PGP", DECRYPT),
    (b"-----BEGIN AGE ENCRYPTED FILE-----", "encrypted with age", DECRYPT),
    (b"age-encryption.org/v1", "encrypted with age", DECRYPT),
    (b"Salted__", "encrypted with openssl", DECRYPT),
    (
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS instead of the file itself",
        "fetch the file: git lfs pull",
    ),
    (b"vesica-ed25519 ", "a public key of vesica", "name your table here, and your partner's key with --peer"),
];

/// What a file with these first bytes is, if it is nothing that is read.
pub(crate) fn of_head(head: &[u8]) -> Option<Foreign> {
    let is = |what, mend| Some(Foreign { what, mend });
    if let Some(&(_, what, mend)) = BEGINNINGS.iter().find(|(beginning, ..)| head.starts_with(beginning)) {
        return is(what, mend);
    }
    match head {
        [b'P', b'K', 3, 4, ..] => {
            let holds = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
            match () {
                () if holds(b"[Content_Types].xml") || holds(b"_rels/") || holds(b"docProps/") => {
                    is("a workbook of Excel (.xlsx) or another Office file", WORKBOOK)
                }
                () if holds(b"mimetypeapplication/vnd.oasis") => {
                    is("a workbook of LibreOffice (.ods) or another OpenDocument file", WORKBOOK)
                }
                () => is("a zip archive", ARCHIVE),
            }
        }
        // Behind these letters, text would go on.
        [b'O', b'R', b'C', 0..=8 | 14..=31 | 127.., ..] => {
            is("an ORC file", "write it as Parquet, for example with Spark: spark.read.orc('t').write.parquet('u')")
        }
        [_, _, _, _, _, _, _, _, b'D', b'U', b'C', b'K', ..] => is("a DuckDB database", DATABASE),
        // Session keys, for a public key or a password.
        [0x84, _, 3, ..] | [0x85, _, _, 3, ..] | [0xc1, _, 3, ..] | [0x8c, 13, 4, ..] | [0xc3, 13, 4, ..] => {
            is("encrypted with PGP", DECRYPT)
        }
        _ if head.get(257..262) == Some(b"ustar") => is("a tar archive", ARCHIVE),
        _ => None,
    }
}

/// What a text is that begins with `head`, if it is no CSV and no JSON lines. `is_json`: whether its name says JSON.
pub(crate) fn of_text(head: &[u8], is_json: bool) -> Option<Foreign> {
    let is = |what, mend| Some(Foreign { what, mend });
    match head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            return is("UTF-32 text", "convert it: iconv -f UTF-32 -t UTF-8 FILE");
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return is("UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 FILE"),
        _ => {}
    }
    if let Some(text) = utf16_without_mark(head) {
        return Some(text);
    }
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head).trim_ascii_start();
    let begins = |tag: &[u8]| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    if begins(b"<!doctype html") || begins(b"<html") || begins(b"<table") {
        return is("a page of HTML", PAGE);
    }
    if begins(b"<?xml") {
        return is("an XML file", PAGE);
    }
    // Brackets are also how some databases quote the names in a header.
    let objects = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    if objects.is_some_and(|rest| is_json || rest.starts_with(b"{")) {
        return is("a JSON array", ARRAY);
    }
    let is_utf8 = std::str::from_utf8(head).map_or_else(|fault| fault.error_len().is_none(), |_| true);
    if !is_utf8 && head.contains(&0) {
        return is("neither text nor of a format that is read", "write the table as CSV, JSON lines, Parquet or Arrow");
    }
    None
}

/// Text in UTF-16 without a byte-order mark: of its letters, as far as they are Latin, every other byte is 0.
fn utf16_without_mark(head: &[u8]) -> Option<Foreign> {
    let (pairs, _) = head.as_chunks::<2>();
    let nulls = |place: usize| pairs.iter().filter(|pair| pair.get(place) == Some(&0)).count();
    let mend = |little| {
        if little {
            "convert it: iconv -f UTF-16LE -t UTF-8 FILE"
        } else {
            "convert it: iconv -f UTF-16BE -t UTF-8 FILE"
        }
    };
    let (first, second) = (nulls(0), nulls(1));
    let most = first.max(second);
    let is_utf16 = pairs.len() > 1 && first.min(second) == 0 && most * 2 >= pairs.len();
    is_utf16.then(|| Foreign { what: "UTF-16 text without a byte-order mark", mend: mend(second > 0) })
}

/// A Parquet file of which only the footer can be read.
pub(crate) fn encrypted_columns() -> Foreign {
    Foreign { what: "a Parquet file with encrypted columns", mend: DECRYPT }
}

/// Arrow messages of streams before Arrow 0.15, which have no mark in front of their length.
pub(crate) fn of_old_arrow(head: &[u8]) -> Option<Foreign> {
    let (words, _) = head.as_chunks::<4>();
    let mut numbers = words.iter().map(|word| u32::from_le_bytes(*word));
    let (length, root) = (numbers.next()?, numbers.next()?);
    ((8..1 << 24).contains(&length) && (8..=64).contains(&root) && root % 4 == 0).then_some(Foreign {
        what: "an Arrow stream from before Arrow 0.15",
        mend: "write it again with a newer Arrow; pyarrow still reads it: pyarrow.ipc.open_stream('FILE').read_all()",
    })
}

impl Foreign {
    /// A packed text in a packed text.
    pub fn packed(packing: Packing) -> Self {
        Self { what: packing.name(), mend: "it was packed twice: unpack it once" }
    }

    /// The error of the file `path`, in whose packing it was found, if there is one.
    pub fn error(self, path: String, packing: Option<Packing>) -> TableError {
        let Self { what, mend } = self;
        let what = match packing {
            Some(packing) => format!("{what} inside of {}", packing.name()),
            None => what.to_owned(),
        };
        TableError::Foreign { path, what, mend }
    }
}
