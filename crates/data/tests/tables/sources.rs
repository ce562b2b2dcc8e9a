//! All sources against one another: one table, stored in every way, has one set of keys, values,
//! payloads and kept rows.

use std::fs::File;
use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use arrow_array::types::Date32Type;
use arrow_array::*;
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use vesica_data::table::{
    Batches, Cell, Collected, Delivered, Duplicates, Head, Input, InputOptions, Join, KeyTable, Matches, OpenSink,
    OpenSource, Output, OutputOptions, PayloadSpec, Position, ReceivedPayload, ResultKind, ResultTable, RowBatch, Sink,
    Source, SourceFile, TableError, ValueDuplicates, ValueSpec, WriteStats, read_keys, read_keys_within, read_values,
    write_matches, write_new_rows, write_rows,
};

use super::columnar_tables::{arrow_file, arrow_stream, batch, parquet};
use super::toy_source::TextRows;
use super::{Folder, key, told};

/// Rows of more than one part of a scan, with repeated, null and empty keys.
const ROWS: usize = 10_000;

fn id(row: usize) -> Option<String> {
    match row % 17 {
        3 => None,
        5 => Some(String::new()),
        _ => Some(format!("k{}", row * 7919 % 6000)),
    }
}

/// What rows of one key must agree on.
fn of_key(row: usize) -> i64 {
    (row * 7919 % 6000) as i64
}

fn cells(row: usize) -> [Option<String>; 4] {
    let cents = of_key(row) * 5;
    let amount = format!("{}.{:02}", cents / 100, cents % 100);
    let city = (of_key(row) % 4 != 1).then(|| ["Köln", "", "a,b", "say \"x\""][of_key(row) as usize % 4].to_owned());
    [id(row), Some(of_key(row).to_string()), Some(amount), city]
}

/// The table in typed columns.
fn columns() -> RecordBatch {
    let rows = || (0..ROWS).map(cells);
    let amounts = (0..ROWS).map(|row| i128::from(of_key(row) * 5));
    batch(vec![
        ("id", Arc::new(rows().map(|[id, ..]| id).collect::<StringArray>()) as ArrayRef),
        ("count", Arc::new(Int64Array::from_iter_values((0..ROWS).map(of_key)))),
        ("amount", Arc::new(Decimal128Array::from_iter_values(amounts).with_precision_and_scale(12, 2).unwrap())),
        ("city", Arc::new(rows().map(|[.., city]| city).collect::<StringArray>())),
    ])
}

fn csv() -> String {
    let field = |text: Option<String>| match text {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains([',', '"']) => format!("\"{}\"", text.replace('"', "\"\"")),
        Some(text) => text,
    };
    let rows = (0..ROWS).map(|row| cells(row).map(field).join(",") + "\n");
    std::iter::once("id,count,amount,city\n".to_owned()).chain(rows).collect()
}

/// The same with numbers where they are some.
fn json_lines() -> String {
    let text = |text: Option<String>| text.map_or("null".to_owned(), |text| serde_json::to_string(&text).unwrap());
    (0..ROWS)
        .map(|row| {
            let [id, count, amount, city] = cells(row);
            let (count, amount) = (count.unwrap(), amount.unwrap());
            let (id, city) = (text(id), text(city));
            format!("{{\"id\":{id},\"count\":{count},\"amount\":{amount},\"city\":{city}}}\n")
        })
        .collect()
}

fn opened(opener: &dyn OpenSource) -> Box<dyn Source> {
    opener.open().unwrap()
}

/// The table by every source.
fn sources(folder: &Folder) -> Vec<(&'static str, Box<dyn Source>)> {
    let (columns, csv) = (columns(), csv());
    let file = |name: &str| {
        opened(&SourceFile { path: folder.path(name).to_str().unwrap().to_owned(), options: InputOptions::default() })
    };
    folder.write("t.csv", &csv);
    let mut gzip =
        flate2::write::GzEncoder::new(File::create(folder.path("t.csv.gz")).unwrap(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).unwrap();
    gzip.finish().unwrap();
    folder.write("t.jsonl", json_lines());
    parquet(&folder.path("t.parquet"), &columns);
    for parts in ["csv", "parquet", "jsonl"] {
        std::fs::create_dir(folder.path(parts)).unwrap();
    }
    for (part, start) in [(1, 0), (2, 3000), (3, 3001)] {
        let end = [3000, 3001, ROWS][part - 1];
        let lines =
            |text: &str, head: usize| {
                text.lines().skip(head + start).take(end - start).fold(
                    text.lines().take(head).map(|line| line.to_owned() + "\n").collect::<String>(),
                    |text, line| text + line + "\n",
                )
            };
        folder.write(&format!("csv/{part}.csv"), lines(&csv, 1));
        folder.write(&format!("jsonl/{part}.jsonl"), lines(&json_lines(), 0));
        parquet(&folder.path(&format!("parquet/{part}.parquet")), &columns.slice(start, end - start));
    }
    arrow_file(&folder.path("t.arrow"), &columns);
    arrow_stream(&folder.path("t.arrows"), &columns);
    // What can be read once, as standard input: a pipe with a name.
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    let pipe = std::thread::scope(|scope| {
        scope.spawn(|| std::fs::write(folder.path("pipe"), &csv).unwrap());
        file("pipe")
    });
    let whole = Batches::new("a table in memory", columns.schema(), vec![columns.clone()]).unwrap();
    let pieces = (0..ROWS).step_by(777).map(|row| columns.slice(row, 777.min(ROWS - row))).collect();
    let pieces = Batches::new("a table in memory", columns.schema(), pieces).unwrap();
    let once = (0..ROWS).step_by(3000).map(|row| Ok(columns.slice(row, 3000.min(ROWS - row))));
    let once = Input::spool_batches("batches that come once", &columns.schema(), once).unwrap();
    let toy = TextRows::new(&["id", "count", "amount", "city"], (0..ROWS).map(|row| cells(row).to_vec()).collect());
    vec![
        ("CSV", file("t.csv")),
        ("gzip", file("t.csv.gz")),
        ("JSON lines", file("t.jsonl")),
        ("folder of CSV", file("csv")),
        ("folder of JSON lines", file("jsonl")),
        ("folder of Parquet", file("parquet")),
        ("Parquet", file("t.parquet")),
        ("Arrow file", file("t.arrow")),
        ("Arrow stream", file("t.arrows")),
        ("pipe", pipe),
        ("one batch in memory", opened(&whole)),
        ("several batches in memory", opened(&pieces)),
        ("batches that come once", Box::new(once)),
        ("toy", opened(&toy)),
    ]
}

/// Takes rows and looks where their source is.
struct Looking<'a> {
    position: Option<Position>,
    seen: &'a mut Vec<Option<f64>>,
}

impl Sink for Looking<'_> {
    fn name(&self) -> &str {
        "nowhere"
    }

    fn begin(&mut self, _head: &Head<'_>) -> Result<(), TableError> {
        Ok(())
    }

    fn batch(&mut self, _rows: &RowBatch<'_>) -> Result<(), TableError> {
        self.seen.push(self.position.as_ref().map(Position::fraction));
        Ok(())
    }

    fn finish(&mut self) -> Result<WriteStats, TableError> {
        Ok(WriteStats::default())
    }
}

/// Files tell how far each pass has come, from their start to their end; what is in memory does not.
#[test]
fn the_position_of_a_file_goes_from_start_to_end_in_either_pass() {
    let folder = Folder::new();
    let spec = key(&["id"]);
    for (what, source) in &sources(&folder) {
        let source = &**source;
        let table = read_keys(source, &spec, None).unwrap();
        let fraction = || source.position().map(|position| position.fraction());
        if what.contains("memory") || *what == "toy" {
            assert_eq!(fraction(), None, "{what}");
            continue;
        }
        assert_eq!(fraction(), Some(1.0), "{what}");
        let keys: Vec<u32> = (0..table.stats.distinct as u32).collect();
        let mut seen = Vec::new();
        let sink = Looking { position: source.position(), seen: &mut seen };
        write_matches(source, &table, &Matches { keys: &keys, payload: None }, Join::Inner, Box::new(sink)).unwrap();
        assert!(seen.is_sorted() && seen.iter().all(|seen| seen.is_some_and(|seen| seen > 0.0)), "{what}: {seen:?}");
        assert_eq!(fraction(), Some(1.0), "{what}");
        // Of a folder, the position behind the first part is not the whole.
        if what.starts_with("folder") {
            assert!(seen.first().is_some_and(|seen| seen.is_some_and(|seen| seen < 0.9)), "{what}: {seen:?}");
        }
        source.schema().unwrap();
        source.sample().unwrap();
    }
}

fn payload(table: &KeyTable) -> ReceivedPayload<'_> {
    let payload = table.payload.as_ref().unwrap();
    ReceivedPayload { schema: &payload.schema, bytes: &payload.bytes }
}

/// Every cell as text.
fn texts(batches: &[RecordBatch]) -> Vec<Vec<Option<String>>> {
    let cell = |array: &ArrayRef, row| array.is_valid(row).then(|| array_value_to_string(array, row).unwrap());
    let row = |batch: &RecordBatch, row| batch.columns().iter().map(|array| cell(array, row)).collect();
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|at| row(batch, at)).collect::<Vec<_>>()).collect()
}

fn collected(
    source: &dyn Source,
    table: &KeyTable,
    matches: &Matches<'_>,
    join: Join,
) -> Result<Vec<Vec<Option<String>>>, TableError> {
    let result = Collected::default();
    let sink = result.open(ResultKind::OwnRows, source)?;
    let written = write_matches(source, table, matches, join, sink)?;
    let Some(Delivered::Rows { batches, .. }) = result.take() else { panic!("rows") };
    assert_eq!(written.rows, batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>());
    Ok(texts(&batches))
}

#[test]
fn all_sources_give_one_table() {
    let folder = Folder::new();
    let spec = key(&["id", "count"]);
    let values = ValueSpec {
        group_by: Some("city".into()),
        duplicates: ValueDuplicates::Refuse,
        ..ValueSpec::parse(&["amount".into(), "count".into()], &["amount=2".into()], &["count=0..5000".into()]).unwrap()
    };
    let along = PayloadSpec { columns: vec!["city".into(), "id".into()], duplicates: Duplicates::Refuse };
    let sources = sources(&folder);
    let mut first: Option<(KeyTable, KeyTable, Vec<String>)> = None;
    for (what, source) in &sources {
        let source = &**source;
        let table = read_keys(source, &spec, Some(&along)).unwrap_or_else(|error| panic!("{what}: {}", told(&error)));
        let computed = read_values(source, &spec, &values).unwrap_or_else(|error| panic!("{what}: {}", told(&error)));
        assert_eq!((table.stats.rows, table.row_key.len()), (ROWS as u64, ROWS), "{what}");
        let keys: Vec<u32> = (0..table.stats.distinct as u32).filter(|key| !key.is_multiple_of(3)).collect();
        let width = payload(&table).schema.width;
        let bytes: Vec<u8> =
            keys.iter().flat_map(|&key| &payload(&table).bytes[key as usize * width..][..width]).copied().collect();
        let received = ReceivedPayload { schema: payload(&table).schema, bytes: &bytes };
        let matches = Matches { keys: &keys, payload: Some(received) };
        // The rows expected, with the partner's columns, which are the own ones here.
        let kept = |row: &usize| table.row_key[*row] != u32::MAX && !table.row_key[*row].is_multiple_of(3);
        let inner: Vec<Vec<Option<String>>> = (0..ROWS)
            .filter(kept)
            .map(|row| {
                let [id, count, amount, city] = cells(row);
                vec![id.clone(), count, amount, city.clone(), city, id]
            })
            .collect();
        assert!(collected(source, &table, &matches, Join::Inner).unwrap() == inner, "{what}");
        let others: Vec<Vec<Option<String>>> =
            (0..ROWS).filter(|row| !kept(row)).map(|row| cells(row).to_vec()).collect();
        assert!(collected(source, &table, &matches, Join::Difference).unwrap() == others, "{what}");
        // As CSV: what came as text leaves as it stands.
        let path = folder.path("out.csv");
        let output =
            Output::create(path.to_str().unwrap(), &OutputOptions { force: true, format: None }, source).unwrap();
        write_matches(source, &table, &Matches { keys: &keys, payload: None }, Join::Inner, output).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let rows = csv().lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        let expected: Vec<String> = (0..ROWS).filter(kept).map(|row| rows[row].clone()).collect();
        assert!(text.lines().skip(1).eq(expected.iter().map(String::as_str)), "{what}");
        match &first {
            None => first = Some((table, computed, expected)),
            Some((keys, numbers, _)) => {
                assert_eq!((&table.digests, &table.row_key), (&keys.digests, &keys.row_key), "{what}");
                assert_eq!(table.stats.duplicate_rows, keys.stats.duplicate_rows, "{what}");
                assert!(table.payload == keys.payload, "{what}");
                let (found, expected) = (computed.values.as_ref().unwrap(), numbers.values.as_ref().unwrap());
                assert!(found.values == expected.values && found.groups == expected.groups, "{what}");
                assert_eq!((&found.categories, &found.clamped), (&expected.categories, &expected.clamped), "{what}");
            }
        }
    }
}

/// A value without canonical form, in the middle of a batch.
#[test]
fn threads_change_no_error_of_a_batch() {
    let fault = 7_001;
    let days = (0..ROWS).map(|row| Some(if row == fault || row == fault + 1500 { i32::MAX } else { row as i32 }));
    let days: ArrayRef = Arc::new(PrimitiveArray::<Date32Type>::from_iter(days));
    let columns = batch(vec![("day", days)]);
    let source = Batches::new("days", columns.schema(), vec![columns]).unwrap();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let error = pool.install(|| read_keys(&source, &key(&["day"]), None)).unwrap_err();
        assert!(
            told(&error).starts_with(&format!("row {} of days has a value in column `day`", fault + 1)),
            "{threads}: {error}"
        );
    }
}

/// What an earlier row says comes before a malformed later one, at any number of threads.
#[test]
fn the_first_faulty_row_is_named() {
    let folder = Folder::new();
    let rows = (0..40_000).map(|row| format!("{row},{row}\n")).collect::<String>();
    let path = folder.write("in.csv", format!("id,note\n{rows}7,other\n{rows}x,y,z\n"));
    let source = SourceFile { path: path.to_str().unwrap().to_owned(), options: InputOptions::default() };
    let along = PayloadSpec { columns: vec!["note".into()], duplicates: Duplicates::Refuse };
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let error = pool.install(|| read_keys(&*opened(&source), &key(&["id"]), Some(&along))).unwrap_err();
        assert!(told(&error).contains("the second one is row 40001"), "{threads}: {error}");
    }
}

fn text_rows(rows: &[(&str, &str)]) -> Vec<Vec<Option<String>>> {
    rows.iter().map(|(id, note)| vec![Some((*id).to_owned()), Some((*note).to_owned())]).collect()
}

#[test]
fn a_source_must_give_its_rows_twice() {
    let rows = text_rows(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let first = TextRows::new(&["id", "note"], rows.clone());
    let kept = |again: Vec<Vec<Option<String>>>| {
        let source = first.clone().changing_to(again);
        let table = read_keys(&source, &key(&["id"]), None).unwrap();
        collected(&source, &table, &Matches { keys: &[0], payload: None }, Join::Inner)
    };
    assert_eq!(kept(rows.clone()).unwrap(), rows[..1]);
    let error = TableError::Changed { path: "the toy".to_owned() };
    assert_eq!(kept(rows[..2].to_vec()).map_err(|error| told(&error)), Err(told(&error)), "a row less");
    assert_eq!(kept([&rows[..], &rows[..1]].concat()).map_err(|error| told(&error)), Err(told(&error)), "a row more");
    // As `Source` says: places count, and another order is not noticed.
    let turned = rows.iter().rev().cloned().collect::<Vec<_>>();
    assert_eq!(kept(turned.clone()).unwrap(), turned[..1]);
}

#[test]
fn a_cell_that_is_not_of_its_columns_type_is_an_error() {
    let rows = || TextRows::new(&["id", "note"], text_rows(&[("a", "1")]));
    let payload = PayloadSpec { columns: vec!["note".into()], duplicates: Duplicates::Refuse };
    let values = ValueSpec::parse(&["note".into()], &[], &[]).unwrap();
    let groups = ValueSpec { group_by: Some("note".into()), ..ValueSpec::default() };
    let wrong = Cell::Boolean(true);
    let source = rows().giving(wrong);
    for (what, read) in [
        ("a key", read_keys(&source, &key(&["note"]), None)),
        ("a payload", read_keys(&source, &key(&["id"]), Some(&payload))),
        ("a value", read_values(&source, &key(&["id"]), &values)),
        ("a group", read_values(&source, &key(&["id"]), &groups)),
    ] {
        let error = read.err().unwrap_or_else(|| panic!("{what} of the wrong form is taken"));
        assert!(matches!(&error, TableError::WrongForm { column, row: 1, .. } if column == "note"), "{what}: {error}");
    }
    // What a text column takes, a payload of numbers would give to the receiver as other bytes.
    let number = rows().giving(Cell::Fixed(&[1, 0, 0, 0]));
    assert!(read_keys(&number, &key(&["id"]), Some(&payload)).is_err());
}

#[test]
fn a_payload_is_padded_only_where_there_is_room() {
    let long = "x".repeat(50_000);
    let rows =
        (0..100).map(|row| vec![Some(format!("k{row}")), Some(if row == 0 { long.clone() } else { "y".into() })]);
    let source = TextRows::new(&["id", "note"], rows.collect());
    let payload = PayloadSpec { columns: vec!["note".into()], duplicates: Duplicates::Refuse };
    let read = |room| read_keys_within(&source, &key(&["id"]), Some(&payload), &|| room);
    // A presence byte, three of length, and the text.
    let padded = 100 * (1 + 3 + 50_000);
    assert!(read(None).is_ok() && read(Some(padded)).is_ok());
    let error = read(Some(padded - 1)).unwrap_err();
    assert!(matches!(error, TableError::PayloadMemory { keys: 100, width: 50_004, .. }), "{error}");
    assert!(told(&error).contains("--memory"), "{error}");
}

#[test]
fn batches_of_other_columns_are_refused() {
    let one = batch(vec![("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]);
    let other = batch(vec![("id", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]);
    let error = Batches::new("ours", one.schema(), vec![one.clone(), other]).unwrap_err();
    assert!(told(&error).contains("its batches have different columns"), "{error}");
    let source = Batches::new("ours", one.schema(), vec![one]).unwrap();
    let error = read_keys(&source, &key(&["mail"]), None).unwrap_err();
    assert!(told(&error).starts_with("ours has no column `mail`"), "{error}");
    // Numbers as they come, where the program has no file to name.
    let table = read_keys(&source, &key(&["id"]), None).unwrap();
    assert_eq!(table.stats.columns[0].kind, "integer");
}

#[test]
fn a_sink_takes_what_it_was_opened_for() {
    let folder = Folder::new();
    let columns = batch(vec![("id", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef)]);
    let source = Batches::new("ours", columns.schema(), vec![columns.clone()]).unwrap();
    let results = [Some(vec![3])];
    let numbers = ResultTable { columns: vec![("sum".into(), 0)], groups: None, results: &results };
    let open =
        |name: &str, kind| Output::open(folder.path(name).to_str().unwrap(), &OutputOptions::default(), kind, &source);
    let mut rows = open("rows.csv", ResultKind::OwnRows).unwrap();
    assert!(vesica_data::table::Sink::numbers(&mut rows, &numbers).is_err());
    drop(rows);
    let mut shares = open("s.shares", ResultKind::Shares).unwrap();
    assert!(write_rows(columns.schema(), std::slice::from_ref(&columns), &mut shares).is_err());
    drop(shares);
    assert!(folder.names().is_empty(), "nothing is left");
    // New rows go to a file as kept ones do, and a source that is no file leaves the format to the
    // name.
    for (name, format) in [("new.csv", "id\n1\n2\n"), ("new", "id\n1\n2\n")] {
        let mut sink = open(name, ResultKind::OwnRows).unwrap();
        assert_eq!(write_rows(columns.schema(), std::slice::from_ref(&columns), &mut sink).unwrap().rows, 2);
        assert_eq!(std::fs::read_to_string(folder.path(name)).unwrap(), format);
    }
    let mut sink = open("new.parquet", ResultKind::OwnRows).unwrap();
    write_rows(columns.schema(), std::slice::from_ref(&columns), &mut sink).unwrap();
    assert_eq!(
        texts(&super::columnar_tables::read(&folder.path("new.parquet"))),
        texts(std::slice::from_ref(&columns))
    );
    let memory = Collected::default();
    let mut sink = memory.open(ResultKind::Numbers, &source).unwrap();
    sink.numbers(&numbers).unwrap();
    assert!(memory.take().is_none(), "it is not complete");
    sink.finish().unwrap();
    let Some(Delivered::Numbers(found)) = memory.take() else { panic!("numbers") };
    assert_eq!(
        (found.schema().field(0).data_type(), texts(&[found])),
        (&DataType::Int64, vec![vec![Some("3".to_owned())]])
    );
}

/// Records of a payload as rows of their own, as a union gives them.
#[test]
fn new_rows_go_to_any_format() {
    let folder = Folder::new();
    let text = "id,city\n1,Köln\n2,\n3,\"a,b\"\n";
    let source = super::open(&folder.write("in.csv", text)).unwrap();
    let records = |columns: &[&str]| {
        let along = PayloadSpec {
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            duplicates: Duplicates::Refuse,
        };
        read_keys(&source, &key(&["id"]), Some(&along)).unwrap()
    };
    let written = |columns: &[&str], name: &str| {
        let path = folder.path(name);
        let mut sink =
            Output::open(path.to_str().unwrap(), &OutputOptions::default(), ResultKind::NewRows, &source).unwrap();
        assert_eq!(write_new_rows(payload(&records(columns)), &mut sink).unwrap().rows, 3);
        path
    };
    assert_eq!(std::fs::read_to_string(written(&["id", "city"], "two.csv")).unwrap(), text);
    // An empty line would be no row.
    assert_eq!(std::fs::read_to_string(written(&["city"], "one.csv")).unwrap(), "city\nKöln\n\"\"\n\"a,b\"\n");
    let found = texts(&super::columnar_tables::read(&written(&["city"], "one.parquet")));
    assert_eq!(found, [vec![Some("Köln".to_owned())], vec![None], vec![Some("a,b".to_owned())]]);
}
