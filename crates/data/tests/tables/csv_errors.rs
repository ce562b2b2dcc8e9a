//! Bad CSV: each fault with its line and its mend, and never a cell's content.

use vesica_data::key::KeySpec;
use vesica_data::table::Blame;

use super::{Folder, key, keys_of, open, told};

/// The text that stands in cells of the bad files; no error may show it.
const SECRET: &str = "s3cr3t";

#[test]
fn each_fault_names_its_line_and_its_mend() {
    let cases: [(&[u8], &[&str]); 17] = [
        (b"id,x\n1,2\ns3cr3t\n", &["line 3 ", "has 1 columns, the header has 2", "--delimiter"]),
        (b"id,x\n1,2\n1,s3cr3t,3\n", &["line 3 ", "has 3 columns, the header has 2"]),
        (b"id,x\n1,\"a\nb\"\n\n\r\ns3cr3t\n", &["line 6 ", "has 1 columns"]),
        (b"id,x\r1,2\rs3cr3t\r", &["line 3 "]),
        (b"id,x\n1,2\ns3cr3t,\xff\n", &["line 3 ", "not UTF-8", "column 2 of 2", "iconv"]),
        (b"id,\xff\n1,2\n", &["line 1 ", "not UTF-8"]),
        (b"id,x\n1,2\n3,\"s3cr3t\n4,5\n", &["line 3 ", "never closes"]),
        (b"id,x\n1,\"s3cr3t\"a\n", &["line 2 ", "goes on after its closing quote", "written twice"]),
        (b"", &["is empty", "not even a header"]),
        (b"\n\r\n", &["not even a header"]),
        (b"sep=;\n", &["not even a header"]),
        (b"Id,s3x\n1,2\n", &["no column `id`", "did you mean `Id`?", "`Id`, `s3x`"]),
        (b"id;x\n1;2\n", &["no column `id`", "--delimiter ';'"]),
        (b"s3cr3t@example.org,5\n1,2\n", &["no column `id`", "column names look like data"]),
        (b"id,x,id\n1,2,3\n", &["2 columns named `id`", "rename"]),
        (b"id,x\n,s3cr3t\n\"\",2\n", &["no row", "`id` is null or empty in every row", "check"]),
        (b"\xff\xfei\0d\0\n\0", &["UTF-16", "iconv"]),
    ];
    let folder = Folder::new();
    for (bytes, expected) in cases {
        let error = keys_of(&folder.write("in.csv", bytes), &key(&["id"])).unwrap_err();
        let told = told(&error);
        for part in expected {
            assert!(told.contains(part), "`{part}` is not in: {told}");
        }
        assert!(!told.contains(SECRET), "{told}");
        assert_eq!(error.blame(), Blame::Input);
        assert!(!error.for_peer().contains("in.csv"));
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = Folder::new();
    assert!(told(&open(&folder.path("none.csv")).unwrap_err()).contains("check the path"));
    assert!(told(&open(folder.0.path()).unwrap_err()).contains("by a pattern"));
    let error = open(&folder.write("in.parquet", "id\n1\n")).unwrap_err();
    assert!(told(&error).contains("not a readable Parquet file"), "{error}");
    let error = open(&folder.write("in.csv", b"PAR1....")).unwrap_err();
    assert!(told(&error).contains("those of a Parquet file"), "{error}");
    let error = open(&folder.write("in.arrow", "")).unwrap_err();
    assert!(told(&error).contains("it is empty"), "{error}");
}

#[test]
fn normalisers_that_refuse_every_value_are_named() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "phone\ns3cr3t\nno\n");
    let spec = KeySpec::parse(&["phone"], &["phone=e164:DE"]).unwrap();
    let told = told(&keys_of(&path, &spec).unwrap_err());
    assert!(told.contains("normalisers of key column `phone` refuse every value") && !told.contains(SECRET), "{told}");
}

#[test]
fn rows_that_are_null_in_turns_have_no_key_together() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "a,b\n1,\n,2\n");
    let told = told(&keys_of(&path, &key(&["a", "b"])).unwrap_err());
    assert!(told.contains("in some key column"), "{told}");
}
