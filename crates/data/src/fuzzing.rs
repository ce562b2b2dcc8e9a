//! Parsers of bytes that a table file or a peer brings, as plain functions for fuzzers and property
//! tests. No public API.

pub mod seeds;

use crate::key::{DateFormat, KeySpec};
use crate::table::{
    Collected, ExpectedRange, Format, Input, InputOptions, Join, KeyTable, Matches, OpenSink, PayloadSchema,
    ReceivedPayload, ResultKind, TableError, ValueSpec, read_keys, read_values, write_matches,
};

pub use crate::table::formats::csv::{Field, Split, split_line, split_record};

/// Reads bytes as a table with the key `email`, all its columns where these have types: its rows.
/// Leaves no file behind.
///
/// # Errors
/// If it is no such table.
pub fn table(bytes: &[u8], format: Format) -> Result<u64, TableError> {
    let input = input(bytes, format)?;
    let all = || {
        let mut rows = 0;
        let mut reader = input.batches()?;
        while let Some(batch) = reader.next()? {
            rows += batch.num_rows() as u64;
        }
        Ok(rows)
    };
    let whole = if format.is_text() { Ok(u64::MAX) } else { all() };
    let keyed = KeySpec::parse(&["email"], &[]).map(|spec| -> Result<u64, TableError> {
        let table = read_keys(&input, &spec, None)?;
        if format == Format::JsonLines {
            assert_eq!(all_rows(&input, &table), table.stats.rows);
        }
        Ok(table.stats.rows)
    });
    match keyed {
        Ok(Ok(rows)) if whole.as_ref().is_ok_and(|&whole| whole != rows && whole != u64::MAX) => {
            panic!("{rows} rows in one pass, {whole:?} in another")
        }
        Ok(Err(failure)) => Err(failure),
        _ if format.is_text() => keyed.unwrap_or(Ok(0)),
        _ => whole,
    }
}

/// Writes all rows of a table that was read as columns: how many.
fn all_rows(input: &Input, table: &KeyTable) -> u64 {
    let sink = Collected::default().open(ResultKind::OwnRows, input).expect("a sink in memory");
    let none = Matches { keys: &[], payload: None };
    let written = write_matches(input, table, &none, Join::Difference, sink);
    written.expect("the first pass refuses what the second one cannot write").rows
}

/// Bytes as a table of this format.
///
/// # Errors
/// If they are none.
pub fn input(bytes: &[u8], format: Format) -> Result<Input, TableError> {
    let options = InputOptions { format: Some(format), ..InputOptions::default() };
    Input::spooled(bytes, "the fuzzed table", &options)
}

/// Reads bytes as a CSV table with values to compute with. Rows with a key.
///
/// # Errors
/// If it is none.
pub fn values(bytes: &[u8]) -> Result<usize, TableError> {
    let text = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let spec = ValueSpec::parse(&text(&["amount", "count"]), &text(&["amount=2"]), &text(&["count=-5..5"]));
    let spec = ValueSpec { group_by: Some("group".into()), ..spec.expect("sound arguments") };
    let key = KeySpec::parse(&["email"], &[]).expect("a key");
    let table = read_values(&input(bytes, Format::Csv)?, &key, &spec)?;
    let values = table.values.expect("values were asked for");
    assert_eq!(values.values.len(), 2 * table.digests.len());
    assert!(values.values.chunks_exact(2).all(|pair| (-5..=5).contains(&pair[1])), "a value outside of its range");
    Ok(table.digests.len())
}

/// Reads bytes as a payload schema, a line feed, and a record under it. Whether both are sound.
pub fn payload(bytes: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'\n', bytes) else { return false };
    let Ok(schema) = serde_json::from_slice::<PayloadSchema>(&bytes[..end]) else { return false };
    if schema.check().is_err() {
        return false;
    }
    let mut record = bytes[end + 1..].to_vec();
    record.resize(schema.width, 0);
    let received = ReceivedPayload { schema: &schema, bytes: &record };
    let mut values = Vec::new();
    received.schema.decode(received.bytes, &mut values).is_ok_and(|()| values.len() == schema.fields.len())
}

/// Reads lines as `--key`, (those with `,`) `--or-key` and (those with `=`) `--normalise` arguments.
/// Whether they declare a key.
pub fn key_specification(text: &str) -> bool {
    let (normalise, keys): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains('='));
    let (or_keys, keys): (Vec<&str>, Vec<&str>) = keys.into_iter().partition(|line| line.contains(','));
    let or_keys: Vec<Vec<String>> =
        or_keys.into_iter().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    KeySpec::parse_alternatives(&keys, &or_keys, &normalise).is_ok_and(|spec| {
        let agreed = spec.or_agreement();
        let others: usize = agreed.iter().map(Vec::len).sum();
        assert_eq!(spec.agreement().len() + others, spec.columns().len());
        assert_eq!(agreed.len(), or_keys.len());
        true
    })
}

/// Reads the first line as a date format and the second as a date in it. Whether both are sound.
pub fn date(text: &str) -> bool {
    let (format, date) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(parsed) = DateFormat::parse(format) else { return false };
    assert_eq!(DateFormat::parse(&parsed.to_string()).ok(), Some(parsed.clone()), "a date format does not read back");
    parsed.read(date).is_ok_and(|date| {
        let mut text = String::new();
        date.write(&mut text);
        text.len() == 10
    })
}

/// Reads a text as a range that is expected of the partner, and as one that this side keeps. How
/// many it is.
pub fn ranges(text: &str) -> usize {
    let expected = ExpectedRange::parse(text).is_ok();
    let own = ValueSpec::parse(&["a".to_owned()], &["a=2".to_owned()], &[text.to_owned()]);
    if let Ok(spec) = &own {
        assert!(spec.columns.iter().all(|column| column.is_sound()));
    }
    usize::from(expected) + usize::from(own.is_ok())
}

/// The structures of a Parquet file, alone: a footer, a page header, and the lengths of a page.
pub fn parquet_structures(bytes: &[u8]) {
    crate::table::fuzz_parquet_structures(bytes);
}

/// Splits a whole CSV text; both splitters must agree on every record. Returns the fields' bytes as
/// they stand, by record.
pub fn csv(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
    let (mut fields, mut unused) = (Vec::new(), Vec::new());
    let mut records = Vec::new();
    let mut rest = bytes;
    loop {
        let split = split_record(rest, true, delimiter, &mut fields);
        if split == Split::TooManyFields {
            return records;
        }
        assert_eq!(split, split_line(rest, true, delimiter, &mut unused), "the splitters differ");
        match split {
            Split::Record { len, end, lines } => {
                assert!(
                    end <= len
                        && len > 0
                        && lines > 0
                        && fields.iter().all(|field| field.start <= field.end && field.end <= end)
                );
                records.push(fields.iter().map(|field| rest[field.start..field.end].to_vec()).collect());
                rest = &rest[len..];
            }
            Split::Blank { len } => rest = &rest[len..],
            Split::Incomplete | Split::OpenQuote | Split::AfterQuote | Split::TooManyFields => return records,
        }
    }
}

/// Reads a text as every normaliser does, and checks that a second pass changes nothing.
pub fn normalise(text: &str) {
    use crate::key::Normaliser;
    for name in [
        "trim",
        "lower",
        "nfc",
        "email",
        "e164:DE",
        "e164:US",
        "e164:RU",
        "e164:IT",
        "e164:HU",
        "e164:DE:bare=international",
        "digits",
        "date",
        "timestamp:utc",
        "timestamp:-03:30:ms",
        "timestamp:+02:00:day",
        "int",
        "decimal",
        "bool",
    ] {
        let normaliser = Normaliser::parse(name).expect("the names are those of the parser");
        let (mut once, mut twice) = (String::new(), String::new());
        if normaliser.apply(text, &mut once).is_ok() {
            assert_eq!(normaliser.apply(&once, &mut twice), Ok(()), "{name} refuses its own result");
            assert_eq!(once, twice, "{name} is not idempotent");
        }
    }
}

/// Reads a text as a decimal at every scale; what is shown must be read back.
pub fn decimal(bytes: &[u8]) {
    use crate::table::decimal::{MOST_SCALE, parse, show};
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for scale in 0..=MOST_SCALE {
        if let Ok(value) = parse(text, scale) {
            assert_eq!(parse(&show(value, scale), scale), Ok(value));
        }
    }
}
