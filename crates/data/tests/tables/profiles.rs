//! `check`.

use vesica_data::key::KeySpec;
use vesica_data::profile::{Profile, check};

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
    for part in ["1 values are null", "white space at an end: consider --normalise mail=trim", "--normalise mail=email"]
    {
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
    assert!(hints("x", "N/A\nnull\na").contains("2 values look like a word for null"));
    assert!(hints("id", "5.0\n6.0").contains("never match integers (5): consider --normalise id=int"));
    assert!(hints("id", "5.0\n6\n7").contains("1 values among integers have a decimal point (5.0)"));
    assert!(hints("id", "5.25\n6.0").contains("integers of a smaller unit"));
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
