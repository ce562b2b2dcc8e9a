//! A left join: every own row once, in input order, beside the partner's columns or nulls.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::*;
use arrow_cast::cast;
use arrow_schema::DataType;
use proptest::prelude::*;
use vesica_data::table::{Duplicates, Join, PayloadSpec, ReceivedPayload, Source, read_keys};

use super::columnar_tables::{arrow_file, arrow_stream, batch, parquet, read};
use super::{Folder, join, key, open, reference};

/// A key, or null; and a column beside it.
type Row = (Option<u8>, u8);

/// The partner's columns: a number and a text, either of which may be null.
type Given = (Option<u8>, Option<u8>);

/// A row of the result in words.
type Line = [Option<String>; 4];

const INPUTS: [&str; 5] = ["in.csv", "in.jsonl", "in.parquet", "in.arrow", "in.arrows"];
const OUTPUTS: [&str; 5] = ["out.csv", "out.jsonl", "out.parquet", "out.arrow", "out.arrows"];

/// The own rows in each format of a table.
fn write(folder: &Folder, rows: &[Row]) {
    let id = |row: &Row| row.0.map_or_else(String::new, |id| id.to_string());
    let csv: String = rows.iter().map(|row| format!("{},n{}\n", id(row), row.1)).collect();
    folder.write("in.csv", format!("id,note\n{csv}"));
    let lines = rows.iter().map(|(id, note)| match id {
        Some(id) => format!("{{\"id\":{id},\"note\":\"n{note}\"}}\n"),
        None => format!("{{\"id\":null,\"note\":\"n{note}\"}}\n"),
    });
    folder.write("in.jsonl", lines.collect::<String>());
    let ids: Int64Array = rows.iter().map(|row| row.0.map(i64::from)).collect();
    let notes: StringArray = rows.iter().map(|row| Some(format!("n{}", row.1))).collect();
    let columns = batch(vec![("id", Arc::new(ids) as ArrayRef), ("note", Arc::new(notes))]);
    parquet(&folder.path("in.parquet"), &columns);
    arrow_file(&folder.path("in.arrow"), &columns);
    arrow_stream(&folder.path("in.arrows"), &columns);
}

/// The rows of a result; an empty cell of text is null.
fn lines_of(path: &Path) -> Vec<Line> {
    let name = path.display().to_string();
    let names = ["id", "note", "score", "tag"];
    if name.ends_with(".csv") {
        let (head, rows) = reference::rows(&std::fs::read_to_string(path).unwrap());
        assert_eq!(head, names);
        let cell = |text: &String| (!text.is_empty()).then(|| text.clone());
        return rows.iter().map(|row| std::array::from_fn(|column| cell(&row[column]))).collect();
    }
    if name.ends_with(".jsonl") {
        let text = std::fs::read_to_string(path).unwrap();
        let line = |line: &str| {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            let cell = |name: &str| match object.get(name).expect("a value in every row") {
                serde_json::Value::Null => None,
                serde_json::Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            names.map(cell)
        };
        return text.lines().map(line).collect();
    }
    let mut lines = Vec::new();
    for batch in read(path) {
        assert_eq!(batch.schema().field(2).data_type(), &DataType::Int32, "the partner's type, also with nulls");
        let columns = names.map(|name| cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap());
        let cell = |column: &ArrayRef, row: usize| {
            let texts = column.as_string::<i32>();
            texts.is_valid(row).then(|| texts.value(row).to_owned())
        };
        lines.extend((0..batch.num_rows()).map(|row| std::array::from_fn(|column| cell(&columns[column], row))));
    }
    lines
}

/// The left join as a database has it where the partner's keys are distinct: SELECT ours.*, score, tag FROM ours
/// LEFT JOIN theirs USING (id).
fn plain(ours: &[Row], theirs: &HashMap<u8, Given>) -> Vec<Line> {
    let line = |&(id, note): &Row| {
        let (score, tag) = id.and_then(|id| theirs.get(&id).copied()).unwrap_or_default();
        [
            id.map(|id| id.to_string()),
            Some(format!("n{note}")),
            score.map(|score| score.to_string()),
            tag.map(|tag| format!("t{tag}")),
        ]
    };
    ours.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    /// Keys that repeat, keys that the partner lacks and rows without a key, from every format of a table to every one
    /// of an output.
    #[test]
    fn every_own_row_is_there_once_and_in_order(
        ours in proptest::collection::vec((proptest::option::weighted(0.8, 0u8..6), 0u8..4), 1..12),
        theirs in proptest::collection::hash_map(0u8..6, proptest::option::of(0u8..9).prop_flat_map(|score| {
            proptest::option::of(0u8..9).prop_map(move |tag| (score, tag))
        }), 1..5),
    ) {
        prop_assume!(ours.iter().any(|(id, _)| id.is_some()));
        let folder = Folder::new();
        write(&folder, &ours);
        let keys: Vec<u8> = theirs.keys().copied().collect();
        let ids: Int64Array = keys.iter().map(|&id| i64::from(id)).collect();
        let scores: Int32Array = keys.iter().map(|id| theirs[id].0.map(i32::from)).collect();
        let tags: StringArray = keys.iter().map(|id| theirs[id].1.map(|tag| format!("t{tag}"))).collect();
        let sent = folder.path("theirs.parquet");
        parquet(&sent, &batch(vec![
            ("id", Arc::new(ids) as ArrayRef), ("score", Arc::new(scores)), ("tag", Arc::new(tags)),
        ]));
        let spec = PayloadSpec { columns: vec!["score".into(), "tag".into()], duplicates: Duplicates::Refuse };
        let sent = read_keys(&open(&sent).unwrap(), &key(&["id"]), Some(&spec)).unwrap();
        let payload = sent.payload.as_ref().unwrap();
        let (schema, width) = (&payload.schema, payload.schema.width);
        for input in INPUTS {
            let input = open(&folder.path(input)).unwrap();
            let table = read_keys(&input, &key(&["id"]), None).unwrap();
            let (mut keys, mut bytes) = (Vec::new(), Vec::new());
            for (index, digest) in (0u32..).zip(table.digests.iter()) {
                if let Some(place) = sent.digests.iter().position(|other| other == digest) {
                    keys.push(index);
                    bytes.extend_from_slice(&payload.bytes[place * width..][..width]);
                }
            }
            let received = ReceivedPayload { schema, bytes: &bytes };
            for name in OUTPUTS {
                let to = folder.path(name);
                let rows = join(&input, &table, &keys, Some(received), Join::Left, &to).unwrap();
                prop_assert_eq!(rows as usize, ours.len());
                prop_assert_eq!(lines_of(&to), plain(&ours, &theirs), "{} to {}", input.name(), name);
                std::fs::remove_file(&to).unwrap();
            }
        }
    }
}

/// What a row has besides stays as it stands: quotes, line ends, the header's mark, and a last line without an end.
#[test]
fn rows_of_text_stay_as_they_are() {
    let folder = Folder::new();
    let ours = folder.write("ours.csv", "\u{feff}id,\"na\"\"me\"\r\n1,\"a\r\nb\"\r\n,x\r\n2,\"\"\r\n1,c");
    let theirs = folder.write("theirs.csv", "id,city,zip\n1,Paris,\"\"\n9,Rome,1\n");
    let spec = PayloadSpec { columns: vec!["city".into(), "zip".into()], duplicates: Duplicates::Refuse };
    let sent = read_keys(&open(&theirs).unwrap(), &key(&["id"]), Some(&spec)).unwrap();
    let payload = sent.payload.as_ref().unwrap();
    let input = open(&ours).unwrap();
    let table = read_keys(&input, &key(&["id"]), None).unwrap();
    let received = ReceivedPayload { schema: &payload.schema, bytes: &payload.bytes[..payload.schema.width] };
    join(&input, &table, &[0], Some(received), Join::Left, &folder.path("out.csv")).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path("out.csv")).unwrap(),
        "\u{feff}id,\"na\"\"me\",city,zip\r\n1,\"a\r\nb\",Paris,\"\"\r\n,x,,\r\n2,\"\",,\r\n1,c,Paris,\"\"\r\n"
    );
    // Nobody matches: the header has the partner's columns all the same.
    let none = ReceivedPayload { schema: &payload.schema, bytes: &[] };
    join(&input, &table, &[], Some(none), Join::Left, &folder.path("none.jsonl")).unwrap();
    let text = std::fs::read_to_string(folder.path("none.jsonl")).unwrap();
    assert_eq!(text.lines().nth(1), Some("{\"id\":null,\"na\\\"me\":\"x\",\"city\":null,\"zip\":null}"));
    assert_eq!(text.lines().count(), 4);
}
