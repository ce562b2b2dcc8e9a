//! The memory model: an upper bound on what a run allocates on either side, as a function of the
//! agreed sizes.
//!
//! ```text
//! bytes = PROCESS_MEMORY + fixed + per sender's item * n_s + per receiver's item * n_r + what payloads, columns and groups add
//! ```
//!
//! The coefficients of a protocol in a mode ([`super::footprints`]) lie above every measured peak
//! and, up to rounding, on some. A task in buckets takes what the run of a bucket does, and what its division
//! into buckets and the buckets' results take; docs/parameters/plan-memory.md says how they are made. Tables' own
//! rows come on top of it, and are there before sizes are agreed.

use vesica_party::variants::split;
use vesica_party::{Role, Security};
use vesica_protocols::psi::vole::params::value_bits;
use vesica_protocols::tasks::Extent;
use vesica_structures::fields::{Cell, Gf64};
use vesica_structures::filters::Kind;

use super::Workload;
use super::footprints::FOOTPRINTS;
use crate::buckets::bytes_per_item;

/// What a process has that is no protocol's: channel buffers, stacks of threads, the ends of huge
/// pages.
pub const PROCESS_MEMORY: u64 = 24 << 20;

/// The coefficients of a protocol in a mode.
#[derive(Debug)]
pub(super) struct Footprint {
    /// The protocol.
    pub id: &'static str,
    /// The mode.
    pub security: Security,
    /// The sender's coefficients.
    pub sender: Coefficients,
    /// The receiver's coefficients.
    pub receiver: Coefficients,
    /// How further columns and groups are added up.
    pub totals: Totals,
}

/// How a protocol computes the totals of columns and groups, which decides what each more of them
/// takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Totals {
    /// From the matches that one side sees, or under encryption.
    Plain,
    /// As inner products of shares, one for each column and group.
    OnShares,
    /// Not at all: the sender prepares a matrix for private look-ups, whose size depends on the width
    /// of a payload, and not in a line on the number of items. The receiver keeps a bounded number of
    /// look-ups under way.
    LookUp,
    /// Not at all: the sender fills up buckets, whose number and length are not in a line on the number of
    /// items.
    Buckets,
    /// Not at all: the sender multiplies payloads to ciphertexts, which takes larger ones, and one more
    /// for each two bytes.
    InCiphertexts,
    /// Not at all: the sender tests cells, whose number is not in a line on the number of items.
    Cells,
    /// Not at all: the sender makes polynomials of payloads, whose number depends on the width of a payload.
    Labels,
    /// Not at all: both sides hold what some transfers give at a time, whose number is not in a line on the
    /// number of items.
    Transfers,
    /// Not at all: the receiver holds a filter of the sender's tags, whose length is not in a line on the
    /// number of items.
    Filter {
        /// The filter.
        kind: Kind,
        /// Tags of an item of the sender.
        tags_per_item: usize,
    },
}

/// What one side allocates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coefficients {
    /// KiB, whatever the sizes.
    pub fixed_kib: u64,
    /// Bytes for each of the sender's items.
    pub per_sender_item: u64,
    /// Bytes for each of the receiver's items.
    pub per_receiver_item: u64,
}

/// Memory that a run takes at most on either side, in bytes, beside the tables' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes at the sender.
    pub sender: u64,
    /// Bytes at the receiver.
    pub receiver: u64,
}

impl Memory {
    /// That of the side of this role.
    pub fn of(&self, role: Role) -> u64 {
        match role {
            Role::Sender => self.sender,
            Role::Receiver => self.receiver,
        }
    }
}

/// What protocol `id` takes for a workload that it serves. `None` for one that was never measured,
/// which no registry has. A variant without coefficients of its own takes its row's and half as
/// much again: more than what any of these takes by count, of which `okvs=2-hash` has the most
/// cells (docs/parameters/plan-memory.md).
pub fn memory(id: &str, workload: &dyn Workload) -> Option<Memory> {
    let row = split(id).0;
    if row != id && !FOOTPRINTS.iter().any(|footprint| footprint.id == id) {
        let Memory { sender, receiver } = memory(row, workload)?;
        let [sender, receiver] =
            [sender, receiver].map(|bytes| bytes.saturating_add(bytes.saturating_sub(PROCESS_MEMORY) / 2));
        return Some(Memory { sender, receiver });
    }
    let extent = workload.extent();
    let find = |security| FOOTPRINTS.iter().find(|footprint| (footprint.id, footprint.security) == (id, security));
    let narrow = find(extent.security)?;
    // Where the semi-honest mode needs the wide field, it takes what the malicious mode does.
    let is_wide = value_bits(extent.security, extent.sender_items.saturating_mul(extent.runs)) > Gf64::BITS;
    let Footprint { sender, receiver, totals, .. } =
        if is_wide { find(Security::Malicious).unwrap_or(narrow) } else { narrow };
    let runs = extent.runs as u64;
    let [sender, receiver] =
        [(sender, Role::Sender, extent.sender_items), (receiver, Role::Receiver, extent.receiver_items)].map(
            |(of, role, items)| {
                // Payloads stay until all buckets are done.
                let extra = workload.extra_memory(*totals, role).saturating_mul(runs);
                let each = if runs == 1 { 0 } else { bytes_per_item(extent.security) };
                let buckets = (items as u64).saturating_mul(runs).saturating_mul(each);
                PROCESS_MEMORY.saturating_add(of.bytes(extent)).saturating_add(extra).saturating_add(buckets)
            },
        );
    Some(Memory { sender, receiver })
}

impl Coefficients {
    fn bytes(&self, extent: &Extent) -> u64 {
        let items = |count: usize, each: u64| (count as u64).saturating_mul(each);
        let senders = items(extent.sender_items, self.per_sender_item);
        (self.fixed_kib << 10)
            .saturating_add(senders)
            .saturating_add(items(extent.receiver_items, self.per_receiver_item))
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::CostClass;
    use vesica_structures::facts::{FailureEvent, Unsupported};
    use vesica_structures::filters::Demand;
    use vesica_structures::okvs::{Gbf, Okvs, Paxos};

    use super::*;
    use crate::task;

    #[test]
    fn every_row_in_every_mode_has_a_footprint_that_grows_with_the_sizes() {
        assert!(FOOTPRINTS.is_sorted_by_key(|footprint| footprint.id));
        for (task, entry) in
            task::TASKS.iter().flat_map(|task| task.shipped_entries().into_iter().map(move |entry| (task, entry)))
        {
            for mode in entry.modes {
                let at = |senders, receivers| {
                    let extent = Extent::new(senders, receivers, mode.security);
                    let workload = task.workload(&extent, &task.least_amounts()).expect("the least");
                    memory(entry.id, workload.workload())
                        .unwrap_or_else(|| panic!("{} {} has none", entry.id, mode.security))
                };
                let (few, many, most) = (at(1, 1), at(1 << 24, 1 << 24), at(usize::MAX, usize::MAX));
                // Keys for rotations of ciphertexts are large, however few items there are.
                let least = if entry.cost == CostClass::Lattice { 256 << 20 } else { 64 << 20 };
                assert!(few.sender > PROCESS_MEMORY && few.sender < least, "{} {few:?}", entry.id);
                for role in [Role::Sender, Role::Receiver] {
                    // A side holds its own items, and most rows what they make of them.
                    assert!(
                        many.of(role) >= few.of(role) + (16 << 24) && most.of(role) > many.of(role),
                        "{} {many:?}",
                        entry.id
                    );
                }
            }
        }
        let plain = task::tests::workload("intersect", Extent::new(5, 5, Security::SemiHonest));
        assert_eq!(memory("no-such-protocol", plain.workload()), None);
    }

    /// The sender holds 48 bytes a cell while it makes its share of the VOLE, the receiver 64 where values
    /// have 128 bits, and 56 where they have 64.
    #[test]
    fn longer_tables_of_the_vole_rows_are_within_the_prediction() {
        let of = |id: &str, len: fn(usize, u32) -> Result<usize, Unsupported>, security, receivers_cell: u64| {
            for log in [4, 10, 13, 16, 20, 21] {
                let cells = len(1 << log, FailureEvent::Encoding.bits()).expect("a table") as u64;
                let workload = task::tests::workload("intersect", Extent::new(1 << log, 1 << log, security));
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
                let workload = task::tests::workload("intersect", extent);
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

    /// A row that computes on shares takes an inner product for each total.
    #[test]
    fn groups_take_memory_where_totals_are_computed_on_shares() {
        let sum = task::find("sum").expect("the task");
        let extent = Extent::new(1 << 16, 1 << 16, Security::SemiHonest);
        let of = |id, groups| {
            let amounts = task::Amounts { groups, ..sum.least_amounts() };
            memory(id, sum.workload(&extent, &amounts).expect("groups").workload()).expect("a row").sender
        };
        let more = |id| of(id, 50) - of(id, 1);
        assert!(more("vesica-sum") > 50 * (1 << 16) * 180, "{}", more("vesica-sum"));
        assert!(more("czz24-sum") < 8 << 20, "{}", more("czz24-sum"));
    }
}
