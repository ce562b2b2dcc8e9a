//! Types of Parquet that Arrow does not have, and the checksums of pages.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::*;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type};
use parquet::data_type::{Int96, Int96Type};
use parquet::file::metadata::ParquetMetaDataWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};
use vesica_data::table::{Input, Join, Output, OutputOptions, TableError, read_keys};

use super::columnar_tables::{arrow_stream, batch};
use super::{Folder, join, key, keys_of, open, reference, told};

/// The values of a leaf column, of which the second row is null.
enum Values {
    Int32([i32; 2]),
    Int64([i64; 2]),
    Int96([Int96; 2]),
    Bytes([&'static [u8]; 2]),
    Fixed([Vec<u8>; 2]),
}

/// A column, by its declaration, with its values and its cells in CSV, if it has any there.
struct Column {
    name: &'static str,
    declared: TypePtr,
    leaves: Vec<Values>,
    text: Option<[&'static str; 2]>,
    /// As it is declared in a Parquet file of ours, if that is not the same.
    written: Option<&'static str>,
}

/// Seconds and nanoseconds since 1970 as 96 bits.
fn int96(seconds: i64, nanos: u32) -> Int96 {
    let (day, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400) * 1_000_000_000 + i64::from(nanos));
    let mut value = Int96::new();
    value.set_data(of_day as u32, (of_day >> 32) as u32, (day + 2_440_588) as u32);
    value
}

const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

fn columns() -> Vec<Column> {
    let of = |declared: &str, values: Values, text: Option<[&'static str; 2]>| {
        let message = parse_message_type(&format!("message m {{ OPTIONAL {declared}; }}")).unwrap();
        let declared = message.get_fields()[0].clone();
        let name = Box::leak(declared.name().to_owned().into_boxed_str());
        Column { name, declared, leaves: vec![values], text, written: None }
    };
    let variant = Type::group_type_builder("variant")
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::variant(Some(1))))
        .with_fields(
            ["metadata", "value"]
                .map(|name| {
                    let leaf = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY);
                    Arc::new(leaf.with_repetition(Repetition::REQUIRED).build().unwrap())
                })
                .to_vec(),
        );
    let place = |name, logical| {
        let leaf = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY).with_logical_type(Some(logical));
        Column {
            name,
            declared: Arc::new(leaf.with_repetition(Repetition::OPTIONAL).build().unwrap()),
            leaves: vec![Values::Bytes([b"\x01\x02", b"\x01\x03"])],
            text: None,
            written: None,
        }
    };
    let stamp = |name: &str, unit: &str| {
        Box::leak(format!("OPTIONAL INT64 {name} (TIMESTAMP({unit},false));").into_boxed_str()) as &'static str
    };
    let interval = |months: u32, days: u32, millis: u32| [months, days, millis].map(u32::to_le_bytes).concat();
    let uuid = |last: u8| [vec![0x78, 0xdd], vec![0; 13], vec![last]].concat();
    vec![
        Column {
            written: Some(stamp("near", "MICROS")),
            ..of(
                "INT96 near",
                Values::Int96([int96(1_706_659_200, 500_000), int96(-1, 0)]),
                Some(["2024-01-31T00:00:00.0005", "1969-12-31T23:59:59"]),
            )
        },
        Column {
            written: Some(stamp("far", "MICROS")),
            ..of(
                "INT96 far",
                Values::Int96([int96(LAST, 999_999_000), int96(FIRST, 0)]),
                Some(["9999-12-31T23:59:59.999999", "0001-01-01T00:00:00"]),
            )
        },
        Column {
            written: Some(stamp("fine", "NANOS")),
            ..of(
                "INT96 fine",
                Values::Int96([int96(0, 1), int96(-1, 999_999_999)]),
                Some(["1970-01-01T00:00:00.000000001", "1969-12-31T23:59:59.999999999"]),
            )
        },
        of(
            "FIXED_LEN_BYTE_ARRAY (12) span (INTERVAL)",
            Values::Fixed([interval(14, 0, 0), interval(1, 2, 3000)]),
            Some(["14 mons", "1 mons 2 days 3.000000000 secs"]),
        ),
        of(
            "FIXED_LEN_BYTE_ARRAY (16) uuid (UUID)",
            Values::Fixed([uuid(1), uuid(0xff)]),
            Some(["78dd0000-0000-0000-0000-000000000001", "78dd0000-0000-0000-0000-0000000000ff"]),
        ),
        of("BYTE_ARRAY json (JSON)", Values::Bytes([b"{\"a\":1}", b"[]"]), Some(["{\"a\":1}", "[]"])),
        of("BYTE_ARRAY choice (ENUM)", Values::Bytes([b"yes", b"no"]), Some(["yes", "no"])),
        of("BYTE_ARRAY bson (BSON)", Values::Bytes([b"\x05\0\0\0\0", b"\x05\0\0\0\0"]), None),
        of(
            "INT64 time_in_utc (TIME(MICROS,true))",
            Values::Int64([36_000_000_000, 1]),
            Some(["10:00:00", "00:00:00.000001"]),
        ),
        of(
            "INT64 local_time (TIME(NANOS,false))",
            Values::Int64([36_000_000_000_000, 1]),
            Some(["10:00:00", "00:00:00.000000001"]),
        ),
        of("INT32 short_time (TIME(MILLIS,true))", Values::Int32([1000, 1]), Some(["00:00:01", "00:00:00.001"])),
        of("INT32 day (DATE)", Values::Int32([19_753, -1]), Some(["2024-01-31", "1969-12-31"])),
        of("INT32 tiny (INTEGER(8,true))", Values::Int32([-128, 127]), Some(["-128", "127"])),
        of("INT32 whole (INTEGER(32,false))", Values::Int32([-1, 1]), Some(["4294967295", "1"])),
        of("INT64 large (INTEGER(64,false))", Values::Int64([-1, 1]), Some(["18446744073709551615", "1"])),
        of("INT32 cents (DECIMAL(4,2))", Values::Int32([-125, 5]), Some(["-1.25", "0.05"])),
        of("INT64 more_cents (DECIMAL(12,2))", Values::Int64([-125, 5]), Some(["-1.25", "0.05"])),
        Column {
            written: Some("OPTIONAL INT32 packed_cents (DECIMAL(9,2));"),
            ..of(
                "FIXED_LEN_BYTE_ARRAY (5) packed_cents (DECIMAL(9,2))",
                Values::Fixed([vec![0xff, 0xff, 0xff, 0xff, 0x83], vec![0, 0, 0, 0, 5]]),
                Some(["-1.25", "0.05"]),
            )
        },
        Column {
            written: Some("OPTIONAL INT32 loose_cents (DECIMAL(9,2));"),
            ..of("BYTE_ARRAY loose_cents (DECIMAL(9,2))", Values::Bytes([&[0x83], &[5]]), Some(["-1.25", "0.05"]))
        },
        of("FIXED_LEN_BYTE_ARRAY (2) half (FLOAT16)", Values::Fixed([vec![0, 0x3c], vec![0, 0xc0]]), Some(["1", "-2"])),
        place("plane", LogicalType::geometry(Some("EPSG:25832".into()))),
        place("globe", LogicalType::geography(None, None)),
        Column {
            name: "variant",
            declared: Arc::new(variant.build().unwrap()),
            leaves: vec![Values::Bytes([b"\x01", b"\x01"]), Values::Bytes([b"\x0c", b"\x10"])],
            text: None,
            written: None,
        },
    ]
}

/// A Parquet file of a column `id`, 1 to 3, and these.
fn write(path: &Path, columns: &[&Column]) {
    let id = parse_message_type("message m { REQUIRED INT32 id; }").unwrap().get_fields()[0].clone();
    let fields = [id].into_iter().chain(columns.iter().map(|column| column.declared.clone())).collect();
    let schema = Type::group_type_builder("m").with_fields(fields).build().unwrap();
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut ids = group.next_column().unwrap().unwrap();
    ids.typed::<Int32Type>().write_batch(&[1, 2, 3], None, None).unwrap();
    ids.close().unwrap();
    let levels = [1, 0, 1];
    for leaf in columns.iter().flat_map(|column| &column.leaves) {
        let mut column = group.next_column().unwrap().unwrap();
        match leaf {
            Values::Int32(values) => column.typed::<Int32Type>().write_batch(values, Some(&levels), None),
            Values::Int64(values) => column.typed::<Int64Type>().write_batch(values, Some(&levels), None),
            Values::Int96(values) => column.typed::<Int96Type>().write_batch(values, Some(&levels), None),
            Values::Bytes(values) => {
                column.typed::<ByteArrayType>().write_batch(&values.map(ByteArray::from), Some(&levels), None)
            }
            Values::Fixed(values) => {
                let values = values.clone().map(|value| FixedLenByteArray::from(ByteArray::from(value)));
                column.typed::<FixedLenByteArrayType>().write_batch(&values, Some(&levels), None)
            }
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// The rows of a file, all of which are kept.
fn kept(input: &Input, to: &Path) -> Result<u64, TableError> {
    let table = read_keys(input, &key(&["id"]), None)?;
    join(input, &table, &[0, 1, 2], None, Join::Inner, to)
}

/// A column of a file as it is declared there.
fn declared(node: &Type) -> String {
    let mut shown = Vec::new();
    parquet::schema::printer::print_schema(&mut shown, node);
    String::from_utf8(shown).unwrap().trim().to_owned()
}

#[test]
fn logical_types_stay_in_parquet() {
    let folder = Folder::new();
    let columns = columns();
    write(&folder.path("in.parquet"), &columns.iter().collect::<Vec<_>>());
    kept(&open(&folder.path("in.parquet")).unwrap(), &folder.path("out.parquet")).unwrap();
    let file = SerializedFileReader::new(File::open(folder.path("out.parquet")).unwrap()).unwrap();
    let root = file.metadata().file_metadata().schema().clone();
    let wrong: Vec<String> = columns
        .iter()
        .filter_map(|column| {
            let found = root.get_fields().iter().find(|field| field.name() == column.name).unwrap();
            let expected = column.written.map_or_else(|| declared(&column.declared), str::to_owned);
            (declared(found) != expected).then(|| format!("{} is not {expected}", declared(found)))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The bytes of an interval are those of the source.
    let place = file.metadata().file_metadata().schema_descr().columns().iter().position(|leaf| leaf.name() == "span");
    let reader = file.get_row_group(0).unwrap().get_column_reader(place.unwrap()).unwrap();
    let ColumnReader::FixedLenByteArrayColumnReader(mut reader) = reader else { panic!("bytes") };
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    reader.read_records(3, Some(&mut levels), None, &mut values).unwrap();
    let found: Vec<&[u8]> = values.iter().map(|value| value.data()).collect();
    assert_eq!(found, [&[14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[1, 0, 0, 0, 2, 0, 0, 0, 0xb8, 0x0b, 0, 0]]);
    // Our own file is read as the source is.
    kept(&open(&folder.path("out.parquet")).unwrap(), &folder.path("again.parquet")).unwrap();
    let again = SerializedFileReader::new(File::open(folder.path("again.parquet")).unwrap()).unwrap();
    assert_eq!(declared(again.metadata().file_metadata().schema()), declared(&root));
}

#[test]
fn every_type_of_parquet_is_written_as_text_or_refused_by_name() {
    let folder = Folder::new();
    let columns = columns();
    let (fit, unfit): (Vec<&Column>, Vec<&Column>) = columns.iter().partition(|column| column.text.is_some());
    write(&folder.path("in.parquet"), &fit);
    kept(&open(&folder.path("in.parquet")).unwrap(), &folder.path("out.csv")).unwrap();
    let text = std::fs::read_to_string(folder.path("out.csv")).unwrap();
    let (_, rows) = reference::rows(&text);
    let wrong: Vec<String> = (1..)
        .zip(&fit)
        .filter_map(|(place, column)| {
            let found = [&rows[0][place], &rows[1][place], &rows[2][place]];
            let [first, third] = column.text.unwrap();
            (found != [first, "", third]).then(|| format!("{}: {found:?}", column.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for column in unfit {
        write(&folder.path("in.parquet"), &[column]);
        let input = open(&folder.path("in.parquet")).unwrap();
        let path = folder.path("refused.csv");
        let error = Output::create(path.to_str().unwrap(), &OutputOptions::default(), &input).expect_err(column.name);
        let kind = match column.name {
            "bson" => "BSON",
            "variant" => "VARIANT",
            _ => "GEOMETRY",
        };
        let told = told(&error);
        assert!(told.contains(&format!("`{}`", column.name)) && told.contains(kind), "{told}");
    }
}

#[test]
fn keys_of_parquet_are_their_text() {
    let folder = Folder::new();
    for column in columns().iter().filter(|column| ["near", "far", "fine", "uuid", "choice"].contains(&column.name)) {
        write(&folder.path("in.parquet"), &[column]);
        let [first, third] = column.text.unwrap();
        let csv = folder.write("in.csv", format!("k,x\n{first},\n,\n{third},\n"));
        let found = keys_of(&folder.path("in.parquet"), &key(&[column.name])).unwrap();
        assert_eq!(found.digests, keys_of(&csv, &key(&["k"])).unwrap().digests, "{}", column.name);
    }
}

/// 64 bits of nanoseconds wrap around after 584 years: a time of 2584 was one of 2000.
#[test]
fn times_that_64_bits_do_not_hold_are_refused_with_the_range() {
    let folder = Folder::new();
    let template = columns().into_iter().find(|column| column.name == "fine").unwrap();
    for values in [[int96(LAST, 1), int96(0, 0)], [int96(i64::from(i32::MAX) * 80_000, 0), int96(0, 0)]] {
        let column =
            Column { leaves: vec![Values::Int96(values)], declared: template.declared.clone(), ..columns().remove(2) };
        write(&folder.path("in.parquet"), &[&column]);
        let told = told(&keys_of(&folder.path("in.parquet"), &key(&["fine"])).unwrap_err());
        let named = ["`fine`", "INT96", "1677-09-21", "2262-04-11", "TIMESTAMP_MICROS"];
        assert!(named.iter().all(|text| told.contains(text)), "{told}");
    }
}

/// Polars writes integers of 128 bits, of which Arrow knows nothing.
#[test]
fn a_type_that_arrow_does_not_know_is_named() {
    let folder = Folder::new();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    arrow_stream(&folder.path("in.arrows"), &batch(vec![("big", numbers)]));
    let mut bytes = std::fs::read(folder.path("in.arrows")).unwrap();
    let width = bytes.windows(4).position(|bytes| bytes == [64, 0, 0, 0]).unwrap();
    bytes[width] = 128;
    let told = told(&keys_of(&folder.write("in.arrows", bytes), &key(&["big"])).unwrap_err());
    assert!(told.contains("column `big`") && told.contains("of type Int128"), "{told}");
}

/// A file of two row groups with a page for each of two columns, whose headers have checksums.
fn with_checksums() -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2000));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..2000).map(|row| format!("segment-{row}"))));
    let batch = batch(vec![("id", ids), ("seg", texts)]);
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .set_max_row_group_row_count(Some(1000))
        .build();
    let mut plain = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut plain, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let metadata = writer.close().unwrap();
    let (mut bytes, mut pages) = (b"PAR1".to_vec(), Vec::new());
    let groups: Vec<_> = metadata
        .row_groups()
        .iter()
        .map(|group| {
            let columns = group.columns().iter().map(|chunk| {
                let (start, length) = (chunk.data_page_offset() as usize, chunk.compressed_size() as usize);
                let chunk_bytes = &plain[start..start + length];
                let at = bytes.len();
                // Type and both lengths, as variable-length numbers behind a byte each.
                let mut behind = 0;
                let mut packed = 0u64;
                for _ in 0..3 {
                    behind += 1;
                    let end = behind + chunk_bytes[behind..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
                    let number = &chunk_bytes[behind..end];
                    packed = number.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f)) / 2;
                    behind = end;
                }
                let page = &chunk_bytes[length - packed as usize..];
                let mut sum = flate2_crc(page).cast_signed() as i64;
                sum = sum << 1 ^ sum >> 63;
                bytes.extend_from_slice(&chunk_bytes[..behind]);
                bytes.push(0x15);
                let mut left = sum as u64;
                while left >= 0x80 {
                    bytes.push(left as u8 | 0x80);
                    left >>= 7;
                }
                bytes.push(left as u8);
                // The next field follows the one before it now.
                bytes.push(chunk_bytes[behind] - 0x10);
                bytes.extend_from_slice(&chunk_bytes[behind + 1..]);
                pages.push(bytes.len() - page.len()..bytes.len());
                let grown = (bytes.len() - at) as i64;
                let unpacked = chunk.uncompressed_size() + grown - length as i64;
                chunk
                    .clone()
                    .into_builder()
                    .set_data_page_offset(at as i64)
                    .set_total_compressed_size(grown)
                    .set_total_uncompressed_size(unpacked)
                    .set_offset_index_offset(None)
                    .set_offset_index_length(None)
                    .build()
                    .unwrap()
            });
            let columns = columns.collect();
            group.clone().into_builder().set_column_metadata(columns).build().unwrap()
        })
        .collect();
    let metadata = metadata.into_builder().set_row_groups(groups).set_offset_index(None).build();
    let mut footer = Vec::new();
    ParquetMetaDataWriter::new(&mut footer, &metadata).finish().unwrap();
    bytes.extend(footer);
    (bytes, pages)
}

/// The checksum of pages, bit by bit.
fn flate2_crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

#[test]
fn a_page_with_a_wrong_checksum_is_refused_before_the_protocol() {
    let folder = Folder::new();
    let (bytes, pages) = with_checksums();
    let all: Vec<u32> = (0..2000).collect();
    let path = folder.write("in.parquet", &bytes);
    let input = open(&path).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    assert_eq!(join(&input, &table, &all, None, Join::Inner, &folder.path("out.csv")).unwrap(), 2000);
    for (page, (column, group)) in pages.iter().zip([("id", 1), ("seg", 1), ("id", 2), ("seg", 2)]) {
        let mut damaged = bytes.clone();
        // A digit of a value, which is as sound as another.
        damaged[page.end - 9] ^= 1;
        let path = folder.write("in.parquet", &damaged);
        let is_named = |error: &TableError| {
            let told = told(error);
            told.contains(&format!("column `{column}` is damaged in row group {group}"))
        };
        let input = open(&path).unwrap();
        // The key's pages are read with the keys, and those of kept columns when the output is made.
        if column == "id" {
            assert!(is_named(&keys_of(&path, &key(&["id"])).unwrap_err()));
        } else {
            read_keys(&input, &key(&["id"]), None).unwrap();
        }
        let output = folder.path("refused.csv");
        let error = Output::create(output.to_str().unwrap(), &OutputOptions::default(), &input).unwrap_err();
        assert!(is_named(&error), "{error}");
        let spec = vesica_data::table::PayloadSpec {
            columns: vec!["seg".into()],
            duplicates: vesica_data::table::Duplicates::Refuse,
        };
        assert!(is_named(&read_keys(&input, &key(&["id"]), Some(&spec)).unwrap_err()));
    }
}

/// Parts other than the first are compared before the protocol, too.
#[test]
fn every_part_is_compared_before_the_protocol() {
    let folder = Folder::new();
    let (bytes, pages) = with_checksums();
    let mut damaged = bytes.clone();
    damaged[pages[3].end - 9] ^= 1;
    std::fs::create_dir(folder.path("parts")).unwrap();
    folder.write("parts/a.parquet", &bytes);
    folder.write("parts/b.parquet", &damaged);
    let path = folder.path("parts").to_str().unwrap().to_owned();
    let table = vesica_data::table::TableFile::open(&path, &Default::default()).unwrap();
    let output = folder.path("out.csv");
    let error = Output::create(output.to_str().unwrap(), &OutputOptions::default(), table.source()).unwrap_err();
    assert!(told(&error).contains("column `seg` is damaged in row group 2"), "{error}");
}
