//! Keys and matches in a work folder, beside the same in memory.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use vesica_data::key::Digest;
use vesica_data::spill::RowRuns;
use vesica_data::table::{
    BesideKeys, Duplicates, Input, Join, KeyTable, Matches, Output, OutputOptions, PayloadSpec, ReceivedPayload,
    TableError, ValueDuplicates, ValueSpec, examine, examine_spilled, read_keys, read_keys_within, read_spilled,
    read_values, write_matches, write_spilled_matches,
};

use super::{Folder, key, open, told};

/// Rows whose key is null, new, or that of an earlier row near or far; a tenth of the values differ between such rows.
fn rows(count: u64) -> Vec<(Option<u64>, String)> {
    let key = |row: u64| match row % 10 {
        0 => None,
        1 | 2 if row > 100 => Some(row / 2),
        3 if row > 100 => Some(row - 1),
        _ => Some(row),
    };
    (0..count).map(|row| (key(row), "v".repeat((row % 23) as usize))).collect()
}

fn csv(rows: &[(Option<u64>, String)]) -> String {
    let mut text = String::from("id,note\n");
    for (key, note) in rows {
        let key = key.map_or_else(String::new, |key| key.to_string());
        writeln!(text, "{key},{note}").unwrap();
    }
    text
}

fn json_lines(rows: &[(Option<u64>, String)]) -> String {
    let mut text = String::new();
    for (key, note) in rows {
        let key = key.map_or_else(|| "null".to_owned(), |key| key.to_string());
        writeln!(text, "{{\"id\":{key},\"note\":\"{note}\"}}").unwrap();
    }
    text
}

fn payload(duplicates: Duplicates) -> PayloadSpec {
    PayloadSpec { columns: vec!["note".into()], duplicates }
}

fn beside(payload: Option<&PayloadSpec>) -> BesideKeys<'_> {
    payload.map_or(BesideKeys::Nothing, BesideKeys::Payload)
}

/// For each key its first row and its padded payload.
type Found = HashMap<Digest, (u32, Vec<u8>)>;

fn in_memory(table: &KeyTable) -> Found {
    let mut first = vec![u32::MAX; table.digests.len()];
    for (row, &key) in (0..).zip(&table.row_key) {
        if let Some(first) = first.get_mut(key as usize) {
            *first = row.min(*first);
        }
    }
    let width = table.payload.as_ref().map_or(0, |payload| payload.schema.width);
    let record = |key: usize| table.payload.as_ref().map_or(&[][..], |all| &all.bytes[key * width..][..width]);
    table.digests.iter().enumerate().map(|(key, digest)| (digest, (first[key], record(key).to_vec()))).collect()
}

/// The table in memory and that in a work folder; `None` where both are refused, in the same words.
fn both(expected: Result<KeyTable, TableError>, found: Result<KeyTable, TableError>) -> Option<(KeyTable, KeyTable)> {
    match (expected, found) {
        (Ok(expected), Ok(found)) => Some((expected, found)),
        (Err(expected), Err(found)) => {
            assert_eq!(told(&expected), told(&found));
            None
        }
        _ => panic!("rows are a table in one way alone"),
    }
}

fn spilled(table: &KeyTable) -> Found {
    let keys = table.spilled.as_ref().unwrap();
    let mut found = Found::new();
    for some in keys.all() {
        let some = some.unwrap();
        assert_eq!(some.payloads.len(), some.rows.len() * keys.width());
        for (place, (&row, digest)) in some.rows.iter().zip(some.digests.iter()).enumerate() {
            let record = some.payloads[place * keys.width()..][..keys.width()].to_vec();
            assert!(found.insert(digest, (row, record)).is_none(), "a key comes once");
        }
    }
    found
}

#[test]
fn a_work_folder_has_the_keys_counts_and_payloads_that_memory_has() {
    let folder = Folder::new();
    for count in [0, 1, 2, 300, 30_000] {
        let path = folder.write("t.csv", csv(&rows(count)));
        for spec in [None, Some(payload(Duplicates::First))] {
            let input = open(&path).unwrap();
            let expected = read_keys(&input, &key(&["id"]), spec.as_ref());
            let found = read_spilled(&input, &key(&["id"]), beside(spec.as_ref()), folder.0.path(), None);
            let Some((expected, found)) = both(expected, found) else { continue };
            assert_eq!(found.stats, expected.stats, "{count}");
            assert_eq!(found.distinct(), expected.digests.len());
            let schemas = [&expected, &found].map(|table| table.payload.as_ref().map(|payload| payload.schema.clone()));
            assert_eq!(schemas[0], schemas[1]);
            assert!(in_memory(&expected) == spilled(&found), "{count}");
        }
        assert_eq!(folder.names(), ["t.csv"], "nothing has a name in the work folder");
    }
}

/// The result of a join whose matches are every third key, by way of memory and by way of a work folder.
fn results(folder: &Folder, path: &Path, with_payload: bool, join: Join, to: &str) -> [Vec<u8>; 2] {
    let input: Input = open(path).unwrap();
    let spec = payload(Duplicates::First);
    let table = read_keys(&input, &key(&["id"]), Some(&spec)).unwrap();
    let schema = table.payload.as_ref().unwrap().schema.clone();
    let mut firsts: Vec<(u32, Vec<u8>)> = in_memory(&table).into_values().collect();
    firsts.sort();
    let output = |name: &str| {
        let path = folder.path(name);
        _ = std::fs::remove_file(&path);
        Output::create(path.to_str().unwrap(), &OutputOptions::default(), &input).unwrap()
    };
    let written = |name: &str| std::fs::read(folder.path(name)).unwrap();
    let [one, other] = ["one", "other"].map(|name| format!("{name}.{to}"));

    // Keys are numbered as they first occur.
    let keys: Vec<u32> = (0..firsts.len() as u32).step_by(3).collect();
    let records: Vec<u8> = keys.iter().flat_map(|&key| firsts[key as usize].1.clone()).collect();
    let received = with_payload.then_some(ReceivedPayload { schema: &schema, bytes: &records });
    write_matches(&input, &table, &Matches { keys: &keys, payload: received }, join, output(&one)).unwrap();

    let table = read_spilled(&input, &key(&["id"]), beside(Some(&spec)), folder.0.path(), None).unwrap();
    let width = if with_payload { schema.width } else { 0 };
    let mut runs = RowRuns::create(folder.0.path(), width, 3).unwrap();
    for run in 0..3 {
        let of_run: Vec<_> = keys.iter().rev().filter(|&&key| key / 3 % 3 == run).collect();
        let records: Vec<u8> = of_run.iter().flat_map(|&&key| firsts[key as usize].1[..width].to_vec()).collect();
        runs.add(of_run.iter().map(|&&key| firsts[key as usize].0).zip(0..).collect(), &records).unwrap();
    }
    let schema = with_payload.then_some(&schema);
    write_spilled_matches(&input, &table, &runs, schema, join, output(&other)).unwrap();
    [written(&one), written(&other)]
}

#[test]
fn results_by_way_of_a_work_folder_are_those_by_way_of_memory_in_every_format() {
    let folder = Folder::new();
    let rows = rows(6_000);
    let text = folder.write("t.csv", csv(&rows));
    let lines = folder.write("t.jsonl", json_lines(&rows));
    // A table of each format that a result has.
    for name in ["t.parquet", "t.arrow"] {
        let input = open(&text).unwrap();
        let table = read_keys(&input, &key(&["id"]), None).unwrap();
        let output = Output::create(folder.path(name).to_str().unwrap(), &OutputOptions::default(), &input).unwrap();
        write_matches(&input, &table, &Matches { keys: &[], payload: None }, Join::Left, output).unwrap();
    }
    for path in [text, lines, folder.path("t.parquet"), folder.path("t.arrow")] {
        for to in ["csv", "jsonl", "parquet", "arrow"] {
            for (with_payload, join) in
                [(false, Join::Inner), (false, Join::Difference), (true, Join::Inner), (true, Join::Left)]
            {
                let [one, other] = results(&folder, &path, with_payload, join, to);
                assert!(one == other && one.len() > 5_000, "{path:?} to {to}, {with_payload}, {join:?}");
            }
        }
    }
}

#[test]
fn faults_are_those_of_memory() {
    let folder = Folder::new();
    let wide = "w".repeat(1 << 17);
    for text in [
        "id,note\n1,a\n2,b\n1,c\n2,d\n".to_owned(),
        format!("id,note\n1,a\n2,{wide}\n"),
        "id,note\n,a\n,b\n".to_owned(),
        "id\n1\n".to_owned(),
        "id,note\n1,a,b\n".to_owned(),
    ] {
        let input = open(&folder.write("t.csv", &text)).unwrap();
        let spec = payload(Duplicates::Refuse);
        let expected = read_keys(&input, &key(&["id"]), Some(&spec)).unwrap_err();
        let found = read_spilled(&input, &key(&["id"]), beside(Some(&spec)), folder.0.path(), None).unwrap_err();
        assert_eq!(told(&found), told(&expected));
    }
    let input = open(&folder.write("t.csv", "id,note\n1,a\n")).unwrap();
    let missing = read_spilled(&input, &key(&["id"]), BesideKeys::Nothing, &folder.path("missing"), None).unwrap_err();
    assert!(told(&missing).contains("create the folder of --work first"), "{}", told(&missing));
    let or_key = vesica_data::key::KeySpec::parse_alternatives(
        &["id".to_owned()],
        &[vec!["note".to_owned()]],
        &Vec::<String>::new(),
    );
    let refused = read_spilled(&input, &or_key.unwrap(), BesideKeys::Nothing, folder.0.path(), None).unwrap_err();
    assert!(told(&refused).contains("omit --or-key, or --work"), "{}", told(&refused));
}

#[test]
fn a_tables_hash_is_that_of_its_rows_under_the_key() {
    let folder = Folder::new();
    let hash = |rows: &[(Option<u64>, String)], spec: Option<&PayloadSpec>, key_byte: u8| {
        let input = open(&folder.write("t.csv", csv(rows))).unwrap();
        let table = read_spilled(&input, &key(&["id"]), beside(spec), folder.0.path(), Some(&[key_byte; 32])).unwrap();
        table.spilled.unwrap().hash().unwrap()
    };
    let (rows, first) = (rows(3000), payload(Duplicates::First));
    let expected = hash(&rows, Some(&first), 1);
    assert_eq!(hash(&rows, Some(&first), 1), expected);
    let mut changed = vec![hash(&rows, Some(&first), 2), hash(&rows, None, 1)];
    for change in [
        |rows: &mut Vec<(Option<u64>, String)>| rows[77].0 = Some(1 << 40),
        |rows: &mut Vec<(Option<u64>, String)>| rows[5].1.push('x'),
        |rows: &mut Vec<(Option<u64>, String)>| rows.swap(4, 8),
        |rows: &mut Vec<(Option<u64>, String)>| drop(rows.pop()),
        |rows: &mut Vec<(Option<u64>, String)>| rows.push((None, String::new())),
        |rows: &mut Vec<(Option<u64>, String)>| rows.push((Some(4), String::new())),
    ] {
        let mut rows = rows.clone();
        change(&mut rows);
        changed.push(hash(&rows, Some(&first), 1));
    }
    assert!(!changed.contains(&expected));
}

#[test]
fn a_table_whose_keys_outgrow_memory_is_refused_before_the_machine_is_out_of_it() {
    let folder = Folder::new();
    let mut text = String::from("id\n");
    (0..600_000).for_each(|row| writeln!(text, "{row}").unwrap());
    let input = open(&folder.write("t.csv", &text)).unwrap();
    let refused = read_keys_within(&input, &key(&["id"]), None, &|| Some(60 << 20)).unwrap_err();
    let text = told(&refused);
    assert!(text.contains("60 MiB are left after") && text.contains("--work FOLDER"), "{text}");
    for room in [None, Some(65 << 20)] {
        assert_eq!(read_keys_within(&input, &key(&["id"]), None, &|| room).unwrap().stats.distinct, 600_000);
    }
}

fn values(duplicates: ValueDuplicates) -> ValueSpec {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let spec = ValueSpec::parse(&texts(&["a", "b"]), &texts(&["b=2"]), &texts(&["a=-50..50"]));
    ValueSpec { duplicates, ..spec.unwrap() }
}

/// Rows of a key, near and far ones, whose values are some for the key alone, or for each row.
fn with_values(count: u64, of_row: bool) -> String {
    let mut text = String::from("id,a,b\n");
    for (row, (key, _)) in rows(count).into_iter().enumerate() {
        let number = if of_row { row as u64 } else { key.unwrap_or(0) } as i64;
        let key = key.map_or_else(String::new, |key| key.to_string());
        writeln!(text, "{key},{},{}.{:02}", number % 120 - 60, number * 7, number % 100).unwrap();
    }
    text
}

#[test]
fn a_work_folder_has_the_values_that_memory_has_and_their_totals() {
    let folder = Folder::new();
    for count in [0, 1, 2, 300, 30_000] {
        for (duplicates, of_row) in [
            (ValueDuplicates::Refuse, false),
            (ValueDuplicates::First, true),
            (ValueDuplicates::Sum, true),
            (ValueDuplicates::Sum, false),
        ] {
            let input = open(&folder.write("t.csv", with_values(count, of_row))).unwrap();
            let spec = values(duplicates);
            let expected = read_values(&input, &key(&["id"]), &spec);
            let found = read_spilled(&input, &key(&["id"]), BesideKeys::Values(&spec), folder.0.path(), Some(&[1; 32]));
            let Some((expected, found)) = both(expected, found) else { continue };
            assert_eq!(found.stats, expected.stats, "{count}");
            let (of_keys, totals) = (expected.values.unwrap(), found.values.as_ref().unwrap());
            assert_eq!(totals.clamped, of_keys.clamped, "{count} {duplicates:?}");
            let total = |column: usize| of_keys.values.iter().skip(column).step_by(2).sum::<i64>();
            assert_eq!(totals.values, [total(0), total(1)], "{count} {duplicates:?}");
            let bytes = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
            let expected: HashMap<Digest, Vec<u8>> =
                expected.digests.iter().zip(of_keys.values.chunks(2).map(bytes)).collect();
            let found: HashMap<Digest, Vec<u8>> =
                spilled(&found).into_iter().map(|(digest, (_, values))| (digest, values)).collect();
            assert!(expected == found, "{count} {duplicates:?}");
        }
    }
}

#[test]
fn faults_of_values_are_those_of_memory_in_a_run_and_in_a_check() {
    let folder = Folder::new();
    let mut many = with_values(3000, false);
    for row in ["2500,x,1", "2501,1,1.234", "5,,1", "7,9223372036854775808,1", "11,1,1"] {
        writeln!(many, "{row}").unwrap();
    }
    for text in [
        "id,a,b\n1,1,1\n2,2,2\n3,3,3\n2,2,5\n1,7,1\n".to_owned(),
        "id,a,b\n1,x,1\n2,2,2\n1,1,1\n".to_owned(),
        "id,a,b\n1,1,1\n2,2,2\n1,x,1\n".to_owned(),
        "id,a,b\n1,9223372036854775807,1\n2,2,2\n1,1,1\n".to_owned(),
        many,
    ] {
        let input = open(&folder.write("t.csv", &text)).unwrap();
        for duplicates in [ValueDuplicates::Refuse, ValueDuplicates::First, ValueDuplicates::Sum] {
            let spec = values(duplicates);
            let beside = BesideKeys::Values(&spec);
            let error = |read: Result<KeyTable, _>| read.map(|_| ()).map_err(|error| told(&error));
            let expected = error(read_values(&input, &key(&["id"]), &spec));
            let found = error(read_spilled(&input, &key(&["id"]), beside, folder.0.path(), None));
            assert_eq!(found, expected, "{duplicates:?}");
            let sorted = |mut faults: Vec<_>| {
                faults.sort_by_key(|fault| format!("{fault:?}"));
                faults
            };
            let expected = sorted(examine(&input, &key(&["id"]), beside, &|| None).faults);
            let found = sorted(examine_spilled(&input, &key(&["id"]), beside, folder.0.path()).faults);
            assert_eq!(found, expected, "{duplicates:?}");
        }
    }
    let input = open(&folder.write("t.csv", "id,a,b\n1,1,1\n")).unwrap();
    let grouped = ValueSpec { group_by: Some("a".into()), ..values(ValueDuplicates::Sum) };
    let refused = read_spilled(&input, &key(&["id"]), BesideKeys::Values(&grouped), folder.0.path(), None);
    assert!(told(&refused.unwrap_err()).contains("omit --group-by, or --work"));
}
