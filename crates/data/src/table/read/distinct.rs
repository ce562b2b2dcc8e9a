//! Distinct digests in first-seen order.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::hint::black_box;

use crate::key::{Digest, Digests};

/// Distinct digests behind an open-addressing table. Digests are uniform, so bits of their low
/// halves are the hash.
pub(super) struct DistinctKeys {
    pub digests: Digests,
    /// Power of two, at most half full. A slot is `tag << 32 | index + 1`, or 0 when free; the tag
    /// spares most reads of `digests`.
    slots: Vec<u64>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "a mask of the power of two that `slots` is long keeps each place within it"
)]
impl DistinctKeys {
    /// Digests whose slots are read before the first of them is inserted, so that their cache
    /// misses overlap.
    const DIGESTS_AHEAD: usize = 32;

    /// Room for `count` digests; more make it grow.
    pub fn with_capacity(count: usize) -> Self {
        Self { digests: Digests::with_capacity(count), slots: vec![0; (2 * count).next_power_of_two().max(1 << 12)] }
    }

    /// Bytes of memory that more digests may take at once, beside those that each takes when it comes.
    pub fn grows_by(&self, digests: usize) -> u64 {
        let grows = 2 * (self.digests.len() + digests) > self.slots.len();
        if grows { 2 * size_of_val(&self.slots[..]) as u64 } else { 0 }
    }

    /// Inserts digests in order and calls `each` with the index of each and whether it is new.
    /// There are fewer than `2^32` in all.
    pub fn insert_all<E>(
        &mut self,
        digests: &Digests,
        mut each: impl FnMut(u32, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut next = digests.iter();
        for low in digests.low().chunks(Self::DIGESTS_AHEAD) {
            while 2 * (self.digests.len() + low.len()) > self.slots.len() {
                self.grow();
            }
            let mask = self.slots.len() - 1;
            black_box(low.iter().fold(0, |read, &digest| read ^ self.slots[digest as usize & mask]));
            for digest in next.by_ref().take(low.len()) {
                let (index, new) = self.insert(digest);
                each(index, new)?;
            }
        }
        Ok(())
    }

    fn tag(low: u128) -> u64 {
        (low >> 96) as u64
    }

    fn insert(&mut self, digest: Digest) -> (u32, bool) {
        let mask = self.slots.len() - 1;
        let [low, _] = digest;
        let mut at = low as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                let index = self.digests.len() as u32;
                self.slots[at] = Self::tag(low) << 32 | (u64::from(index) + 1);
                self.digests.push(digest);
                return (index, true);
            }
            if slot >> 32 == Self::tag(low) {
                let index = slot as u32 - 1;
                if self.digests.get(index as usize) == Some(digest) {
                    return (index, false);
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        self.slots = vec![0; size];
        for (index, &low) in self.digests.low().iter().enumerate() {
            let mut at = low as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = Self::tag(low) << 32 | (index as u64 + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys are told apart by all 256 bits: those of which either half is another key's are new.
    #[test]
    fn digests_that_share_a_half_are_distinct() {
        let mut found = Vec::new();
        let mut distinct = DistinctKeys::with_capacity(0);
        let mut digests = Digests::default();
        for digest in [[1, 1], [1, 2], [2, 1], [1, 1], [1 << 127, 1], [1, 2]] {
            digests.push(digest);
        }
        let all: Result<(), ()> = distinct.insert_all(&digests, |index, new| {
            found.push((index, new));
            Ok(())
        });
        all.expect("no row is refused");
        assert_eq!(found, [(0, true), (1, true), (2, true), (0, false), (3, true), (1, false)]);
    }
}
