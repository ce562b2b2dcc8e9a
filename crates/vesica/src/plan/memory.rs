//! The memory model: an upper bound on what a run allocates on either side, as a function of the
//! agreed sizes.
//!
//! ```text
//! bytes = PROCESS_MEMORY + fixed + per sender's item * n_s + per receiver's item * n_r + what payloads, columns and groups add
//! ```
//!
//! The coefficients of a protocol in a mode (`footprints.txt`) lie above every measured peak
//! and, up to rounding, on some. A task in buckets takes what the run of a bucket does, and what its division
//! into buckets and the buckets' results take; docs/parameters/plan-memory.md says how they are made. Tables' own
//! rows come on top of it, and are there before sizes are agreed.

use std::sync::OnceLock;

use vesica_party::variants::{self, split};
use vesica_party::{Role, Security};
use vesica_protocols::psi::vole::params::value_bits;
use vesica_protocols::tasks::Extent;
use vesica_structures::fields::{Cell, Gf64};

use super::lines::{self, mode};
use super::workload::{Totals, Workload};
use crate::buckets::{BYTES_PER_ITEM_WITH_WORK, WORK_MEMORY, bytes_per_item};
use crate::rows;

/// What a process has that is no protocol's: channel buffers, stacks of threads, the ends of huge
/// pages.
pub const PROCESS_MEMORY: u64 = 24 << 20;

/// The coefficients of a protocol in a mode.
#[derive(Debug)]
struct Footprint {
    /// The protocol.
    id: &'static str,
    /// The mode.
    security: Security,
    /// The sender's coefficients.
    sender: Coefficients,
    /// The receiver's coefficients.
    receiver: Coefficients,
    /// How further columns and groups are added up.
    totals: Totals,
}

/// What one side allocates.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    /// KiB, whatever the sizes.
    fixed_kib: u64,
    /// Bytes for each of the sender's items.
    per_sender_item: u64,
    /// Bytes for each of the receiver's items.
    per_receiver_item: u64,
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

/// The same on a side that keeps keys and buckets in a work folder.
pub fn memory_with_work(id: &str, workload: &dyn Workload) -> Option<Memory> {
    let Memory { sender, receiver } = memory(id, workload)?;
    let extent = workload.extent();
    let spared = bytes_per_item(extent.security) - BYTES_PER_ITEM_WITH_WORK;
    let of = |bytes: u64, items: usize| {
        let all = (items as u64).saturating_mul(extent.runs as u64);
        bytes.saturating_sub(all.saturating_mul(spared)).saturating_add(WORK_MEMORY)
    };
    Some(Memory { sender: of(sender, extent.sender_items), receiver: of(receiver, extent.receiver_items) })
}

/// The coefficients of the product's protocols, then those of protocols that were added.
fn footprints() -> &'static [Footprint] {
    static ALL: OnceLock<Vec<Footprint>> = OnceLock::new();
    ALL.get_or_init(|| {
        let texts = [include_str!("footprints.txt")].into_iter().chain(rows::added().map(|added| added.footprints));
        texts.flat_map(lines::of).filter_map(Footprint::read).collect()
    })
}

impl Footprint {
    /// One line; `None` if it is none.
    fn read(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ');
        let (id, security) = (words.next()?, mode(words.next()?)?);
        let [sender, receiver] = [Coefficients::read(&mut words)?, Coefficients::read(&mut words)?];
        let totals = match words.next() {
            None => Totals::Plain,
            Some("on-shares") => Totals::OnShares,
            Some(_) => return None,
        };
        Some(Self { id, security, sender, receiver, totals })
    }
}

/// What protocol `id` takes for a workload that it serves. `None` for one that was never measured,
/// which no registry has. A variant without coefficients of its own takes its row's and half as
/// much again: more than what any of these takes by count, of which `okvs=2-hash` has the most
/// cells (docs/parameters/plan-memory.md). Of a variant by several choices it is that of the largest of them.
pub fn memory(id: &str, workload: &dyn Workload) -> Option<Memory> {
    let is_known = |id: &str| footprints().iter().any(|footprint| footprint.id == id);
    let row = split(id).0;
    if row != id && !is_known(id) {
        let by_one_choice = variants::by_one_choice(id).filter(|variant| is_known(variant) && variant != id);
        let known = by_one_choice.chain([row.to_owned()]).filter_map(|id| memory(&id, workload));
        let Memory { sender, receiver } = known.reduce(|most, other| Memory {
            sender: most.sender.max(other.sender),
            receiver: most.receiver.max(other.receiver),
        })?;
        let [sender, receiver] =
            [sender, receiver].map(|bytes| bytes.saturating_add(bytes.saturating_sub(PROCESS_MEMORY) / 2));
        return Some(Memory { sender, receiver });
    }
    let extent = workload.extent();
    let find = |security| footprints().iter().find(|footprint| (footprint.id, footprint.security) == (id, security));
    let narrow = find(extent.security)?;
    // Where the semi-honest mode needs the wide field, it takes what the malicious mode does.
    let is_wide = value_bits(extent.security, extent.sender_items.saturating_mul(extent.runs)) > Gf64::BITS;
    let Footprint { sender, receiver, totals, .. } =
        if is_wide { find(Security::Malicious).unwrap_or(narrow) } else { narrow };
    let runs = extent.runs as u64;
    let [sender, receiver] =
        [(sender, Role::Sender, extent.sender_items), (receiver, Role::Receiver, extent.receiver_items)].map(
            |(of, role, items)| {
                let extra = workload.extra_memory(id, *totals, role);
                let each = if runs == 1 { 0 } else { bytes_per_item(extent.security) };
                let buckets = (items as u64).saturating_mul(runs).saturating_mul(each);
                PROCESS_MEMORY.saturating_add(of.bytes(extent)).saturating_add(extra).saturating_add(buckets)
            },
        );
    Some(Memory { sender, receiver })
}

impl Coefficients {
    fn read(words: &mut impl Iterator<Item = &'static str>) -> Option<Self> {
        let mut next = || words.next()?.parse().ok();
        Some(Self { fixed_kib: next()?, per_sender_item: next()?, per_receiver_item: next()? })
    }

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

    use super::*;
    use crate::task;

    #[test]
    fn every_row_in_every_mode_has_a_footprint_that_grows_with_the_sizes() {
        assert_eq!(lines::of(include_str!("footprints.txt")).count(), footprints().len(), "a line is none");
        assert!(footprints().is_sorted_by_key(|footprint| footprint.id));
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
