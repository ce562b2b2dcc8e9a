//! The first pass on several threads is the one on a single thread.

use vesica_data::key::digest;
use vesica_data::table::KeyTable;

use super::{Folder, key, keys_of, told};

/// Rows of a few blocks: repeated and empty keys, keys longer than a block of the hash, CRLF and
/// empty lines; with `quotes` also line breaks in quoted fields. Each row with the lines it takes
/// and its key.
fn rows(quotes: bool) -> Vec<(String, usize, String)> {
    let row = |i: usize| {
        let id = match i % 11 {
            0 => String::new(),
            1 => format!("{}{i}", "long".repeat(i % 40)),
            _ => format!("k{}", i * 7919 % 40_000),
        };
        let end = if i.is_multiple_of(5) { "\r\n" } else { "\n" };
        match i % 13 {
            0 if quotes => (format!("\"a\r\n\"\"b\n\",{id}{end}"), 3, id),
            1 => (format!("x,{id}{end}{end}"), 2, id),
            _ => (format!("note {i},{id}{end}"), 1, id),
        }
    };
    (0..60_000).map(row).collect()
}

fn on_threads(count: usize, folder: &Folder) -> Result<KeyTable, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
    pool.install(|| keys_of(&folder.path("in.csv"), &key(&["id"]))).map_err(|error| told(&error))
}

#[test]
fn threads_change_no_table() {
    let folder = Folder::new();
    for quotes in [false, true] {
        let rows = rows(quotes);
        let text: String = rows.iter().map(|(row, ..)| row.as_str()).collect();
        folder.write("in.csv", format!("note,id\n{text}"));
        let one = on_threads(1, &folder).unwrap();
        assert_eq!(one.row_key.len(), rows.len());
        for ((_, _, id), &key) in rows.iter().zip(&one.row_key) {
            let expected = (!id.is_empty()).then(|| digest(&[id.as_bytes()]).unwrap());
            assert_eq!(one.digests.get(key as usize), expected, "{id}");
        }
        for threads in [2, 3, 7] {
            let more = on_threads(threads, &folder).unwrap();
            assert_eq!(
                (&more.digests, &more.row_key, &more.stats),
                (&one.digests, &one.row_key, &one.stats),
                "{threads} threads"
            );
        }
    }
}

#[test]
fn threads_change_no_error() {
    let folder = Folder::new();
    let faults: [(&[u8], &str); 4] = [
        (b"a\n", "1 columns"),
        (b"a,\xff\n", "not UTF-8"),
        (b"\"a\"b,c\n", "closing quote"),
        (b"a,\"b\n", "never closes"),
    ];
    for quotes in [false, true] {
        let rows = rows(quotes);
        for place in [0, 9_000, 20_001, 47_000, 59_999] {
            for (fault, what) in faults {
                let mut text = b"note,id\n".to_vec();
                rows[..place].iter().for_each(|(row, ..)| text.extend_from_slice(row.as_bytes()));
                text.extend_from_slice(fault);
                if what == "never closes" {
                    // No other quote may close it.
                    text.extend_from_slice(&b"x,1\n".repeat(200_000));
                } else {
                    // A later fault of another part is not the one reported.
                    rows[place..].iter().for_each(|(row, ..)| text.extend_from_slice(row.as_bytes()));
                    text.extend_from_slice(b"x,y,z\n");
                }
                folder.write("in.csv", text);
                let one = on_threads(1, &folder).unwrap_err();
                let line = 2 + rows[..place].iter().map(|(_, lines, _)| lines).sum::<usize>();
                assert!(one.contains(&format!("line {line} ")) && one.contains(what), "{one}; expected line {line}");
                for threads in [2, 5] {
                    assert_eq!(on_threads(threads, &folder).unwrap_err(), one);
                }
            }
        }
    }
}
