//! `check`.

use vesica_data::key::KeySpec;
use vesica_data::profile::{Comparison, Profile, check, compare, examples};

use super::{Folder, key, open};

fn profile(text: &str, spec: &KeySpec) -> Profile {
    let folder = Folder::new();
    check(&open(&folder.write("in.csv", text)).unwrap(), spec).unwrap()
}

#[test]
fn counts_of_a_mixed_column() {
    let text = "\u{feff}mail,n\r\nAnn@Example.org,1\r\nann@example.org,2\r\n \
                bob@example.org,3\r\n,4\r\n\"\",5\r\nann@example.org,6\r\n";
    let profile = profile(text, &key(&["mail"]));
    let csv = profile.csv.as_ref().unwrap();
    assert_eq!((csv.delimiter, csv.header_columns, csv.byte_order_mark, csv.line_end), (',', 2, true, "CRLF"));
    assert_eq!(
        (profile.keys.rows, profile.keys.distinct, profile.keys.null_rows, profile.keys.duplicate_rows),
        (6, 3, 2, 1)
    );
    assert_eq!((profile.repeated_keys, profile.top_multiplicities.as_slice()), (1, &[2, 1, 1][..]));
    let column = &profile.columns[0];
    assert_eq!(
        (column.nulls, column.values, column.outer_space, column.with_upper_case, column.like_email),
        (1, 4, 1, 1, 4)
    );
    assert_eq!((column.shortest, column.longest), (15, 16));
    let effect =
        |name: &str| column.normalisers.iter().find(|e| e.normaliser == name).map(|e| (e.changes, e.refuses)).unwrap();
    assert_eq!((effect("trim"), effect("lower"), effect("email"), effect("date")), ((1, 0), (1, 0), (2, 0), (0, 4)));
    let warned = profile.warnings.join("\n");
    for part in ["1 value is null", "white space at an end: consider --normalise mail=trim", "--normalise mail=email"] {
        assert!(warned.contains(part), "{warned}");
    }
}

#[test]
fn what_columns_look_like() {
    let hints = |name: &str, cells: &str| {
        let text = format!("{name}\n{cells}\n");
        profile(&text, &key(&[name])).warnings.join("\n")
    };
    assert!(hints("tel", "+49 30 1234567\n030/1234567").contains("--normalise tel=e164:COUNTRY"));
    assert!(hints("day", "31.01.2024\n1.2.2024").contains("--normalise day=date:FORMAT"));
    assert!(hints("id", "007\n7").contains("leading zeros"));
    assert!(hints("city", "Ko\u{308}ln").contains("Unicode form C"));
    assert!(hints("city", "Köln\nkoeln").contains("upper-case"));
    let words = hints("x", "N/A\nnull\na");
    assert!(
        words.contains("2 values are a word that programs write where a value is missing (`N/A`, `null`)"),
        "{words}"
    );
    assert!(words.contains("--null-words 'N/A,null'") && words.contains("will refuse this table"), "{words}");
    assert!(hints("id", "5.0\n6.0").contains("never match integers (5): consider --normalise id=int"));
    assert!(hints("id", "5.0\n6\n7").contains("1 value among integers has a decimal point (5.0)"));
    assert!(
        hints("id", "5.25\n6.0").contains(
            "5.10 and 5.1 are two keys, and 5.0 never matches an integer (5): consider --normalise id=decimal"
        )
    );
    assert!(
        hints("t", "2013-01-01 00:00:00\n2013-01-02 00:00:00")
            .contains("never match dates: consider --normalise t=date")
    );
    assert!(hints("t", "2013-01-01 10:00:00").contains("Parquet and Arrow: consider --normalise t=timestamp:utc"));
    assert!(
        hints("t", "2013-01-01T10:00:00Z").contains("the same zone and notation: consider --normalise t=timestamp:utc")
    );
    assert_eq!(hints("t", "2013-01-01\n2013-01-02"), "");
    assert_eq!(hints("id", "42\n43"), "");
}

#[test]
fn declared_normalisers_are_applied_and_shown() {
    let spec = KeySpec::parse(&["tel"], &["tel=e164:DE"]).unwrap();
    let profile = profile("tel\n030 12345\n+493012345\nsecret\n", &spec);
    assert_eq!((profile.keys.distinct, profile.keys.duplicate_rows, profile.keys.unmatchable_rows), (1, 1, 1));
    let e164 = profile.columns[0].normalisers.last().unwrap();
    assert_eq!((e164.normaliser.as_str(), e164.changes, e164.refuses), ("e164:DE", 1, 1));
}

#[test]
fn no_value_is_shown() {
    let text = "k,l\ns3cr3t@x.org,s3cr3t\n s3cr3t,S3CR3T\ns3cr3t,\n";
    let profile = profile(text, &key(&["k", "l"]));
    let shown = format!("{profile}{profile:?}{}", serde_json::to_string(&profile).unwrap());
    assert!(!shown.to_lowercase().contains("s3cr3t"), "{shown}");
    for part in ["3 rows", "distinct keys", "Column `k` (text, written as text)", "would change"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn a_table_without_usable_keys_is_reported() {
    let profile = profile("k,l\n,1\n,2\n", &key(&["k"]));
    assert_eq!(profile.keys.distinct, 0);
    assert!(profile.warnings.iter().any(|warning| warning.contains("no row has a usable key")));
}

#[test]
fn the_first_keys_and_the_refused_values_are_shown_with_their_rows() {
    let spec = KeySpec::parse(&["id", "n"], &["n=int"]).unwrap();
    let mut text = String::from("id,n\nb,05\na,x0\n,7\nb,5.0\na,6\nc,\n");
    for row in 1..=12 {
        text.push_str(&format!("d,x{row}\n"));
    }
    let folder = Folder::new();
    let input = open(&folder.write("in.csv", text)).unwrap();
    let shown = examples(&input, &spec, 5).unwrap();
    let keys: Vec<(u64, Vec<(&str, &str)>)> = shown
        .keys
        .iter()
        .map(|key| (key.row, key.components.iter().map(|c| (c.value.as_str(), c.key.as_str())).collect()))
        .collect();
    // The fourth row repeats the key of the first; those without an id or a number have none.
    assert_eq!(
        keys,
        [(1, vec![("\"b\"", "\"b\""), ("\"05\"", "\"5\"")]), (5, vec![("\"a\"", "\"a\""), ("\"6\"", "\"6\"")]),]
    );
    let refused = &shown.refused[1];
    assert_eq!((shown.refused[0].count, refused.count, refused.first.len()), (0, 13, 10));
    assert_eq!((refused.first[0].row, refused.first[0].value.as_str(), refused.first[9].row), (2, "\"x0\"", 15));
    assert_eq!(examples(&input, &spec, 1).unwrap().keys.len(), 1);
    let hidden = examples(&input, &spec, 0).unwrap();
    assert!(hidden.keys.is_empty() && hidden.refused[1].first.iter().all(|value| value.value.is_empty()));
}

#[test]
fn shown_values_cannot_steer_a_terminal() {
    let folder = Folder::new();
    let long = "y".repeat(500);
    let input = open(&folder.write("in.csv", format!("k\n\u{1b}[2J\n{long}\n"))).unwrap();
    let shown = examples(&input, &key(&["k"]), 5).unwrap();
    assert_eq!(shown.keys[0].components[0].value, "\"\\u{1b}[2J\"");
    assert!(shown.keys[1].components[0].value.len() < 100);
}

fn compared(first: &str, second: &str, specs: [&KeySpec; 2]) -> Comparison {
    let folder = Folder::new();
    let [first, second] = [("first.csv", first), ("second.csv", second)]
        .map(|(name, text)| open(&folder.write(name, format!("k,l\n{text}\n"))).unwrap());
    compare([(&first, specs[0]), (&second, specs[1])]).unwrap()
}

/// Rows of a first column of these values and an empty second one.
fn rows(values: [&str; 3]) -> String {
    values.map(|value| format!("{value},")).join("\n")
}

#[test]
fn two_tables_are_told_which_normalisers_make_their_keys_match() {
    let spec = key(&["k"]);
    for (ours, theirs, flags) in [
        (["5.0", "6.0", "7.0"], ["5", "6", "7"], ["int", "int"]),
        (["005", "006", "007"], ["5", "6", "7"], ["int", "int"]),
        (["5.10", "6.25", "7.0"], ["5.1", "6.250", "7"], ["decimal", "decimal"]),
        (["Ada", "Bob", "Eve"], ["ada", "bob", "eve"], ["lower", "lower"]),
        (["Ada ", "Bob ", "Eve "], ["ada", "bob", "eve"], ["trim,lower", "trim,lower"]),
        (["e\u{301}a", "e\u{301}b", "x"], ["\u{e9}a", "\u{e9}b", "y"], ["nfc", "nfc"]),
        (
            ["2013-01-01 10:00:00", "2013-01-02 11:00:00", "x"],
            ["2013-01-01T10:00:00", "2013-01-02T11:00:00", "y"],
            ["timestamp:utc", "timestamp:utc"],
        ),
        (
            ["2013-01-01 12:30:00", "2013-01-02 13:10:07", "x"],
            ["2013-01-01T10:30:00Z", "2013-01-02T11:10:07Z", "y"],
            ["timestamp:+02:00", "timestamp:utc"],
        ),
        (
            ["2013-01-01", "2013-01-02", "2013-01-03"],
            ["2013-01-01 00:00:00", "2013-01-02 00:00:00", "x"],
            ["timestamp:utc", "timestamp:utc"],
        ),
        (["31.01.2013", "28.02.2013", "x"], ["2013-01-31", "2013-02-28", "y"], ["date:%d.%m.%Y", "date"]),
        (["31.01.2013", "28.02.2013", "x"], ["1/31/2013", "2/28/2013", "y"], ["date:%d.%m.%Y", "date:%m/%d/%Y"]),
        (["DE-007", "FR-018", "IT-029"], ["007 DE", "018 FR", "029 IT"], ["digits", "digits"]),
    ] {
        let found = compared(&rows(ours), &rows(theirs), [&spec, &spec]);
        let meeting = found.meeting.unwrap_or_else(|| panic!("nothing makes {ours:?} and {theirs:?} meet"));
        assert!(meeting.common > found.common && meeting.common_before == found.common, "{meeting:?}");
        assert_eq!(meeting.normalise.map(|flags| flags.concat()), flags.map(|flag| format!("k={flag}")), "{ours:?}");
        let example = &meeting.examples[0];
        assert_eq!(example.values[0], [format!("\"{}\"", ours[(example.rows[0] - 1) as usize])]);
    }
}

#[test]
fn tables_that_share_nothing_are_not_told_that_they_do() {
    let spec = key(&["k"]);
    for (ours, theirs) in [
        (["ada1", "bob2", "eve3"], ["max2", "tom3", "zoe1"]),
        (["2013-01-01 10:00:00", "2013-01-01 11:00:00", "2013-01-01 12:00:00"], ["2013-01-01 17:17:17", "x", "y"]),
    ] {
        let found = compared(&rows(ours), &rows(theirs), [&spec, &spec]);
        assert_eq!(found.common, 0);
        assert_eq!(found.meeting, None);
    }
    let same = compared("a,1\nb,2", "a,1\nb,2", [&spec, &spec]);
    assert_eq!((same.common, same.meeting), (2, None));
}

/// Only the column that keeps the rows apart gets a flag; a wrong number of columns is an error.
#[test]
fn each_column_of_a_key_is_mended_by_itself() {
    let (both, swapped) = (key(&["k", "l"]), key(&["l", "k"]));
    let found = compared("1,5.0\n2,6.0\n3,9.0", "1,5\n2,6\n4,7", [&both, &both]);
    assert_eq!((found.common, found.columns[0].common, found.columns[1].common), (0, 2, 0));
    let meeting = found.meeting.unwrap();
    assert_eq!((meeting.normalise, meeting.common), ([vec!["l=int".to_owned()], vec!["l=int".to_owned()]], 2));
    let found = compared("1,a\n2,b", "a,1\nb,2", [&both, &swapped]);
    assert_eq!((found.common, found.is_refused), (2, false));
    let declared = KeySpec::parse(&["k"], &["k=int"]).unwrap();
    assert!(compared("1,a", "1,b", [&key(&["k"]), &declared]).is_refused);
    let folder = Folder::new();
    let input = open(&folder.write("in.csv", "k,l\n1,2\n")).unwrap();
    let wrong = compare([(&input, &both), (&input, &key(&["k"]))]).unwrap_err().to_string();
    assert!(wrong.contains("2 columns in the first table and 1 in the second"), "{wrong}");
}
