//! docs/keys.md: every example on the page is what the program does.

use vesica_data::key::{Form, KeySpec, Kind, KindCounts, Normaliser};

use super::{Folder, keys_of};

const PAGE: &str = include_str!("../../../../docs/keys.md");

/// The rows of the table whose header begins with `head`, cell by cell.
fn rows(head: &str) -> Vec<Vec<&'static str>> {
    let (_, after) = PAGE.split_once(head).unwrap_or_else(|| panic!("no table {head:?}"));
    let lines = after.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The value in a cell such as `"Ada"`; `None` for a refusal.
fn value(cell: &str) -> Option<String> {
    if cell == "refused" {
        return None;
    }
    let quoted = cell.trim_matches('`');
    Some(serde_json::from_str(quoted).unwrap_or_else(|error| panic!("{cell}: {error}")))
}

fn kind(values: &[String]) -> Kind {
    let mut counts = KindCounts::default();
    for value in values {
        counts.count(value.as_bytes());
    }
    counts.kind()
}

/// What a chain such as `trim,lower` makes of a value.
fn key(chain: &str, value: &str) -> Option<String> {
    chain.split(',').try_fold(value.to_owned(), |value, name| {
        let mut out = String::new();
        Normaliser::parse(name).expect("a normaliser").apply(&value, &mut out).ok().map(|()| out)
    })
}

#[test]
fn every_kind_is_listed_with_a_value_of_it() {
    let listed = rows("| kind | a value of it |");
    for row in &listed {
        assert_eq!(kind(&[value(row[1]).expect("a value")]).to_string(), row[0]);
    }
    let mut forms: Vec<Form> = listed.iter().map(|row| kind(&[value(row[1]).expect("a value")]).form).collect();
    forms.dedup();
    // Bytes that are no text cannot be written on a page.
    assert!(forms.len() >= 12 && PAGE.contains(&format!("*{}*", Kind { form: Form::Bytes, precision: None })));
}

#[test]
fn every_example_becomes_the_key_beside_it() {
    let listed = rows("| normaliser | value | key |");
    for row in &listed {
        let (chain, value_of, expected) = (row[0].trim_matches('`'), value(row[1]).expect("a value"), value(row[2]));
        assert_eq!(key(chain, &value_of), expected, "{chain} of {value_of:?}");
    }
    let reads = rows("| normaliser | reads |");
    for normaliser in Normaliser::examples() {
        let full = normaliser.to_string();
        let name = full.split(':').next().expect("a name");
        let examples = listed.iter().filter(|row| row[0].trim_matches('`').split(':').next() == Some(name)).count();
        assert!(examples >= 5, "{name} has {examples} examples");
        assert!(reads.iter().any(|row| row[0].trim_start_matches('`').starts_with(name)), "{name} is not listed");
    }
}

/// A side that declares a normaliser can rely on what it gives, and the table says the same.
#[test]
fn normalisers_give_the_kind_that_they_declare() {
    let mut declared = 0;
    for row in rows("| normaliser | value | key |") {
        let Some(key) = value(row[2]).filter(|key| !key.is_empty()) else { continue };
        let spec = KeySpec::parse(&["k"], &[&format!("k={}", row[0].trim_matches('`'))[..]]).expect("a key");
        if let Some(form) = spec.gives()[0] {
            assert_eq!(kind(std::slice::from_ref(&key)).form, form, "{} gives {key:?}", row[0]);
            declared += 1;
        }
    }
    assert!(declared > 20, "{declared}");
    for (chain, form) in [
        ("trim,int", Some(Form::Integer)),
        ("int,trim", Some(Form::Integer)),
        ("int,lower", None),
        ("trim", None),
        ("timestamp:utc:day", Some(Form::Date)),
    ] {
        let spec = KeySpec::parse(&["k"], &[&format!("k={chain}")[..]]).expect("a key");
        assert_eq!(spec.gives(), [form], "{chain}");
    }
}

#[test]
fn the_normaliser_named_for_two_notations_makes_them_one_key() {
    let listed = rows("| one side has | the other side has |");
    assert!(listed.len() >= 10);
    for row in listed {
        let (ours, theirs) = (value(row[0]).expect("a value"), value(row[1]).expect("a value"));
        let chain = row[2].trim_matches('`');
        assert_ne!(ours, theirs);
        assert!(key(chain, &ours).is_some(), "{chain} of {ours}");
        assert_eq!(key(chain, &ours), key(chain, &theirs), "{chain} of {ours} and {theirs}");
    }
}

/// The rows that a normaliser refuses have no key; they are counted, and never go through as they
/// are.
#[test]
fn what_is_refused_has_no_key() {
    for (column, refused) in [("decimal", "1e3"), ("bool", "maybe"), ("int", "5.5"), ("date", "31.01.2013")] {
        let folder = Folder::new();
        let kept = match column {
            "date" => "2013-01-31",
            _ => "1",
        };
        let path = folder.write("in.csv", format!("k\n{kept}\n{refused}\n").as_str());
        let spec = KeySpec::parse(&["k"], &[&format!("k={column}")[..]]).expect("a key");
        let stats = keys_of(&path, &spec).expect("read").stats;
        assert_eq!((stats.distinct, stats.unmatchable_rows), (1, 1), "{column}");
    }
}
