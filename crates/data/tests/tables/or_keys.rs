//! Keys with alternatives, against a plain computation: a row has one key for each alternative of
//! which all cells are usable.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use proptest::prelude::*;
use vesica_data::key::{KeySpec, SpecError};
use vesica_data::profile::{compare, examples};
use vesica_data::table::{
    Batches, Duplicates, Join, KeyTable, NO_KEY, OpenSource, PayloadSpec, ValueSpec, read_keys, read_union_within,
    read_values,
};

use super::{Folder, join, keys_of, open, told};

/// A row's cells of the columns `mail`, `phone` and `town`; 0 is an empty cell.
type Row = [u8; 3];

/// A key: the number of its alternative, and its cells.
type Key = (usize, Vec<u8>);

/// Matches by `mail`, else by `phone` and `town`.
fn spec() -> KeySpec {
    KeySpec::parse_alternatives(&["mail"], &[vec!["phone".into(), "town".into()]], &[]).unwrap()
}

/// The keys of a row, by the definition: one entry for each alternative.
fn plain_keys(row: Row) -> [Option<Key>; 2] {
    let [mail, phone, town] = row;
    [(mail > 0).then(|| (0, vec![mail])), (phone > 0 && town > 0).then(|| (1, vec![phone, town]))]
}

/// The same letters stand in all columns, so that only the alternative tells keys apart.
fn csv(rows: &[Row]) -> String {
    let cell = |value: u8| if value == 0 { String::new() } else { format!("v{value}") };
    let line = |(number, row): (usize, &Row)| format!("{number},{}\n", row.map(cell).join(","));
    format!("row,mail,phone,town\n{}", rows.iter().enumerate().map(line).collect::<String>())
}

/// Whether `table` has the keys of `rows`, and the counts of them.
fn check(table: &KeyTable, rows: &[Row]) {
    let mut known: HashMap<Key, u32> = HashMap::new();
    let (mut duplicates, mut without, mut of, mut seen) = (0, 0, [0; 2], HashSet::new());
    for (number, row) in rows.iter().enumerate() {
        let keys = plain_keys(*row);
        duplicates += u64::from(keys.iter().flatten().any(|key| known.contains_key(key)));
        without += u64::from(keys.iter().all(Option::is_none));
        for (alternative, key) in keys.into_iter().enumerate() {
            let index = table.row_key[2 * number + alternative];
            let Some(key) = key else {
                assert_eq!(index, NO_KEY, "row {number}, alternative {alternative}");
                continue;
            };
            of[alternative] += 1;
            let next = known.len() as u32;
            assert_eq!(index, *known.entry(key).or_insert(next), "row {number}, alternative {alternative}");
            seen.insert(table.digests.get(index as usize).unwrap());
        }
    }
    assert_eq!((table.row_key.len(), table.keys_per_row()), (2 * rows.len(), 2));
    let stats = &table.stats;
    assert_eq!((stats.rows, stats.distinct), (rows.len() as u64, known.len() as u64));
    assert_eq!((stats.null_rows, stats.unmatchable_rows, stats.duplicate_rows), (without, 0, duplicates));
    assert_eq!((table.digests.len(), seen.len()), (known.len(), known.len()), "different keys, different digests");
    let distinct = |alternative| known.keys().filter(|(of, _)| *of == alternative).count() as u64;
    for (alternative, stats) in stats.alternatives.iter().enumerate() {
        assert_eq!((stats.rows, stats.distinct), (of[alternative], distinct(alternative)));
    }
    let all: Vec<u32> = (0..known.len() as u32).collect();
    assert_eq!(table.by_alternative(&all), [distinct(0), distinct(1)]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]

    /// Both tables' keys meet exactly where a plain join says so, and the rows of the result are those
    /// with a common key in any alternative, each once and in order; or all others.
    #[test]
    fn rows_match_by_any_alternative(
        ours in proptest::collection::vec([0u8..5, 0u8..4, 0u8..3], 0..12),
        theirs in proptest::collection::vec([0u8..5, 0u8..4, 0u8..3], 0..12),
    ) {
        let folder = Folder::new();
        let usable = |rows: &[Row]| rows.iter().any(|row| plain_keys(*row).iter().any(Option::is_some));
        let [our_file, their_file] = [("ours.csv", &ours), ("theirs.csv", &theirs)].map(|(name, rows)| {
            (folder.write(name, csv(rows)), rows)
        });
        for (file, rows) in [&our_file, &their_file] {
            prop_assert_eq!(keys_of(file, &spec()).is_ok(), usable(rows) || rows.is_empty());
        }
        if !usable(&ours) || !usable(&theirs) {
            return Ok(());
        }
        let (first, second) = (keys_of(&our_file.0, &spec()).unwrap(), keys_of(&their_file.0, &spec()).unwrap());
        check(&first, &ours);
        check(&second, &theirs);

        let digests: HashSet<_> = second.digests.iter().collect();
        let common: Vec<u32> =
            (0..).zip(first.digests.iter()).filter(|(_, key)| digests.contains(key)).map(|(key, _)| key).collect();
        let plain: HashSet<Key> = theirs.iter().flat_map(|row| plain_keys(*row).into_iter().flatten()).collect();
        let matches = |row: &Row| plain_keys(*row).iter().flatten().any(|key| plain.contains(key));
        let input = open(&our_file.0).unwrap();
        for (kind, name) in [(Join::Inner, "inner.csv"), (Join::Difference, "difference.csv")] {
            let to = folder.path(name);
            let rows = join(&input, &first, &common, None, kind, &to).unwrap();
            let whole = csv(&ours);
            let mut lines = whole.lines();
            let header = lines.next().unwrap_or_default();
            let kept = lines.zip(&ours).filter(|(_, row)| matches(row) == (kind == Join::Inner)).map(|(line, _)| line);
            let expected: Vec<&str> = std::iter::once(header).chain(kept).collect();
            let written = std::fs::read_to_string(&to).unwrap();
            prop_assert_eq!(written.lines().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(rows as usize, expected.len() - 1);
        }
        let own: HashSet<Key> = ours.iter().flat_map(|row| plain_keys(*row).into_iter().flatten()).collect();
        let both = |alternative| own.intersection(&plain).filter(|(of, _)| *of == alternative).count() as u64;
        prop_assert_eq!(first.by_alternative(&common), vec![both(0), both(1)]);

        let theirs = open(&their_file.0).unwrap();
        let compared = compare([(&input, &spec()), (&theirs, &spec())]).unwrap();
        let counts: Vec<u64> = compared.alternatives.iter().map(|alternative| alternative.common).collect();
        prop_assert_eq!((counts, compared.common), (vec![both(0), both(1)], both(0) + both(1)));
        // No normaliser makes these values meet across alternatives.
        prop_assert!(compared.meeting.is_none());
    }
}

/// Many parts of a file, read on several threads, and typed batches.
#[test]
fn threads_and_formats_change_no_key() {
    let rows: Vec<Row> = (0..60_000u32)
        .map(|i| [(i % 251) as u8, (i.wrapping_mul(7919) % 241) as u8, (i.is_multiple_of(3)).into()])
        .collect();
    let folder = Folder::new();
    let path = folder.write("in.csv", csv(&rows));
    let tables = [1, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| keys_of(&path, &spec())).unwrap()
    });
    let column = |place: usize| -> ArrayRef {
        let cell = |row: &Row| (row[place] > 0).then(|| format!("v{}", row[place]));
        Arc::new(rows.iter().map(cell).collect::<StringArray>())
    };
    let columns = [("mail", column(0), true), ("phone", column(1), true), ("town", column(2), true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let source = Batches::new("our rows", batch.schema(), vec![batch]).unwrap().open().unwrap();
    let typed = read_keys(&*source, &spec(), None).unwrap();
    for table in [&tables[0], &tables[1], &typed] {
        check(table, &rows);
        assert_eq!((&table.digests, &table.row_key), (&tables[0].digests, &tables[0].row_key));
    }
}

/// The first alternative has the digests of a key without alternatives: one side may add alternatives
/// to both configurations and keep what it knows of its keys.
#[test]
fn the_first_alternative_is_the_key_alone_and_others_have_other_digests() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "a,b\nx,x\n");
    let of = |key: &str, or_keys: &[&str]| {
        let or_keys: Vec<Vec<String>> = or_keys.iter().map(|name| vec![(*name).to_owned()]).collect();
        let table = keys_of(&path, &KeySpec::parse_alternatives(&[key], &or_keys, &[]).unwrap()).unwrap();
        table.digests.iter().collect::<Vec<_>>()
    };
    assert_eq!(of("a", &[]), of("b", &[]));
    let [first, second, third] = of("a", &["b", "a"])[..] else { panic!("three keys") };
    assert_eq!([first], of("a", &[])[..]);
    assert!(first != second && second != third && first != third);
    // The place of an alternative counts, and not its column.
    assert_eq!(of("b", &["a", "b"]), [first, second, third]);
}

#[test]
fn normalisers_are_for_a_column_in_every_alternative() {
    let alternative = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let or_keys = [alternative(&["b", "a"]), alternative(&["c"])];
    let spec = KeySpec::parse_alternatives(&["a"], &or_keys, &["a=lower", "c=int"]).unwrap();
    assert_eq!(spec.agreement(), ["lower@1"]);
    assert_eq!(spec.or_agreement(), [vec!["as it is".to_owned(), "lower@1".to_owned()], vec!["int@3".to_owned()]]);
    assert_eq!(spec.alternatives().collect::<Vec<_>>(), [0..1, 1..3, 3..4]);
    let places: Vec<String> = (0..4).map(|column| spec.place(column)).collect();
    assert_eq!(
        places,
        ["1 of alternative 1", "1 of alternative 2", "2 of alternative 2", "1 of alternative 3"]
            .map(|place| format!("column {place}"))
    );
    assert_eq!(KeySpec::parse(&["a", "b"], &[]).unwrap().place(1), "key column 2");

    let refused = |names: &[&str]| KeySpec::parse_alternatives(&["a"], &[alternative(names)], &[]);
    assert_eq!(refused(&[]), Err(SpecError::EmptyAlternative));
    assert_eq!(refused(&["b", "b"]), Err(SpecError::Repeated("b".into())));
    assert!(refused(&["a"]).is_ok(), "the partner may have two columns of one kind");
}

/// A row that a normaliser refuses in one alternative still has its key in the other.
#[test]
fn a_refused_cell_costs_one_alternative() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "a,b\nx,1\nx,no\n,no\n,\ny,2\n");
    let spec = KeySpec::parse_alternatives(&["a"], &[vec!["b".into()]], &["b=int"]).unwrap();
    let table = keys_of(&path, &spec).unwrap();
    assert_eq!(table.row_key, [0, 1, 0, NO_KEY, NO_KEY, NO_KEY, NO_KEY, NO_KEY, 2, 3]);
    let stats = &table.stats;
    assert_eq!((stats.unmatchable_rows, stats.null_rows, stats.duplicate_rows, stats.distinct), (1, 1, 1, 4));
    let shown = examples(&open(&path).unwrap(), &spec, 2).unwrap();
    let places: Vec<(u64, usize)> = shown.keys.iter().map(|key| (key.row, key.alternative)).collect();
    assert_eq!(places, [(1, 1), (1, 2), (5, 1), (5, 2)]);

    let none = keys_of(&folder.write("none.csv", "a,b\n,no\n,\n"), &spec).unwrap_err();
    assert!(told(&none).contains("in each alternative of the key"), "{}", told(&none));
}

#[test]
fn columns_beside_alternatives_are_refused() {
    let folder = Folder::new();
    let input = open(&folder.write("in.csv", "mail,phone,town,score\na,b,c,1\n")).unwrap();
    let payload = PayloadSpec { columns: vec!["score".into()], duplicates: Duplicates::Refuse };
    for refused in [
        read_keys(&input, &spec(), Some(&payload)).unwrap_err(),
        read_values(&input, &spec(), &ValueSpec::default()).unwrap_err(),
        read_union_within(&input, &spec(), None, &|| None).unwrap_err(),
    ] {
        assert!(told(&refused).contains("a key with alternatives"), "{}", told(&refused));
    }
}

#[test]
fn a_comparison_needs_alternatives_of_one_shape() {
    let folder = Folder::new();
    let input = open(&folder.write("in.csv", "mail,phone,town\nA,b,c\n")).unwrap();
    let other = open(&folder.write("other.csv", "mail,phone,town\na,b,c\n")).unwrap();
    let of = |or_keys: &[&[&str]]| {
        let or_keys: Vec<Vec<String>> =
            or_keys.iter().map(|names| names.iter().map(|&name| name.to_owned()).collect()).collect();
        KeySpec::parse_alternatives(&["mail"], &or_keys, &[]).unwrap()
    };
    for (second, text) in [
        (of(&[]), "2 alternatives in the first table and 1 in the second"),
        (of(&[&["phone", "town"]]), "alternative 2 of the key has 1 columns in the first table and 2"),
    ] {
        let refused = compare([(&input, &of(&[&["phone"]])), (&other, &second)]).unwrap_err();
        assert!(told(&refused).contains(text), "{}", told(&refused));
    }
    // What makes more keys meet is said for the column, wherever it stands.
    let spec = of(&[&["phone", "mail"]]);
    let compared = compare([(&input, &spec), (&other, &spec)]).unwrap();
    let meeting = compared.meeting.unwrap();
    assert_eq!((compared.common, meeting.common, meeting.common_before), (0, 2, 0));
    assert_eq!(meeting.normalise, [["mail=lower"], ["mail=lower"]]);
}
