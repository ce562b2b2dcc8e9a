//! Files that hold no table that is read: each is named as what it is, with what to do, and so is one in a packing.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use vesica_data::table::Blame;

use super::columnar_tables::parquet;
use super::{Folder, key, keys_of, open, told};

/// A name, the first bytes, and what must be told.
const FILES: &[(&str, &[u8], &[&str])] = &[
    (
        "a.csv",
        b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0bbbb\x13\0\x08\x02[Content_Types].xml ",
        &["Excel (.xlsx)", "libreoffice"],
    ),
    ("a.xlsx", b"PK\x03\x04\x14\0\0\0\0\0bbbb_rels/.rels", &["Excel (.xlsx)"]),
    ("a.ods", b"PK\x03\x04bbbbmimetypeapplication/vnd.oasis.opendocument.spreadsheet", &["LibreOffice (.ods)"]),
    ("a.zip", b"PK\x03\x04bbbbtable.csv", &["a zip archive", "unpack it"]),
    ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", &["old Excel (.xls)"]),
    ("a.xls", b"\n<html xmlns:o=\"office\"><table>", &["a page of HTML", "read_html"]),
    ("a.csv", b"\xef\xbb\xbf<!DOCTYPE html>\n<title>Log in</title>", &["a page of HTML"]),
    ("a.xls", b"<?xml version=\"1.0\"?><Workbook/>", &["an XML file"]),
    ("a.db", b"SQLite format 3\0\x10\0", &["an SQLite database", "DuckDB"]),
    ("a.duckdb", b"\x01\x02\x03\x04\x05\x06\x07\x08DUCK\x40\0", &["a DuckDB database"]),
    ("a.orc", b"ORC\x08\x03\x10", &["an ORC file", "Spark"]),
    ("a.avro", b"Obj\x01\x04\x14avro.codec", &["an Avro file"]),
    ("a.feather", b"FEA1\0\0\0\0", &["Feather file of version 1", "version 2"]),
    ("a.parquet", b"PARE....", &["encrypted footer", "decrypt"]),
    ("a.csv", b"\xfd7zXZ\0\0\x04", &["packed with xz", "unpack"]),
    ("a.csv", b"\x04\x22\x4d\x18dp", &["packed with lz4"]),
    ("a.csv", b"\xff\x06\0\0sNaPpY", &["packed with snappy"]),
    ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04", &["a 7z archive"]),
    ("a.csv", b"-----BEGIN PGP MESSAGE-----\n\nhQEMA", &["encrypted with PGP", "decrypt"]),
    ("a.gpg", b"\x85\x01\x0c\x03\x11\x22", &["encrypted with PGP"]),
    ("a.gpg", b"\x8c\x0d\x04\x09\x03\x02", &["encrypted with PGP"]),
    ("a.age", b"age-encryption.org/v1\n-> X25519", &["encrypted with age"]),
    ("a.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", &["Git LFS", "git lfs pull"]),
    ("a.csv", b"\xff\xfei\0d\0\n\0k\0", &["UTF-16 text", "iconv -f UTF-16 -t UTF-8"]),
    ("a.csv", b"i\0d\0,\0v\0\r\0\n\0k\x001\0", &["UTF-16 text without", "iconv -f UTF-16LE"]),
    ("a.csv", b"\0i\0d\0,\0v\0\n\0k", &["UTF-16 text without", "iconv -f UTF-16BE"]),
    ("a.csv", b"\xff\xfe\0\0i\0\0\0", &["UTF-32 text"]),
    ("a.bin", b"\x80\x81\0\0\x90\x00id", &["neither text"]),
    ("a.json", b"[\n  {\"id\": \"k1\"},\n", &["a JSON array", "jq -c '.[]'"]),
    ("a.json", b" [{\"id\": \"k1\"}]", &["a JSON array"]),
    ("a.json", b"[1, 2]", &["a JSON array"]),
    ("a.jsonl", b"[[1, 2]]", &["a JSON array"]),
    ("a.csv", b"[{\"id\": \"k1\"}]", &["a JSON array"]),
    ("a.arrow", b"\xa0\0\0\0\x10\0\0\0\0\0\x0a\0\x0e\0", &["before Arrow 0.15", "open_stream"]),
    ("a.arrows", b"\xa0\0\0\0\x10\0\0\0\0\0\x0a\0\x0e\0", &["before Arrow 0.15"]),
];

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_is_no_table_is_named_with_its_mend() {
    let folder = Folder::new();
    for (name, bytes, expected) in FILES {
        let error = open(&folder.write(name, bytes)).unwrap_err();
        assert_eq!(error.blame(), Blame::Input);
        for part in *expected {
            assert!(told(&error).contains(part), "{name}: `{part}` is not in: {}", told(&error));
        }
        assert!(!told(&error).contains("LATIN1"), "{name}: {}", told(&error));
    }
}

#[test]
fn what_is_packed_is_looked_into() {
    let folder = Folder::new();
    let mut tar = vec![0; 600];
    tar[..5].copy_from_slice(b"t.csv");
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, expected) in [
        (tar, "a tar archive inside of gzip"),
        (packed(b"id\nk1\n"), "gzip inside of gzip; it was packed twice"),
        (b"\xff\xfei\0d\0\n\0".to_vec(), "UTF-16 text inside of gzip"),
        (b"PK\x03\x04\x14\0\0\0xl/_rels/".to_vec(), "Excel (.xlsx) or another Office file inside of gzip"),
        (b"[\n{\"id\":1}]".to_vec(), "a JSON array inside of gzip"),
    ] {
        let error = told(&open(&folder.write("a.csv.gz", packed(&bytes))).unwrap_err());
        assert!(error.replace(", which is not read", "").contains(expected), "`{expected}` is not in: {error}");
    }
    // What cannot be unpacked is a fault of its own.
    let cut = &packed(b"id\nk1\n")[..14];
    let error = told(&keys_of(&folder.write("a.csv.gz", cut), &key(&["id"])).unwrap_err());
    assert!(error.contains("cut off"), "{error}");
}

#[test]
fn tables_that_begin_alike_are_read() {
    let folder = Folder::new();
    for (name, text, column) in [
        ("a.csv", "ORCID,v\nk1,1\n", "ORCID"),
        ("a.csv", "[id],[v]\nk1,1\n", "[id]"),
        ("a.csv", "PK,v\nk1,1\n", "PK"),
        ("a.csv", "<id>,v\nk1,1\n", "<id>"),
        ("a.csv", "id,v\nk1\0\0,1\n", "id"),
        ("a.json", "\u{feff}{\"id\":\"k1\"}\n{\"id\":\"k2\"}\n", "id"),
        ("a", "{\"id\":\"k1\"}\n", "id"),
        ("a.csv", "id,v\nk\u{e4},1\n", "id"),
    ] {
        let table = keys_of(&folder.write(name, text), &key(&[column]));
        assert!(table.is_ok(), "{text:?}: {}", told(&table.unwrap_err()));
    }
}

#[test]
fn lines_of_json_are_said_to_be_split_or_joined_wrongly() {
    let folder = Folder::new();
    for (text, expected) in [
        ("{\n  \"id\": 1\n}\n", "line 1 of "),
        ("{\n  \"id\": 1\n}\n", "jq -c . FILE"),
        ("{\"id\":1},\n{\"id\":2}\n", "has a comma behind its JSON object; remove the commas"),
    ] {
        let error = told(&keys_of(&folder.write("a.json", text), &key(&["id"])).unwrap_err());
        assert!(error.contains(expected), "`{expected}` is not in: {error}");
    }
}

/// The footer can be read, and says that columns cannot: a run must not notice that only when it writes its result.
#[test]
fn encrypted_columns_of_parquet_show_in_the_footer() {
    let folder = Folder::new();
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["k1"]));
    let path = folder.path("a.parquet");
    parquet(&path, &RecordBatch::try_from_iter([("id", ids)]).unwrap());
    assert!(keys_of(&path, &key(&["id"])).is_ok());
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) + 4;
    // Behind the footer's seventh field its eighth: AES-GCM, with nothing said of it.
    assert_eq!(bytes[end - 1], 0);
    bytes.splice(end - 1..end + 4, [0x1c, 0x1c, 0, 0, 0].into_iter().chain(length.to_le_bytes()));
    let told = told(&keys_of(&folder.write("a.parquet", bytes), &key(&["id"])).unwrap_err());
    assert!(told.contains("a Parquet file with encrypted columns") && told.contains("decrypt it first"), "{told}");
}

#[test]
fn names_that_are_no_paths_are_explained() {
    for (name, expected) in [
        ("s3://bucket/t.parquet", "only files of this machine"),
        ("https://example.org/t.csv", "only files of this machine"),
        ("abfss://c@a.dfs.core.windows.net/t", "--input -"),
        ("dbfs:/tables/t", "only files of this machine"),
        ("file:///tmp/none.csv", "without file://"),
        ("~/none.csv", "write $HOME"),
        ("none:/x.csv", "check the path"),
        ("none.csv", "check the path"),
    ] {
        let error = told(&open(std::path::Path::new(name)).unwrap_err());
        assert!(error.contains(expected), "{name}: {error}");
    }
}
