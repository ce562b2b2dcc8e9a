//! Payload records from the sender's table to the receiver's output.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, TimeUnit};
use proptest::prelude::*;
use vesica_data::table::{
    Blame, Duplicates, Input, Join, KeyTable, PayloadField, PayloadKind, PayloadSchema, PayloadSpec, PayloadUnit,
    ReceivedPayload, TableError, read_keys,
};

use super::columnar_tables::{arrow_file, batch, parquet, read};
use super::{Folder, join, key, open, told};

fn sent(path: &Path, columns: &[&str], duplicates: Duplicates) -> Result<KeyTable, TableError> {
    let spec = PayloadSpec { columns: columns.iter().map(|&c| c.to_owned()).collect(), duplicates };
    read_keys(&open(path)?, &key(&["id"]), Some(&spec))
}

/// Joins a receiver's file with what the sender sent for the keys that both have, as the protocol
/// would.
fn receive(receiver: &Path, sent: &KeyTable, to: &Path) -> Result<(), TableError> {
    let input: Input = open(receiver)?;
    let table = read_keys(&input, &key(&["id"]), None)?;
    let payload = sent.payload.as_ref().unwrap();
    let (mut keys, mut bytes) = (Vec::new(), Vec::new());
    for (index, digest) in table.digests.iter().enumerate() {
        if let Some(place) = sent.digests.iter().position(|other| other == digest) {
            keys.push(index as u32);
            bytes.extend_from_slice(&payload.bytes[place * payload.schema.width..][..payload.schema.width]);
        }
    }
    let schema = serde_json::from_str(&serde_json::to_string(&payload.schema).unwrap()).unwrap();
    join(&input, &table, &keys, Some(ReceivedPayload { schema: &schema, bytes: &bytes }), Join::Inner, to).map(|_| ())
}

#[test]
fn from_csv_to_csv_and_parquet() {
    let folder = Folder::new();
    let sender = folder.write("s.csv", "id,city,note\n1,Köln,\n2,\"a \"\"b\"\", c\",\"\"\n3,unsent,x\n,null,y\n");
    let sent = sent(&sender, &["city", "note"], Duplicates::Refuse).unwrap();
    let payload = sent.payload.as_ref().unwrap();
    assert_eq!(payload.schema.width * sent.digests.len(), payload.bytes.len());
    assert_eq!(payload.schema.width, 1 + (1 + 8) + 1, "presence, the longest city and an empty note");
    let receiver = folder.write("r.csv", "city,id\r\nmine,2\r\nmine,9\r\n\"m,\",1\r\nagain,2");
    receive(&receiver, &sent, &folder.path("out.csv")).unwrap();
    let expected = "city,id,partner_city,note\r\nmine,2,\"a \"\"b\"\", c\",\"\"\r\n\"m,\",1,Köln,\r\nagain,2,\"a \
                    \"\"b\"\", c\",\"\"\r\n";
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), expected);

    parquet(
        &folder.path("r.parquet"),
        &batch(vec![("id", Arc::new(Int64Array::from(vec![Some(2), None, Some(1)])) as ArrayRef)]),
    );
    receive(&folder.path("r.parquet"), &sent, &folder.path("out.parquet")).unwrap();
    let found = &read(&folder.path("out.parquet"))[0];
    assert_eq!(
        found.column_by_name("city").unwrap().as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("a \"b\", c"), Some("Köln")]
    );
    assert_eq!(found.column_by_name("note").unwrap().as_string::<i32>().iter().collect::<Vec<_>>(), [Some(""), None]);
}

/// A column of every type that travels: a value, null, and an extreme.
fn every_type() -> Vec<(String, ArrayRef)> {
    let timestamps = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
        .into_iter()
        .flat_map(|unit| {
            [None, Some("UTC"), Some("+05:30"), Some("America/New_York")]
                .map(|zone| DataType::Timestamp(unit, zone.map(Into::into)))
        });
    let numbers = [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::Date32,
        DataType::Date64,
        DataType::Decimal32(5, 2),
        DataType::Decimal64(18, 0),
        DataType::Decimal128(38, 10),
        DataType::Decimal256(76, 2),
    ];
    let cast = |array: ArrayRef, to: &DataType| arrow_cast::cast(&array, to).unwrap();
    let counts: ArrayRef = Arc::new(Int64Array::from(vec![Some(-86_400_000), None, Some(86_400_000)]));
    let small: ArrayRef = Arc::new(Int64Array::from(vec![Some(-120), None, Some(127)]));
    let narrow = |to: &DataType| matches!(to, DataType::Int8 | DataType::Int16 | DataType::Decimal32(..));
    let mut arrays: Vec<ArrayRef> = numbers
        .into_iter()
        .map(|to| {
            cast(
                if narrow(&to) {
                    small.clone()
                } else if to == DataType::Date32 {
                    cast(small.clone(), &DataType::Int32)
                } else {
                    counts.clone()
                },
                &to,
            )
        })
        .chain(timestamps.map(|to| cast(counts.clone(), &to)))
        .collect();
    let texts = vec![Some("ä,\"\n"), None, Some("")];
    let bytes: Vec<Option<&[u8]>> = vec![Some(b"\xff\0"), None, Some(b"")];
    arrays.extend([
        Arc::new(NullArray::new(3)) as ArrayRef,
        Arc::new(StringArray::from(texts.clone())),
        Arc::new(LargeStringArray::from(texts.clone())),
        Arc::new(StringViewArray::from(texts)),
        Arc::new(BinaryArray::from(bytes.clone())),
        Arc::new(LargeBinaryArray::from(bytes.clone())),
        Arc::new(BinaryViewArray::from_iter(bytes)),
        Arc::new(
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                [Some([1u8, 2, 255]), None, Some([0; 3])].into_iter(),
                3,
            )
            .unwrap(),
        ),
        Arc::new(BooleanArray::from(vec![Some(false), None, Some(true)])),
        Arc::new(UInt8Array::from(vec![Some(0), None, Some(u8::MAX)])),
        Arc::new(UInt16Array::from(vec![Some(0), None, Some(u16::MAX)])),
        Arc::new(UInt32Array::from(vec![Some(0), None, Some(u32::MAX)])),
        Arc::new(UInt64Array::from(vec![Some(0), None, Some(u64::MAX)])),
        cast(Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::NEG_INFINITY)])), &DataType::Float16),
        Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::NEG_INFINITY)])),
        Arc::new(Float64Array::from(vec![Some(0.1), None, Some(1.000_000_000_000_000_2)])),
        Arc::new(vec![Some("d"), None, Some("d")].into_iter().collect::<DictionaryArray<Int32Type>>()),
        cast(
            Arc::new(Decimal128Array::from(vec![Some(-1205), None, Some(99)]).with_precision_and_scale(9, 2).unwrap()),
            &DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Decimal128(9, 2))),
        ),
    ]);
    arrays.into_iter().map(|array| (array.data_type().to_string(), array)).collect()
}

#[test]
fn every_type_arrives_as_it_left() {
    let folder = Folder::new();
    let columns = every_type();
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let table = batch(
        [("id", ids)].into_iter().chain(columns.iter().map(|(name, array)| (name.as_str(), array.clone()))).collect(),
    );
    arrow_file(&folder.path("s.arrow"), &table);
    let sent = sent(&folder.path("s.arrow"), &names, Duplicates::Refuse).unwrap();
    let receiver = folder.write("r.csv", "id\n1\n2\n3\n");
    // What becomes of types in Parquet, `types` tries.
    for name in ["out.arrow", "out.arrows"] {
        receive(&receiver, &sent, &folder.path(name)).unwrap();
        let found = &read(&folder.path(name))[0];
        for (column, array) in &columns {
            let array = match array.data_type() {
                DataType::Dictionary(_, values) => arrow_cast::cast(array, values).unwrap(),
                _ => array.clone(),
            };
            let arrived = found.column_by_name(column).unwrap();
            assert_eq!(arrived.data_type(), array.data_type(), "{name}: {column}");
            assert_eq!(arrived, &array, "{name}: {column}");
        }
    }
    // As text, they stand as the sender's own would.
    receive(&receiver, &sent, &folder.path("out.csv")).unwrap();
    let input = open(&folder.path("s.arrow")).unwrap();
    join(
        &input,
        &read_keys(&input, &key(&["id"]), None).unwrap(),
        &[0, 1, 2],
        None,
        Join::Inner,
        &folder.path("own.csv"),
    )
    .unwrap();
    let text = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(text("out.csv"), text("own.csv"));
    for cell in
        ["-120.00", "1969-12-31", "1970-01-02T00:00:00Z", "0.1", "-inf", "ff00", "0102ff", "18446744073709551615"]
    {
        assert!(text("out.csv").contains(&format!(",{cell},")), "{cell} in {}", text("out.csv"));
    }
}

#[test]
fn values_of_fixed_width_take_no_more_than_that() {
    let folder = Folder::new();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int32Array::from(vec![1]))),
        ("a", Arc::new(Int8Array::from(vec![1]))),
        ("b", Arc::new(Float32Array::from(vec![1.0]))),
        ("c", Arc::new(Date32Array::from(vec![1]))),
    ];
    parquet(&folder.path("s.parquet"), &batch(columns));
    let sent = sent(&folder.path("s.parquet"), &["a", "b", "c"], Duplicates::Refuse).unwrap();
    assert_eq!(sent.payload.unwrap().schema.width, 1 + 1 + 4 + 4);
}

#[test]
fn rows_that_share_a_key() {
    let folder = Folder::new();
    let same = folder.write("same.csv", "id,x\n1,a\n1,a\n2,b\n");
    assert_eq!(sent(&same, &["x"], Duplicates::Refuse).unwrap().digests.len(), 2);
    let differ = folder.write("differ.csv", "id,x\n1,a\n2,b\n1,c\n");
    let error = sent(&differ, &["x"], Duplicates::Refuse).unwrap_err();
    assert!(told(&error).contains("row 3") && told(&error).contains("--payload-duplicates first"), "{error}");
    let sent = sent(&differ, &["x"], Duplicates::First).unwrap();
    receive(&folder.write("r.csv", "id\n1\n"), &sent, &folder.path("out.csv")).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), "id,x\n1,a\n");
}

#[test]
fn what_cannot_travel_is_refused() {
    let folder = Folder::new();
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]));
    parquet(
        &folder.path("s.parquet"),
        &batch(vec![("id", Arc::new(Int32Array::from(vec![1])) as ArrayRef), ("l", list)]),
    );
    let error = told(&sent(&folder.path("s.parquet"), &["l"], Duplicates::Refuse).unwrap_err());
    assert!(error.contains("column `l`") && error.contains("cannot be a payload"), "{error}");
    let wide = folder.write("s.csv", format!("id,x\n1,{}\n", "x".repeat(70_000)));
    let error = told(&sent(&wide, &["x"], Duplicates::Refuse).unwrap_err());
    assert!(error.contains("row 1 ") && error.contains("65536"), "{error}");
    let error = told(&sent(&wide, &["y"], Duplicates::Refuse).unwrap_err());
    assert!(error.contains("no column `y`"), "{error}");
}

#[test]
fn a_malformed_payload_leaves_no_file() {
    let folder = Folder::new();
    let receiver = folder.write("r.csv", "id\n1\n");
    let input = open(&receiver).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    let field = |kind| PayloadField { name: "x".to_owned(), kind };
    let cases: [(PayloadKind, usize, &[u8]); 10] = [
        (PayloadKind::Text, 2, &[1, 2]),
        (PayloadKind::Text, 3, &[1, 1, 0xff]),
        (PayloadKind::Text, 3, &[1, 0, 7]),
        (PayloadKind::Text, 5, &[1, 0x80, 0x80, 0x80, 0]),
        (PayloadKind::Boolean, 2, &[1, 2]),
        (PayloadKind::Int { bits: 32 }, 4, &[1, 0, 0, 0]),
        (PayloadKind::Decimal { bits: 32, precision: 2, scale: 1 }, 5, &[1, 100, 0, 0, 0]),
        (PayloadKind::Null, 1, &[1]),
        (PayloadKind::Text, 2, &[2, 0]),
        (PayloadKind::Text, 3, &[0, 0]),
    ];
    for (kind, width, bytes) in cases {
        for name in ["out.csv", "out.parquet"] {
            let schema = PayloadSchema { fields: vec![field(kind.clone())], width };
            let payload = ReceivedPayload { schema: &schema, bytes };
            let error = join(&input, &table, &[0], Some(payload), Join::Inner, &folder.path(name)).expect_err(name);
            assert_eq!(error.blame(), Blame::Peer, "{bytes:?}: {error}");
            assert_eq!(folder.names(), ["r.csv"]);
        }
    }
    for schema in [
        PayloadSchema { fields: vec![], width: 4 },
        PayloadSchema { fields: vec![field(PayloadKind::Text)], width: 0 },
        PayloadSchema { fields: vec![field(PayloadKind::Text)], width: 1 << 17 },
        PayloadSchema { fields: vec![field(PayloadKind::Text); 2000], width: 1000 },
        PayloadSchema { fields: vec![field(PayloadKind::Int { bits: 7 })], width: 1000 },
        PayloadSchema { fields: vec![field(PayloadKind::FixedBinary { bytes: 0 })], width: 1000 },
        PayloadSchema { fields: vec![field(PayloadKind::Decimal { bits: 64, precision: 19, scale: 0 })], width: 1000 },
        PayloadSchema { fields: vec![field(PayloadKind::Decimal { bits: 64, precision: 5, scale: 6 })], width: 1000 },
        PayloadSchema {
            fields: vec![field(PayloadKind::Timestamp { unit: PayloadUnit::Second, zone: Some("a\nb".into()) })],
            width: 1000,
        },
    ] {
        assert_eq!(schema.check().unwrap_err().blame(), Blame::Peer);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes under any schema give a file or an error that blames the peer.
    #[test]
    fn any_record_decodes_or_is_refused(bytes in proptest::collection::vec(any::<u8>(), 1..40), kinds in proptest::collection::vec(0usize..17, 1..5)) {
        use PayloadKind as K;
        let zone = Some("UTC".to_owned());
        let all = [
            K::Null, K::Text, K::LargeText, K::TextView, K::Binary, K::LargeBinary, K::BinaryView, K::FixedBinary { bytes: 3 }, K::Boolean,
            K::Int { bits: 8 }, K::UInt { bits: 32 }, K::Float { bits: 16 }, K::Decimal { bits: 32, precision: 4, scale: 2 },
            K::Decimal { bits: 128, precision: 38, scale: 0 }, K::Date { bits: 64 }, K::Timestamp { unit: PayloadUnit::Nanosecond, zone: None },
            K::Timestamp { unit: PayloadUnit::Second, zone },
        ];
        let fields = kinds.iter().map(|&k| PayloadField { name: "x".to_owned(), kind: all[k].clone() }).collect();
        let schema = PayloadSchema { fields, width: bytes.len() };
        let folder = Folder::new();
        let input = open(&folder.write("r.csv", "x\n1\n")).unwrap();
        let table = read_keys(&input, &key(&["x"]), None).unwrap();
        for name in ["out.csv", "out.arrow", "out.parquet"] {
            if let Err(error) = join(&input, &table, &[0], Some(ReceivedPayload { schema: &schema, bytes: &bytes }), Join::Inner, &folder.path(name)) {
                prop_assert_eq!(error.blame(), Blame::Peer);
            }
        }
    }
}
