//! CSV files that were joined end to end: the header in the middle is no row, in either pass.

use vesica_data::key::KeySpec;
use vesica_data::profile::check;
use vesica_data::table::{Join, collect_keys, read_keys};

use super::{Folder, join, key, open};

/// Ways in which a header comes again, with one record before and one behind it.
const GLUED: [&str; 9] = [
    "id,v\nk1,1\nid,v\nk9,2\n",
    "id,v\nk1,1\n\u{feff}id,v\nk9,2\n",
    "id,v\nk1,1\n\"id\",\"v\"\nk9,2\n",
    "\"id\",v\nk1,1\nid,\"v\"\nk9,2\n",
    "id,v\nk1,1\n\u{feff}\"id\",v\nk9,2\n",
    "id,v\r\nk1,1\r\nid,v\r\nk9,2\r\n",
    "id,v\nk1,1\n\nid,v\nk9,2",
    "id,v\nid,v\nk1,1\nk9,2\nid,v",
    "\u{feff}id,v\nid,v\nid,v\nk1,1\nk9,2\n",
];

#[test]
fn a_header_again_is_no_row_in_either_pass() {
    for text in GLUED {
        let folder = Folder::new();
        let input = open(&folder.write("in.csv", text)).unwrap();
        let spec = key(&["id"]);
        let table = read_keys(&input, &spec, None).unwrap();
        assert_eq!((table.stats.rows, table.stats.distinct, &table.row_key[..]), (2, 2, &[0, 1][..]), "{text:?}");
        assert!(table.stats.header_rows > 0, "{text:?}");
        let warned = table.stats.warnings(&spec).join("\n");
        assert!(warned.contains("the header row, as in files"), "{warned}");
        assert!(check(&input, &spec).unwrap().warnings.join("\n").contains("the header row, as in files"));
        // Copied and converted, rows that match and the others.
        for (kept, keys, expected) in [(Join::Inner, &[1][..], "k9"), (Join::Difference, &[1][..], "k1")] {
            for name in ["out.csv", "out.jsonl", "out.parquet"] {
                let path = folder.path(name);
                assert_eq!(join(&input, &table, keys, None, kept, &path).unwrap(), 1, "{text:?} {name}");
                let rows = collect_keys(&open(&path).unwrap(), &spec).unwrap();
                assert_eq!((rows.stats.rows, rows.stats.header_rows), (1, 0), "{text:?} {name}");
                let cells = read_keys(&open(&path).unwrap(), &spec, None).unwrap().digests;
                let only = open(&folder.write("only.csv", format!("id\n{expected}\n"))).unwrap();
                assert_eq!(cells, read_keys(&only, &spec, None).unwrap().digests, "{text:?} {name}");
                std::fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn names_with_quotes_and_without_letters_come_again_too() {
    for (header, rows) in [
        ("\"a\"\"b\",id", "1,2\n\"a\"\"b\",id\n3,4\n"),
        (",id", "0,a\n,id\n1,b\n"),
        ("\"\",id", "0,a\n\"\",id\n1,b\n"),
        ("x;id", "x;a\nx;id\nx;b\n"),
    ] {
        let folder = Folder::new();
        let path = folder.write("in.csv", format!("{header}\n{rows}"));
        let delimiter = if header.contains(';') { Some(b';') } else { None };
        let options = vesica_data::table::InputOptions { format: None, delimiter };
        let input = vesica_data::table::Input::open(path.to_str().unwrap(), &options).unwrap();
        let table = read_keys(&input, &key(&["id"]), None).unwrap();
        assert_eq!((table.stats.rows, table.stats.distinct, table.stats.header_rows), (2, 2, 1), "{header}");
        let out = folder.path("out.csv");
        assert_eq!(join(&input, &table, &[0, 1], None, Join::Inner, &out).unwrap(), 2, "{header}");
    }
}

/// What is like a header in part is a row.
#[test]
fn a_record_that_is_not_wholly_the_header_is_a_row() {
    let folder = Folder::new();
    let input = open(&folder.write("in.csv", "id,v\nid,1\n id,v\nID,V\nid,v \nv,id\n")).unwrap();
    let spec = KeySpec::parse(&["id", "v"], &[]).unwrap();
    let stats = read_keys(&input, &spec, None).unwrap().stats;
    assert_eq!((stats.rows, stats.header_rows), (5, 0));
    assert!(stats.warnings(&spec).is_empty());
}

/// Threads and blocks change nothing: a long file of many pieces.
#[test]
fn many_pieces_with_threads() {
    let folder = Folder::new();
    for quoted in [false, true] {
        let mut text = String::new();
        for piece in 0..40 {
            text.push_str("id,name\n");
            let row = |n: usize| if quoted { format!("\"{n}\",\"a\nb\"\n") } else { format!("{n},a\n") };
            (0..3000).for_each(|n| text.push_str(&row(piece * 3000 + n)));
        }
        let input = open(&folder.write("in.csv", &text)).unwrap();
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let table = pool.install(|| read_keys(&input, &key(&["id"]), None)).unwrap();
            let counts = (table.stats.rows, table.stats.distinct, table.stats.header_rows);
            assert_eq!(counts, (120_000, 120_000, 39), "{threads}");
            let out = folder.path(&format!("out-{quoted}-{threads}.csv"));
            assert_eq!(join(&input, &table, &[119_999], None, Join::Inner, &out).unwrap(), 1);
            assert!(std::fs::read_to_string(out).unwrap().contains("119999"));
        }
    }
}
