//! Payload records from the sender's table to the receiver's output.

use std::path::Path;
use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Int32Type};
use proptest::prelude::*;
use vesica::table::{
    Blame, Duplicates, Input, Join, KeyTable, PayloadField, PayloadKind, PayloadSchema, PayloadSpec, ReceivedPayload, TableError, read_keys,
};

use super::columnar_tables::{batch, parquet, read};
use super::{Folder, join, key, open, told};

fn sent(path: &Path, columns: &[&str], duplicates: Duplicates) -> Result<KeyTable, TableError> {
    let spec = PayloadSpec { columns: columns.iter().map(|&c| c.to_owned()).collect(), duplicates };
    read_keys(&open(path)?, &key(&["id"]), Some(&spec))
}

/// Joins a receiver's file with what the sender sent for the keys that both have, as the protocol would.
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
    let expected = "city,id,partner_city,note\r\nmine,2,\"a \"\"b\"\", c\",\"\"\r\n\"m,\",1,Köln,\r\nagain,2,\"a \"\"b\"\", c\",\"\"\r\n";
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), expected);

    parquet(&folder.path("r.parquet"), &batch(vec![("id", Arc::new(Int64Array::from(vec![Some(2), None, Some(1)])) as ArrayRef)]));
    receive(&folder.path("r.parquet"), &sent, &folder.path("out.parquet")).unwrap();
    let found = &read(&folder.path("out.parquet"))[0];
    assert_eq!(found.column_by_name("city").unwrap().as_string::<i32>().iter().collect::<Vec<_>>(), [Some("a \"b\", c"), Some("Köln")]);
    assert_eq!(found.column_by_name("note").unwrap().as_string::<i32>().iter().collect::<Vec<_>>(), [Some(""), None]);
}

#[test]
fn every_type_arrives_as_it_left() {
    let folder = Folder::new();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2]))),
        ("text", Arc::new(StringArray::from(vec![Some("ä"), None]))),
        ("dictionary", Arc::new(vec![None, Some("d")].into_iter().collect::<DictionaryArray<Int32Type>>())),
        ("binary", Arc::new(BinaryArray::from_opt_vec(vec![Some(&b"\xff\0"[..]), Some(&b""[..])]))),
        ("boolean", Arc::new(BooleanArray::from(vec![Some(false), Some(true)]))),
        ("int", Arc::new(Int16Array::from(vec![Some(-3), None]))),
        ("uint", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None]))),
        ("float", Arc::new(Float32Array::from(vec![Some(0.1f32), Some(f32::NEG_INFINITY)]))),
        ("date", Arc::new(Date32Array::from(vec![Some(19_753), None]))),
        ("far", Arc::new(TimestampMicrosecondArray::from(vec![Some(253_402_300_799_000_000), None]).with_timezone("UTC"))),
        ("nanos", Arc::new(TimestampNanosecondArray::from(vec![Some(-1), None]))),
        ("decimal", Arc::new(Decimal128Array::from(vec![Some(-1205), None]).with_precision_and_scale(9, 2).unwrap())),
    ];
    let names: Vec<&str> = columns[1..].iter().map(|(name, _)| *name).collect();
    parquet(&folder.path("s.parquet"), &batch(columns));
    let sent = sent(&folder.path("s.parquet"), &names, Duplicates::Refuse).unwrap();
    let receiver = folder.write("r.csv", "id\n2\n1\n");
    receive(&receiver, &sent, &folder.path("out.csv")).unwrap();
    let expected = "id,text,dictionary,binary,boolean,int,uint,float,date,far,nanos,decimal\n\
        2,,d,\"\",true,,,-inf,,,,\n\
        1,ä,,ff00,false,-3,18446744073709551615,0.10000000149011612,2024-01-31,9999-12-31T23:59:59Z,1969-12-31T23:59:59.999999999,-12.05\n";
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), expected);

    receive(&receiver, &sent, &folder.path("out.parquet")).unwrap();
    let found = &read(&folder.path("out.parquet"))[0];
    let value = |name: &str| found.column_by_name(name).unwrap().slice(1, 1);
    assert_eq!(value("int").as_primitive::<arrow::datatypes::Int64Type>().value(0), -3);
    assert_eq!(value("float").as_primitive::<arrow::datatypes::Float64Type>().value(0), f64::from(0.1f32));
    assert_eq!(value("binary").as_binary::<i32>().value(0), b"\xff\0");
    assert_eq!(*value("far").data_type(), DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, Some("UTC".into())));
    assert!(found.column_by_name("nanos").unwrap().is_null(0));
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
    parquet(&folder.path("s.parquet"), &batch(vec![("id", Arc::new(Int32Array::from(vec![1])) as ArrayRef), ("l", list)]));
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
    let cases: [(PayloadKind, usize, &[u8]); 9] = [
        (PayloadKind::Text, 2, &[1, 2]),
        (PayloadKind::Text, 3, &[1, 1, 0xff]),
        (PayloadKind::Text, 3, &[1, 0, 7]),
        (PayloadKind::Text, 5, &[1, 0x80, 0x80, 0x80, 0]),
        (PayloadKind::Boolean, 2, &[1, 2]),
        (PayloadKind::Int, 4, &[1, 0, 0, 0]),
        (PayloadKind::Date, 9, &[1, 0, 0, 0, 0, 0, 0, 0, 1]),
        (PayloadKind::Text, 2, &[2, 0]),
        (PayloadKind::Text, 3, &[0, 0]),
    ];
    for (kind, width, bytes) in cases {
        for name in ["out.csv", "out.parquet"] {
            let schema = PayloadSchema { fields: vec![field(kind)], width };
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
    ] {
        assert_eq!(schema.check().unwrap_err().blame(), Blame::Peer);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes under any schema give a file or an error that blames the peer.
    #[test]
    fn any_record_decodes_or_is_refused(bytes in proptest::collection::vec(any::<u8>(), 1..40), kinds in proptest::collection::vec(0usize..9, 1..5)) {
        let all = [
            PayloadKind::Text, PayloadKind::Binary, PayloadKind::Boolean, PayloadKind::Int, PayloadKind::UInt, PayloadKind::Float,
            PayloadKind::Date, PayloadKind::Timestamp { nanos: true, utc: false }, PayloadKind::Timestamp { nanos: false, utc: true },
        ];
        let fields = kinds.iter().map(|&k| PayloadField { name: "x".to_owned(), kind: all[k] }).collect();
        let schema = PayloadSchema { fields, width: bytes.len() };
        let folder = Folder::new();
        let input = open(&folder.write("r.csv", "x\n1\n")).unwrap();
        let table = read_keys(&input, &key(&["x"]), None).unwrap();
        for name in ["out.csv", "out.arrow"] {
            if let Err(error) = join(&input, &table, &[0], Some(ReceivedPayload { schema: &schema, bytes: &bytes }), Join::Inner, &folder.path(name)) {
                prop_assert_eq!(error.blame(), Blame::Peer);
            }
        }
    }
}
