//! Parsers of bytes that others wrote, as plain functions for fuzzers and property tests. No public
//! API.

pub mod seeds;

use vesica_party::Security;
use vesica_protocols::tasks::Extent;

use crate::plan::{Link, Machine, Permissions, Prices, Setting};
use crate::table::ValueSpec;

pub use vesica_data::fuzzing::{
    Field, Split, csv, date, decimal, key_specification, normalise, parquet_structures, payload, ranges, split_line,
    split_record, table, values,
};

/// Reads a text as a budget, and takes from it. Whether it covered that.
pub fn budget(text: &str) -> bool {
    crate::noise::take_from_budget_text(text)
}

/// Reads a text as a list of prices. Whether it is one.
pub fn prices(text: &str) -> bool {
    Prices::parse(text, "the fuzzed list").is_ok()
}

/// Reads bytes as the speed of a machine and plans with it. Whether it is one.
pub fn calibration(bytes: &[u8]) -> bool {
    let Ok(machine) = serde_json::from_slice::<Machine>(bytes) else { return false };
    let prices = Prices::built_in().expect("the built-in list");
    let task = crate::task::find("intersect").expect("the task");
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
    use crate::noise::Epsilon;
    Epsilon::parse(text).is_ok_and(|epsilon| {
        assert_eq!(Epsilon::parse(&epsilon.to_string()).ok(), Some(epsilon));
        true
    })
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
    for read in
        [read::<Opening>, read::<Hello>, read::<Sizes>, read::<Choice>, read::<Ready>, read::<Seen>, read::<Closing>]
    {
        read(bytes);
    }
    task_words(bytes);
}

/// Reads bytes as a peer's words in each task: a proposal, a line feed, and what it says once it
/// has read its table. How many sides settle with it.
pub fn task_words(bytes: &[u8]) -> usize {
    use crate::handshake::TaskBytes;
    use crate::table::Join;
    use crate::task::{self, Settings, Side};
    use vesica_party::Role;
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (proposal, measure) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let extent = Extent::new(1000, 1000, Security::SemiHonest);
    let column = ValueSpec::parse(&["amount".to_owned()], &["amount=2".to_owned()], &["amount=-5..5".to_owned()]);
    let with_column = Settings { values: column.expect("sound arguments"), max_groups: 5, ..Settings::default() };
    let mut settled = 0;
    for (task, role) in task::all().flat_map(|task| [Role::Sender, Role::Receiver].map(|role| (task, role))) {
        for settings in [&Settings::default(), &with_column] {
            let Ok(job) = task.configure(&Side { role, settings, output: Some(Join::Inner) }) else { continue };
            let own = job.proposal();
            // Whatever it says, it must say it.
            let readable = job.differences(proposal).is_ok();
            for own_measure in [&b"{\"payload\":null}"[..], b"{\"groups\":1}", b"{}"] {
                let ours = TaskBytes { proposal: &own, measure: own_measure };
                let terms = job.settle(&extent, ours, TaskBytes { proposal, measure });
                assert!(readable || terms.is_err(), "{task} settles with a proposal that it cannot read");
                settled += usize::from(terms.is_ok());
            }
        }
    }
    settled
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
