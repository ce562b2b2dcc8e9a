//! Every parser of bytes that a peer or a file brings, as plain functions: a smoke run drives them on stable, libFuzzer on nightly.
#![forbid(unsafe_code)]

use std::io::Write;

use vesica::key::KeySpec;
use vesica::table::{Input, InputOptions, read_keys};
use vesica_structures::golomb::Code;

/// A parser under test.
pub struct Target {
    /// Its name, also that of its corpus folder.
    pub name: &'static str,
    /// Takes any bytes without a panic.
    pub run: fn(&[u8]),
    /// Well-formed inputs to mutate.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "frames", run: frames, seeds: frame_seeds },
    Target { name: "reader", run: vesica_party::fuzzing::reader, seeds: none },
    Target { name: "golomb", run: golomb_masks, seeds: golomb_seeds },
    Target { name: "csv", run: csv, seeds: csv_seeds },
    Target { name: "normalise", run: normalise, seeds: normalise_seeds },
    Target { name: "table", run: table, seeds: csv_seeds },
    Target { name: "session", run: vesica::fuzzing::session_messages, seeds: session_seeds },
    Target { name: "receipt", run: vesica::fuzzing::receipt, seeds: receipt_seeds },
    Target { name: "shares", run: vesica::fuzzing::shares, seeds: share_seeds },
    Target { name: "decimal", run: vesica::fuzzing::decimal, seeds: decimal_seeds },
    Target { name: "public-key", run: public_key, seeds: public_key_seeds },
];

fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

fn frames(bytes: &[u8]) {
    vesica_party::fuzzing::frames(bytes);
}

fn frame_seeds() -> Vec<Vec<u8>> {
    (0..8u8).map(|kind| [&[kind], &[0u8; 40][..]].concat()).collect()
}

/// The first byte chooses the width, the second the count.
fn golomb_masks(bytes: &[u8]) {
    let [width, count, coded @ ..] = bytes else { return };
    let (width, count) = (u32::from(*width) % 129, usize::from(*count));
    if width < vesica_structures::facts::ceil_log2(count) + 1 {
        return;
    }
    let (code, mut values) = (Code::new(count, width), Vec::new());
    if code.decode(coded, count, 0, &mut values).is_ok() {
        assert!(values.len() == count && values.is_sorted());
        assert!(width == 128 || values.iter().all(|value| value >> width == 0));
        let mut again = Vec::new();
        code.encode(&values, 0, &mut again);
        assert_eq!(again, coded, "two encodings of the same masks");
    }
}

fn golomb_seeds() -> Vec<Vec<u8>> {
    let seed = |width: u8, count: u8| {
        let span = if width == 128 { u128::MAX } else { (1 << width) - 1 };
        let values: Vec<u128> = (0..u128::from(count)).map(|i| span / u128::from(count.max(1)) * i).collect();
        let mut seed = vec![width, count];
        Code::new(values.len(), width.into()).encode(&values, 0, &mut seed);
        seed
    };
    vec![seed(40, 0), seed(82, 9), seed(128, 200), seed(61, 255)]
}

fn csv(bytes: &[u8]) {
    vesica::fuzzing::csv(bytes, b',');
}

fn csv_seeds() -> Vec<Vec<u8>> {
    [
        &b"id,email\n1,a@example.org\n2,b@example.org\n"[..],
        b"\xef\xbb\xbfid;email\r\n1;\"a;b\"\r\n\r\n2;\"say \"\"hi\"\"\"\r\n",
        b"email\n\"two\nlines\"\nlast without an end",
        b"email,email\n,\n",
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}

fn normalise(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        vesica::fuzzing::normalise(text);
    }
}

fn normalise_seeds() -> Vec<Vec<u8>> {
    ["  Ana.Maria@Example.ORG ", "+49 (0)30 123-456", "0030/1234567", "2026-11-20", "İstanbul ß ﬁ", "-0042"].map(|s| s.into()).to_vec()
}

/// A file of each format that holds the bytes, read for keys.
fn table(bytes: &[u8]) {
    let folder = std::env::temp_dir().join(format!("vesica-fuzz-{}", std::process::id()));
    if std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    for extension in ["csv", "parquet", "arrow", "csv.gz"] {
        let path = folder.join(format!("input.{extension}"));
        let written = std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes));
        let (Ok(()), Some(path)) = (written, path.to_str()) else { continue };
        let Ok(input) = Input::open(path, &InputOptions::default()) else { continue };
        let Ok(spec) = KeySpec::parse(&["email"], &[]) else { continue };
        // Whatever it says, it must say it.
        let _ = read_keys(&input, &spec, None);
    }
}

fn public_key(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = text.parse::<vesica_party::transport::tls::PublicKey>();
    }
}

fn public_key_seeds() -> Vec<Vec<u8>> {
    vec![b"vesica-ed25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= us".to_vec()]
}

fn session_seeds() -> Vec<Vec<u8>> {
    [
        &b"vesica\0\n\x01\0\0\0"[..],
        br#"{"items":5,"payload":{"fields":[{"name":"a","kind":"text"}],"width":9},"groups":1,"salt_share":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}"#,
        br#"{"protocol":"vole-fast"}"#,
        br#"{"role":"sender","task":"intersect","security":"malicious","protocols":["vole-fast"],"key_digest":"vesica-key@2","key_columns":["as it is"],"payload":null,"both_learn":false,"values":[{"name":"a","scale":2,"clamp":{"least":-5,"most":5}}],"expected_ranges":[{"name":"b","least":"0","most":"1.5"}],"at_least":3,"noise":"0.1","link":null,"clock":1,"nonce":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"salt_commitment":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}"#,
        &[0; 64],
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}

fn share_seeds() -> Vec<Vec<u8>> {
    let header = br#"{"role":"receiver","session":"00","protocol":"any","bins":2,"sender_columns":[],"receiver_columns":[]}"#;
    let (version, length) = (1u32.to_le_bytes(), (header.len() as u32).to_le_bytes());
    vec![[&b"vesica\0S"[..], &version, &length, header, &[0; 9]].concat()]
}

fn decimal_seeds() -> Vec<Vec<u8>> {
    [&b"12.34"[..], b"-0.050", b"9223372036854775807", b".5"].map(<[u8]>::to_vec).to_vec()
}

fn receipt_seeds() -> Vec<Vec<u8>> {
    vec![
        br#"{"statement":{"wire_version":1,"session":"00","protocol":"vole-fast"},"sender_signature":"00","receiver_signature":null}"#
            .to_vec(),
    ]
}
