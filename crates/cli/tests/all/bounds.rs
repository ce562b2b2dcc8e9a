//! What is too large or damaged is refused by name, whatever the command does with it.

use std::fs::File;
use std::io::{BufWriter, Write};

use vesica::fuzzing::seeds;

use crate::harness::Folder;

#[test]
fn lists_of_prices_and_receipts_are_read_up_to_a_limit() {
    let folder = Folder::new();
    let limit = "it is longer than the 1048576 bytes that such a file may have";
    folder
        .run("plan --sender-items 1000 --receiver-items 1000 --prices /dev/zero")
        .expect(3, &["cannot read /dev/zero", limit]);
    folder.run("receipt /dev/zero").expect(3, &["cannot read the receipt /dev/zero", limit]);
}

#[test]
fn a_header_of_delimiters_is_refused() {
    let folder = Folder::new();
    folder.write("commas.csv", [b",".repeat(1 << 20), b"\n1\n".to_vec()].concat());
    let texts = ["the record on line 1 of", "has more than 65536 columns", "--delimiter"];
    folder.run("check commas.csv --key email").expect(3, &texts);
    let most = format!("email{}\na@x.org{}\n", ",x".repeat(65_535), ",1".repeat(65_535));
    folder.write("most.csv", most);
    folder.run("check most.csv --key email").expect(0, &[]);
}

#[test]
fn a_cell_without_end_is_refused() {
    let folder = Folder::new();
    let mut file = BufWriter::new(File::create(folder.path("long.csv")).expect("a file"));
    file.write_all(b"email\na@x.org\n\"").expect("written");
    let part = vec![b'x'; 1 << 20];
    for _ in 0..130 {
        file.write_all(&part).expect("written");
    }
    file.into_inner().expect("written");
    folder.run("check long.csv --key email").expect(3, &["the record on line 3 of", "is longer than 67108864 bytes"]);
}

/// The first page header of a column is a list of 2^31 doubles, which the command tried to pass one
/// by one: for minutes.
#[test]
fn a_damaged_parquet_file_is_refused() {
    let folder = Folder::new();
    let mut bytes = seeds::parquet().expect("sound tables").swap_remove(2);
    folder.write("sound.parquet", &bytes);
    folder.run("check sound.parquet --key email").expect(0, &[]);
    bytes[4..11].copy_from_slice(&[0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07]);
    folder.write("damaged.parquet", &bytes);
    folder
        .run("check damaged.parquet --key email")
        .expect(3, &["is not a readable Parquet file", "malformed page header"]);
}

/// The footer says that the metadata of a batch takes no bytes: the command died of SIGABRT.
#[test]
fn a_damaged_arrow_file_is_refused() {
    let folder = Folder::new();
    let mut bytes = seeds::arrow_files().expect("sound tables").swap_remove(1);
    folder.write("sound.arrow", &bytes);
    folder.run("check sound.arrow --key email").expect(0, &[]);
    // Blocks end the footer's body: place, length of the metadata, length of the body, eight bytes
    // each.
    let footer = u32::from_le_bytes(bytes[bytes.len() - 10..bytes.len() - 6].try_into().expect("four bytes")) as usize;
    let (start, end) = (bytes.len() - 10 - footer, bytes.len() - 10);
    let mut changed = 0;
    for at in (start..end - 24).step_by(4) {
        let number = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (place, head, body) = (number(at), number(at + 8), number(at + 16));
        let whole = (8..start as i64).contains(&place)
            && (8..start as i64).contains(&head)
            && (8..start as i64).contains(&body);
        if whole && place + head + body <= start as i64 {
            bytes[at + 8..at + 16].fill(0);
            changed += 1;
        }
    }
    assert!(changed > 0, "the footer names a block");
    folder.write("damaged.arrow", &bytes);
    folder
        .run("check damaged.arrow --key email")
        .expect(3, &["is not a readable Arrow file", "metadata is shorter than it is"]);
}
