use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, NullArray, RecordBatch};
use arrow_ipc::writer::FileWriter;

use super::*;
use crate::fuzzing::{seeds, table};
use crate::table::Format;

fn read(bytes: &[u8]) -> Result<u64, String> {
    let format = if bytes.starts_with(b"ARROW1") { Format::ArrowFile } else { Format::ArrowStream };
    table(bytes, format).map_err(|error| error.to_string())
}

/// Where the footer of a file describes its blocks: 24 bytes each, of which the second eight are
/// the length of the metadata.
fn blocks(bytes: &[u8]) -> Vec<usize> {
    let end = bytes.len() - 10;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes")) as usize;
    let footer = root_as_footer(&bytes[end - length..end]).expect("sound");
    let described = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let wanted =
        described.map(|block| [block.offset().to_le_bytes(), i64::from(block.metaDataLength()).to_le_bytes()].concat());
    wanted
        .map(|wanted| end - length + memchr::memmem::find(&bytes[end - length..end], &wanted).expect("in the footer"))
        .collect()
}

fn written(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("written");
    writer.into_inner().expect("written")
}

#[test]
fn sound_files_and_streams_are_read() {
    for seed in seeds::arrow_files().expect("seeds").into_iter().chain(seeds::arrow_streams().expect("seeds")) {
        assert_eq!(read(&seed), Ok(24));
    }
}

/// The reader takes the body from where the footer says: it read lengths of buffers there that were
/// none, and died of what it asked for.
#[test]
fn a_block_whose_metadata_has_another_length_is_refused() {
    for seed in seeds::arrow_files().expect("seeds") {
        for at in blocks(&seed) {
            let sound = i32::from_le_bytes(seed[at + 8..at + 12].try_into().expect("four bytes"));
            for wrong in [0, 1, 8, sound - 8, sound + 8, i32::MAX, -1, i32::MIN] {
                let mut bytes = seed.clone();
                bytes[at + 8..at + 12].copy_from_slice(&wrong.to_le_bytes());
                let result = read(&bytes);
                assert!(result.is_err(), "{wrong}: {result:?}");
                if (0..sound).contains(&wrong) {
                    assert!(result.is_err_and(|error| error.contains("metadata is shorter than it is")), "{wrong}");
                }
            }
            for (place, wrong) in
                [(0, i64::MAX), (0, 1 << 40), (0, -1), (16, i64::MAX), (16, 1 << 40), (16, -1), (16, 0)]
            {
                let mut bytes = seed.clone();
                bytes[at + place..at + place + 8].copy_from_slice(&wrong.to_le_bytes());
                assert!(read(&bytes).is_err(), "{place}: {wrong}");
            }
        }
    }
}

/// Whatever a byte of a file is changed to, reading ends, with rows or with an error.
#[test]
fn no_changed_byte_ends_the_process() {
    let files = seeds::arrow_files().expect("seeds");
    let streams = seeds::arrow_streams().expect("seeds");
    for seed in [&files[1], &streams[2]] {
        for at in (0..seed.len()).filter(|at| at % 3 == 0 || seed.len() - at < 400) {
            let mut bytes = seed.clone();
            bytes[at] = if at % 2 == 0 { 0xff } else { bytes[at] ^ 0x80 };
            let _ = read(&bytes);
        }
    }
}

#[test]
fn blocks_that_overlap_are_refused() {
    let seed = seeds::arrow_files().expect("seeds").swap_remove(0);
    let mut bytes = seed.clone();
    // Each block reaches to the end of the file; all that is in it is where it was.
    for at in blocks(&seed) {
        let number = |at: usize| i64::from_le_bytes(seed[at..at + 8].try_into().expect("eight bytes"));
        let body = seed.len() as i64 - number(at) - number(at + 8);
        bytes[at + 16..at + 24].copy_from_slice(&body.to_le_bytes());
    }
    assert!(read(&bytes).is_err_and(|error| error.contains("its blocks overlap")));
}

/// Columns of nulls take no bytes, so that any number of rows may stand there; the rows must be
/// those of some bytes.
#[test]
fn more_rows_than_bytes_can_hold_are_refused() {
    let nulls = |rows: usize| written(vec![("email", Arc::new(NullArray::new(rows)) as ArrayRef)]);
    assert!(read(&nulls(1 << 30)).is_err_and(|error| error.contains("more rows than its bytes can hold")));
    let beside = |rows: usize| {
        let numbers: ArrayRef = Arc::new(Int64Array::from_value(7, rows));
        written(vec![("email", numbers), ("none", Arc::new(NullArray::new(rows)))])
    };
    assert_eq!(read(&beside(10_000)), Ok(10_000));
}
