//! Well-formed inputs of each target, for mutation to start from.

use std::io::Write;

use vesica::fuzzing::seeds as tables;
use vesica_party::fuzzing::AnyMessage;
use vesica_structures::filters::{Demand, Kind};
use vesica_structures::golomb::Code;
use vesica_structures::rng::SecretRng;

pub fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<Vec<u8>> {
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A frame without a step.
fn control(kind: u8, fork: u16, body: &[u8]) -> Vec<u8> {
    frame(kind, 0, fork, 0, body)
}

fn frame(kind: u8, step: u8, fork: u16, tag: u16, body: &[u8]) -> Vec<u8> {
    let (fork, tag, length) = (fork.to_le_bytes(), tag.to_le_bytes(), (body.len() as u32).to_le_bytes());
    [&[kind, step][..], &fork, &tag, &length, body].concat()
}

const MESSAGE: u8 = 1;
const CHUNK: u8 = 2;
const OPEN: u8 = 3;
const CLOSE: u8 = 4;
const CREDIT: u8 = 5;
const PING: u8 = 6;
const ABORT: u8 = 7;
const FINISH: u8 = 8;

/// The body of a frame that opens a fork.
fn opening(parent: u16, index: u16) -> Vec<u8> {
    [&parent.to_le_bytes()[..], &index.to_le_bytes(), &7u64.to_le_bytes()].concat()
}

pub fn frames() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = (0..9u8).map(|kind| [&[kind], &[0u8; 40][..]].concat()).collect();
    seeds.extend(conversations());
    let abort = [&[70u8, 1][..], &3u32.to_le_bytes(), b"why", &4u32.to_le_bytes(), b"mend"].concat();
    seeds.push([control(PING, 0, &[]), control(ABORT, 0, &abort)].concat());
    seeds
}

/// Whole conversations, from the first frame to the one that says that nothing more comes.
pub fn conversations() -> Vec<Vec<u8>> {
    let finish = control(FINISH, 0, &[]);
    vec![
        finish.clone(),
        [frame(MESSAGE, 3, 0, 99, b"a message"), control(PING, 0, &[]), finish.clone()].concat(),
        [
            control(OPEN, 1, &opening(0, 0)),
            control(OPEN, 2, &opening(1, 0)),
            control(OPEN, 3, &opening(0, 5)),
            frame(CHUNK, 1, 1, 7, &[5; 100]),
            frame(CHUNK, 1, 2, 7, &[6; 300]),
            control(CREDIT, 0, &1000u32.to_le_bytes()),
            control(CLOSE, 1, &[]),
            control(CLOSE, 3, &[]),
            finish,
        ]
        .concat(),
    ]
}

pub fn golomb() -> Vec<Vec<u8>> {
    let seed = |width: u8, count: u8| {
        let span = if width == 128 { u128::MAX } else { (1 << width) - 1 };
        let values: Vec<u128> = (0..u128::from(count)).map(|i| span / u128::from(count.max(1)) * i).collect();
        let mut seed = vec![width, count];
        Code::new(values.len(), width.into()).encode(&values, 0, &mut seed);
        seed
    };
    vec![seed(40, 0), seed(82, 9), seed(128, 200), seed(61, 255)]
}

pub fn filters() -> Vec<Vec<u8>> {
    let mut rng = SecretRng::insecure_from_seed(1);
    let mut seed = |(place, kind): (usize, &Kind), tags: u8, error_bits: u8| {
        let demand = Demand { tags: usize::from(tags), look_ups: 1, error_bits: error_bits.into() };
        let mut tags_in: Vec<u128> = (0..tags).map(|_| rng.block()).collect();
        let filter = kind.build(&demand, &mut tags_in).unwrap_or_default();
        [&[place as u8, tags, error_bits][..], &filter].concat()
    };
    let sizes = [(0, 42), (1, 80), (9, 20), (200, 11)];
    sizes
        .iter()
        .flat_map(|&(tags, error_bits)| Kind::ALL.iter().enumerate().map(move |kind| (kind, tags, error_bits)))
        .map(|(kind, tags, error_bits)| seed(kind, tags, error_bits))
        .collect()
}

pub fn csv() -> Vec<Vec<u8>> {
    texts([
        "id,email\n1,a@example.org\n2,b@example.org\n",
        "\u{feff}id;email\r\n1;\"a;b\"\r\n\r\n2;\"say \"\"hi\"\"\"\r\n",
        "email\n\"two\nlines\"\nlast without an end",
        "email,email\n,\n",
    ])
}

pub fn json_lines() -> Vec<Vec<u8>> {
    texts([
        "{\"id\":1,\"email\":\"a@example.org\"}\n{\"id\":2,\"email\":\"b@example.org\"}\n",
        "\u{feff}{\"email\":\"say \\\"hi\\\" \\ud83d\\ude00\"}\r\n\r\n{}\n{\"email\":-1.50e+3}",
        "{\"email\":null,\"tags\":[1,{\"a\":[]}]}\n {\"tags\":{},\"email\":true} \n",
        "{\"email\":{}}\n",
    ])
}

pub fn gzip() -> Vec<Vec<u8>> {
    let packed = |level, text: &str| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
        packer.write_all(text.as_bytes()).and_then(|()| packer.finish()).unwrap_or_default()
    };
    let text = "id,email\n1,a@example.org\n2,b@example.org\n";
    vec![packed(0, text), packed(9, text), [packed(6, text), packed(6, "3,c@example.org\n")].concat()]
}

pub fn zstd() -> Vec<Vec<u8>> {
    let packed = |level, checksum, text: &str| {
        let mut packer = zstd::stream::write::Encoder::new(Vec::new(), level)?;
        packer.include_checksum(checksum)?;
        packer.write_all(text.as_bytes())?;
        packer.finish()
    };
    let packed = |level, checksum, text: &str| packed(level, checksum, text).unwrap_or_default();
    let text = "id,email\n1,a@example.org\n2,b@example.org\n";
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7][..], &packed(1, true, text)].concat();
    let more = [packed(1, true, text), packed(3, false, "3,c@example.org\n")].concat();
    vec![packed(1, false, text), packed(19, true, &text.repeat(20)), skipped, more]
}

pub fn bzip2() -> Vec<Vec<u8>> {
    let packed = |text: &str| {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(text.as_bytes()).and_then(|()| packer.finish()).unwrap_or_default()
    };
    let text = "id,email\n1,a@example.org\n2,b@example.org\n";
    vec![packed(text), [packed(text), packed("3,c@example.org\n")].concat()]
}

pub fn normalise() -> Vec<Vec<u8>> {
    texts([
        "  Ana.Maria@Example.ORG ",
        "+49 (0)30 123-456",
        "0030/1234567",
        "2026-11-20",
        "İstanbul ß ﬁ",
        "-0042",
        "+05.10",
        "True",
    ])
}

pub fn parquet() -> Vec<Vec<u8>> {
    tables::parquet().unwrap_or_default()
}

/// Footers and pages of sound files.
pub fn parquet_structures() -> Vec<Vec<u8>> {
    let footer = |file: &Vec<u8>| {
        let end = file.len() - 8;
        let length = file[end..end + 4].iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
        file[end - length..end].to_vec()
    };
    let mut seeds: Vec<_> = parquet().iter().map(footer).collect();
    seeds.extend(parquet().iter().map(|file| file[4..file.len().min(600)].to_vec()));
    seeds.push(vec![0x80, 0x01, 4, 5, 2, 2, 0, 0, 0, 0, b'a', b'b']);
    seeds
}

pub fn arrow_files() -> Vec<Vec<u8>> {
    tables::arrow_files().unwrap_or_default()
}

pub fn arrow_streams() -> Vec<Vec<u8>> {
    tables::arrow_streams().unwrap_or_default()
}

pub fn values() -> Vec<Vec<u8>> {
    texts([
        "email,amount,count,group\na,12.34,3,x\nb,-0.5,-9,\nc,0,77,y\n",
        "count,email,group,amount\n5,a@example.org,\"x, y\",92233720368547758.07\n",
    ])
}

pub fn payload_schemas() -> Vec<Vec<u8>> {
    let mut all =
        br#"{"fields":[{"name":"a","kind":"text"},{"name":"b","kind":"boolean"},{"name":"c","kind":{"int":{"bits":64}}}],"width":24}"#
            .to_vec();
    all.extend(b"\n\x07\x03abc\x01");
    all.extend((-5i64).to_le_bytes());
    vec![all, [&br#"{"fields":[{"name":"a","kind":"binary"}],"width":3}"#[..], b"\n\x01\x01\xff"].concat()]
}

pub fn messages(messages: impl Iterator<Item = &'static AnyMessage>) -> Vec<Vec<u8>> {
    messages.flat_map(|message| (message.seeds)()).collect()
}

pub fn session() -> Vec<Vec<u8>> {
    // The words of tasks: a proposal, a line feed, and what a side says once it has read its table.
    let words = [
        &br#"{"payload":["a"],"both_learn":false}"#[..],
        br#"{"payload":{"fields":[{"name":"a","kind":"text"}],"width":9}}"#,
        br#"{"values":[{"name":"a","scale":2,"clamp":{"least":-5,"most":5}}],"expected_ranges":[{"name":"b","least":"0","most":"1.5"}],"at_least":0,"noise":"0.1"}"#,
        br#"{"groups":1}"#,
    ];
    let framed = |task: &[u8], fields: &[u8]| [&(task.len() as u32).to_le_bytes()[..], task, fields].concat();
    let sizes = br#"{"items":5,"key_kinds":[{"form":"text","precision":null}],"salt_share":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}"#;
    let configuration = br#"{"role":"sender","task":"intersect","security":"malicious","protocols":["vole-fast"],"key_digest":"vesica-key@2","key_columns":["as it is"],"or_keys":[["digits@2"]],"link":null,"dry_run":false,"clock":1,"nonce":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"salt_commitment":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}"#;
    vec![
        b"vesica\0\n\x01\0\0\0".to_vec(),
        framed(words[0], configuration),
        framed(words[1], sizes),
        framed(words[2], configuration),
        framed(words[3], sizes),
        br#"{"protocol":"vole-fast"}"#.to_vec(),
        vec![0; 64],
        [words[0], b"\n", words[1]].concat(),
        [words[2], b"\n", words[3]].concat(),
        [&br#"{"values":[],"expected_ranges":[]}"#[..], b"\n{}"].concat(),
    ]
}

pub fn receipt() -> Vec<Vec<u8>> {
    let unsigned =
        br#"{"statement":{"wire_version":1,"session":"00","protocol":"vole-fast"},"sender_signature":"00","receiver_signature":null}"#;
    tables::receipt().into_iter().chain([unsigned.to_vec()]).collect()
}

pub fn shares() -> Vec<Vec<u8>> {
    let header =
        br#"{"role":"receiver","session":"00","protocol":"any","bins":2,"sender_columns":[],"receiver_columns":[]}"#;
    let (version, length) = (1u32.to_le_bytes(), (header.len() as u32).to_le_bytes());
    vec![[&b"vesica\0S"[..], &version, &length, header, &[0; 9]].concat()]
}

pub fn budgets() -> Vec<Vec<u8>> {
    texts([
        r#"{"vesica_budget":1,"peers":{"partner":{"total":"1.5","spent":"0.25"}}}"#,
        r#"{"vesica_budget":1,"peers":{"partner":{"total":"9.223372036","spent":"0"},"other":{"total":"x","spent":""}}}"#,
    ])
}

pub fn descriptions() -> Vec<Vec<u8>> {
    texts([
        r#"{"version":1,"protocol":"oprf-rfc9497","security":"malicious","key_digest":"vesica-key@2","key_columns":["as it is"],"key_kinds":[{"form":"text"}],"salt":"000102030405060708090a0b0c0d0e0f","capacity":61440,"items_per_query":16,"payload":null,"quota":null}"#,
        r#"{"version":1,"protocol":"oprf-rfc9497","security":"semi-honest","key_digest":"vesica-key@2","key_columns":["email@2","int@3"],"key_kinds":[{"form":"text"},{"form":"integer"}],"salt":"ffffffffffffffffffffffffffffffff","capacity":1024,"items_per_query":1,"payload":{"fields":[{"name":"a","kind":"text"}],"width":9},"quota":"1000/day"}"#,
        r#"{"version":1,"protocol":"cm25-select","security":"semi-honest","key_digest":"vesica-key@2","key_columns":["int@3"],"key_kinds":[{"form":"integer"}],"salt":"000102030405060708090a0b0c0d0e0f","capacity":1024,"items_per_query":4,"payload":null,"quota":null,"integer_bits":33}"#,
    ])
}

pub fn jobs() -> Vec<Vec<u8>> {
    let job = "task = \"sum\"\npad_to = 1_000\nboth-learn = true\n\n[receiver]\nkey = [\"a\", 'b']\nnormalise = { a = [\"trim\", \
               \"lower\"] }\n\n[sender]\npayload = [\"amount\"]\nscale.amount = 2\nepsilon = 0.5\n";
    vec![job.into()]
}

pub fn peers() -> Vec<Vec<u8>> {
    let peers = "[acme]\nkey = \"vesica-ed25519 AAAA\"\naddress = \"a.example:7400\"\ntasks = \
                 [\"intersect\"]\n\n[acme.defaults]\nwait = \"10m\"\n\n[bank_2]\nkey = \"bank.pub\"\n";
    vec![peers.into()]
}

pub fn prices() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../../docs/prices-2026-11.toml").to_vec()]
}

pub fn calibrations() -> Vec<Vec<u8>> {
    texts([
        r#"{"curve":1000,"setup":1000,"near":1000,"far":1000}"#,
        r#"{"curve":18446744073709551615,"setup":1,"near":0,"far":18446744073709551615}"#,
    ])
}

pub fn decimal() -> Vec<Vec<u8>> {
    texts(["12.34", "-0.050", "9223372036854775807", ".5"])
}

pub fn ranges() -> Vec<Vec<u8>> {
    texts(["a=-5..5", "a=0..99.99", "a=-92233720368547758.08..0", "b=.5..1"])
}

pub fn epsilons() -> Vec<Vec<u8>> {
    texts(["0.5", "1", "0.000000001", "9223372036.854775807"])
}

pub fn key_specifications() -> Vec<Vec<u8>> {
    texts([
        "email\nemail=trim,lower,nfc",
        "phone\nborn\nphone=e164:DE\nborn=date:%d.%m.%Y",
        "n\nn=int,digits",
        "a\nb,c\nb=trim",
    ])
}

pub fn dates() -> Vec<Vec<u8>> {
    texts(["%Y-%m-%d\n2026-11-20", "%d.%m.%Y\n1.2.2026", "%%%Y%m%d\n%20260101"])
}

pub fn links() -> Vec<Vec<u8>> {
    texts(["100mbit,40ms", "lan", "loopback", "1.5gbit,0.2s", "1bit,999999999999us"])
}

pub fn proxies_http() -> Vec<Vec<u8>> {
    texts([
        "HTTP/1.1 200 Connection established\r\nVia: proxy\r\n\r\n",
        "HTTP/1.0 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
    ])
}

pub fn proxies_socks() -> Vec<Vec<u8>> {
    let (login, granted) = (&b"\x05\x02\x01\x00"[..], &b"\x05\x00\x00\x01\x7f\x00\x00\x01\x1c\xe8"[..]);
    vec![[login, granted].concat(), b"\x05\x00\x05\x00\x00\x03\x02ab\x1c\xe8".to_vec(), b"\x05\xff".to_vec()]
}

pub fn proxy_urls() -> Vec<Vec<u8>> {
    texts(["http://us:p%40ss@proxy.example:3128/", "socks5h://[::1]:1080", "socks5://10.0.0.1", "proxy.example:80"])
}

pub fn tickets() -> Vec<Vec<u8>> {
    vec![[&b"vsrelay\x01"[..], &[7; 32]].concat()]
}

pub fn keys() -> Vec<Vec<u8>> {
    let [pem, lines @ ..] = vesica_party::fuzzing::key_seeds().unwrap_or_default();
    [pem].into_iter().chain(lines.map(|line| format!("{line} us"))).map(String::into_bytes).collect()
}
