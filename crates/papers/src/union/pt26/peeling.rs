//! One side's table, and what both sides know of the union's.
//!
//! Which bins are tested, which items come out in which round and in which order follows from the
//! results of the tests and the names that they show, hence is the same on both sides.

use std::ops::Range;

use vesica_party::Channel;
use vesica_structures::prf::DigestPrf;
use vesica_structures::secret::Secret;

use super::Params;
use super::params::Table;

/// Stands for a bin without items.
pub(super) const EMPTY: u128 = 0;

/// Stands for a bin of several items, and for a result: the union's bin is closed. Names of items are
/// greater.
pub(super) const MANY: u128 = 1;

/// No item of this side.
pub(super) const NOT_OWN: u32 = u32::MAX;

/// Names whose bins are worked out at a time, in caches.
const NAMES_PER_BATCH: usize = 512;

/// The public functions from items to names, and from names to bins.
pub(super) struct Hashes {
    names: DigestPrf,
    name_mask: u128,
    /// For each table, two parts by each function.
    bins: Vec<Vec<DigestPrf>>,
    /// What keys the pads.
    pub(super) pads: [u128; 2],
}

impl Hashes {
    pub(super) fn new(ch: &Channel, params: &Params, salt: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 pt26 2026 salt to names, bins and pads");
        hasher.update(&ch.session()).update(salt);
        for size in [params.request.sender_items, params.request.receiver_items] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let mut stream = hasher.finalize_xof();
        let mut key = || {
            let mut key = [0; 16];
            stream.fill(&mut key);
            u128::from_le_bytes(key)
        };
        let (names, pads) = (DigestPrf::new(key()), [key(), key()]);
        let functions = |table: &Table| (0..table.parts.div_ceil(2)).map(|_| DigestPrf::new(key())).collect();
        let bins = params.tables.iter().map(functions).collect();
        Self { names, name_mask: low(params.name_bits), bins, pads }
    }

    /// The names of items.
    pub(super) fn names(&self, items: &[u128]) -> Secret<Vec<u128>> {
        let mut names = Secret::new(vec![0; items.len()]);
        self.names.eval(items, &mut names);
        names.iter_mut().for_each(|name| *name &= self.name_mask);
        names
    }

    /// The bins of names in the table of the given number.
    pub(super) fn bins_of(&self, params: &Params, number: usize) -> Bins<'_> {
        let (table, batch) = (params.tables[number], NAMES_PER_BATCH);
        let hashes = Secret::new(vec![0; batch]);
        Bins { table, functions: &self.bins[number], hashes, bins: Secret::new(vec![0; batch * table.parts]) }
    }
}

/// The low `bits` bits.
pub(super) fn low(bits: u32) -> u128 {
    u128::MAX >> (u128::BITS - bits.clamp(1, u128::BITS))
}

/// The first block where the condition holds, else the second, in the same time.
pub(super) fn select(condition: bool, yes: u128, no: u128) -> u128 {
    let mask = u128::from(condition).wrapping_neg();
    yes & mask | no & !mask
}

/// The bins of names in a table, one in each part.
pub(super) struct Bins<'a> {
    table: Table,
    functions: &'a [DigestPrf],
    hashes: Secret<Vec<u128>>,
    bins: Secret<Vec<u32>>,
}

impl Bins<'_> {
    /// `table.parts` bins for each of at most [`NAMES_PER_BATCH`] names.
    pub(super) fn of(&mut self, names: &[u128]) -> &[u32] {
        let Table { parts, bins_per_part, .. } = self.table;
        let (hashes, bins) = (&mut self.hashes[..names.len()], &mut self.bins[..names.len() * parts]);
        for (number, function) in self.functions.iter().enumerate() {
            function.eval(names, hashes);
            for part in (2 * number..parts).take(2) {
                for (bins, &hash) in bins.chunks_exact_mut(parts).zip(hashes.iter()) {
                    let bits = (hash >> (64 * (part % 2))) as u64;
                    let bin = ((u128::from(bits) * bins_per_part as u128) >> 64) as usize;
                    bins[part] = (part * bins_per_part + bin) as u32;
                }
            }
        }
        bins
    }
}

/// Of a bin, how many items this side has there, and the exclusive or of their numbers.
type Bin = [u32; 2];

/// Of a bin, the round that found it to hold one item or none, and the round after which it was last
/// listed; zero for none.
#[derive(Clone, Copy, Default)]
struct Seen {
    opened: u8,
    listed: u8,
}

/// What has not come out of a table yet.
pub(super) struct Left {
    /// Which of this side's items.
    pub(super) own: Secret<Vec<bool>>,
    /// The most items of the union that may still come out, by the sizes that both sides declared.
    pub(super) room: usize,
}

/// An item that came out of the union's table.
#[derive(Clone, Copy)]
pub(super) struct Peeled {
    /// The test that showed it, among those of its round.
    pub(super) test: u32,
    /// Its number if it is this side's, else [`NOT_OWN`].
    pub(super) item: u32,
}

/// A table that is being peeled.
pub(super) struct Peeling<'a> {
    bins_of: Bins<'a>,
    names: &'a [u128],
    own: Secret<Vec<Bin>>,
    seen: Vec<Seen>,
    round: u8,
    list: Vec<u32>,
    /// The list of the round before, whose space the next one takes.
    spent: Vec<u32>,
    /// Whether the last round left no bin to be tested.
    is_at_rest: bool,
}

impl<'a> Peeling<'a> {
    /// The table of the given number, with this side's items that no table before it has shown.
    pub(super) fn new(params: &Params, number: usize, hashes: &'a Hashes, names: &'a [u128], left: &Left) -> Self {
        let table = params.tables[number];
        let mut bins_of = hashes.bins_of(params, number);
        let mut own = Secret::new(vec![Bin::default(); table.bins()]);
        let batches = names.chunks(NAMES_PER_BATCH).zip(left.own.chunks(NAMES_PER_BATCH));
        for (first, (names, left)) in (0u32..).step_by(NAMES_PER_BATCH).zip(batches) {
            for ((item, bins), &left) in (first..).zip(bins_of.of(names).chunks_exact(table.parts)).zip(left) {
                for &bin in bins {
                    let [count, numbers] = &mut own[bin as usize];
                    *count += u32::from(left);
                    *numbers ^= if left { item } else { 0 };
                }
            }
        }
        let (seen, list) = (vec![Seen::default(); table.bins()], (0..table.bins() as u32).collect());
        Self { bins_of, names, own, seen, round: 1, list, spent: Vec::new(), is_at_rest: false }
    }

    /// Whether all items of the union have come out, which both sides see.
    pub(super) fn is_done(&self) -> bool {
        self.is_at_rest && self.seen.iter().all(|seen| seen.opened != 0)
    }

    /// The bins that this round tests.
    #[cfg(test)]
    pub(super) fn list(&self) -> &[u32] {
        &self.list
    }

    /// For each bin, the round that found it to hold one item or none.
    #[cfg(test)]
    pub(super) fn opened(&self) -> Vec<u8> {
        self.seen.iter().map(|seen| seen.opened).collect()
    }

    /// Tests of this round.
    pub(super) fn tests(&self) -> usize {
        self.list.len()
    }

    /// How many items this side has in the bin of a test.
    #[cfg(test)]
    pub(super) fn count(&self, test: usize) -> u32 {
        self.own[self.list[test] as usize][0]
    }

    /// Whether this side has nothing in the bin, for each test of the round.
    pub(super) fn are_empty(&self) -> impl Iterator<Item = bool> {
        self.list.iter().map(|&bin| self.own[bin as usize][0] == 0)
    }

    /// What this side says of the bins of some tests: for each the name of its only item, or what
    /// stands for others. Bins and names lie at random places: nothing is done here but to fetch them,
    /// so that the processor fetches many at a time.
    pub(super) fn say(&self, tests: Range<usize>, said: &mut [u128]) {
        for (said, &bin) in said.iter_mut().zip(&self.list[tests]) {
            let [count, numbers] = self.own[bin as usize];
            let is_one = count == 1;
            let name = self.names.get(if is_one { numbers as usize } else { 0 }).copied().unwrap_or(EMPTY);
            *said = select(is_one, name, u128::from(count > 1));
        }
    }

    /// Ends a round: takes out the items of the tests for which `found` has a name, [`EMPTY`] where the
    /// union's bin is empty, [`MANY`] where it is closed; and lists the bins of the next round. `None`
    /// if more items come out than there are.
    pub(super) fn peel(&mut self, found: &[u128], left: &mut Left) -> Option<Vec<Peeled>> {
        let parts = self.bins_of.table.parts;
        for (&found, &bin) in found.iter().zip(&self.list) {
            let opened = &mut self.seen[bin as usize].opened;
            *opened = if found == MANY { *opened } else { self.round };
        }
        let (mut peeled, mut next) = (Vec::new(), std::mem::take(&mut self.spent));
        next.clear();
        let (mut tests, mut names) = ([0; NAMES_PER_BATCH], Secret::new([0; NAMES_PER_BATCH]));
        let mut are_open = Vec::with_capacity(NAMES_PER_BATCH * parts);
        for (first, found) in (0u32..).step_by(NAMES_PER_BATCH).zip(found.chunks(NAMES_PER_BATCH)) {
            let mut shown = 0;
            for (test, &name) in (first..).zip(found) {
                (tests[shown], names[shown]) = (test, name);
                shown += usize::from(name > MANY);
            }
            let bins = self.bins_of.of(&names[..shown]);
            // All together, so that the processor fetches many at a time.
            are_open.clear();
            are_open.extend(bins.iter().map(|&bin| self.seen[bin as usize].opened == self.round));
            let bins = bins.chunks_exact(parts).zip(are_open.chunks_exact(parts));
            for (&test, (bins, are_open)) in tests.iter().zip(bins) {
                // An item that is alone in several bins comes out of the first of them.
                let bin = self.list[test as usize];
                let first = bins.iter().zip(are_open).find(|(_, is_open)| **is_open);
                if first.is_none_or(|(&first, _)| first != bin) {
                    continue;
                }
                if peeled.len() == left.room {
                    return None;
                }
                // The union has no other item in an open bin, so that those that came out before have changed
                // nothing here.
                let [count, item] = self.own[bin as usize];
                let is_own = count == 1;
                peeled.push(Peeled { test, item: if is_own { item } else { NOT_OWN } });
                for &bin in bins {
                    let seen = &mut self.seen[bin as usize];
                    if seen.opened != self.round && seen.listed != self.round {
                        seen.listed = self.round;
                        next.push(bin);
                    }
                }
                // The work is the same for an item that this side lacks.
                let (one, item) = if is_own { (1, item) } else { (0, 0) };
                for &bin in bins {
                    let [count, numbers] = &mut self.own[bin as usize];
                    *count = count.saturating_sub(one);
                    *numbers ^= item;
                }
                if let Some(left) = left.own.get_mut(item as usize) {
                    *left &= !is_own;
                }
            }
        }
        left.room -= peeled.len();
        self.is_at_rest = next.is_empty();
        // Each round makes a test: how many rounds have something to do does not show in their number.
        if next.is_empty() {
            next.push(0);
        }
        self.spent = std::mem::replace(&mut self.list, next);
        self.round += 1;
        Some(peeled)
    }
}
