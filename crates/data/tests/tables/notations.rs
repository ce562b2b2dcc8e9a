//! Each normaliser against every way in which programs write numbers and addresses: the right key, or a refusal that
//! is counted, and never the key of something else.

use proptest::prelude::*;
use vesica_data::key::{KeySpec, Normaliser};

use super::{Folder, keys_of};

fn normal(name: &str, value: &str) -> Option<String> {
    let mut out = String::new();
    Normaliser::parse(name).unwrap().apply(value, &mut out).ok().map(|()| out)
}

/// Normalisers that give numbers, or read them as something else.
const READERS: [&str; 10] =
    ["digits", "int", "decimal", "e164:DE", "e164:US", "e164:IT", "date", "date:%Y%m%d", "timestamp:utc", "bool"];

/// How programs write a whole number.
fn notations(number: u64) -> Vec<String> {
    let plain = number.to_string();
    let grouped = |mark: &str| {
        let digits = plain.as_bytes();
        let groups = digits.rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap());
        groups.collect::<Vec<_>>().join(mark)
    };
    let mut all = vec![
        // pandas and Excel, once a value is missing.
        format!("{plain}.0"),
        format!("{plain}.00"),
        format!("{plain},0"),
        format!("{plain},00"),
        format!("{plain}."),
        // Spreadsheets in a narrow column, pandas, Java, Rust.
        format!("{:.5E}", number as f64).replace('E', "E+"),
        format!("{:.5e}", number as f64),
        format!("{:.5E}", number as f64).replace('.', ","),
        format!("{:e}", number as f64),
        format!("{:.1E}", number as f64),
        // A formula that keeps a text a text, and the mark for text.
        format!("=\"{plain}\""),
        format!("'{plain}"),
        // Columns of a fixed width.
        format!("{plain}  "),
        format!(" {plain}\t"),
        format!("\u{a0}{plain}"),
        format!("+{plain}"),
        format!("{plain}.000"),
        format!("{plain}.0 "),
        format!("{plain}.0000000001"),
    ];
    all.extend([".", ",", " ", "'", "\u{a0}", "\u{202f}", "_", "\u{2019}"].map(grouped));
    all.extend([",", " ", "'"].map(|mark| format!("{}.0", grouped(mark))));
    all.push(format!("{},0", grouped(".")));
    all
}

/// How programs write what is no positive whole number, from a positive one.
fn others(number: u64) -> Vec<String> {
    let plain = number.to_string();
    vec![
        format!("-{plain}"),
        format!("\u{2212}{plain}"),
        format!("-{plain}.0"),
        format!("{plain}.5"),
        format!("{plain},5"),
        format!(".{plain}"),
        format!("0.{plain}"),
        format!("{plain}.25E-2"),
        format!("{plain}e-1"),
        "NaN".into(),
        "inf".into(),
    ]
}

/// Points that both `decimal` and a spreadsheet of another country read: here a decimal point is what it says.
fn is_point_by_declaration(reader: &str, value: &str) -> bool {
    reader == "decimal" && value.matches('.').count() == 1 && value.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn check(number: u64) {
    let plain = number.to_string();
    for reader in READERS {
        let right = normal(reader, &plain);
        for value in notations(number) {
            let key = normal(reader, &value);
            // A plus before a telephone number is no sign.
            let is_other = reader.starts_with("e164") && value.starts_with('+');
            if !is_other && !is_point_by_declaration(reader, &value) {
                assert!(key.is_none() || key == right, "{reader} of {value:?}: {key:?}, and of {plain:?}: {right:?}");
            }
        }
        for value in others(number) {
            // What is no whole number is another one than any whole number.
            let key = normal(reader, &value).filter(|_| reader != "decimal" && reader != "bool");
            let is_sign = reader == "int" && key.as_deref().is_some_and(|key| key.starts_with('-') || key == "0");
            assert!(key.is_none() || is_sign, "{reader} of {value:?}: {key:?}");
        }
    }
}

#[test]
fn no_notation_of_a_number_is_another_one() {
    let telephones = [4930123456, 30123456, 301234560, 12125550123, 2125550123, 3066981234];
    let others = [0, 1, 7, 42, 100, 999, 1000, 1234, 10000, 123456, 20130131, 1234567, 123456789012, 1359590400];
    let floats = [9007199254740991, 9007199254740992, 9007199254740993, 12345678901234567];
    telephones.into_iter().chain(others).chain(floats).for_each(check);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_notation_of_any_number_is_another_one(digits in 1u32..17, number in any::<u64>()) {
        check(number % 10u64.pow(digits));
    }
}

/// The cells of the table are normalisers, the rows notations: what becomes of each, in words.
#[test]
fn each_notation_has_its_key_or_none() {
    let table = [
        // value, digits, int, decimal, e164:DE
        ("4930123456", "4930123456", "4930123456", "4930123456", "+4930123456"),
        ("4930123456.0", "-", "4930123456", "4930123456", "-"),
        ("4930123456,0", "-", "-", "-", "-"),
        ("4.93012E+11", "-", "-", "-", "-"),
        ("4,93012E+11", "-", "-", "-", "-"),
        ("4.93012e11", "-", "-", "-", "-"),
        ("1e9", "-", "-", "-", "-"),
        ("4 930 123 456", "4930123456", "-", "-", "+4930123456"),
        ("4.930.123.456", "4930123456", "-", "-", "+4930123456"),
        ("4,930,123,456", "4930123456", "-", "-", "-"),
        ("4,930,123,456.0", "-", "-", "-", "-"),
        ("4'930'123'456", "4930123456", "-", "-", "-"),
        ("=\"004930123456\"", "004930123456", "-", "-", "+4930123456"),
        ("'030123456", "030123456", "-", "-", "+4930123456"),
        ("030123456  ", "030123456", "-", "-", "+4930123456"),
        ("030123456.0", "-", "30123456", "30123456", "-"),
        ("+4930123456.0", "-", "4930123456", "4930123456", "-"),
        // The telephone numbers of registrars (RFC 5733) and of France keep their points.
        ("+49.30123456", "-", "-", "49.30123456", "+4930123456"),
        ("030.12.34.56", "030123456", "-", "-", "+4930123456"),
        ("-4930123456", "-", "-4930123456", "-4930123456", "-"),
        ("42.0", "-", "42", "42", "-"),
        ("42.00", "-", "42", "42", "-"),
        ("00042", "00042", "42", "42", "-"),
        ("1.000", "-", "-", "1", "-"),
        ("1,000", "-", "-", "-", "-"),
        ("0.000", "-", "0", "0", "-"),
        ("1234.000", "-", "1234", "1234", "-"),
        ("1.000.000", "1000000", "-", "-", "-"),
        ("(42)", "-", "-", "-", "-"),
        ("42-", "-", "-", "-", "-"),
        (".5", "-", "-", "0.5", "-"),
        ("9007199254740991.0", "-", "9007199254740991", "9007199254740991", "-"),
        ("9007199254740992.0", "-", "-", "-", "-"),
        // Two digits may be those of a column of money, which `decimal` reads.
        ("9007199254740992.00", "-", "-", "9007199254740992", "-"),
        // Quotes, brackets, wide forms and marks that nobody sees make no other number of a float.
        ("\"4930123456.0\"", "-", "-", "-", "-"),
        ("4930123456.0'", "-", "-", "-", "-"),
        ("4930123456.0)", "-", "-", "-", "-"),
        ("4930123456.0\u{200b}", "-", "-", "-", "-"),
        ("4930123456\u{ff0e}0", "-", "-", "-", "-"),
        ("4930123456.\u{ff10}", "-", "-", "-", "-"),
        ("+4930123456.5", "-", "-", "4930123456.5", "-"),
        ("1e2 EUR", "-", "-", "-", "-"),
        ("12\u{ff0e}5", "-", "-", "-", "-"),
        ("12·5", "-", "-", "-", "-"),
        ("€.5", "-", "-", "-", "-"),
        ("-42 EUR", "-", "-", "-", "-"),
        ("\u{2013}42", "-", "-", "-", "-"),
        ("\u{2013}4930123456", "-", "-", "-", "-"),
        ("９００", "-", "-", "-", "-"),
        ("x1.5", "-", "-", "-", "-"),
        ("No.42", "42", "-", "-", "-"),
    ];
    for (value, digits, int, decimal, e164) in table {
        for (name, expected) in [("digits", digits), ("int", int), ("decimal", decimal), ("e164:DE", e164)] {
            assert_eq!(normal(name, value).as_deref().unwrap_or("-"), expected, "{name} of {value:?}");
        }
    }
}

#[test]
fn what_stands_around_an_address_is_no_part_of_it() {
    let ann = [
        "ann@x.org",
        " ANN@X.org ",
        "<ann@x.org>",
        "Ann Lee <ann@x.org>",
        "\"Lee, Ann\" <Ann@x.org>",
        "ann@x.org <ann@x.org>",
        "'ann@x.org' <ann@x.org>",
        "<mailto:ann@x.org>",
        "mailto:ann@x.org",
        "MAILTO:ann@x.org",
        "ann@x.org;",
        "ann@x.org,",
        "ann@x.org ; ",
        "; ann@x.org",
        "'ann@x.org'",
        "\"ann@x.org\"",
        "“ann@x.org”",
        "„ann@x.org“",
        "«ann@x.org»",
        "(ann@x.org)",
        "[ann@x.org]",
        "=\"ann@x.org\"",
        "ann@x.org.",
        "ann@x.org.;",
        "'<ann@x.org>;',",
        "\u{feff}ann@x.org",
        "ann@x.org\u{200b}",
        "an\u{ad}n@x.org",
        "ann@\u{200e}x.org\u{202c}",
        "ann\u{2060}@x.org",
        "\u{a0}ann@x.org\u{3000}",
    ];
    for value in ann {
        assert_eq!(normal("email", value).as_deref(), Some("ann@x.org"), "{value:?}");
    }
    let kept = [
        ("O'Neil@x.org", "o'neil@x.org"),
        ("ann+news@x.org", "ann+news@x.org"),
        ("a..b.@docomo.example", "a..b.@docomo.example"),
        ("änne@münchen.example", "änne@münchen.example"),
        ("ann@क्षेत्र.example", "ann@क्षेत्र.example"),
        ("e\u{200b}\u{301}@x.org", "é@x.org"),
        ("a%b@x.org", "a%b@x.org"),
    ];
    for (value, key) in kept {
        assert_eq!(normal("email", value).as_deref(), Some(key), "{value:?}");
    }
}

/// What is not one address in one form is refused: no second form of an address goes through.
#[test]
fn what_is_no_single_address_is_refused() {
    let refused = [
        "ann@x.org;bob@x.org",
        "ann@x.org, bob@x.org",
        "bob@x.org <ann@x.org>",
        "<ann@x.org> <bob@x.org>",
        "'ann@x.org",
        "ann@x.org'",
        "<ann@x.org",
        "ann@x.org>",
        "\"ann lee\"@x.org",
        "\"ann\"@x.org",
        "ann(home)@x.org",
        "ann@[192.0.2.1]",
        "mailto:ann%2Bnews@x.org",
        "mailto:ann@x.org?subject=hi",
        "ann@x.org..",
        "ann＠x.org",
        "ann@ｘ.org",
        "ａnn@x.org",
        "ann@x。org",
        "ann@x–y.org",
        "an\u{200d}n@x.org",
        "an\u{200c}n@x.org",
        "ann\u{fe0f}@x.org",
        "ann\u{3164}@x.org",
        "ann\u{e0041}@x.org",
        "ann@x.org\0",
        "ann:lee@x.org",
        "ann\\lee@x.org",
        "ann lee@x.org",
        "ann@x.org?",
        "ann@x,org",
        "ann at x.org",
        "n/a",
        "@",
        "<>",
        "<@>",
        "\u{feff}",
    ];
    for value in refused {
        assert_eq!(normal("email", value), None, "{value:?}");
    }
}

/// A refused value costs its row the key, and is counted.
#[test]
fn refused_notations_are_counted() {
    for (normaliser, kept, refused) in [
        ("e164:DE", "030 123456", "4930123456.0"),
        ("digits", "42", "42.0"),
        ("int", "1000", "1.000"),
        ("decimal", "0.5", "9007199254740993.0"),
        ("email", "ann@x.org", "an\u{200d}n@x.org"),
        ("date:%Y%m%d", "20240112", "2024112"),
    ] {
        let folder = Folder::new();
        let path = folder.write("in.csv", format!("k\n{kept}\n{refused}\n"));
        let spec = KeySpec::parse(&["k"], &[&format!("k={normaliser}")[..]]).unwrap();
        let stats = keys_of(&path, &spec).unwrap().stats;
        assert_eq!((stats.distinct, stats.unmatchable_rows), (1, 1), "{normaliser}");
        assert_eq!(stats.columns[0].unmatchable, 1, "{normaliser}");
    }
}
