//! What each normaliser does, value by value.

use proptest::prelude::*;
use vesica_data::key::{KeySpec, Normaliser};

use super::{Folder, keys_of};

fn normal(name: &str, value: &str) -> Option<String> {
    let mut out = String::new();
    Normaliser::parse(name).unwrap().apply(value, &mut out).ok().map(|()| out)
}

fn check(name: &str, cases: &[(&str, &str)]) {
    for (value, expected) in cases {
        assert_eq!(normal(name, value).as_deref(), Some(*expected), "{name} of {value:?}");
    }
}

fn refused(name: &str, values: &[&str]) {
    for value in values {
        assert_eq!(normal(name, value), None, "{name} of {value:?}");
    }
}

#[test]
fn text() {
    check("trim", &[(" a b\t\n", "a b"), ("\u{a0}\u{3000}x\u{2028}", "x"), ("  ", ""), ("\u{feff}a", "\u{feff}a")]);
    check("lower", &[("AbC", "abc"), ("ÄẞΣΑΣ", "äßσασ"), ("İ", "i\u{307}"), ("ǅ", "ǆ"), (" X ", " x ")]);
    check(
        "nfc",
        &[("e\u{301}", "é"), ("é", "é"), ("\u{212b}", "Å"), ("\u{1100}\u{1161}", "가"), ("ﬁ", "ﬁ"), ("A", "A")],
    );
    check("digits", &[("(030) 12-34", "0301234"), ("a1b2", "12")]);
    refused("digits", &["abc", "٤٢", "٤1", "m²1"]);
}

#[test]
fn email() {
    check(
        "email",
        &[
            (" Ann.Lee+News@Example.ORG ", "ann.lee+news@example.org"),
            ("JOSE\u{301}@example.org", "josé@example.org"),
            ("a@localhost", "a@localhost"),
            ("ÄNNE@MÜNCHEN.de", "änne@münchen.de"),
        ],
    );
    refused(
        "email",
        &[
            "",
            "ann",
            "@example.org",
            "ann@",
            "a@b@c.org",
            "a b@c.org",
            "a@b c.org",
            "a@.org",
            "a@b..c",
            "a@b..",
            "a\u{7}@b.c",
            "@",
        ],
    );
}

#[test]
fn integers() {
    check("int", &[("42", "42"), ("+42", "42"), ("0042", "42"), ("-042", "-42"), ("-0", "0"), ("000", "0")]);
    check("int", &[("123456789012345678901234567890", "123456789012345678901234567890")]);
    check("int", &[("5.0", "5"), ("-05.000", "-5"), ("0.0", "0"), ("-0.0", "0")]);
    refused(
        "int",
        &[
            "42.5",
            "42.",
            ".0",
            "-.0",
            "1.0.0",
            "42.00000001",
            "1,000",
            "4 2",
            " 42",
            "1e3",
            "",
            "-",
            "+",
            "0x10",
            "--1",
            "٤٢",
        ],
    );
}

#[test]
fn dates() {
    let iso = [
        ("2024-01-31", "2024-01-31"),
        ("20240131", "2024-01-31"),
        ("2024-02-29", "2024-02-29"),
        ("2000-02-29", "2000-02-29"),
        ("2024-01-31T23:59:60Z", "2024-01-31"),
        ("2024-01-31 23:59", "2024-01-31"),
        ("2024-01-31T00:00:00.125+05:30", "2024-01-31"),
        ("2024-01-31 00:00:00.5 UTC", "2024-01-31"),
    ];
    check("date", &iso);
    refused(
        "date",
        &["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "0000-01-01", "24-01-31", "2024-1-31"],
    );
    refused(
        "date",
        &["31.01.2024", "2024-01-31x", "2024-01-31T", "2024-01-31T25:00", "2024-01-31T10", "2024-0131", " 2024-01-31"],
    );
    refused("date", &["2024-01-31T10:00:00.", "2024-01-31T10:00+24:00", "2024-01-31T10:00Q", "２０２４-01-31"]);
    check("date:%d.%m.%Y", &[("31.01.2024", "2024-01-31"), ("1.2.2024", "2024-02-01")]);
    refused("date:%d.%m.%Y", &["2024-01-31", "31.01.24", "31.02.2024", "31.01.2024 ", "031.01.2024"]);
    check("date:%Y%m%d", &[("20240131", "2024-01-31")]);
    // A spreadsheet that joins numbers writes 12 January and 2 November alike.
    refused("date:%Y%m%d", &["2024112", "2024131", "202411"]);
    refused("date:%d%m.%Y", &["112.2024"]);
    check("date:%Y.%m%d", &[("2024.0112", "2024-01-12")]);
    check("date:%m/%d/%Y", &[("12/31/1999", "1999-12-31")]);
    check("date:%%%Y年%m月%d日", &[("%2024年1月31日", "2024-01-31")]);
}

#[test]
fn telephone_numbers() {
    check(
        "e164:DE",
        &[
            ("030 1234567", "+49301234567"),
            ("+49 (0)30 / 123-45 67", "+49301234567"),
            ("+49 030 1234567", "+49301234567"),
            ("0049 30 1234567", "+49301234567"),
            ("30 1234567", "+49301234567"),
            ("＋49 30\u{a0}1234567", "+49301234567"),
            ("00 1 (212) 555-0123", "+12125550123"),
            ("+44 (0)20 7946 0018", "+442079460018"),
            ("+39 06 698 1234", "+39066981234"),
            ("+7 800 555 35 35", "+78005553535"),
            ("+800 1234 5678", "+80012345678"),
        ],
    );
    refused(
        "e164:DE",
        &["", "abc", "030 1234567 ext 5", "110", "+49 0030 12345", "+999 1234567", "0301+2345", "+0 123456"],
    );
    refused("e164:DE", &["+49 1234567890123456", "+", "00", "0", "+4"]);
    check(
        "e164:US",
        &[
            ("(212) 555-0123", "+12125550123"),
            ("1-212-555-0123", "+12125550123"),
            ("011 49 30 1234567", "+49301234567"),
        ],
    );
    refused("e164:US", &["555-0123", "212-555-01"]);
    check("e164:us", &[("212.555.0123", "+12125550123")]);
    check(
        "e164:RU",
        &[
            ("8 (495) 123-45-67", "+74951234567"),
            ("800 555 35 35", "+78005553535"),
            ("8 10 49 30 1234567", "+49301234567"),
        ],
    );
    check("e164:IT", &[("06 698 1234", "+39066981234"), ("347 1234567", "+393471234567")]);
    check("e164:HU", &[("06 1 234 5678", "+3612345678"), ("1 234 5678", "+3612345678")]);
    check("e164:AU", &[("0011 49 30 1234567", "+49301234567"), ("02 9876 5432", "+61298765432")]);
    check("e164:ES", &[("912 345 678", "+34912345678")]);
    check("e164:BY", &[("8 029 123 45 67", "+375291234567")]);
}

/// What the Python package `phonenumbers` 9.0.42, a port of the same library with the same rules,
/// makes of examples of every country in many notations, and of texts that are no numbers. Where it
/// finds an extension, `e164` refuses.
#[test]
fn telephone_numbers_are_those_of_libphonenumber() {
    let cases = include_str!("telephone_numbers.tsv");
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let [country, text, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}")
        };
        let number = normal(&format!("e164:{country}"), text);
        if number.as_deref().unwrap_or("-") != expected {
            wrong.push(format!("{line}, here {number:?}"));
        }
    }
    assert!(cases.lines().count() > 1000 && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn bare_telephone_numbers_are_read_as_the_user_says() {
    // One text with two readings that are numbers, and two texts with one.
    let (either, only_international, only_national) = ("496808024255", "49 30 1234567", "491511234567");
    check(
        "e164:DE",
        &[(either, "+49496808024255"), (only_international, "+49301234567"), (only_national, "+49491511234567")],
    );
    check("e164:DE:bare=national", &[(either, "+49496808024255"), (only_international, "+49301234567")]);
    check("e164:DE:bare=international", &[(either, "+496808024255"), (only_national, "+49491511234567")]);
    check(
        "e164:DE:bare=refuse",
        &[(only_international, "+49301234567"), (only_national, "+49491511234567"), ("030 1234567", "+49301234567")],
    );
    refused("e164:DE:bare=refuse", &[either]);
    // The trunk prefix of the United States is their calling code: both readings are one number.
    check("e164:US:bare=refuse", &[("1 212 555 0123", "+12125550123")]);
}

#[test]
fn bare_telephone_numbers_are_counted_by_how_they_were_read() {
    let folder = Folder::new();
    let path = folder.write(
        "tel.csv",
        "tel\n49301234567\n+49 30 1234567\n030 1234567\n496808024255\n491511234567\n0049 89 123456\n",
    );
    let profile = |normaliser: &str| {
        let spec = KeySpec::parse(&["tel"], &[&format!("tel={normaliser}")[..]]).unwrap();
        let profile = vesica_data::profile::check(&super::open(&path).unwrap(), &spec).unwrap();
        let column = &profile.keys.columns[0];
        ((column.bare_national, column.bare_international, column.unmatchable), profile.warnings.join("\n"))
    };
    let (counts, warned) = profile("e164:DE");
    assert_eq!(counts, (2, 1, 0));
    for part in [
        "3 telephone numbers have no + and begin with 49",
        "2 of them were read as numbers of the country, 1 as",
        ":bare=refuse",
    ] {
        assert!(warned.contains(part), "{warned}");
    }
    let (counts, warned) = profile("e164:DE:bare=international");
    assert_eq!(counts, (1, 2, 0));
    assert!(!warned.contains("telephone numbers have no +"), "who has decided is not asked again: {warned}");
    assert_eq!(profile("e164:DE:bare=refuse").0, (1, 1, 1));
}

/// Keys depend on the library's rules, so the name that both sides compare must follow them.
#[test]
fn the_agreed_name_of_telephone_numbers_has_the_version_of_the_library() {
    let lock = include_str!("../../../../Cargo.lock");
    let (_, after) = lock.split_once("name = \"rlibphonenumber\"\nversion = \"").unwrap();
    let version = after.split('"').next().unwrap();
    assert_eq!(Normaliser::parse("e164:DE").unwrap().agreed_name(), format!("e164@3+rlibphonenumber-{version}"));
}

#[test]
fn timestamps_of_all_writers_become_one_text() {
    let morning = "2013-01-31T08:00:00Z";
    check(
        "timestamp:utc",
        &[
            ("2013-01-31 08:00:00", morning),
            ("2013-01-31T08:00:00", morning),
            ("2013-01-31T08:00", morning),
            ("2013-01-31T08:00:00.000000", morning),
            ("2013-01-31 10:00:00+02", morning),
            ("2013-01-31T10:00:00+0200", morning),
            ("2013-01-31 04:30:00-03:30", morning),
            ("2013-01-31 08:00:00 UTC", morning),
            ("2013-01-31", "2013-01-31T00:00:00Z"),
            ("20130131", "2013-01-31T00:00:00Z"),
            ("2013-01-31 08:00:00.120", "2013-01-31T08:00:00.12Z"),
            ("2013-01-31T08:00:00.1234567899Z", "2013-01-31T08:00:00.123456789Z"),
            ("1969-12-31T23:59:59.5-01:00", "1970-01-01T00:59:59.5Z"),
        ],
    );
    check(
        "timestamp:+02:00",
        &[("2013-01-31 10:00:00", morning), ("2013-01-31T08:00:00Z", morning), ("2013-01-31", "2013-01-30T22:00:00Z")],
    );
    check(
        "timestamp:utc:s",
        &[("2013-01-31 08:00:00.999", morning), ("1969-12-31T23:59:59.999", "1969-12-31T23:59:59Z")],
    );
    check("timestamp:UTC:ms", &[("2013-01-31 08:00:00.0019", "2013-01-31T08:00:00.001Z")]);
    check("timestamp:Z:us", &[("2013-01-31 08:00:00.0000019", "2013-01-31T08:00:00.000001Z")]);
    check(
        "timestamp:+02:00:day",
        &[("2013-01-31", "2013-01-31"), ("2013-01-31T22:00:00Z", "2013-02-01"), ("2013-01-31 23:59:59", "2013-01-31")],
    );
    refused(
        "timestamp:utc",
        &[
            "",
            "5",
            "31.01.2013",
            "2013-01-31T24:00:00",
            "2016-12-31T23:59:60Z",
            "2013-01-31T10:00:00 CET",
            "2013-02-30",
        ],
    );
    refused("timestamp:+02:00", &["0001-01-01"]);
    refused("timestamp:-02:00", &["9999-12-31 23:00:00"]);
}

#[test]
fn timestamps_agree_on_the_precision_and_for_days_on_the_zone() {
    let name = |text: &str| Normaliser::parse(text).unwrap().agreed_name().into_owned();
    assert_eq!(name("timestamp:utc"), name("timestamp:+02:00"));
    assert_ne!(name("timestamp:utc"), name("timestamp:utc:ms"));
    assert_eq!(name("timestamp:-0330:day"), "timestamp@1:-03:30:day");
    assert_ne!(name("timestamp:utc:day"), name("timestamp:+02:00:day"));
    for (text, shown) in [("timestamp:UTC:ns", "timestamp:utc"), ("timestamp:+02:us", "timestamp:+02:00:us")] {
        assert_eq!(Normaliser::parse(text).unwrap().to_string(), shown);
    }
    for wrong in [
        "timestamp",
        "timestamp:",
        "timestamp:ms",
        "timestamp:Europe/Berlin",
        "timestamp:utc:min",
        "timestamp:+25:00",
        "timestamp:utc:",
    ] {
        assert!(Normaliser::parse(wrong).unwrap_err().to_string().contains("timestamp:+02:00:ms"), "{wrong}");
    }
}

#[test]
fn every_iso_country_has_a_plan_or_no_telephones() {
    // ISO 3166-1 without Antarctica, Bouvet Island, Heard Island, French Southern Territories, the
    // Pitcairn Islands, South Georgia and the US outlying islands, which have no numbering plan of
    // their own.
    let countries = "AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT \
                     BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH \
                     ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU \
                     ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS \
                     LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG \
                     NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE \
                     SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA \
                     UG US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";
    for country in countries.split_whitespace() {
        assert!(Normaliser::parse(&format!("e164:{country}")).is_ok(), "{country}");
    }
}

#[test]
fn chains_run_in_order_and_what_becomes_empty_never_matches() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "id\n Ann \nann\n   \n\"\"\nANN\n");
    let spec = KeySpec::parse(&["id"], &["id=trim,lower"]).unwrap();
    let table = keys_of(&path, &spec).unwrap();
    assert_eq!(table.stats.distinct, 1);
    assert_eq!((table.stats.null_rows, table.stats.columns[0].empty, table.stats.columns[0].nulls), (2, 2, 0));
    let path = folder.write("tel.csv", "tel,id\n030 12345,1\nnone,2\n,3\n+49 30 12345,1\nnone,\n");
    let spec = KeySpec::parse(&["tel", "id"], &["tel=e164:DE"]).unwrap();
    let stats = keys_of(&path, &spec).unwrap().stats;
    assert_eq!(
        (stats.rows, stats.distinct, stats.duplicate_rows, stats.unmatchable_rows, stats.null_rows),
        (5, 1, 1, 1, 2)
    );
    assert_eq!((stats.columns[0].unmatchable, stats.columns[0].nulls, stats.columns[1].nulls), (2, 1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_second_pass_changes_nothing(text in "\\PC{0,12}") {
        vesica_data::fuzzing::normalise(&text);
    }

    #[test]
    fn a_second_pass_changes_nothing_in_likely_text(text in "[+0-9 ()/.\\-a-zA-ZäÖßİΣ@\u{301}\u{307}\u{1100}]{0,18}") {
        vesica_data::fuzzing::normalise(&text);
    }
}
