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

/// What takes a prepared set to another table.
pub(super) struct Update {
    pub changes: Changes,
    /// Items that go, and as many that come: dummies make up for a table that grows or shrinks.
    pub removed: IntersectSenderInput,
    pub added: IntersectSenderInput,
    pub roster: Roster,
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

    /// What has changed from here to a table with the roster `now` and the set `set`, of at most as
    /// many items as there are here with dummies.
    pub fn update_to(&self, mut now: Self, set: &IntersectSenderInput, rng: &mut SecretRng) -> Update {
        let width = width_of(set);
        let mut changes = Changes::default();
        let (mut removed, mut added) = (IntersectSenderInput::default(), Vec::new());
        let mut before = self.items.iter().zip(0_usize..).peekable();
        for (number, &item) in now.items.iter().enumerate() {
            while let Some((&gone, _)) = before.next_if(|&(&old, _)| old < item) {
                changes.removed += 1;
                removed.items.push(gone);
            }
            match before.next_if(|&(&old, _)| old == item) {
                Some((_, place)) if self.payloads.get(place) == now.payloads.get(number) => {}
                Some(_) => {
                    changes.changed += 1;
                    removed.items.push(item);
                    added.push(item);
                }
                None => {
                    changes.added += 1;
                    added.push(item);
                }
            }
        }
        for (&gone, _) in before {
            changes.removed += 1;
            removed.items.push(gone);
        }
        now.dummies.extend_from_slice(&self.dummies);
        let keys = added.len();
        // A dummy goes for each key that the table has more, and a new one comes for each that it has less.
        while removed.items.len() < added.len() {
            if now.dummies.is_empty() {
                break;
            }
            // Any of them: the last one would stay for the shortest time, which tells it from a key.
            let place = (u128::from(rng.block() as u64) * now.dummies.len() as u128) >> u64::BITS;
            removed.items.push(now.dummies.swap_remove(place as usize));
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
        Update { changes, removed, added: IntersectSenderInput { items: added, payloads }, roster: now }
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
            let update = roster.update_to(Roster::of(5, &now), &now, &mut rng);
            let Changes { added, removed, changed } = update.changes;
            assert_eq!([added, removed, changed], counts);
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
}
