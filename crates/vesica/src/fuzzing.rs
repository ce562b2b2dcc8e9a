//! Parsers of bytes that others wrote, as plain functions for fuzzers and property tests. No public API.

pub use crate::table::csv::{Field, Split, split_line, split_record};

/// Splits a whole CSV text; both splitters must agree on every record. Returns the fields' bytes as they stand, by record.
pub fn csv(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
    let (mut fields, mut unused) = (Vec::new(), Vec::new());
    let mut records = Vec::new();
    let mut rest = bytes;
    loop {
        let split = split_record(rest, true, delimiter, &mut fields);
        assert_eq!(split, split_line(rest, true, delimiter, &mut unused), "the splitters differ");
        match split {
            Split::Record { len, end, lines } => {
                assert!(end <= len && len > 0 && lines > 0 && fields.iter().all(|field| field.start <= field.end && field.end <= end));
                records.push(fields.iter().map(|field| rest[field.start..field.end].to_vec()).collect());
                rest = &rest[len..];
            }
            Split::Blank { len } => rest = &rest[len..],
            Split::Incomplete | Split::OpenQuote | Split::AfterQuote => return records,
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
    ] {
        let normaliser = Normaliser::parse(name).expect("the names are those of the parser");
        let (mut once, mut twice) = (String::new(), String::new());
        if normaliser.apply(text, &mut once).is_ok() {
            assert_eq!(normaliser.apply(&once, &mut twice), Ok(()), "{name} refuses its own result");
            assert_eq!(once, twice, "{name} is not idempotent");
        }
    }
}

/// Reads bytes as each message of a session.
pub fn session_messages(bytes: &[u8]) {
    use crate::handshake::Hello;
    use crate::handshake::messages::{Body, Choice, Closing, Opening, Ready, Seen, Sizes};
    use vesica_party::Reader;
    fn read<B: Body>(bytes: &[u8]) {
        // Whatever it says, it must say it.
        let _ = B::read(&mut Reader::new(bytes));
    }
    for read in [read::<Opening>, read::<Hello>, read::<Sizes>, read::<Choice>, read::<Ready>, read::<Seen>, read::<Closing>] {
        read(bytes);
    }
}

/// Reads bytes as a receipt, and checks its signatures.
pub fn receipt(bytes: &[u8]) {
    if let Ok(receipt) = serde_json::from_slice::<crate::receipt::Receipt>(bytes) {
        receipt.verify();
    }
}

/// Reads bytes as a file of shares, and writes it again.
pub fn shares(bytes: &[u8]) {
    if let Ok(file) = crate::shares::ShareFile::from_bytes(bytes) {
        // The header may be written in another way; what it says stays.
        assert_eq!(crate::shares::ShareFile::from_bytes(&file.to_bytes()).ok(), Some(file), "it does not read itself back");
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
