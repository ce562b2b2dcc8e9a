//! Parsers of bytes that others wrote, as plain functions for fuzzers and property tests. No public
//! API.

pub mod seeds;

use std::sync::LazyLock;

use vesica_party::{Reader, Role, Security};
use vesica_protocols::tasks::Extent;

use crate::cluster::messages::{Ended, Slots, Unmask, WorkerKeys};
use crate::handshake::messages::{Body, Choice, Closing, Fits, Opening, Ready, Seen, Sizes};
use crate::handshake::{Hello, TaskBytes};
use crate::key::KeySpec;
use crate::noise::{Epsilon, NoiseConfig};
use crate::plan::{Link, Machine, Permissions, Prices, Setting};
use crate::resume::{AllCommitted, Unfinished};
use crate::service::Description;
use crate::table::{Duplicates, ExpectedRange, Format, Join, PayloadSpec, ValueSpec};
use crate::task::{self, AnyJob, AnyTask, Settings, Side};
use crate::written::{Job, Peers};

pub use vesica_data::fuzzing::{
    Field, Split, csv, date, decimal, input, key_specification, normalise, parquet_structures, payload, ranges,
    split_line, split_record, table, values,
};

/// Reads a text as a budget, and takes from it. Whether it covered that.
pub fn budget(text: &str) -> bool {
    crate::noise::take_from_budget_text(text)
}

/// Reads a text as a job. Whether it is one.
pub fn job(text: &str) -> bool {
    Job::parse(text).is_ok_and(|job| {
        let settings = [Role::Receiver, Role::Sender].map(|role| job.settings(role).count());
        settings.iter().sum::<usize>() >= job.shared.len()
    })
}

/// Reads a text as a file of partners. Whether it is one; each partner is found by its name.
pub fn peers(text: &str) -> bool {
    Peers::parse(text).is_ok_and(|peers| {
        assert!(peers.partners.iter().all(|partner| peers.find(&partner.name) == Some(partner)));
        true
    })
}

/// Reads a text as a list of prices. Whether it is one.
pub fn prices(text: &str) -> bool {
    Prices::parse(text, "the fuzzed list").is_ok()
}

/// Reads bytes as the speed of a machine and plans with it. Whether it is one.
pub fn calibration(bytes: &[u8]) -> bool {
    let Ok(machine) = serde_json::from_slice::<Machine>(bytes) else { return false };
    let prices = Prices::built_in().expect("the built-in list");
    let task = task::find("intersect").expect("the task");
    let workload =
        task.workload(&Extent::new(1 << 20, 1 << 20, Security::Malicious), &task.least_amounts()).expect("the least");
    let setting = Setting {
        machine: &machine,
        threads: 2,
        link: &Link::ASSUMED,
        prices: &prices,
        traffic: &prices.traffic[0],
        permissions: Permissions::default(),
    };
    // A plan may be refused; it must not fail otherwise.
    let _ = crate::plan::plan(workload.workload(), &setting);
    true
}

/// Reads a text as an epsilon; what is shown reads back. Whether it is one.
pub fn epsilon(text: &str) -> bool {
    Epsilon::parse(text).is_ok_and(|epsilon| {
        assert_eq!(Epsilon::parse(&epsilon.to_string()).ok(), Some(epsilon));
        true
    })
}

/// A message by its name, and its parser.
type Parser = (&'static str, fn(&[u8]));

/// The messages of a session, each with its parser.
const SESSION_MESSAGES: [Parser; 14] = [
    ("Opening", read::<Opening>),
    ("Hello", read::<Hello>),
    ("Sizes", read::<Sizes>),
    ("Fits", read::<Fits>),
    ("Choice", read::<Choice>),
    ("Ready", read::<Ready>),
    ("Seen", read::<Seen>),
    ("Closing", read::<Closing>),
    ("Slots", read::<Slots>),
    ("WorkerKeys", read::<WorkerKeys>),
    ("Unmask", read::<Unmask>),
    ("Ended", read::<Ended>),
    ("Unfinished", read::<Unfinished>),
    ("AllCommitted", read::<AllCommitted>),
];

fn read<B: Body>(bytes: &[u8]) {
    // Whatever it says, it must say it.
    let _ = B::read(&mut Reader::new(bytes));
}

/// Reads bytes as each message of a session.
pub fn session_messages(bytes: &[u8]) {
    for (_, read) in SESSION_MESSAGES {
        read(bytes);
    }
    task_words(bytes);
}

/// A configured side of a task, with what it says of the task.
struct OwnSide {
    task: &'static dyn AnyTask,
    /// Role and settings, in words.
    name: String,
    job: Box<dyn AnyJob>,
    proposal: Vec<u8>,
    measure: Vec<u8>,
}

/// Both sides of each task, in each of some settings that they take.
static OWN_SIDES: LazyLock<Vec<OwnSide>> = LazyLock::new(own_sides);

fn own_sides() -> Vec<OwnSide> {
    let table = input(b"id,amount,region\na,1.25,north\nb,-2,south\n", Format::Csv).expect("a table");
    let plain = KeySpec::parse(&["id"], &[]).expect("a key");
    let with_alternatives = KeySpec::parse_alternatives(&["id"], &[vec!["region".into()]], &[]).expect("a key");
    let keys = [(&plain, ""), (&with_alternatives, ", alternatives of the key")];
    let all = task::all().flat_map(|task| [Role::Sender, Role::Receiver].map(|role| (task, role)));
    let all = all.flat_map(|(task, role)| settings(role).map(|(name, settings)| (task, role, name, settings)));
    let all = all.flat_map(|side| keys.map(|key| (side.clone(), key)));
    type Chosen = (&'static dyn AnyTask, Role, &'static str, Settings);
    let side = |((task, role, name, settings), (key, alternatives)): (Chosen, (&KeySpec, &str))| {
        let or_keys = key.has_alternatives();
        let side = Side {
            role,
            settings: &settings,
            or_keys,
            buckets: 1,
            work: false,
            resume: false,
            output: Some(Join::Inner),
        };
        let job = task.configure(&side).ok()?;
        let read = job.columns().read(&table, key, None).expect("columns of the table");
        let (proposal, measure) = (job.proposal(), job.measure(&read));
        Some(OwnSide { task, name: format!("{role}, {name}{alternatives}"), job, proposal, measure })
    };
    all.filter_map(side).collect()
}

/// Settings for the columns `amount` and `region`, with names. Each task refuses some of them.
fn settings(role: Role) -> [(&'static str, Settings); 6] {
    let text = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let columns = text(&["amount"]);
    let values = ValueSpec::parse(&columns, &text(&["amount=2"]), &text(&["amount=-5..5"])).expect("sound arguments");
    let range = ExpectedRange::parse("count=0..7").expect("a range");
    let with_column = Settings { values, expected_ranges: vec![range], max_groups: 5, ..Settings::default() };
    let noise = NoiseConfig { epsilon: Epsilon::parse("0.5").expect("an epsilon"), budget: "budget.toml".into() };
    let with_payload = match role {
        Role::Sender => {
            let payload = PayloadSpec { columns, duplicates: Duplicates::Refuse };
            Settings { payload: Some(payload), ..Settings::default() }
        }
        Role::Receiver => Settings { expected_payload: Some(columns), ..Settings::default() },
    };
    let grouped = ValueSpec { group_by: Some("region".into()), ..ValueSpec::default() };
    [
        ("no columns", Settings::default()),
        ("a column of values", with_column.clone()),
        ("noise", Settings { noise: Some(noise), ..with_column }),
        ("groups", Settings { values: grouped, at_least: 2, ..Settings::default() }),
        ("a payload", with_payload.clone()),
        ("a payload, and both learn", Settings { both_learn: true, ..with_payload }),
    ]
}

/// Reads bytes as a peer's words in each task: a proposal, a line feed, and what it says once it
/// has read its table. How many sides settle with it.
pub fn task_words(bytes: &[u8]) -> usize {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (proposal, measure) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let extent = Extent::new(1000, 1000, Security::SemiHonest);
    let settles = |side: &&OwnSide| {
        // Whatever it says, it must say it.
        let readable = side.job.differences(proposal).is_ok();
        let ours = TaskBytes { proposal: &side.proposal, measure: &side.measure };
        let terms = side.job.settle(&extent, ours, TaskBytes { proposal, measure });
        let OwnSide { task, name, .. } = side;
        assert!(readable || terms.is_err(), "{task} ({name}) settles with a proposal that it cannot read");
        terms.is_ok()
    };
    OWN_SIDES.iter().filter(settles).count()
}

/// Reads bytes as a receipt, and checks its signatures: which of them are right.
pub fn receipt(bytes: &[u8]) -> (bool, bool) {
    serde_json::from_slice::<crate::receipt::Receipt>(bytes).map_or((false, false), |receipt| receipt.verify())
}

/// Reads bytes as a file of shares, and writes it again.
pub fn shares(bytes: &[u8]) {
    if let Ok(file) = crate::shares::ShareFile::from_bytes(bytes) {
        // The header may be written in another way; what it says stays.
        assert_eq!(
            crate::shares::ShareFile::from_bytes(&file.to_bytes()).ok(),
            Some(file),
            "it does not read itself back"
        );
    }
}

#[cfg(test)]
mod tests;

/// Reads bytes as a server's description, and derives what a client does from it. Whether it is one
/// that this release can ask.
pub fn description(bytes: &[u8]) -> bool {
    let Ok(description) = Description::from_bytes(bytes) else { return false };
    let again = description.to_bytes().and_then(|bytes| Description::from_bytes(&bytes));
    assert_eq!(again.as_ref(), Ok(&description));
    // Sizes that are not served are refused; they must not fail otherwise.
    description.check().is_ok()
}
