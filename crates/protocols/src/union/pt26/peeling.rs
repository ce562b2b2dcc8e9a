//! One side's table, and what both sides know of the union's.
//!
//! Which bins are tested, which items come out in which round and in which order follows from the
//! results of the tests and the names that they show, hence is the same on both sides.

use vesica_party::Channel;
use vesica_structures::prf::DigestPrf;
use vesica_structures::secret::Secret;

use super::Params;
use super::params::Table;

/// Stands for a bin without items.
pub(super) const EMPTY: u128 = 0;

/// Stands for a bin of several items.
pub(super) const MANY: u128 = 1;

/// No item of this side.
pub(super) const NOT_OWN: u32 = u32::MAX;

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
}

/// The low `bits` bits.
pub(super) fn low(bits: u32) -> u128 {
    u128::MAX >> (u128::BITS - bits.clamp(1, u128::BITS))
}

/// The bins of names in a table, one in each part.
struct Bins<'a> {
    table: Table,
    functions: &'a [DigestPrf],
}

impl Bins<'_> {
    /// `table.parts` bins for each name.
    fn of(&self, names: &[u128]) -> Secret<Vec<u32>> {
        let Table { parts, bins_per_part, .. } = self.table;
        let mut bins = Secret::new(vec![0; names.len() * parts]);
        let mut hashes = Secret::new(vec![0; names.len()]);
        for (number, function) in self.functions.iter().enumerate() {
            function.eval(names, &mut hashes);
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

/// What a side has in a bin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Empty,
    /// One item, of this number.
    One(u32),
    Many,
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
    /// For each bin, the round that found it to hold one item or none.
    opened: Vec<u8>,
    /// For each bin, the round after which it was last listed.
    listed: Vec<u8>,
    round: u8,
    list: Vec<u32>,
    /// Whether the last round left no bin to be tested.
    is_at_rest: bool,
}

impl<'a> Peeling<'a> {
    /// The table of the given number, with this side's items that no table before it has shown.
    pub(super) fn new(params: &Params, number: usize, hashes: &'a Hashes, names: &'a [u128], left: &[bool]) -> Self {
        let table = params.tables[number];
        let bins_of = Bins { table, functions: &hashes.bins[number] };
        let mut own = Secret::new(vec![Bin::default(); table.bins()]);
        for ((item, bins), &left) in (0u32..).zip(bins_of.of(names).chunks_exact(table.parts)).zip(left) {
            for &bin in bins {
                let [count, numbers] = &mut own[bin as usize];
                *count += u32::from(left);
                *numbers ^= if left { item } else { 0 };
            }
        }
        let (opened, listed) = (vec![0; table.bins()], vec![0; table.bins()]);
        let list = (0..table.bins() as u32).collect();
        Self { bins_of, names, own, opened, listed, round: 1, list, is_at_rest: false }
    }

    /// Whether all items of the union have come out, which both sides see.
    pub(super) fn is_done(&self) -> bool {
        self.is_at_rest && self.opened.iter().all(|&round| round != 0)
    }

    /// The bins that this round tests.
    #[cfg(test)]
    pub(super) fn list(&self) -> &[u32] {
        &self.list
    }

    /// For each bin, the round that found it to hold one item or none.
    #[cfg(test)]
    pub(super) fn opened(&self) -> &[u8] {
        &self.opened
    }

    /// Tests of this round.
    pub(super) fn tests(&self) -> usize {
        self.list.len()
    }

    /// What this side has in the bin of a test.
    pub(super) fn content(&self, test: usize) -> Content {
        let [count, numbers] = self.own[self.list[test] as usize];
        match count {
            0 => Content::Empty,
            1 => Content::One(numbers),
            _ => Content::Many,
        }
    }

    /// What this side says of the bin of a test: the name of its only item, or what stands for others.
    pub(super) fn name(&self, test: usize) -> u128 {
        match self.content(test) {
            Content::Empty => EMPTY,
            Content::One(item) => self.names[item as usize],
            Content::Many => MANY,
        }
    }

    /// Ends a round: takes out the items of the tests for which `found` has a name, [`EMPTY`] where the
    /// union's bin is empty, and lists the bins of the next round. `left` are this side's items that
    /// have not come out.
    pub(super) fn peel(&mut self, found: &[Option<u128>], left: &mut [bool]) -> Vec<Peeled> {
        let parts = self.bins_of.table.parts;
        let (mut tests, mut names) = (Vec::new(), Secret::new(Vec::with_capacity(found.len())));
        for (test, (found, &bin)) in (0u32..).zip(found.iter().zip(&self.list)) {
            let Some(name) = *found else { continue };
            self.opened[bin as usize] = self.round;
            if name != EMPTY {
                tests.push(test);
                names.push(name);
            }
        }
        let (mut peeled, mut places, mut next) = (Vec::new(), Vec::new(), Vec::new());
        let bins_of = self.bins_of.of(&names);
        for (place, (&test, bins)) in tests.iter().zip(bins_of.chunks_exact(parts)).enumerate() {
            // An item that is alone in several bins comes out of the first of them.
            let first = bins.iter().find(|&&bin| self.opened[bin as usize] == self.round);
            if first != self.list.get(test as usize) {
                continue;
            }
            let item = match self.content(test as usize) {
                Content::One(item) => item,
                Content::Empty | Content::Many => NOT_OWN,
            };
            peeled.push(Peeled { test, item });
            places.push(place);
            for &bin in bins {
                if self.opened[bin as usize] != self.round && self.listed[bin as usize] != self.round {
                    self.listed[bin as usize] = self.round;
                    next.push(bin);
                }
            }
        }
        // Not before: the contents above are those that the tests were about. The work is the same for an
        // item that this side lacks.
        for (peeled, place) in peeled.iter().zip(places) {
            let is_own = peeled.item != NOT_OWN;
            let (one, item) = if is_own { (1, peeled.item) } else { (0, 0) };
            for &bin in &bins_of[place * parts..][..parts] {
                let [count, numbers] = &mut self.own[bin as usize];
                *count = count.saturating_sub(one);
                *numbers ^= item;
            }
            if let Some(left) = left.get_mut(item as usize) {
                *left &= !is_own;
            }
        }
        self.is_at_rest = next.is_empty();
        // Each round makes a test: how many rounds have something to do does not show in their number.
        if next.is_empty() {
            next.push(0);
        }
        self.list = next;
        self.round += 1;
        peeled
    }
}
