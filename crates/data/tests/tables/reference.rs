//! Records of CSV as `csv-core` reads and writes them: the parser of the crate `csv`, which itself would choose features
//! of `serde` that no program has, so that everything above `serde` would be compiled once more for tests.

use csv_core::{ReadRecordResult, ReaderBuilder, Terminator, WriterBuilder};

/// The records of a text, its head among them.
pub fn records(mut text: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let (mut cells, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 2]);
    let (mut used, mut fields, mut records) = (0, 0, Vec::new());
    loop {
        let (result, read, written, ended) = reader.read_record(text, &mut cells[used..], &mut ends[fields..]);
        text = &text[read..];
        used += written;
        fields += ended;
        match result {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::Record => {
                let starts = std::iter::once(&0).chain(&ends);
                let cell = |(&start, &end): (&usize, &usize)| cells[start..end].to_vec();
                records.push(starts.zip(&ends[..fields]).map(cell).collect());
                (used, fields) = (0, 0);
            }
            ReadRecordResult::End => return records,
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                panic!("there is room for all of the text")
            }
        }
    }
}

/// The same of text with commas: its head, and the records below it.
pub fn rows(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let cells = |record: Vec<Vec<u8>>| record.into_iter().map(|cell| String::from_utf8(cell).expect("text")).collect();
    let mut records = records(text.as_bytes(), b',').into_iter().map(cells);
    (records.next().unwrap_or_default(), records.collect())
}

/// The text of these records.
pub fn written(records: &[Vec<String>], delimiter: u8, crlf: bool) -> Vec<u8> {
    let terminator = if crlf { Terminator::CRLF } else { Terminator::Any(b'\n') };
    let mut writer = WriterBuilder::new().delimiter(delimiter).terminator(terminator).build();
    let most: usize = records.iter().flatten().map(|cell| 2 * cell.len() + 4).sum();
    let mut bytes = vec![0; most + 4 * records.len() + 4];
    let mut used = 0;
    for record in records {
        for (place, cell) in record.iter().enumerate() {
            if place > 0 {
                used += writer.delimiter(&mut bytes[used..]).1;
            }
            used += writer.field(cell.as_bytes(), &mut bytes[used..]).2;
        }
        used += writer.terminator(&mut bytes[used..]).1;
    }
    used += writer.finish(&mut bytes[used..]).1;
    bytes.truncate(used);
    bytes
}
