//! The CSV splitter against the `csv` crate.

use proptest::prelude::*;
use vesica_data::fuzzing::{self, Split, split_line, split_record};

use crate::reference;

/// Records as ours reads them, doubled quotes undone; `None` when it refuses the text.
fn ours(bytes: &[u8], delimiter: u8) -> Option<Vec<Vec<Vec<u8>>>> {
    let (mut fields, mut records, mut rest) = (Vec::new(), Vec::new(), bytes);
    loop {
        match split_record(rest, true, delimiter, &mut fields) {
            Split::Record { len, .. } => {
                let text = |field: &fuzzing::Field| {
                    let text = &rest[field.start..field.end];
                    if field.doubled {
                        String::from_utf8_lossy(text).replace("\"\"", "\"").into_bytes()
                    } else {
                        text.to_vec()
                    }
                };
                records.push(fields.iter().map(text).collect());
                rest = &rest[len..];
            }
            Split::Blank { len } => rest = &rest[len..],
            Split::Incomplete => return Some(records),
            Split::OpenQuote | Split::AfterQuote | Split::TooManyFields => return None,
        }
    }
}

/// Text rich in what matters to a splitter.
fn csv_like() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(b"ab,,;\"\"\"\r\n\n ".to_vec()), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accepted_text_splits_as_the_csv_crate_splits_it(bytes in csv_like()) {
        fuzzing::csv(&bytes, b',');
        if let Some(records) = ours(&bytes, b',') {
            prop_assert_eq!(records, reference::records(&bytes, b','));
        }
    }

    #[test]
    fn written_text_is_accepted_and_reads_back(
        records in proptest::collection::vec(proptest::collection::vec("[ab,;\"\r\nä]{0,6}", 2..5), 0..6),
        delimiter in proptest::sample::select(b",;\t".to_vec()),
        crlf in any::<bool>(),
    ) {
        let bytes = reference::written(&records, delimiter, crlf);
        let expected: Vec<Vec<Vec<u8>>> = records.iter().map(|r| r.iter().map(|f| f.clone().into_bytes()).collect()).collect();
        prop_assert_eq!(ours(&bytes, delimiter), Some(expected));
    }

    /// A cut text never gives another first record than the whole one: it is incomplete, or the same.
    #[test]
    fn a_cut_text_is_incomplete_or_splits_alike(bytes in csv_like(), cut in 0usize..60) {
        let (mut fields, mut part_fields) = (Vec::new(), Vec::new());
        let part = &bytes[..cut.min(bytes.len())];
        for split in [split_record, split_line] {
            let whole = split(&bytes, true, b',', &mut fields);
            match split(part, false, b',', &mut part_fields) {
                Split::Incomplete => {}
                found => prop_assert_eq!(found, whole),
            }
        }
    }
}
