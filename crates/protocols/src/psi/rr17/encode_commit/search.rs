//! The receiver's search for its own tags among the sender's. Each tag takes a look at one bucket; one that is
//! found takes some nanoseconds more, to note a candidate, whether there is space for it or not. That is time
//! which a sender can multiply: the entry says so.
//!
//! A tag is too short to decide: it names *candidates*, each of which is tried at its commitment when all
//! groups have come. An item has space for [`CANDIDATES`]; the first ones count. Were there no bound, a
//! sender could fill many groups with the tags of one item that it has committed to nowhere, and have the
//! receiver try all of them. As each item has a space of its own, tags of one item do not
//! change what is found of others.

use rayon::prelude::*;
use subtle::ConstantTimeEq;
use vesica_structures::secret::Secret;

use super::groups::{COMMITMENT_BYTES, commit};

/// Candidates of an item that are tried.
pub(in crate::psi::rr17) const CANDIDATES: usize = 4;

/// Items tried by a thread at a time.
const ITEMS_PER_PIECE: usize = 1 << 8;

/// The receiver's tags, by slot within a bin.
pub(super) struct OwnTags {
    /// The first entry of each bucket, and the number of entries.
    starts: Vec<u32>,
    entries: Vec<OwnTag>,
}

/// A tag, the slot of its item within a bin, and the item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnTag {
    pub(super) tag: u64,
    pub(super) slot: u32,
    pub(super) item: u32,
}

impl OwnTags {
    /// Tags in buckets by their low bits, about one in each.
    pub(super) fn new(tags: &[OwnTag]) -> Self {
        let buckets = tags.len().next_power_of_two();
        let mut own = Self { starts: vec![0; buckets + 1], entries: vec![OwnTag::default(); tags.len()] };
        for tag in tags {
            let bucket = own.bucket(tag.tag);
            own.starts[bucket + 1] += 1;
        }
        for bucket in 0..buckets {
            own.starts[bucket + 1] += own.starts[bucket];
        }
        let mut next = own.starts.clone();
        for tag in tags {
            let place = &mut next[own.bucket(tag.tag)];
            own.entries[*place as usize] = *tag;
            *place += 1;
        }
        own
    }

    fn bucket(&self, tag: u64) -> usize {
        tag as usize & (self.starts.len() - 2)
    }

    /// The items with this tag in this slot. It looks at a bucket, whose length the own tags determine.
    pub(super) fn find(&self, tag: u64, slot: usize) -> impl Iterator<Item = u32> + '_ {
        let bucket = self.bucket(tag);
        let entries = &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
        entries.iter().filter(move |entry| entry.tag == tag && entry.slot as usize == slot).map(|entry| entry.item)
    }
}

/// Commitments that may be to own items, with wrapped openings.
pub(super) struct Candidates {
    /// [`CANDIDATES`] of each item.
    found: Vec<Candidate>,
    counts: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Candidate {
    commitment: [u8; COMMITMENT_BYTES],
    wrapped: u128,
}

impl Candidates {
    /// None yet, for so many items.
    pub(super) fn new(items: usize) -> Self {
        Self { found: vec![Candidate::default(); items * CANDIDATES], counts: vec![0; items] }
    }

    /// Notes a candidate of an item, if there is space for it.
    pub(super) fn add(&mut self, item: u32, commitment: [u8; COMMITMENT_BYTES], wrapped: u128) {
        let item = item as usize;
        let count = &mut self.counts[item];
        if usize::from(*count) < CANDIDATES {
            self.found[item * CANDIDATES + usize::from(*count)] = Candidate { commitment, wrapped };
            *count += 1;
        }
    }

    /// The items one of whose candidates is a commitment to them, ascending. `masks` has what their openings
    /// are wrapped in. As many candidates are tried of each item, whether they have come or not: no item has
    /// the commitment zero.
    pub(super) fn matches(&self, key: &[u8; 32], items: &[u128], masks: &Secret<Vec<u128>>) -> Vec<u32> {
        let opens = |item: usize, mask: u128, candidate: &Candidate| {
            commit(key, items[item], candidate.wrapped ^ mask).ct_eq(&candidate.commitment)
        };
        let mut is_match = vec![0; items.len()];
        is_match.par_chunks_mut(ITEMS_PER_PIECE).enumerate().for_each(|(piece, is_match)| {
            for (item, is_match) in (piece * ITEMS_PER_PIECE..).zip(is_match) {
                for candidate in &self.found[item * CANDIDATES..][..CANDIDATES] {
                    *is_match |= opens(item, masks[item], candidate).unwrap_u8();
                }
            }
        });
        // Written before, as in a list of found tags.
        let (mut matches, mut count) = (vec![0; items.len() + 1], 0);
        for (item, is_match) in is_match.into_iter().enumerate() {
            matches[count] = item as u32;
            count += usize::from(is_match);
        }
        matches.truncate(count);
        matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_their_slots_alone() {
        let tags: Vec<OwnTag> =
            (0..1000).map(|item| OwnTag { tag: u64::from(item % 300) * 7919, slot: item % 5, item }).collect();
        let own = OwnTags::new(&tags);
        for tag in &tags {
            for slot in 0..5 {
                let same = tags.iter().filter(|other| other.tag == tag.tag && other.slot == slot);
                let mut found: Vec<u32> = own.find(tag.tag, slot as usize).collect();
                found.sort_unstable();
                assert_eq!(found, same.map(|other| other.item).collect::<Vec<_>>());
            }
        }
        assert_eq!(own.find(1, 0).count(), 0);
        let one = OwnTags::new(&[OwnTag { tag: 9, slot: 0, item: 0 }]);
        assert_eq!((one.find(9, 0).count(), one.find(8, 0).count()), (1, 0));
    }

    #[test]
    fn an_item_matches_if_one_of_its_first_candidates_opens() {
        let (key, items, masks) = ([1; 32], [10, 11, 12, 13], Secret::new(vec![20, 21, 22, 23]));
        let mut candidates = Candidates::new(items.len());
        let right = |item: usize| (commit(&key, items[item], 99), 99 ^ masks[item]);
        let mut add = |item: usize, (commitment, wrapped): ([u8; 32], u128)| {
            candidates.add(item as u32, commitment, wrapped);
        };
        add(0, right(0));
        // Behind others that do not open, and behind too many.
        for _ in 0..CANDIDATES - 1 {
            add(1, right(0));
            add(3, right(1));
        }
        add(1, right(1));
        add(3, right(0));
        add(3, right(3));
        assert_eq!(candidates.matches(&key, &items, &masks), [0, 1]);
    }
}
