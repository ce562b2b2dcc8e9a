//! Distinct digests in first-seen order.

use std::hint::black_box;

/// Distinct digests behind an open-addressing table. Digests are uniform, so their bits are the hash.
pub(super) struct Distinct {
    pub digests: Vec<u128>,
    /// Power of two, at most half full. A slot is `tag << 32 | index + 1`, or 0 when free; the tag spares most reads of `digests`.
    slots: Vec<u64>,
}

impl Distinct {
    /// Digests whose slots are read before the first of them is inserted, so that their cache misses overlap.
    const AHEAD: usize = 32;

    /// Room for `count` digests; more make it grow.
    pub fn with_capacity(count: usize) -> Self {
        Self { digests: Vec::with_capacity(count), slots: vec![0; (2 * count).next_power_of_two().max(1 << 12)] }
    }

    /// Inserts digests in order and calls `each` with the index of each and whether it is new. There are fewer than `2^32` in all.
    pub fn insert_all<E>(&mut self, digests: &[u128], mut each: impl FnMut(u32, bool) -> Result<(), E>) -> Result<(), E> {
        for digests in digests.chunks(Self::AHEAD) {
            while 2 * (self.digests.len() + digests.len()) > self.slots.len() {
                self.grow();
            }
            let mask = self.slots.len() - 1;
            black_box(digests.iter().fold(0, |read, &digest| read ^ self.slots[digest as usize & mask]));
            for &digest in digests {
                let (index, new) = self.insert(digest);
                each(index, new)?;
            }
        }
        Ok(())
    }

    fn tag(digest: u128) -> u64 {
        (digest >> 96) as u64
    }

    fn insert(&mut self, digest: u128) -> (u32, bool) {
        let mask = self.slots.len() - 1;
        let mut at = digest as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                let index = self.digests.len() as u32;
                self.slots[at] = Self::tag(digest) << 32 | (u64::from(index) + 1);
                self.digests.push(digest);
                return (index, true);
            }
            if slot >> 32 == Self::tag(digest) {
                let index = slot as u32 - 1;
                if self.digests[index as usize] == digest {
                    return (index, false);
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        self.slots = vec![0; size];
        for (index, &digest) in self.digests.iter().enumerate() {
            let mut at = digest as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = Self::tag(digest) << 32 | (index as u64 + 1);
        }
    }
}
