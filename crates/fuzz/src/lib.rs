//! Every parser of bytes that a peer or a file brings, as plain functions. A smoke run drives them
//! on stable Rust, libFuzzer on nightly.
//!
//! [`TARGETS`] lists the parsers with their seeds. `tests/smoke.rs` mutates the seeds; the
//! workspace in `fuzz/` drives the same functions under `cargo fuzz`.
#![forbid(unsafe_code)]

mod seeds;

pub use seeds::conversations;

use vesica::fuzzing;
use vesica::table::Format;
use vesica_party::fuzzing::AnyMessage;
use vesica_structures::filters::{Demand, Kind};
use vesica_structures::golomb::Code;

/// A parser under test.
pub struct Target {
    /// Its name, also that of its corpus folder.
    pub name: &'static str,
    /// Takes any bytes without a panic. Whether it read them to their end as what they are meant to
    /// be.
    pub run: fn(&[u8]) -> bool,
    /// Well-formed inputs to mutate.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Which of its seeds it reads so; a test sees to it.
    pub reach: Reach,
}

/// Which seeds the target reads to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All.
    All,
    /// Some: the others lead to errors that mutation does not find.
    Some,
    /// It says nothing of that.
    Unknown,
}

const fn target(name: &'static str, run: fn(&[u8]) -> bool, seeds: fn() -> Vec<Vec<u8>>, reach: Reach) -> Target {
    Target { name, run, seeds, reach }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("frames", frames, seeds::frames, Reach::Some),
    target("conversation", conversation, seeds::conversations, Reach::All),
    target("reader", reader, seeds::none, Reach::Unknown),
    target("golomb", golomb_tags, seeds::golomb, Reach::All),
    target("filters", filters, seeds::filters, Reach::All),
    target("csv", csv, seeds::csv, Reach::All),
    target("normalise", normalise, seeds::normalise, Reach::Unknown),
    target("table", |bytes| table(bytes, Format::Csv), seeds::csv, Reach::Some),
    target("gzip", |bytes| table(bytes, Format::Csv), seeds::gzip, Reach::All),
    target("zstd", |bytes| table(bytes, Format::Csv), seeds::zstd, Reach::All),
    target("bzip2", |bytes| table(bytes, Format::Csv), seeds::bzip2, Reach::All),
    target("json-lines", |bytes| table(bytes, Format::JsonLines), seeds::json_lines, Reach::Some),
    target("parquet", |bytes| table(bytes, Format::Parquet), seeds::parquet, Reach::All),
    target("parquet-structures", parquet_structures, seeds::parquet_structures, Reach::Unknown),
    target("arrow-file", |bytes| table(bytes, Format::ArrowFile), seeds::arrow_files, Reach::All),
    target("arrow-stream", |bytes| table(bytes, Format::ArrowStream), seeds::arrow_streams, Reach::All),
    target("values", |bytes| fuzzing::values(bytes).is_ok_and(|keys| keys > 0), seeds::values, Reach::All),
    target("payload-schema", fuzzing::payload, seeds::payload_schemas, Reach::All),
    target(
        "blocks",
        |bytes| any_message(vesica_mpc::registry::messages(), bytes),
        || seeds::messages(vesica_mpc::registry::messages()),
        Reach::All,
    ),
    target(
        "protocols",
        |bytes| any_message(vesica_protocols::registry::messages(), bytes),
        || seeds::messages(vesica_protocols::registry::messages()),
        Reach::All,
    ),
    target(
        "papers",
        |bytes| any_message(vesica_papers::registry::messages(), bytes),
        || seeds::messages(vesica_papers::registry::messages()),
        Reach::All,
    ),
    target("description", fuzzing::description, seeds::descriptions, Reach::All),
    target("session", session, seeds::session, Reach::Unknown),
    target("receipt", |bytes| fuzzing::receipt(bytes) == (true, true), seeds::receipt, Reach::Some),
    target("shares", shares, seeds::shares, Reach::Unknown),
    target("budget", |bytes| text(bytes, fuzzing::budget), seeds::budgets, Reach::All),
    // An empty text is a file of either kind that says nothing.
    target("job", |bytes| !bytes.is_empty() && text(bytes, fuzzing::job), seeds::jobs, Reach::All),
    target("peers", |bytes| !bytes.is_empty() && text(bytes, fuzzing::peers), seeds::peers, Reach::All),
    target("prices", |bytes| text(bytes, fuzzing::prices), seeds::prices, Reach::All),
    target("calibration", fuzzing::calibration, seeds::calibrations, Reach::All),
    target("decimal", decimal, seeds::decimal, Reach::Unknown),
    target("ranges", |bytes| text(bytes, |text| fuzzing::ranges(text) > 0), seeds::ranges, Reach::All),
    target("epsilon", |bytes| text(bytes, fuzzing::epsilon), seeds::epsilons, Reach::All),
    target("key-specification", |bytes| text(bytes, fuzzing::key_specification), seeds::key_specifications, Reach::All),
    target("date", |bytes| text(bytes, fuzzing::date), seeds::dates, Reach::All),
    target(
        "link",
        |bytes| text(bytes, |text| text.parse::<vesica_party::transport::Link>().is_ok()),
        seeds::links,
        Reach::All,
    ),
    target("proxy-http", |bytes| vesica_party::fuzzing::proxy(bytes, true), seeds::proxies_http, Reach::Some),
    target("proxy-socks", |bytes| vesica_party::fuzzing::proxy(bytes, false), seeds::proxies_socks, Reach::Some),
    target("proxy-url", |bytes| text(bytes, vesica_party::fuzzing::proxy_url), seeds::proxy_urls, Reach::All),
    target("relay-ticket", vesica_party::fuzzing::ticket, seeds::tickets, Reach::All),
    target("service-state", vesica_party::fuzzing::state, vesica_party::fuzzing::state_seeds, Reach::All),
    target("keys", |bytes| text(bytes, |text| vesica_party::fuzzing::keys(text) > 0), seeds::keys, Reach::All),
];

/// Most targets read text, and what is none never comes to them.
fn text(bytes: &[u8], read: fn(&str) -> bool) -> bool {
    std::str::from_utf8(bytes).is_ok_and(read)
}

fn frames(bytes: &[u8]) -> bool {
    vesica_party::fuzzing::frames(bytes) > 0
}

fn conversation(bytes: &[u8]) -> bool {
    vesica_party::fuzzing::conversation(bytes).finished
}

fn reader(bytes: &[u8]) -> bool {
    vesica_party::fuzzing::reader(bytes);
    true
}

/// The first byte chooses the width, the second the count.
fn golomb_tags(bytes: &[u8]) -> bool {
    let [width, count, coded @ ..] = bytes else { return false };
    let (width, count) = (u32::from(*width) % 129, usize::from(*count));
    if width < vesica_structures::facts::ceil_log2(count) + 1 {
        return false;
    }
    let (code, mut values) = (Code::new(count, width), Vec::new());
    if code.decode(coded, count, 0, &mut values).is_err() {
        return false;
    }
    assert!(values.len() == count && values.is_sorted());
    assert!(width == 128 || values.iter().all(|value| value >> width == 0));
    let mut again = Vec::new();
    code.encode(&values, 0, &mut again);
    assert_eq!(again, coded, "two encodings of the same tags");
    true
}

/// The first byte chooses the filter, the second the number of tags, the third the bits of a look-up.
fn filters(bytes: &[u8]) -> bool {
    let [kind, tags, error_bits, filter @ ..] = bytes else { return false };
    let kind = Kind::ALL[usize::from(*kind) % Kind::ALL.len()];
    let demand = Demand { tags: usize::from(*tags), look_ups: 1, error_bits: u32::from(*error_bits) % 81 };
    let Ok(filter) = kind.parse(&demand, filter.to_vec()) else { return false };
    let tags: Vec<u128> = (0..32).map(|i| u128::MAX / 31 * i).collect();
    filter.look_up(&tags, &mut vec![false; tags.len()]);
    true
}

fn csv(bytes: &[u8]) -> bool {
    !fuzzing::csv(bytes, b',').is_empty()
}

fn normalise(bytes: &[u8]) -> bool {
    text(bytes, |text| {
        fuzzing::normalise(text);
        true
    })
}

fn table(bytes: &[u8], format: Format) -> bool {
    fuzzing::table(bytes, format).is_ok_and(|rows| rows > 0)
}

fn parquet_structures(bytes: &[u8]) -> bool {
    fuzzing::parquet_structures(bytes);
    true
}

/// Whether the bytes are one of the messages; all of them read these.
fn any_message(messages: impl Iterator<Item = &'static AnyMessage>, bytes: &[u8]) -> bool {
    messages.filter(|message| (message.read)(bytes)).count() > 0
}

fn session(bytes: &[u8]) -> bool {
    fuzzing::session_messages(bytes);
    true
}

fn shares(bytes: &[u8]) -> bool {
    fuzzing::shares(bytes);
    true
}

fn decimal(bytes: &[u8]) -> bool {
    fuzzing::decimal(bytes);
    true
}
