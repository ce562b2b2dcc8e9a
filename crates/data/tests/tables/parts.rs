//! Folders and patterns as one table.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use vesica_data::profile::check_file;
use vesica_data::table::{
    InputOptions, Join, KeyTable, Matches, OpenSource, Output, OutputOptions, Source, SourceFile, TableError,
    TableFile, read_keys, write_matches,
};

use super::columnar_tables::{arrow_file, parquet, read};
use super::{Folder, key, told};

fn source(folder: &Folder, name: &str) -> Result<Box<dyn Source>, TableError> {
    SourceFile { path: folder.path(name).to_str().unwrap().to_owned(), options: InputOptions::default() }.open()
}

fn write(source: &dyn Source, table: &KeyTable, keys: &[u32], to: &Path) -> Result<u64, TableError> {
    let output = Output::create(to.to_str().unwrap(), &OutputOptions::default(), source)?;
    Ok(write_matches(source, table, &Matches { keys, payload: None }, Join::Inner, output)?.rows)
}

#[test]
fn parts_of_csv_are_one_table_with_one_header() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("t")).unwrap();
    folder.write("t/p-2.csv", "\u{feff}id,n\r\n2,\"x\r\ny\"\r\n1,z\r\n");
    folder.write("t/p-1.csv", "id,n\n1,a\n3,\"b\"");
    folder.write("t/p-3.csv", "id,n\n");
    folder.write("t/p-4.csv.zst", zstd::encode_all(&b"\"id\",n\n4,c\n1,d\n"[..], 1).unwrap());
    folder.write("t/_SUCCESS", "");
    folder.write("t/.p-1.csv.crc", "crc");
    for name in ["t", "t/", "t/p-*", "?/p-?.csv*"] {
        let source = source(&folder, name).unwrap();
        let table = read_keys(source.as_ref(), &key(&["id"]), None).unwrap();
        assert_eq!(table.row_key, [0, 1, 2, 0, 3, 0], "{name}");
        let out = folder.path("out.csv");
        assert_eq!(write(source.as_ref(), &table, &[0, 1, 2], &out).unwrap(), 5);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "id,n\n1,a\n3,\"b\"\n2,\"x\r\ny\"\r\n1,z\r\n1,d\n");
        // The same rows as columns.
        let out = [out, folder.path("out.parquet")];
        write(source.as_ref(), &table, &[1], &out[1]).unwrap();
        assert_eq!(super::keys_of(&out[1], &key(&["id", "n"])).unwrap().stats.rows, 1);
        out.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
    let path = folder.path("t");
    let table = TableFile::open(path.to_str().unwrap(), &InputOptions::default()).unwrap();
    let profile = check_file(&table, &key(&["id"])).unwrap();
    assert_eq!((profile.files, profile.keys.rows, profile.keys.distinct), (4, 6, 4));
    assert!(profile.to_string().contains("in 4 files"), "{profile}");
}

fn numbers(from: i64, is_nullable: bool) -> RecordBatch {
    let columns: [ArrayRef; 2] = [
        Arc::new(Int64Array::from_iter((from..from + 9000).map(|n| (!is_nullable || n % 9000 != 7).then_some(n)))),
        Arc::new(StringArray::from_iter_values((from..from + 9000).map(|n| format!("row {n}")))),
    ];
    let fields = [("n", is_nullable), ("text", false)].into_iter().zip(&columns);
    let schema: Schema = Schema::new(
        fields.map(|((name, null), column)| Field::new(name, column.data_type().clone(), null)).collect::<Vec<_>>(),
    );
    RecordBatch::try_new(Arc::new(schema), columns.to_vec()).unwrap()
}

#[test]
fn parts_of_columnar_formats_keep_their_types_and_order() {
    let folder = Folder::new();
    for (ending, write_part) in [("parquet", parquet as fn(&Path, &RecordBatch)), ("arrow", arrow_file)] {
        // Nulls of a later part make the column of the whole nullable.
        write_part(&folder.path(&format!("p1.{ending}")), &numbers(0, false));
        write_part(&folder.path(&format!("p2.{ending}")), &numbers(9000, true));
        let source = source(&folder, &format!("p?.{ending}")).unwrap();
        assert!(source.schema().unwrap().field(0).is_nullable());
        let table = read_keys(source.as_ref(), &key(&["n"]), None).unwrap();
        assert_eq!((table.stats.rows, table.stats.null_rows, table.stats.distinct), (18_000, 1, 17_999));
        let out = folder.path(&format!("out.{ending}"));
        write(source.as_ref(), &table, &[5, 8999, 9000, 17_998], &out).unwrap();
        let kept = read(&out);
        let rows: Vec<i64> =
            kept.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
        assert_eq!(rows, [5, 8999, 9000, 17_999], "{ending}");
    }
}

#[test]
fn files_that_are_no_parts_of_one_table_are_refused() {
    let folder = Folder::new();
    let refused = |first: &str, second: &str, expected: &[&str]| {
        folder.write("p-1.csv", first);
        folder.write("p-2.csv", second);
        let told = told(&source(&folder, "p-*").err().unwrap());
        for text in ["p-1.csv", "p-2.csv"].iter().chain(expected) {
            assert!(told.contains(text), "`{text}` is not in: {told}");
        }
        told
    };
    refused("id,a\n1,2\n", "id\n1\n", &["only the first has a column `a`"]);
    refused("id\n1\n", "id,a\n1,2\n", &["only the second has a column `a`"]);
    refused("id,a\n1,2\n", "a,id\n1,2\n", &["another order"]);
    refused("id,id\n1,2\n", "id\n1\n", &["the first has 2 columns and the second 1"]);
    let told = refused("id,a\n1,2\n", "anna@x.org,5\n1,2\n", &["look like data", "header row missing"]);
    assert!(!told.contains("anna"), "{told}");
    let other = folder.path("p-3.tsv");
    std::fs::rename(folder.path("p-2.csv"), &other).unwrap();
    assert!(super::told(&source(&folder, "p-*").err().unwrap()).contains("by ',' in the first and by tab"));
    std::fs::remove_file(other).unwrap();
    parquet(&folder.path("p-2.parquet"), &numbers(0, false));
    assert!(
        super::told(&source(&folder, "p-*").err().unwrap()).contains("the first is a CSV file and the second a Parq")
    );
    std::fs::remove_file(folder.path("p-1.csv")).unwrap();
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    parquet(&folder.path("p-3.parquet"), &RecordBatch::try_from_iter([("n", narrow), ("text", text)]).unwrap());
    let told = super::told(&source(&folder, "p-*").err().unwrap());
    assert!(told.contains("column `n` is of type Int64 in the first and Int32 in the second"), "{told}");
}

#[test]
fn a_pattern_without_files_and_parts_that_are_no_files_are_refused() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("t/sub")).unwrap();
    let told = |name| told(&source(&folder, name).err().unwrap());
    assert!(told("*.parquet").contains("names no file; check the path and the pattern"));
    assert!(told("t").contains("t/sub") && told("t").contains("by a pattern"), "{}", told("t"));
    assert!(told("t/sub").contains("names no file"));
    assert!(told("**/a.csv").contains("one `*` for each folder"));
    assert!(std::process::Command::new("mkfifo").arg(folder.path("t/pipe")).status().unwrap().success());
    assert!(told("t/p*").contains("a pipe or a device"));
}

#[test]
fn a_part_that_changes_between_the_passes_is_refused() {
    let folder = Folder::new();
    for (name, keys) in [("p-1.csv", "id\n1\n"), ("p-2.csv", "id\n2\n")] {
        folder.write(name, keys);
    }
    let source = source(&folder, "p-*.csv").unwrap();
    let table = read_keys(source.as_ref(), &key(&["id"]), None).unwrap();
    // Another file of the same name and length.
    let other = folder.write("other", "id\n9\n");
    std::fs::rename(other, folder.path("p-2.csv")).unwrap();
    let error = write(source.as_ref(), &table, &[1], &folder.path("out.csv")).unwrap_err();
    assert!(matches!(&error, TableError::Changed { path } if path.ends_with("p-2.csv")), "{error}");
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn faults_name_the_part_and_its_line() {
    let folder = Folder::new();
    folder.write("p-1.csv", "id,n\n1,a\n");
    folder.write("p-2.csv", "id,n\n1,a\n2\n");
    let source = source(&folder, "p-*.csv").unwrap();
    let error = read_keys(source.as_ref(), &key(&["id"]), None).unwrap_err();
    assert!(error.to_string().contains("line 3 of ") && error.to_string().contains("p-2.csv"), "{error}");
}
