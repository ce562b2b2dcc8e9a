//! The sender's masks, for look-ups of far more values than there are masks.

/// A set of masks. Masks are uniform, so that their low bits are as good as a hash.
pub struct MaskSet {
    sorted: Vec<u128>,
    /// One bit of 16 is set: most look-ups end here, in the cache.
    seen: Vec<u64>,
}

impl MaskSet {
    /// Of these masks.
    pub fn new(mut masks: Vec<u128>) -> Self {
        let mut seen = vec![0; (masks.len().next_power_of_two() / 4).max(1)];
        for &mask in &masks {
            let place = place(mask, seen.len());
            seen[place.0] |= place.1;
        }
        masks.sort_unstable();
        Self { sorted: masks, seen }
    }

    /// Whether the sender sent it.
    pub fn contains(&self, mask: u128) -> bool {
        let (word, bit) = place(mask, self.seen.len());
        self.seen[word] & bit != 0 && self.sorted.binary_search(&mask).is_ok()
    }
}

fn place(mask: u128, words: usize) -> (usize, u64) {
    ((mask >> 6) as usize & (words - 1), 1 << (mask & 63))
}
