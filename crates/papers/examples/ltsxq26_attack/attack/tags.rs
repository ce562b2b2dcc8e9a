//! The sender's tags, for look-ups of far more values than there are tags.

/// A set of tags. Tags are uniform, so that their low bits are as good as a hash.
pub struct TagSet {
    sorted: Vec<u128>,
    /// One bit of 16 is set: most look-ups end here, in the cache.
    seen: Vec<u64>,
}

impl TagSet {
    /// Of these tags.
    pub fn new(mut tags: Vec<u128>) -> Self {
        let mut seen = vec![0; (tags.len().next_power_of_two() / 4).max(1)];
        for &tag in &tags {
            let place = place(tag, seen.len());
            seen[place.0] |= place.1;
        }
        tags.sort_unstable();
        Self { sorted: tags, seen }
    }

    /// Whether the sender sent it.
    pub fn contains(&self, tag: u128) -> bool {
        let (word, bit) = place(tag, self.seen.len());
        self.seen[word] & bit != 0 && self.sorted.binary_search(&tag).is_ok()
    }
}

fn place(tag: u128, words: usize) -> (usize, u64) {
    ((tag >> 6) as usize & (words - 1), 1 << (tag & 63))
}
