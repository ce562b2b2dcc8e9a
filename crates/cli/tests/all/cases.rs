//! Small tables that once gave a wrong row or a useless error. `crates/cli/tests/cases` has a folder for each case:
//! `a.*` is the receiver's table and `b.*` the sender's.

use std::fs;
use std::path::Path;

use crate::harness::{Ended, Folder};

/// What is right for a case.
enum Right {
    /// The content of `out.csv`.
    Rows(&'static str),
    /// The run ends well, and the receiver's standard error has these words. The class tests of `data` look at the outputs.
    Runs(&'static [&'static str]),
    /// The receiver refuses its table, in these words, before the partner is asked for anything.
    ReceiverRefuses(&'static [&'static str]),
    /// The sender refuses its table so.
    SenderRefuses(&'static [&'static str]),
}
use Right::{ReceiverRefuses, Rows, Runs, SenderRefuses};

/// Runs both sides in a copy of a case's folder.
#[track_caller]
fn case(name: &str, receive: &str, send: &str, right: &Right) {
    let folder = Folder::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name), &folder.path(""));
    let (receiver, sender) = folder.join(receive, send);
    let refuses = |failed: &Ended, partner: &Ended, texts: &[&str]| {
        failed.expect(3, texts);
        partner.expect(9, &["its input table cannot be used"]);
        assert!(!folder.files().iter().any(|file| file.starts_with("out.")), "an output is left: {:?}", folder.files());
    };
    match right {
        Rows(rows) => {
            sender.expect(0, &[]);
            receiver.expect(0, &[]);
            assert_eq!(folder.read("out.csv"), *rows, "{}", receiver.stderr);
        }
        Runs(texts) => {
            sender.expect(0, &[]);
            receiver.expect(0, texts);
        }
        ReceiverRefuses(texts) => refuses(&receiver, &sender, texts),
        SenderRefuses(texts) => refuses(&sender, &receiver, texts),
    }
}

/// Copies the files of a folder, and its folders.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a case").map(|entry| entry.expect("an entry")) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("copied");
        }
    }
}

/// One test for each case.
macro_rules! cases {
    ($($test:ident: $folder:literal, $receive:literal, $send:literal => $right:expr;)+) => {
        $(#[test]
        fn $test() {
            case($folder, $receive, $send, &$right);
        })+

        /// No folder without a test.
        #[test]
        fn every_folder_is_a_case() {
            let mut tested: Vec<&str> = vec![$($folder),+];
            tested.sort_unstable();
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
            let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
            let mut there: Vec<String> = entries.map(|name| name.into_string().expect("a name")).collect();
            there.sort();
            tested.dedup();
            assert_eq!(tested, there);
        }
    };
}

cases! {
    a_line_that_names_the_delimiter: "excel-sep-line",
        "--input a.csv --key id --output out.csv", "--input b.csv --key id"
        => Rows("id;v\r\nk1;1\r\n");
    utf16_without_a_mark: "utf16-without-mark",
        "--input a.csv --key id --output out.csv", "--input b.csv --key id"
        => ReceiverRefuses(&["UTF-16 text without a byte-order mark", "iconv -f UTF-16LE -t UTF-8"]);
    a_mark_in_the_name_of_a_column: "zero-width-in-header-name",
        "--input a.csv --key id --output out.csv", "--input b.csv --key id"
        => ReceiverRefuses(&["has no column `id`", "`<U+FEFF>id`", "characters that nobody sees (U+FEFF)"]);
    words_for_a_missing_value: "words-for-null-match-each-other",
        "--input a.csv --key id --output out.csv", "--input b.csv --key id --null-words keep"
        => ReceiverRefuses(&["where a value is missing", "--null-words keep"]);
    words_of_a_column_that_are_values: "words-for-null-match-each-other",
        "--input a.csv --key id --output out.csv --null-words \\N,NULL,null,NaN,nan,None,NA",
        "--input b.csv --key id --null-words keep"
        => Runs(&["warning: `id`: 5 values are a word that programs write where a value is missing"]);
    null_of_postgresql: "postgres-copy-null",
        "--input a.tsv --key id --output out.csv",
        "--input b.tsv --key id --payload seg --null-words keep --payload-duplicates first"
        => ReceiverRefuses(&["2 of 4 rows", "`\\N`", "--null-words '\\N'"]);
    null_of_postgresql_that_is_named: "postgres-copy-null",
        "--input a.tsv --key id --output out.csv --null-words \\N",
        "--input b.tsv --key id --payload seg --null-words \\N"
        => Rows("id\tv\tseg\nk1\t1\tgold\n");
    few_numbers_with_an_exponent: "excel-scientific-few",
        "--input a.csv --key id --output out.csv", "--input b.csv --key id"
        => Runs(&["warning: `id`: 4 values are numbers with an exponent (1.23457E+11)"]);
    uuids_of_parquet_and_csv: "uuid-parquet-against-csv",
        "--input a.csv --key id --output out.csv", "--input b.parquet --key id"
        => Rows(include_str!("../cases/uuid-parquet-against-csv/a.csv"));
    uuids_into_csv: "uuid-passes-into-csv",
        "--input b.parquet --key w --output out.csv", "--input s.csv --key w"
        => Rows("id,w\n78dde6e5-fd29-f057-ce73-018173b720d4,3\n");
    far_dates_of_int96: "int96-far-dates-into-csv",
        "--input a.parquet --key id --output out.csv", "--input b.csv --key id"
        => Rows("id,t\nk1,9999-12-31T23:59:59\nk2,2021-06-09T03:02:37\nk3,0001-01-01T00:00:00\n");
    a_key_that_int96_would_wrap: "int96-wrapped-key-meets-a-stranger",
        "--input a.parquet --key t --output out.csv", "--input b.csv --key t"
        => ReceiverRefuses(&["column `t` of a.parquet is of type INT96", "1677-09-21 to 2262-04-11"]);
    a_damaged_page_of_keys: "page-checksum-wrong",
        "--input a.parquet --key id --output out.csv", "--input b.csv --key id"
        => ReceiverRefuses(&["column `id` is damaged in row group 1"]);
    a_damaged_page_of_a_payload: "page-checksum-wrong-in-payload",
        "--input b.csv --key id --output out.csv", "--input a.parquet --key id --payload seg"
        => SenderRefuses(&["column `seg` is damaged in row group 1"]);
    a_variant_into_parquet: "duckdb-variant-column",
        "--input a.parquet --key id --output out.parquet", "--input b.csv --key id"
        => Runs(&["2 keys match"]);
    integers_of_128_bits: "polars-int128-parquet",
        "--input a.parquet --key c --output out.csv", "--input b.csv --key c"
        => ReceiverRefuses(&["column `i` of a.parquet is of type Int128"]);
    an_encrypted_footer: "encrypted-footer",
        "--input a.parquet --key id --output out.csv", "--input b.csv --key id"
        => ReceiverRefuses(&["a Parquet file with an encrypted footer", "decrypt it first"]);
    folders_that_are_a_column: "hive-partition-column-lost",
        "--input t/*/*.parquet --key id --output out.csv", "--input b.csv --key id"
        => Rows("id,v,dt\nk1,1,2026-01-01\nk1,1,2026-01-02\n");
    a_json_array: "json-pretty-array",
        "--input a.json --key id --output out.csv", "--input b.csv --key id"
        => ReceiverRefuses(&["a.json is a JSON array", "jq -c '.[]'"]);
    a_workbook_called_csv: "xlsx-called-csv",
        "--input a.csv --key id --output out.csv", "--input b.csv --key id"
        => ReceiverRefuses(&["a workbook of Excel (.xlsx)", "save the sheet as CSV"]);
    a_header_in_the_middle: "header-row-again-in-the-middle",
        "--input a.csv --key id --output out.csv", "--input b.csv --key id"
        => Rows("id,v\nk1,1\n");
    a_telephone_number_that_was_a_float: "telephone-as-float",
        "--input a.csv --key t --normalise t=e164:DE --output out.csv",
        "--input b.csv --key t --normalise t=e164:DE"
        => ReceiverRefuses(&["the normalisers of key column `t` refuse every value"]);
    what_stands_around_addresses: "punctuation-around-addresses",
        "--input a.csv --key m --normalise m=email --output out.csv",
        "--input b.csv --key m --normalise m=email"
        => Rows("m,v\n<ann@x.org>,1\nbob@x.org;,2\n\"cy@x.org,\",3\n'dee@x.org',4\neve@x.org,5\n");
    dictionaries_that_are_replaced_in_lists: "nested-dictionaries-replaced",
        "--input a.arrows --key id --output out.arrow", "--input b.csv --key id"
        => Runs(&["3 keys match"]);
    months_of_an_interval: "interval-months-into-parquet",
        "--input a.parquet --key id --output out.csv", "--input b.csv --key id"
        => Rows("id,iv\n1,14 mons\n2,3 days\n3,1 mons 2 days 3.000000000 secs\n");
    months_of_an_interval_into_parquet: "interval-months-into-parquet",
        "--input a.parquet --key id --output out.parquet", "--input b.csv --key id"
        => Runs(&["3 keys match"]);
    a_table_of_delta_lake: "delta-lake-folder",
        "--input t --key id --output out.csv", "--input b.csv --key id"
        => ReceiverRefuses(&["t is a table of Delta Lake", "delta_scan"]);
    seconds_of_a_payload: "payload-timestamp_s-into-parquet",
        "--input a.parquet --key id --output out.csv", "--input b.arrow --key id --payload c"
        => Rows("id,c\nk1,2020-01-01T00:00:00\n");
    nulls_of_runs: "run-end-encoded-null-into-csv",
        "--input a.arrow --key id --output out.csv", "--input b.csv --key id"
        => Rows("id,r\nk1,x\nk2,\n");
}

/// The case `pub-file-with-mark`: what is marked is the partner's key.
#[test]
fn a_public_key_behind_a_byte_order_mark() {
    let folder = Folder::new();
    folder.write("them.pub", format!("\u{feff}{}", folder.read("them.pub")));
    folder.write("ours.csv", "id\nk1\n");
    let (receiver, sender) = folder.join("--input ours.csv --key id --output out.csv", "--input ours.csv --key id");
    receiver.expect(0, &["1 key matches"]);
    sender.expect(0, &[]);
}
