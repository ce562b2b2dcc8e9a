//! Words that programs write where a value is missing: counted in every pass for keys, refused where a run wants to hear
//! what they are, nulls where its user says so.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use vesica_data::key::{KeySpec, NullWords};
use vesica_data::profile::{check, compare, examples};
use vesica_data::table::{Batches, Join, KeyStats, OpenSource, TableError, collect_keys, examine, read_keys};

use super::{Folder, join, key, open, told};

fn says(spec: KeySpec, words: &[&str]) -> KeySpec {
    spec.with_null_words(NullWords::parse(words).unwrap())
}

/// What a table of one column says: refused, warned of, or nothing.
fn verdict(values: impl IntoIterator<Item = String>) -> &'static str {
    let values: ArrayRef = Arc::new(StringArray::from_iter_values(values));
    let rows = RecordBatch::try_from_iter([("k", values)]).unwrap();
    let source = Batches::new("rows", rows.schema(), vec![rows]).unwrap().open().unwrap();
    let spec = key(&["k"]);
    match read_keys(&*source, &spec, None) {
        Err(TableError::NullWords { .. }) => "refused",
        Err(other) => panic!("{other}"),
        Ok(table) if table.stats.warnings(&spec).is_empty() => "silent",
        Ok(_) => "warned",
    }
}

fn with(rows: usize, word: &str, count: usize, value: impl Fn(usize) -> String) -> Vec<String> {
    (0..rows - count).map(value).chain(std::iter::repeat_n(word.to_owned(), count)).collect()
}

/// Columns as they are in tables of companies: which of them a run refuses.
#[test]
fn real_columns_are_refused_where_a_word_is_a_missing_value() {
    let mail = |n| format!("user{n}@x.org");
    let number = |n| format!("{}", 100_000 + n);
    let country = |n: usize| ["DE", "FR", "NA", "US", "ZA", "BW"][n % 6].to_owned();
    let surname = |n: usize| format!("Surname{}", n % 400);
    let code = |n: usize| format!("A-{n}");
    for (expected, values) in [
        // COPY of PostgreSQL, one row in four and a single one.
        ("refused", with(1000, "\\N", 250, number)),
        ("refused", with(1000, "\\N", 1, number)),
        // Exports of databases and data frames.
        ("refused", with(1000, "NULL", 30, mail)),
        ("refused", with(5000, "nan", 20, number)),
        ("refused", with(1000, "NaN", 1, number)),
        ("refused", with(1000, "None", 11, code)),
        ("refused", with(1000, "<NA>", 1, mail)),
        ("refused", with(1000, "#N/A", 2, code)),
        ("refused", with(1000, "-", 100, mail)),
        ("refused", with(1000, "NULL   ", 100, mail)),
        // `trim` takes a no-break space off.
        ("refused", with(1000, "\u{a0}\\N", 2, number)),
        ("refused", with(1000, "\u{3000}NULL\u{2003}", 100, mail)),
        ("refused", with(20, "unknown", 20, mail)),
        ("refused", with(1000, "NA", 100, mail)),
        // People, countries, and a word that strayed in.
        ("warned", with(5000, "Null", 2, surname)),
        ("warned", with(5000, "NULL", 40, surname)),
        ("warned", with(1000, "NA", 30, country)),
        ("warned", with(1000, "NULL", 1, mail)),
        ("warned", with(2, "None", 1, surname)),
        ("silent", with(1000, "Nullmeier", 200, mail)),
        ("silent", with(1000, "-5", 200, number)),
        ("silent", with(1000, "NANCY", 200, surname)),
        ("silent", with(1000, "", 200, mail)),
    ] {
        let word = values.last().cloned();
        assert_eq!(verdict(values), expected, "{word:?}");
    }
}

#[test]
fn a_refusal_names_words_and_both_ways_out_and_no_value() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "id,v\ns3cret,1\n\\N,2\n\\N,3\nNaN,4\nNULL,5\nNULL,5\n,6\n");
    let input = open(&path).unwrap();
    let error = read_keys(&input, &key(&["id"]), None).unwrap_err();
    let text = told(&error);
    for part in [
        "5 of 7 rows of ",
        "`id`",
        "(`\\N`, `NaN`, `NULL`)",
        "--null-words '\\N,NaN,NULL'",
        "--null-words keep",
        "never match",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("s3cret") && error.for_peer() == "its input table cannot be used");
    // A dry run goes on, and has it among the faults.
    let examined = examine(&input, &key(&["id"]), vesica_data::table::BesideKeys::Nothing, &|| None);
    assert!(examined.table.is_err() && examined.faults.last().is_some_and(|fault| fault.what.contains("`\\N`")));
    // Each way out.
    let kept = says(key(&["id"]), &["keep"]);
    let stats = read_keys(&input, &kept, None).unwrap().stats;
    assert_eq!((stats.distinct, stats.null_rows, stats.warnings(&kept).len()), (4, 1, 0));
    let empty = says(key(&["id"]), &["\\N", "NULL"]);
    let table = read_keys(&input, &empty, None).unwrap();
    assert_eq!((table.stats.distinct, table.stats.null_rows, table.stats.columns[0].nulls), (2, 5, 5));
    // What is not named is a value, and warned of.
    let warned = table.stats.warnings(&empty).join("\n");
    assert!(warned.contains("1 value is a word") && warned.contains("`NaN`") && !warned.contains("`NULL`"), "{warned}");
    // Rows without a key are among the others.
    assert_eq!(join(&input, &table, &[0], None, Join::Difference, &folder.path("out.csv")).unwrap(), 6);
}

/// Wherever a word stands, before normalising and beside other columns, and in all formats.
#[test]
fn words_are_counted_only_where_they_become_keys() {
    let folder = Folder::new();
    let count = |text: &str, spec: &KeySpec| -> KeyStats {
        collect_keys(&open(&folder.write("in.csv", text)).unwrap(), spec).unwrap().stats
    };
    let mail = KeySpec::parse(&["m"], &["m=email"]).unwrap();
    let stats = count("m\nNULL\nann@x.org\n", &mail);
    assert_eq!((stats.columns[0].null_words.total(), stats.unmatchable_rows, stats.distinct), (0, 1, 1));
    let lower = KeySpec::parse(&["m"], &["m=trim,lower"]).unwrap();
    let stats = count("m\n NULL \nann\nNaN\n", &lower);
    assert_eq!(stats.columns[0].null_words.words().collect::<Vec<_>>(), ["NaN", "NULL"]);
    let stats = count("m\n NULL \nann\n", &says(lower, &["NULL"]));
    assert_eq!((stats.null_rows, stats.distinct, stats.columns[0].null_words.total()), (1, 1, 0));
    // A null of one alternative costs the key of that alternative alone.
    let either = KeySpec::parse_alternatives(&["m"], &[vec!["t".to_owned()]], &[]).unwrap();
    let stats = count("m,t\n\\N,1\na,2\n", &says(either.clone(), &["\\N"]));
    assert_eq!((stats.null_rows, stats.distinct), (0, 3));
    let refused = read_keys(&open(&folder.path("in.csv")).unwrap(), &either, None).unwrap_err();
    assert!(matches!(refused, TableError::NullWords { ref column, .. } if column == "m"), "{refused}");
    // JSON lines and Arrow.
    let path = folder.write("in.jsonl", "{\"id\":\"NULL\"}\n{\"id\":\"a\"}\n{\"id\":\"NULL\"}\n");
    let error = read_keys(&open(&path).unwrap(), &key(&["id"]), None).unwrap_err();
    assert!(told(&error).contains("2 of 3 rows"), "{error}");
    // A country is NA, in a key of two columns.
    let rows: String = (0..300).map(|n| format!("{},{n}\n", ["DE", "NA"][n % 2])).collect();
    let spec = key(&["c", "n"]);
    let stats = count(&format!("c,n\n{rows}"), &spec);
    assert_eq!((stats.distinct, stats.warnings(&spec).len()), (300, 1));
    stats.check_null_words("in.csv", &spec).unwrap();
}

/// What a run refuses and warns of, `check` tells, and its other parts take a word that is a null for one.
#[test]
fn check_tells_what_a_run_does() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "id\na\nNULL\nNULL\n");
    let input = open(&path).unwrap();
    let profile = check(&input, &key(&["id"])).unwrap();
    let warned = profile.warnings.join("\n");
    assert!(warned.contains("2 values are a word") && warned.contains("will refuse this table"), "{warned}");
    assert_eq!(profile.columns[0].like_null, 2);
    assert!(serde_json::to_string(&profile).unwrap().contains("\"null_words\":{\"NULL\":2}"));
    let empty = says(key(&["id"]), &["NULL"]);
    let profile = check(&input, &empty).unwrap();
    assert_eq!((profile.keys.null_rows, profile.columns[0].nulls, profile.columns[0].values), (2, 2, 1));
    assert_eq!(examples(&input, &empty, 5).unwrap().keys.len(), 1);
    let other = open(&folder.write("other.csv", "id\nb\nNULL\n")).unwrap();
    assert_eq!(compare([(&input, &empty), (&other, &empty)]).unwrap().common, 0);
    assert_eq!(compare([(&input, &key(&["id"])), (&other, &key(&["id"]))]).unwrap().common, 1);
}

/// Counts of a table in parts, as machines of a cluster have them, are those of the whole.
#[test]
fn parts_of_a_table_add_up() {
    let folder = Folder::new();
    let spec = key(&["id"]);
    let part = |rows: &str| {
        let path = folder.write("in.csv", format!("id,n\n{rows}"));
        collect_keys(&open(&path).unwrap(), &spec).unwrap().stats.to_part()
    };
    let parts = [part("a,1\n\\N,2\nid,n\n"), part("NULL,1\n\\N,2\nb,1.5\n")];
    let stats = KeyStats::of_parts(&spec, parts.iter().map(String::as_str), &[4]).unwrap();
    assert_eq!((stats.rows, stats.header_rows, stats.columns[0].null_words.total()), (5, 1, 3));
    let error = stats.check_null_words("rows", &spec).unwrap_err();
    assert!(told(&error).contains("2 of 5 rows of rows") && told(&error).contains("`\\N`"), "{}", told(&error));
}
