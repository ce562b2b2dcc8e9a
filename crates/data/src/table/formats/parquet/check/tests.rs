use super::thrift::walk;
use super::*;
use crate::fuzzing::seeds;
use crate::table::{Format, Input, InputOptions};
use arrow_array::{
    ArrayRef, DictionaryArray, FixedSizeBinaryArray, Int32Array, Int64Array, LargeStringArray, RecordBatch,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// The rows of all columns, or the error's text.
fn rows(bytes: &[u8]) -> Result<usize, String> {
    let options = InputOptions { format: Some(Format::Parquet), ..InputOptions::default() };
    let read = || {
        let input = Input::spooled(bytes, "table.parquet", &options)?;
        let mut reader = input.batches()?;
        let mut rows = 0;
        while let Some(batch) = reader.next()? {
            rows += batch.num_rows();
        }
        Ok(rows)
    };
    read().map_err(|error: TableError| error.to_string())
}

fn written(columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("written");
    writer.into_inner().expect("written")
}

/// A table of one column without a dictionary: its first page header stands at byte 4.
fn plain() -> Vec<u8> {
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    written(vec![("id", Arc::new(Int64Array::from_iter_values(0..1000)))], properties)
}

fn footer_of(bytes: &[u8]) -> std::ops::Range<usize> {
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes")) as usize;
    end - length..end
}

#[test]
fn sound_files_are_read_as_before() {
    for seed in seeds::parquet().expect("seeds") {
        assert_eq!(rows(&seed), Ok(24));
    }
}

/// The reader would skip 2^31 doubles behind the end of the file, one call of the system each: two
/// minutes.
#[test]
fn a_list_of_more_elements_than_bytes_is_refused_in_a_page_header() {
    let mut bytes = plain();
    assert_eq!(rows(&bytes), Ok(1000));
    bytes[4..11].copy_from_slice(&[0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07]);
    let error = rows(&bytes).expect_err("damaged");
    assert!(error.contains("column `id` has a malformed page header: it ends in the middle"), "{error}");
}

/// Booleans take the reader a step each and no byte.
#[test]
fn a_list_of_booleans_is_refused_where_the_format_has_none() {
    let nothing = &mut Tree::default();
    let many = |kind: u8| [0xf9, 0xf0 | kind, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
    for kind in 1..14 {
        assert!(walk(&many(kind), shapes::FOOTER, nothing).is_err(), "{kind}");
        let one = walk(&[0xf9, 0x10 | kind, 0, 0], shapes::FOOTER, nothing);
        // One element of eight or sixteen bytes is cut off here.
        assert_eq!(one.is_ok(), !matches!(kind, 1 | 2 | 7 | 13), "{kind}");
    }
    let map = [0xfb, 0xff, 0xff, 0xff, 0xff, 0x07, 0x11, 0];
    assert!(walk(&map, shapes::FOOTER, nothing).is_err());
}

/// The reader takes a field's type on trust, so that its walk and this one would part.
#[test]
fn a_known_field_of_another_type_is_refused() {
    let nothing = &mut Tree::default();
    assert_eq!(walk(&[0x15, 2, 0], shapes::FOOTER, nothing).map_err(|fault| fault.0), Ok(3));
    assert!(walk(&[0x18, 0, 0], shapes::FOOTER, nothing).is_err());
    assert!(walk(&[0x19, 0x15, 2, 0], shapes::FOOTER, nothing).is_err());
    // A number that does not fit its field.
    assert!(walk(&[0x15, 0xfe, 0xff, 0xff, 0xff, 0x7f, 0], shapes::FOOTER, nothing).is_err());
}

#[test]
fn structures_without_end_are_refused() {
    let nothing = &mut Tree::default();
    assert!(walk(&[0xfc; 1000], shapes::FOOTER, nothing).is_err());
    assert!(walk(&[&[0xf9][..], &[0x19; 1000]].concat(), shapes::FOOTER, nothing).is_err());
}

/// The reader recurses into groups: on a hundred thousand it leaves its stack, and the process
/// dies.
#[test]
fn a_schema_of_groups_in_groups_is_refused() {
    let schema = |groups: usize| {
        let group = [0x35, 0, 0x18, 1, b'g', 0x15, 2, 0];
        let leaf = [0x15, 4, 0x25, 0, 0x18, 1, b'x', 0];
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        let mut count = groups + 1;
        while count >= 128 {
            footer.push(count as u8 | 0x80);
            count >>= 7;
        }
        footer.push(count as u8);
        footer.extend(group.repeat(groups));
        footer.extend(leaf);
        footer.extend([0x16, 0, 0x19, 0x0c, 0]);
        let length = (footer.len() as u32).to_le_bytes();
        [b"PAR1", &footer[..], &length, b"PAR1"].concat()
    };
    assert!(rows(&schema(DEEPEST + 1)).is_err_and(|error| error.contains("nested more than 64 deep")));
    assert!(rows(&schema(100_000)).is_err_and(|error| error.contains("nested more than 64 deep")));
    assert!(rows(&schema(3)).is_ok_and(|rows| rows == 0));
}

#[test]
fn columns_hold_the_values_that_they_declare() {
    let bytes = plain();
    // 1000 as a zigzag varint, everywhere in the footer: the rows of the file, of its row group, the
    // values of its column.
    let footer = footer_of(&bytes);
    let places: Vec<usize> = (footer.start..footer.end - 1).filter(|&at| bytes[at..at + 2] == [0xd0, 0x0f]).collect();
    assert_eq!(places.len(), 3, "the footer says it three times");
    for (places, fault) in [
        (&places[..], "declares another number of values than its pages have together"),
        (&places[..1], "another number"),
        (&places[1..], "another number"),
    ] {
        let mut bytes = bytes.clone();
        for &at in places {
            bytes[at..at + 2].copy_from_slice(&[0xd2, 0x0f]);
        }
        let error = rows(&bytes).expect_err("damaged");
        assert!(error.contains(fault), "{error}");
    }
}

/// Many rows in few bytes: three columns of a constant, of nulls, of a long text.
#[test]
fn constant_columns_of_millions_of_rows_stay_readable() {
    const ROWS: usize = 3 << 20;
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(ROWS)).build();
    let bytes = written(
        vec![
            ("one", Arc::new(Int64Array::from_value(1, ROWS)) as ArrayRef),
            ("none", Arc::new(Int64Array::new_null(ROWS))),
            ("text", Arc::new(LargeStringArray::from_iter_values((0..ROWS).map(|_| "always the same")))),
        ],
        properties,
    );
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    assert_eq!(rows(&bytes), Ok(ROWS));
}

/// One value of a dictionary stands for many rows: 8192 rows of 1 MiB each would be decoded at
/// once.
#[test]
fn long_values_are_decoded_a_few_rows_at_a_time() {
    let values = LargeStringArray::from_iter_values(["x".repeat(1 << 20)]);
    let text = DictionaryArray::new(Int32Array::from_value(0, 600), Arc::new(values));
    let properties = || WriterProperties::builder().set_compression(Compression::SNAPPY);
    let bytes = written(vec![("text", Arc::new(text))], properties().build());
    let batch = |bytes: &[u8]| {
        let mut file = tempfile::tempfile().expect("a file");
        std::io::Write::write_all(&mut file, bytes).expect("written");
        let metadata = SerializedFileReader::new(file.try_clone().expect("a file")).expect("sound").metadata().clone();
        let bytes = BytesAt { file: &file, len: bytes.len() as u64 };
        columns(bytes, &metadata, &ProjectionMask::all(), metadata.file_metadata().num_rows(), &|_| true)
            .unwrap_or_else(|_| panic!("sound"))
    };
    assert_eq!(batch(&bytes), 1 << 20);
    let wide = FixedSizeBinaryArray::try_from_iter((0..3).map(|_| vec![7; 1 << 20])).expect("one width");
    assert_eq!(batch(&written(vec![("wide", Arc::new(wide))], properties().build())), 1 << 20);
}

#[test]
fn lengths_of_delta_encodings_are_counted() {
    // 128 values a block, 4 mini-blocks, 5 values, of which the first is 1; then a block of one step:
    // 1.
    let five = [0x80, 0x01, 4, 5, 2, 2, 0, 0, 0, 0, b'a', b'b'];
    assert_eq!(delta::lengths(&five, 5), Some(10));
    assert_eq!(delta::lengths(&five, 4), None, "more lengths than values");
    assert_eq!(delta::lengths(&five[..7], 5), None, "cut off");
    let endless = [0x80, 0x01, 4, 0xff, 0xff, 0xff, 0xff, 0x07, 2, 2, 0, 0, 0, 0];
    assert_eq!(delta::lengths(&endless, u32::MAX), None);
    assert_eq!(delta::longest_plain(&[1, 0, 0, 0, b'a', 3, 0, 0, 0, b'a', b'b', b'c', 9, 0, 0, 0], 3), 3);
}
