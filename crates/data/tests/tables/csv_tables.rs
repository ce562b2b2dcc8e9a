//! CSV in and out.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use vesica_data::table::{Input, InputOptions, Join, NO_KEY, Packing, Source, read_keys};

use super::{Folder, join, key, keys_of, open};

#[test]
fn a_semi_join_keeps_rows_as_they_stand() {
    let folder = Folder::new();
    let path =
        folder.write("in.csv", "\u{feff}id,\"na\"\"me\"\r\n1,\"a\r\nb\"\r\n,x\r\n2,\"\"\r\n\r\n1,\"c\"\"d\"\r\n3,e");
    let input = open(&path).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    assert_eq!(table.row_key, [0, NO_KEY, 1, 0, 2]);
    assert_eq!(
        (table.stats.rows, table.stats.null_rows, table.stats.distinct, table.stats.duplicate_rows),
        (5, 1, 3, 1)
    );
    let written = |kind| {
        let out = folder.path(&format!("{kind:?}.csv"));
        join(&input, &table, &[0, 2], None, kind, &out).unwrap();
        std::fs::read_to_string(out).unwrap()
    };
    assert_eq!(written(Join::Inner), "\u{feff}id,\"na\"\"me\"\r\n1,\"a\r\nb\"\r\n1,\"c\"\"d\"\r\n3,e\r\n");
    assert_eq!(written(Join::Difference), "\u{feff}id,\"na\"\"me\"\r\n,x\r\n2,\"\"\r\n");
}

/// What Excel's users write in front of a header is no header, and no part of a result.
#[test]
fn a_line_that_names_the_delimiter_is_passed_over() {
    let folder = Folder::new();
    for (name, text) in [
        ("in.csv", "sep=;\nid;v\nk1;\"a;b\"\nk2;2\n"),
        ("in.csv", "\u{feff}SEP=;\r\nid;v\r\nk1;\"a;b\"\r\nk2;2\r\n"),
        ("in.tsv", "\"sep=;\"\nid;v\nk1;\"a;b\"\nk2;2\n"),
    ] {
        let input = open(&folder.write(name, text)).unwrap();
        let table = read_keys(&input, &key(&["id"]), None).unwrap();
        assert_eq!((input.stored().unwrap().delimiter, table.stats.distinct), (b';', 2));
        let out = folder.path("out.csv");
        join(&input, &table, &[0], None, Join::Inner, &out).unwrap();
        let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        let written = std::fs::read_to_string(&out).unwrap().replace("\r\n", "\n");
        assert_eq!(written, format!("{mark}id;v\nk1;\"a;b\"\n"));
        std::fs::remove_file(out).unwrap();
    }
    // What the user says counts more, and the line is none of the table still.
    let options = InputOptions { delimiter: Some(b','), ..InputOptions::default() };
    let path = folder.write("in.csv", "sep=;\nid,v\nk1,1\nk2\n");
    let input = Input::open(path.to_str().unwrap(), &options).unwrap();
    let error = read_keys(&input, &key(&["id"]), None).unwrap_err();
    assert!(error.to_string().starts_with("line 4 of "), "lines of the file are counted: {error}");
}

/// Rows, keys, nulls, duplicates and line ends of many shapes, against a plain model.
#[test]
fn a_large_table_joins_as_a_plain_semi_join() {
    let folder = Folder::new();
    let (mut text, mut rows) = (String::from("note,id,more\n"), Vec::new());
    for i in 0u32..60_000 {
        let id = if i % 17 == 0 { String::new() } else { format!("k{}", i.wrapping_mul(2_654_435_761) % 40_000) };
        let note = match i % 5 {
            0 => "\"quoted, with\nline \"\"breaks\"\"\"".to_owned(),
            1 => "ä".repeat(i as usize % 50),
            _ => format!("plain {i}"),
        };
        let end = if i % 3 == 0 { "\r\n" } else { "\n" };
        let row = format!("{note},{id},{i}{end}");
        text.push_str(&row);
        if i % 1000 == 0 {
            // One record is far longer than a block.
            text.push_str("\n\r\n");
        }
        rows.push((id, row));
    }
    let long = format!("\"{}\",long,1\n", "x\n".repeat(400_000));
    text.push_str(&long);
    rows.push(("long".to_owned(), long));
    let path = folder.write("in.csv", &text);
    let input = open(&path).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();

    let mut seen = HashMap::new();
    for (row, (id, _)) in rows.iter().enumerate() {
        let next = seen.len() as u32;
        let expected = if id.is_empty() { NO_KEY } else { *seen.entry(id.clone()).or_insert(next) };
        assert_eq!(table.row_key[row], expected, "row {row}");
    }
    assert_eq!(table.digests.len(), seen.len());
    assert_eq!(table.stats.null_rows, rows.iter().filter(|(id, _)| id.is_empty()).count() as u64);
    assert_eq!(table.stats.duplicate_rows + table.stats.null_rows + table.stats.distinct, table.stats.rows);

    let matched: Vec<u32> = (0..table.digests.len() as u32).filter(|key| key % 3 == 0).collect();
    let wanted = |id: &String| seen.get(id).is_some_and(|key| key % 3 == 0);
    for kind in [Join::Inner, Join::Difference] {
        let out = folder.path(&format!("{kind:?}.csv"));
        join(&input, &table, &matched, None, kind, &out).unwrap();
        let expected: String = std::iter::once("note,id,more\n")
            .chain(rows.iter().filter(|(id, _)| wanted(id) == (kind == Join::Inner)).map(|(_, row)| row.as_str()))
            .collect();
        assert!(std::fs::read_to_string(out).unwrap() == expected, "{kind:?}");
    }
}

#[test]
fn gzip_is_found_by_its_first_bytes_and_written_by_its_name() {
    let folder = Folder::new();
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    // Two members, as `cat a.gz b.gz` makes them.
    let bytes = [packed("id\na\n"), packed("b\na\n")].concat();
    let path = folder.write("in.csv", &bytes);
    let input = open(&path).unwrap();
    assert_eq!(input.stored().unwrap().packing, Some(Packing::Gzip));
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    assert_eq!(table.row_key, [0, 1, 0]);
    join(&input, &table, &[0], None, Join::Inner, &folder.path("out.csv.gz")).unwrap();
    join(&input, &table, &[0], None, Join::Inner, &folder.path("out.csv")).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(folder.path("out.csv.gz")).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "id\na\na\n");
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), text);

    let cut = folder.write("cut.csv.gz", &bytes[..bytes.len() - 9]);
    let error = keys_of(&cut, &key(&["id"])).unwrap_err();
    assert!(error.to_string().contains("not a readable CSV file"), "{error}");
}

fn zstd(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A table of random keys, which hardly shrinks.
fn long_csv() -> String {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    std::iter::once("id\n".to_owned()).chain((0..40_000).map(|_| format!("{:x}\n", next()))).collect()
}

#[test]
fn zstd_and_bzip2_are_found_by_their_first_bytes_and_zstd_is_written_by_its_name() {
    let folder = Folder::new();
    for packing in [Packing::Zstd, Packing::Bzip2] {
        let pack = if packing == Packing::Zstd { zstd } else { bzip2 };
        // Two frames or streams, as `cat` makes them of two files; the first one may be empty.
        let bytes = [pack(b""), pack(b"id\na\n"), pack(b"b\na\n")].concat();
        let input = open(&folder.write("in.csv", &bytes)).unwrap();
        assert_eq!(input.stored().unwrap().packing, Some(packing));
        let table = read_keys(&input, &key(&["id"]), None).unwrap();
        assert_eq!(table.row_key, [0, 1, 0]);
        let out = folder.path(&format!("{}.csv.zst", packing.name()));
        join(&input, &table, &[0], None, Join::Inner, &out).unwrap();
        let packed = std::fs::read(&out).unwrap();
        assert_eq!(&packed[..4], [0x28, 0xb5, 0x2f, 0xfd]);
        assert_eq!(zstd::stream::decode_all(&packed[..]).unwrap(), b"id\na\na\n");

        let long = long_csv();
        let packed = pack(long.as_bytes());
        assert!(packed.len() > 1 << 17, "more than one block");
        let keys = keys_of(&folder.write("long", &packed), &key(&["id"])).unwrap();
        assert_eq!(keys.stats.rows, 40_000);
    }
}

#[test]
fn damaged_packed_tables_are_refused() {
    let folder = Folder::new();
    let long = long_csv();
    let cases: [(&str, Vec<u8>); 2] = [("zst", zstd(long.as_bytes())), ("bz2", bzip2(long.as_bytes()))];
    for (ending, packed) in cases {
        let refused = |bytes: &[u8], what: &str| {
            let path = folder.write(&format!("in.csv.{ending}"), bytes);
            let error = keys_of(&path, &key(&["id"])).expect_err(what);
            assert!(error.to_string().contains("is not a readable CSV file"), "{what}: {error}");
            error.to_string()
        };
        for end in [packed.len() - 1, packed.len() / 2, 10] {
            assert!(refused(&packed[..end], "cut off").contains("cut off"));
        }
        for at in [packed.len() / 3, packed.len() / 2, packed.len() - 1] {
            let mut damaged = packed.clone();
            damaged[at] ^= 0xff;
            refused(&damaged, "damaged");
        }
        refused(&[&packed[..], b"more"].concat(), "another text behind it");
        assert!(refused(long.as_bytes(), "not packed").contains("its name ends in"));
        assert!(refused(b"", "empty").contains("its name ends in"));
    }
}

/// A frame may ask for a window of gigabytes.
#[test]
fn a_frame_of_zstd_cannot_take_any_memory() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    io::copy(&mut io::repeat(b'a').take(1000), &mut encoder).unwrap();
    let packed = encoder.finish().unwrap();
    let folder = Folder::new();
    let error = keys_of(&folder.write("in.csv.zst", &packed), &key(&["id"])).unwrap_err();
    assert!(error.to_string().contains("memory"), "{error}");
}

#[test]
fn a_pipe_is_spooled_and_read_twice() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, "id\n1\n2\n1\n").unwrap()
    });
    let input = open(&pipe).unwrap();
    writer.join().unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    assert_eq!(join(&input, &table, &[0], None, Join::Inner, &folder.path("out.csv")).unwrap(), 2);
    assert_eq!(folder.names(), ["out.csv", "pipe"], "nothing of the spooled input has a name");
}

#[test]
fn delimiters_come_from_the_option_or_the_name() {
    let folder = Folder::new();
    let tab = folder.write("in.tsv", "id\tx\n1\ta,b\n");
    assert_eq!(keys_of(&tab, &key(&["id", "x"])).unwrap().stats.distinct, 1);
    let semicolon = folder.write("in.csv", "id;x\n1;\"a;b\"\n");
    let options = InputOptions { delimiter: Some(b';'), format: None };
    let input = Input::open(semicolon.to_str().unwrap(), &options).unwrap();
    assert_eq!(read_keys(&input, &key(&["id", "x"]), None).unwrap().stats.distinct, 1);
    for bad in [b'"', b'\n', 0x80] {
        assert!(
            Input::open(semicolon.to_str().unwrap(), &InputOptions { delimiter: Some(bad), format: None }).is_err()
        );
    }
}

#[test]
fn a_file_that_changes_between_the_passes_is_refused() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "id\n1\n2\n");
    let input = open(&path).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"3\n").unwrap();
    let error = join(&input, &table, &[0], None, Join::Inner, &folder.path("out.csv")).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
    assert_eq!(folder.names(), ["in.csv"]);
}

#[test]
fn a_replaced_name_does_not_disturb_a_run() {
    let folder = Folder::new();
    let path = folder.write("in.csv", "id\n1\n2\n");
    let input = open(&path).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    std::fs::rename(folder.write("other.csv", "id\n7\n"), &path).unwrap();
    assert_eq!(join(&input, &table, &[0], None, Join::Inner, &folder.path("out.csv")).unwrap(), 1);
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), "id\n1\n");
}
