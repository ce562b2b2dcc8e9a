//! Folders of the form `name=value` as columns, as DuckDB and Spark read them; and folders that other programs manage.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use vesica_data::table::{
    Duplicates, InputOptions, Join, Matches, OpenSource, Output, OutputOptions, PayloadSpec, Source, SourceFile,
    TableError, ValueSpec, read_keys, read_values, write_matches,
};

use super::columnar_tables::{arrow_file, parquet, read};
use super::{Folder, key, told};

fn source(folder: &Folder, name: &str) -> Result<Box<dyn Source>, TableError> {
    SourceFile { path: folder.path(name).to_str().unwrap().to_owned(), options: InputOptions::default() }.open()
}

/// The ids of the parts' rows.
fn batch(ids: &[&str]) -> RecordBatch {
    let id: ArrayRef = Arc::new(StringArray::from(ids.to_vec()));
    let n: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ids.len() as i64));
    RecordBatch::try_from_iter([("id", id), ("n", n)]).unwrap()
}

/// A table of four parts in folders of two levels, in each format.
fn tables(folder: &Folder) -> Vec<&'static str> {
    for (place, ids, below) in [
        (0, &["a", "b"][..], "dt=2026-01-01/place=New%20York"),
        (1, &["c"], "dt=2026-01-02/place=__HIVE_DEFAULT_PARTITION__"),
        (2, &[], "dt=2026-01-02/place=Rome"),
        (3, &["d"], "dt=2026-01-02/place=a%2Cb"),
    ] {
        for table in ["csv", "jsonl", "parquet", "arrow"] {
            fs::create_dir_all(folder.path(&format!("{table}/{below}"))).unwrap();
            let file = format!("{table}/{below}/part-{place}.{table}");
            let rows = |row: fn((usize, &&str)) -> String| ids.iter().enumerate().map(row).collect::<String>();
            match table {
                "csv" => drop(folder.write(&file, format!("id,n\n{}", rows(|(n, id)| format!("{id},{n}\n"))))),
                "jsonl" => drop(folder.write(&file, rows(|(n, id)| format!("{{\"id\":\"{id}\",\"n\":{n} }}\n")))),
                "parquet" => parquet(&folder.path(&file), &batch(ids)),
                _ => arrow_file(&folder.path(&file), &batch(ids)),
            }
        }
        folder.write(&format!("csv/{below}/_SUCCESS"), "");
    }
    vec!["csv", "jsonl", "parquet", "arrow"]
}

/// A file as rows of text, behind its header.
fn rows_of(path: &Path) -> Vec<String> {
    let text = || fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv" | "jsonl") => text(),
        _ => {
            let batches = read(path);
            let names = batches[0].schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
            let row = |batch: &RecordBatch, row| {
                let cells = batch.columns().iter().map(|column| array_value_to_string(column, row).unwrap());
                cells.collect::<Vec<_>>().join("|")
            };
            let rows = batches
                .iter()
                .flat_map(|batch| (0..batch.num_rows()).map(|place| row(batch, place)).collect::<Vec<_>>());
            [names.join("|")].into_iter().chain(rows).collect()
        }
    }
}

#[test]
fn folders_are_columns_in_every_format() {
    let folder = Folder::new();
    for table in tables(&folder) {
        for name in [table.to_owned(), format!("{table}/*/*/*"), format!("{table}/dt=*")] {
            let source = source(&folder, &name).unwrap();
            let schema = source.schema().unwrap();
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            assert_eq!(names, ["id", "n", "dt", "place"], "{name}");
            let is_typed = matches!(table, "parquet" | "arrow");
            let of_dates = if is_typed { DataType::Date32 } else { DataType::Utf8 };
            assert_eq!((schema.field(2).data_type(), schema.field(3).data_type()), (&of_dates, &DataType::Utf8));
            assert_eq!(source.sample().unwrap().schema().fields().len(), 4);

            // As a key: before, behind and without columns of the files.
            for (columns, keys) in [
                (&["dt"][..], &[0, 0, 1, 1][..]),
                (&["dt", "id"], &[0, 1, 2, 3]),
                (&["id", "dt"], &[0, 1, 2, 3]),
                (&["place", "id", "dt"], &[0, 1, u32::MAX, 2]),
            ] {
                let table = read_keys(source.as_ref(), &key(columns), None).unwrap();
                assert_eq!(table.row_key, keys, "{name} {columns:?}");
            }
            // As a payload, and with the canonical bytes that a table of text has.
            let spec =
                PayloadSpec { columns: vec!["place".into(), "n".into(), "dt".into()], duplicates: Duplicates::First };
            let table = read_keys(source.as_ref(), &key(&["dt", "id"]), Some(&spec)).unwrap();
            assert!(table.payload.is_some_and(|payload| payload.schema.fields.len() == 3));
            let text = folder.write("same.csv", "dt,id\n2026-01-01,a\n2026-01-01,b\n2026-01-02,c\n2026-01-02,d\n");
            let same = super::keys_of(&text, &key(&["dt", "id"])).unwrap();
            assert_eq!(table.digests.iter().collect::<BTreeSet<_>>(), same.digests.iter().collect::<BTreeSet<_>>());

            // As kept columns, in every format of a result.
            let table = read_keys(source.as_ref(), &key(&["id"]), None).unwrap();
            for ending in ["csv", "jsonl", "parquet", "arrow"] {
                let to = folder.path(&format!("out.{ending}"));
                let output = Output::create(to.to_str().unwrap(), &OutputOptions::default(), source.as_ref()).unwrap();
                let kept = Matches { keys: &[1, 2, 3], payload: None };
                write_matches(source.as_ref(), &table, &kept, Join::Inner, output).unwrap();
                let rows = rows_of(&to);
                let expected: &[&str] = match (ending, table_of_text(&name)) {
                    ("csv", _) => {
                        &["id,n,dt,place", "b,1,2026-01-01,New York", "c,0,2026-01-02,", "d,0,2026-01-02,\"a,b\""]
                    }
                    ("jsonl", true) if name.starts_with("csv") => &[
                        r#"{"id":"b","n":"1","dt":"2026-01-01","place":"New York"}"#,
                        r#"{"id":"c","n":"0","dt":"2026-01-02","place":null}"#,
                        r#"{"id":"d","n":"0","dt":"2026-01-02","place":"a,b"}"#,
                    ],
                    ("jsonl", _) => &[
                        r#"{"id":"b","n":1,"dt":"2026-01-01","place":"New York"}"#,
                        r#"{"id":"c","n":0,"dt":"2026-01-02","place":null}"#,
                        r#"{"id":"d","n":0,"dt":"2026-01-02","place":"a,b"}"#,
                    ],
                    _ => &["id|n|dt|place", "b|1|2026-01-01|New York", "c|0|2026-01-02|", "d|0|2026-01-02|a,b"],
                };
                assert_eq!(rows, expected, "{name} into {ending}");
                fs::remove_file(to).unwrap();
            }
        }
    }
}

fn table_of_text(name: &str) -> bool {
    name.starts_with("csv") || name.starts_with("jsonl")
}

#[test]
fn integers_of_folders_are_computed_with_and_written_bare() {
    let folder = Folder::new();
    for (ending, text) in [("csv", "id\nk\n"), ("jsonl", "{}\n{\"id\":\"k\"}\n")] {
        for n in [5, -7] {
            fs::create_dir_all(folder.path(&format!("{ending}/n={n}"))).unwrap();
            folder.write(&format!("{ending}/n={n}/p.{ending}"), text.replace('k', &format!("k{n}")));
        }
        let source = source(&folder, ending).unwrap();
        let spec = ValueSpec::parse(&["n".to_owned()], &[], &[]).unwrap();
        let values = read_values(source.as_ref(), &key(&["id"]), &spec).unwrap();
        assert_eq!(values.values.unwrap().values, [-7, 5], "{ending}");
        let table = read_keys(source.as_ref(), &key(&["n"]), None).unwrap();
        let to = folder.path(&format!("out.{ending}"));
        let output = Output::create(to.to_str().unwrap(), &OutputOptions::default(), source.as_ref()).unwrap();
        write_matches(source.as_ref(), &table, &Matches { keys: &[1], payload: None }, Join::Inner, output).unwrap();
        let expected = if ending == "csv" { &["id,n", "k5,5"][..] } else { &["{\"n\":5}", "{\"id\":\"k5\",\"n\":5}"] };
        assert_eq!(rows_of(&to), expected);
    }
}

#[test]
fn folders_that_do_not_go_together_are_refused() {
    let folder = Folder::new();
    for path in ["t/a=1", "t/b=2", "u/id=1", "v/a=1/sub", "w/a=1"] {
        fs::create_dir_all(folder.path(path)).unwrap();
    }
    for name in ["t/a=1/p.csv", "t/b=2/p.csv", "u/id=1/p.csv", "v/a=1/p.csv", "w/a=1/p.csv", "w/p.csv"] {
        folder.write(name, "id\nk\n");
    }
    for (name, expected) in [
        ("t", &["in folders `a=`", "in folders `b=`"][..]),
        ("w", &["in folders `a=`", "in no such folder"]),
        ("u", &["column `id` stands in the files", "and in the names of their folders"]),
        ("v", &["v/a=1/sub"]),
    ] {
        let told = told(&source(&folder, name).err().unwrap());
        assert!(expected.iter().all(|part| told.contains(part)), "{name}: {told}");
    }
    // What the name says itself is no column: there is one file of one folder.
    for name in ["u/id=1/p.csv", "u/id=1/*.csv", "u/id=1"] {
        assert_eq!(source(&folder, name).unwrap().schema().unwrap().fields().len(), 1, "{name}");
    }
}

#[test]
fn empty_parts_are_parts_and_packed_twins_are_refused() {
    let folder = Folder::new();
    for path in ["c", "j", "none", "twins"] {
        fs::create_dir_all(folder.path(path)).unwrap();
    }
    for (name, text) in [
        ("c/0.csv", ""),
        ("c/1.csv", "id,n\nk1,1\n"),
        ("c/2.csv", "id,n\n"),
        ("c/3.csv", "\n"),
        ("c/_SUCCESS", ""),
        ("c/.1.csv.crc", "crc"),
        ("j/0.jsonl", ""),
        ("j/1.jsonl", "{\"id\":\"k1\",\"n\":1}\n"),
        ("j/2.jsonl", "\n"),
        ("none/0.jsonl", ""),
        ("none/1.jsonl", ""),
        ("twins/a.csv", "id\nk1\n"),
    ] {
        folder.write(name, text);
    }
    for name in ["c", "j", "none"] {
        let source = source(&folder, name).unwrap();
        let table = read_keys(source.as_ref(), &key(&["id"]), None).unwrap();
        assert_eq!(table.stats.rows, u64::from(name != "none"), "{name}");
        let to = folder.path(&format!("{name}.out.jsonl"));
        let output = Output::create(to.to_str().unwrap(), &OutputOptions::default(), source.as_ref()).unwrap();
        let kept = if name == "none" { &[][..] } else { &[0] };
        let kept = Matches { keys: kept, payload: None };
        assert_eq!(write_matches(source.as_ref(), &table, &kept, Join::Inner, output).unwrap().rows, table.stats.rows);
    }
    fs::remove_file(folder.path("c/1.csv")).unwrap();
    fs::remove_file(folder.path("c/2.csv")).unwrap();
    assert!(told(&source(&folder, "c").err().unwrap()).contains("not even a header"));
    folder.write("twins/a.csv.zst", zstd::encode_all(&b"id\nk1\n"[..], 1).unwrap());
    for name in ["twins", "twins/a*"] {
        let told = told(&source(&folder, name).err().unwrap());
        assert!(told.contains("a.csv and ") && told.contains("the same rows") && told.contains("remove one"), "{told}");
    }
    assert!(source(&folder, "twins/*.csv").is_ok());
}

#[test]
fn tables_that_a_log_manages_are_refused() {
    let folder = Folder::new();
    for path in
        ["delta/_delta_log", "delta/dt=1", "hudi/.hoodie", "hudi/2026/01", "iceberg/metadata", "iceberg/data/dt=1"]
    {
        fs::create_dir_all(folder.path(path)).unwrap();
    }
    folder.write("hudi/2026/01/.hoodie_partition_metadata", "");
    folder.write("iceberg/metadata/v1.metadata.json", "{}");
    for name in ["delta/p.csv", "delta/dt=1/p.csv", "hudi/p.csv", "hudi/2026/01/p.csv", "iceberg/data/dt=1/p.csv"] {
        folder.write(name, "id\nk1\n");
    }
    for (names, expected) in [
        (
            &["delta", "delta/", "delta/*.csv", "delta/*/*.csv", "delta/dt=1", "delta/dt=1/p.csv", "d*/*.csv"][..],
            "delta_scan",
        ),
        (&["hudi", "hudi/p.*", "hudi/2026/*/*", "hudi/2026/01", "hudi/2026/01/p.csv"], "format('hudi')"),
        (&["iceberg", "iceberg/data", "iceberg/data/*/*", "iceberg/data/dt=1/p.csv"], "iceberg_scan"),
    ] {
        for name in names {
            let error = told(&source(&folder, name).err().unwrap_or_else(|| panic!("{name} is read")));
            assert!(error.contains(expected) && error.contains("is a table of "), "{name}: {error}");
        }
    }
    // A folder called data, or metadata, is no table by that.
    fs::create_dir_all(folder.path("plain/data")).unwrap();
    fs::create_dir_all(folder.path("plain/metadata")).unwrap();
    folder.write("plain/data/p.csv", "id\nk1\n");
    assert!(source(&folder, "plain/data").is_ok());
}
