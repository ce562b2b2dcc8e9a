//! What a set was prepared from, so that a later table can be compared with it.

use std::io;

use rayon::prelude::*;
use vesica_party::service::{StateError, StateReader, StateWriter};
use vesica_protocols::tasks::IntersectSenderInput;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// A table's items in their order, a hash of each payload, and the dummies that fill up the set.
#[derive(Debug)]
pub(super) struct Roster {
    items: Secret<Vec<u128>>,
    /// Of the payload of each item; empty without payloads.
    payloads: Vec<u128>,
    dummies: Secret<Vec<u128>>,
}

/// How many keys a table has that the one before did not have, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Keys that were not there before.
    pub added: u64,
    /// Keys that are not there any more.
    pub removed: u64,
    /// Keys whose columns of `--payload` have changed.
    pub changed: u64,
}

impl Changes {
    /// How many of a set's items go, and as many come.
    pub(super) fn items(&self) -> u64 {
        self.added.max(self.removed) + self.changed
    }
}

/// What takes a prepared set to another table.
pub(super) struct Update {
    /// Items that go, and as many that come: dummies make up for a table that grows or shrinks.
    pub removed: IntersectSenderInput,
    pub added: IntersectSenderInput,
    pub roster: Roster,
}

/// What has become of an item.
enum Change {
    Came,
    Went,
    /// It has another payload.
    Changed,
}

impl Roster {
    /// That of a table's set, still without dummies. Payloads are hashed under the salt of the set,
    /// so that the hashes are no dictionary.
    pub fn of(salt: u128, set: &IntersectSenderInput) -> Self {
        let width = width_of(set);
        let mut order: Vec<u32> = (0..set.items.len() as u32).collect();
        order.par_sort_unstable_by_key(|&place| set.items.get(place as usize));
        let item = |&place: &u32| set.items.get(place as usize).copied().unwrap_or_default();
        let items = Secret::new(order.iter().map(item).collect());
        let hash = |&place: &u32| {
            let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-24 hash of a served payload v1");
            hasher.update(&salt.to_le_bytes()).update(&item(&place).to_le_bytes());
            hasher.update(payload_of(set, width, place as usize));
            let mut short = [0; 16];
            hasher.finalize_xof().fill(&mut short);
            u128::from_le_bytes(short)
        };
        let payloads = if width > 0 { order.par_iter().map(hash).collect() } else { Vec::new() };
        Self { items, payloads, dummies: Secret::new(Vec::new()) }
    }

    /// A hash of items and payloads in any order.
    pub fn hash(&self, salt: u128) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-24 hash of a served set v2");
        hasher.update(&salt.to_le_bytes());
        for list in [&self.items[..], &self.payloads] {
            hasher.update(&(list.len() as u64).to_le_bytes());
            for number in list {
                hasher.update(&number.to_le_bytes());
            }
        }
        *hasher.finalize().as_bytes()
    }

    /// Draws dummies up to a capacity, and adds them to the set behind its items.
    pub fn fill_up(&mut self, set: &mut IntersectSenderInput, capacity: usize, rng: &mut SecretRng) {
        let width = width_of(set);
        // Two random items are equal, or one is a key's item, with a probability below n^2 / 2^128.
        self.dummies.resize_with(capacity.saturating_sub(self.items.len()), || rng.block());
        set.items.extend_from_slice(&self.dummies);
        set.payloads.resize(capacity.saturating_mul(width), 0);
    }

    /// How many items there are, dummies included.
    pub fn len(&self) -> usize {
        self.items.len() + self.dummies.len()
    }

    /// How many keys the table has.
    pub fn keys(&self) -> u64 {
        self.items.len() as u64
    }

    /// Goes through all items that have changed from here to `now`, in their order.
    fn compare(&self, now: &Self, mut each: impl FnMut(Change, u128)) {
        let mut before = self.items.iter().zip(0_usize..).peekable();
        for (number, &item) in now.items.iter().enumerate() {
            while let Some((&gone, _)) = before.next_if(|&(&old, _)| old < item) {
                each(Change::Went, gone);
            }
            match before.next_if(|&(&old, _)| old == item) {
                Some((_, place)) if self.payloads.get(place) == now.payloads.get(number) => {}
                Some(_) => each(Change::Changed, item),
                None => each(Change::Came, item),
            }
        }
        before.for_each(|(&gone, _)| each(Change::Went, gone));
    }

    /// How much has changed from here to a table with the roster `now`.
    pub fn changes_to(&self, now: &Self) -> Changes {
        let mut changes = Changes::default();
        self.compare(now, |change, _| match change {
            Change::Came => changes.added += 1,
            Change::Went => changes.removed += 1,
            Change::Changed => changes.changed += 1,
        });
        changes
    }

    /// Takes a dummy out. Any of them: the last one would stay for the shortest time, which tells it
    /// from a key.
    fn drop_dummy(&mut self, rng: &mut SecretRng) -> Option<u128> {
        let place = (u128::from(rng.block() as u64) * self.dummies.len() as u128) >> u64::BITS;
        (!self.dummies.is_empty()).then(|| self.dummies.swap_remove(place as usize))
    }

    /// The roster of a table's set with the dummies of this one, as far as there is room, and as many
    /// items. Adds the dummies to the set.
    pub fn renew_to(&self, mut now: Self, set: &mut IntersectSenderInput, rng: &mut SecretRng) -> Self {
        now.dummies.extend_from_slice(&self.dummies);
        while now.len() > self.len() && now.drop_dummy(rng).is_some() {}
        now.fill_up(set, self.len(), rng);
        now
    }

    /// What has changed from here to a table with the roster `now` and the set `set`, of at most as
    /// many items as there are here with dummies.
    pub fn update_to(&self, mut now: Self, set: &IntersectSenderInput, rng: &mut SecretRng) -> Update {
        let width = width_of(set);
        let (mut removed, mut added) = (IntersectSenderInput::default(), Vec::new());
        self.compare(&now, |change, item| {
            if !matches!(change, Change::Came) {
                removed.items.push(item);
            }
            if !matches!(change, Change::Went) {
                added.push(item);
            }
        });
        now.dummies.extend_from_slice(&self.dummies);
        let keys = added.len();
        // A dummy goes for each key that the table has more, and a new one comes for each that it has less.
        while removed.items.len() < added.len() {
            let Some(dummy) = now.drop_dummy(rng) else { break };
            removed.items.push(dummy);
        }
        while added.len() < removed.items.len() {
            let dummy = rng.block();
            now.dummies.push(dummy);
            added.push(dummy);
        }
        let mut payloads = vec![0; added.len() * width];
        if width > 0 {
            // Both are in the order of the items.
            let mut order: Vec<(u128, usize)> = set.items.iter().copied().zip(0..).collect();
            order.par_sort_unstable();
            for (item, record) in added.iter().take(keys).zip(payloads.chunks_exact_mut(width)) {
                if let Some((_, place)) =
                    order.binary_search_by_key(item, |&(item, _)| item).ok().and_then(|found| order.get(found))
                {
                    record.copy_from_slice(payload_of(set, width, *place));
                }
            }
        }
        Update { removed, added: IntersectSenderInput { items: added, payloads }, roster: now }
    }

    /// Writes it as a part of a state.
    pub fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        for list in [&self.items[..], &self.payloads, &self.dummies] {
            out.u64(list.len() as u64)?;
            out.elements(list)?;
        }
        Ok(())
    }

    /// Reads what `write` wrote.
    pub fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut list = || {
            let count = bytes.count()?;
            bytes.elements::<u128>(count)
        };
        let (items, payloads, dummies) = (Secret::new(list()?), list()?, Secret::new(list()?));
        if !payloads.is_empty() && payloads.len() != items.len() || !items.is_sorted() {
            return Err(StateError::Damaged("what its set was prepared from is malformed"));
        }
        Ok(Self { items, payloads, dummies })
    }
}

fn width_of(set: &IntersectSenderInput) -> usize {
    set.payloads.len().checked_div(set.items.len()).unwrap_or(0)
}

fn payload_of(set: &IntersectSenderInput, width: usize, place: usize) -> &[u8] {
    set.payloads.get(place * width..(place + 1) * width).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(items: &[u128], payloads: &[u8]) -> IntersectSenderInput {
        IntersectSenderInput { items: items.to_vec(), payloads: payloads.to_vec() }
    }

    #[test]
    fn a_sets_hash_goes_by_its_items_and_payloads_and_not_by_their_order() {
        let hash_under = |salt, items: &[u128], payloads: &[u8]| Roster::of(salt, &set(items, payloads)).hash(salt);
        let hash = |items: &[u128], payloads: &[u8]| hash_under(5, items, payloads);
        let first = hash(&[1, 2, 3], b"aabbcc");
        assert_eq!(first, hash(&[3, 1, 2], b"ccaabb"));
        assert_ne!(first, hash(&[3, 1, 2], b"aabbcc"), "payloads of other items");
        assert_ne!(first, hash(&[1, 2], b"aabb"));
        assert_ne!(first, hash(&[1, 2, 3], b""));
        assert_ne!(first, hash_under(6, &[1, 2, 3], b"aabbcc"));
    }

    /// Applies updates to a list that is kept in the clear: it has the table's rows, as many dummies
    /// as there is room, and each of them once.
    #[test]
    fn updates_lead_to_the_table_and_keep_the_number_of_items() {
        let mut rng = SecretRng::insecure_from_seed(4);
        let mut all = set(&[4, 1, 3], b"ddaacc");
        let mut roster = Roster::of(5, &all);
        roster.fill_up(&mut all, 8, &mut rng);
        let record = |set: &IntersectSenderInput, place: usize| set.payloads[2 * place..2 * place + 2].to_vec();
        let mut list: std::collections::BTreeMap<u128, Vec<u8>> =
            (0..8).map(|place| (all.items[place], record(&all, place))).collect();
        assert_eq!(list.len(), 8);
        for (items, payloads, counts) in [
            (&[9, 1, 4, 3][..], &b"iiaaddcc"[..], [1, 0, 0]),
            (&[1, 9], b"aaII", [0, 2, 1]),
            (&[10, 20, 30, 40, 50, 60, 70, 80], b"0123456789abcdef", [8, 2, 0]),
            (&[1], b"aa", [1, 8, 0]),
            (&[1], b"aa", [0, 0, 0]),
        ] {
            let now = set(items, payloads);
            let Changes { added, removed, changed } = roster.changes_to(&Roster::of(5, &now));
            assert_eq!([added, removed, changed], counts);
            let update = roster.update_to(Roster::of(5, &now), &now, &mut rng);
            assert_eq!(update.removed.items.len(), update.added.items.len());
            for item in &update.removed.items {
                assert!(list.remove(item).is_some(), "{item} was there");
            }
            for (place, &item) in update.added.items.iter().enumerate() {
                assert!(list.insert(item, record(&update.added, place)).is_none(), "{item} was not there");
            }
            roster = update.roster;
            assert_eq!((list.len(), roster.len()), (8, 8));
            for (place, item) in items.iter().enumerate() {
                assert_eq!(list.get(item), Some(&record(&now, place)), "{item}");
            }
            assert_eq!(roster.hash(5), Roster::of(5, &now).hash(5));
        }
    }

    #[test]
    fn a_renewed_set_keeps_the_dummies_for_which_there_is_room() {
        let mut rng = SecretRng::insecure_from_seed(5);
        let mut all = set(&[4, 1, 3], b"ddaacc");
        let mut roster = Roster::of(5, &all);
        roster.fill_up(&mut all, 8, &mut rng);
        for (items, payloads) in [(&[9, 1][..], &b"IIaa"[..]), (&[1, 2, 3, 4, 5, 6], b"aabbccddeeff"), (&[], b"")] {
            let mut now = set(items, payloads);
            let next = roster.renew_to(Roster::of(5, &now), &mut now, &mut rng);
            assert_eq!((next.len(), next.keys(), now.items.len()), (8, items.len() as u64, 8));
            let stayed = next.dummies.iter().filter(|dummy| roster.dummies.contains(dummy)).count();
            assert_eq!(stayed, roster.dummies.len().min(8 - items.len()));
            assert_eq!(now.items[items.len()..], next.dummies[..]);
            assert_eq!(now.payloads.len(), if items.is_empty() { 0 } else { 16 });
            assert_eq!(next.hash(5), Roster::of(5, &set(items, payloads)).hash(5));
            roster = next;
        }
    }
}
