//! The memory model against lengths of tables and filters that are known without a run.

use vesica::party::Security;
use vesica::party::variants::split;
use vesica::plan::{Memory, PROCESS_MEMORY, memory};
use vesica::protocols::tasks::Extent;
use vesica::task::{self, SampleWorkload};
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::filters::{Demand, Kind};
use vesica_structures::okvs::{Gbf, Paxos};

fn workload(extent: Extent) -> Box<dyn SampleWorkload> {
    vesica_lab::install();
    let task = task::find("intersect").expect("a task");
    task.workload(&extent, &task.least_amounts()).expect("the least")
}

/// The sender holds 48 bytes a cell while it makes its share of the VOLE, the receiver 64 where values
/// have 128 bits, and 56 where they have 64.
#[test]
fn longer_tables_of_the_vole_rows_are_within_the_prediction() {
    let of = |id: &str, len: fn(usize, u32) -> Result<usize, Unsupported>, security, receivers_cell: u64| {
        for log in [4, 10, 13, 16, 20, 21] {
            let cells = len(1 << log, FailureEvent::Encoding.bits()).expect("a table") as u64;
            let workload = workload(Extent::new(1 << log, 1 << log, security));
            let Memory { sender, receiver } = memory(id, workload.workload()).expect("a row");
            assert!(sender > PROCESS_MEMORY + 48 * cells, "{id} at 2^{log}: {sender}");
            assert!(receiver > PROCESS_MEMORY + receivers_cell * cells, "{id} at 2^{log}: {receiver}");
        }
    };
    of("rs21:okvs=2-hash", Paxos::table_len, Security::SemiHonest, 64);
    of("rs21:okvs=2-hash", Paxos::table_len, Security::Malicious, 64);
    of("rr22:okvs=2-hash", Paxos::table_len, Security::SemiHonest, 56);
    of("rr22:okvs=2-hash", Paxos::table_len, Security::Malicious, 64);
    of("rs21:okvs=gbf", Gbf::table_len, Security::SemiHonest, 64);
    of("rr22:okvs=gbf", Gbf::table_len, Security::SemiHonest, 64);
}

/// While its space grows, a filter is there twice at the receiver, beside a tag for each item.
/// The sender holds its items, and up to 35 bytes a tag: in buckets and sorted, or sorted beside
/// what a binary fuse filter is made of. The length of a cuckoo filter doubles between the last
/// two numbers of items.
#[test]
fn filters_are_within_the_prediction() {
    for (id, kind, tags_per_item) in [
        ("cm20:compare=bloom", Kind::Bloom, 1),
        ("ecdh-hfh99:compare=fuse", Kind::Fuse, 1),
        ("kkrt16:compare=cuckoo", Kind::Cuckoo, 3),
        ("oos17:compare=vacuum", Kind::Vacuum, 3),
        ("prty20:compare=vacuum", Kind::Vacuum, 1),
        ("pssz15:compare=vacuum", Kind::Vacuum, 3),
        ("psz14:compare=fuse", Kind::Fuse, 3),
        ("rr22:compare=vacuum", Kind::Vacuum, 1),
        ("rs21:compare=fuse", Kind::Fuse, 1),
        ("spot-fast:compare=vacuum", Kind::Vacuum, 2),
        ("spot-low:compare=fuse", Kind::Fuse, 1),
    ] {
        for (senders, receivers) in
            [(1 << 10, 1 << 20), (1 << 20, 1 << 10), (1 << 20, 1 << 20), (1_300_000, 1 << 16), (1_400_000, 1 << 16)]
        {
            let extent = Extent::new(senders, receivers, Security::SemiHonest);
            let workload = workload(extent);
            let Memory { sender, receiver } = memory(id, workload.workload()).expect("a row");
            let tags = tags_per_item * senders;
            let demand = Demand { tags, look_ups: receivers, error_bits: FailureEvent::TagCollision.bits() };
            let filter = kind.bytes(&demand).expect("served") as u64;
            assert!(receiver > PROCESS_MEMORY + 2 * filter + 16 * receivers as u64, "{id}: {receiver}");
            assert!(sender > PROCESS_MEMORY + (16 * senders + 35 * tags) as u64, "{id}: {sender}");
            // Its row's, but for the filter and a few bytes an item.
            let row = memory(split(id).0, workload.workload()).expect("a row");
            assert!(receiver < row.receiver + 2 * filter + (1 << 20), "{id}: {receiver}");
            assert!(sender < row.sender + (4 * senders + (1 << 20)) as u64, "{id}: {sender}");
        }
    }
}
