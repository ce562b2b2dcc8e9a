//! The receiver's search for its own tags among the sender's, in the same steps for each of them, found or
//! not: it compares a tag with as many entries as the longest bucket has, and notes a candidate, at a place
//! that nobody reads if there is none. What remains are caches: a place that was written before is written
//! faster.
//!
//! A tag is too short to decide: it names *candidates*, each of which is tried at its commitment when all
//! groups have come. An item has space for [`CANDIDATES`]; the first ones count. Were there no bound, a
//! sender could fill many groups with the tags of one item that it has committed to nowhere, and have the
//! receiver try all of them. As each item has a space of its own, tags of one item do not
//! change what is found of others. (Own items with one tag in one slot have the same candidates, and share
//! them.)

use rayon::prelude::*;
use subtle::ConstantTimeEq;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::groups::{COMMITMENT_BYTES, commit};

/// Candidates of an item that are tried.
pub(in crate::psi::rr17) const CANDIDATES: usize = 4;

/// Space for the candidates of a place, and for those that are too many.
const SPACE: usize = CANDIDATES + 1;

/// Items tried by a thread at a time.
const ITEMS_PER_PIECE: usize = 1 << 8;

/// Own tags of a bucket, on average.
const TAGS_PER_BUCKET: usize = 2;

/// The receiver's tags, by slot within a bin. Equal ones in the same slot have one *place*.
pub(super) struct OwnTags {
    /// A power of two.
    buckets: usize,
    /// Entries of a bucket: as many as the longest has.
    longest: usize,
    entries: Secret<Vec<Entry>>,
    places: u32,
}

/// A tag, the slot of its item within a bin, and its place.
#[derive(Clone, Copy, Zeroize)]
struct Entry {
    tag: u64,
    slot: u32,
    place: u32,
}

/// No slot has this number.
const UNUSED: Entry = Entry { tag: 0, slot: u32::MAX, place: 0 };

impl OwnTags {
    /// Tags in buckets by their low bits, and the place of each. `tags` has the tag of each item and its
    /// slot.
    pub(super) fn new(tags: &[(u64, u32)]) -> (Self, Secret<Vec<u32>>) {
        let mut order: Vec<usize> = (0..tags.len()).collect();
        order.sort_unstable_by_key(|&item| tags[item]);
        let mut distinct = Secret::new(Vec::<Entry>::with_capacity(tags.len()));
        let mut place_of = Secret::new(vec![0; tags.len()]);
        for item in order {
            let (tag, slot) = tags[item];
            if distinct.last().is_none_or(|last| (last.tag, last.slot) != (tag, slot)) {
                let place = distinct.len() as u32;
                distinct.push(Entry { tag, slot, place });
            }
            place_of[item] = distinct.len() as u32 - 1;
        }
        let buckets = tags.len().div_ceil(TAGS_PER_BUCKET).next_power_of_two();
        let mut lengths = vec![0; buckets];
        for entry in distinct.iter() {
            lengths[entry.tag as usize & (buckets - 1)] += 1;
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut own = Self {
            buckets,
            longest,
            entries: Secret::new(vec![UNUSED; buckets * longest]),
            places: distinct.len() as u32,
        };
        for entry in distinct.iter() {
            let bucket = own.bucket(entry.tag);
            lengths[bucket] -= 1;
            own.entries[bucket * longest + lengths[bucket]] = *entry;
        }
        (own, place_of)
    }

    fn bucket(&self, tag: u64) -> usize {
        tag as usize & (self.buckets - 1)
    }

    /// How many places there are. The place of this number is that of all other tags.
    pub(super) fn places(&self) -> usize {
        self.places as usize
    }

    /// The place of a tag in a slot.
    pub(super) fn find(&self, tag: u64, slot: usize) -> u32 {
        let entries = &self.entries[self.bucket(tag) * self.longest..][..self.longest];
        entries.iter().fold(self.places, |found, entry| {
            let is_it = (entry.tag ^ tag) | u64::from(entry.slot ^ slot as u32);
            // All ones where it is zero.
            let mask = (((is_it | is_it.wrapping_neg()) >> 63) as u32).wrapping_sub(1);
            found ^ (mask & (found ^ entry.place))
        })
    }
}

/// Commitments that may be to own items, with wrapped openings.
pub(super) struct Candidates {
    /// [`SPACE`] of each place, and of the place of all other tags.
    found: Vec<Candidate>,
    counts: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Candidate {
    commitment: [u8; COMMITMENT_BYTES],
    wrapped: u128,
}

impl Candidates {
    /// None yet, for so many places.
    pub(super) fn new(places: usize) -> Self {
        Self { found: vec![Candidate::default(); (places + 1) * SPACE], counts: vec![0; places + 1] }
    }

    /// Notes a candidate of a place. One too many is written behind those that count.
    pub(super) fn add(&mut self, place: u32, commitment: [u8; COMMITMENT_BYTES], wrapped: u128) {
        let count = &mut self.counts[place as usize];
        self.found[place as usize * SPACE + usize::from(*count)] = Candidate { commitment, wrapped };
        *count = (*count + 1).min(CANDIDATES as u8);
    }

    /// The items one of whose candidates is a commitment to them, ascending. `places` has the place of each,
    /// and `masks` what their openings are wrapped in. As many candidates are tried of each item, whether they
    /// have come or not: no item has the commitment zero.
    pub(super) fn matches(
        &self,
        key: &[u8; 32],
        items: &[u128],
        places: &[u32],
        masks: &Secret<Vec<u128>>,
    ) -> Vec<u32> {
        let opens = |item: usize, mask: u128, candidate: &Candidate| {
            commit(key, items[item], candidate.wrapped ^ mask).ct_eq(&candidate.commitment)
        };
        let mut is_match = vec![0; items.len()];
        is_match.par_chunks_mut(ITEMS_PER_PIECE).enumerate().for_each(|(piece, is_match)| {
            for (item, is_match) in (piece * ITEMS_PER_PIECE..).zip(is_match) {
                for candidate in &self.found[places[item] as usize * SPACE..][..CANDIDATES] {
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
        for stride in [7919, 1024] {
            // With a stride of 1024, nearly all are in one bucket.
            let tags: Vec<(u64, u32)> = (0..1000).map(|item| (u64::from(item % 300) * stride, item % 7)).collect();
            let (own, places) = OwnTags::new(&tags);
            for (item, &(tag, own_slot)) in tags.iter().enumerate() {
                for slot in 0..8 {
                    let found = own.find(tag, slot as usize);
                    let expected = tags.iter().position(|&other| other == (tag, slot)).map(|other| places[other]);
                    assert_eq!(found, expected.unwrap_or(own.places() as u32), "{tag} {slot}");
                    assert_eq!(found == places[item], slot == own_slot);
                }
            }
        }
        assert_eq!(OwnTags::new(&[(1, 2), (1, 3), (1, 2)]).0.places(), 2);
        let (one, places) = OwnTags::new(&[(9, 0)]);
        assert_eq!((one.find(9, 0), one.find(8, 0), one.find(9 | 1 << 63, 0), places[0]), (0, 1, 1, 0));
    }

    #[test]
    fn an_item_matches_if_one_of_its_first_candidates_opens() {
        let (key, items, masks) = ([1; 32], [10, 11, 12, 13, 14], Secret::new(vec![20, 21, 22, 23, 24]));
        // The last item shares its place with the second.
        let (places, nowhere) = ([0, 1, 2, 3, 1], 4);
        let mut candidates = Candidates::new(4);
        let right = |item: usize| (commit(&key, items[item], 99), 99 ^ masks[item]);
        let mut add = |place: usize, (commitment, wrapped): ([u8; 32], u128)| {
            candidates.add(place as u32, commitment, wrapped);
        };
        add(0, right(0));
        // Behind others that do not open, and behind too many.
        for _ in 0..CANDIDATES - 2 {
            add(1, right(0));
            add(3, right(1));
        }
        add(1, right(1));
        add(1, right(4));
        add(3, right(1));
        add(3, right(0));
        for _ in 0..10 {
            add(3, right(3));
            add(nowhere, right(2));
        }
        assert_eq!(candidates.matches(&key, &items, &places, &masks), [0, 1, 4]);
    }
}
