//! The bits of a tag that filters use as a position and as a fingerprint.

/// The odd number next to `2^64` divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A permutation of 64 bits that mixes them well (Steele, Lea, Flood, OOPSLA 2014).
pub(super) const fn mix64(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A tag as attempt number `attempt` sees it: the tag itself in the first attempt, and then its image
/// under a permutation of 128 bits, two rounds of a Feistel network. A uniform tag so stays uniform;
/// and two tags that share a position in one attempt need not in the next.
pub(super) fn permuted(tag: u128, attempt: u8) -> u128 {
    if attempt == 0 {
        return tag;
    }
    let key = GOLDEN.wrapping_mul(2 * u64::from(attempt));
    let (mut high, mut low) = ((tag >> 64) as u64, tag as u64);
    low ^= mix64(high.wrapping_add(key));
    high ^= mix64(low.wrapping_add(key).wrapping_add(GOLDEN));
    u128::from(high) << 64 | u128::from(low)
}

/// The low `width` bits as a fingerprint, and of the upper 64 bits those that it does not use as a
/// position. For a uniform tag the two are independent.
pub(super) fn split(tag: u128, width: u32) -> (u64, u128) {
    let unused = u64::MAX << width.saturating_sub(64);
    ((tag >> 64) as u64 & unused, tag & (u128::MAX >> (128 - width)))
}

/// A position among `count` places: `floor(position count / 2^64)`.
pub(super) fn place(position: u64, count: usize) -> usize {
    ((u128::from(position) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_permute_tags_in_ways_of_their_own() {
        let tags: Vec<u128> = (0..1000u128).map(|i| (i << 64) | (i % 7)).collect();
        let mut seen = std::collections::HashSet::new();
        for attempt in 0..super::super::ATTEMPTS {
            seen.extend(tags.iter().map(|&tag| permuted(tag, attempt) >> 70));
        }
        // Tags of small numbers share positions in the first attempt only.
        assert!(seen.len() > 63 * 990, "{}", seen.len());
    }

    #[test]
    fn positions_and_fingerprints_share_no_bits() {
        for width in [1, 42, 64, 65, 83] {
            let (position, fingerprint) = split(u128::MAX, width);
            assert_eq!(u128::from(position) << 64 & fingerprint, 0);
            assert_eq!(
                (position.count_ones() + fingerprint.count_ones(), fingerprint.count_ones()),
                (64 + width.min(64), width)
            );
        }
        assert_eq!((place(u64::MAX, 5), place(0, 5), place(1 << 63, 6)), (4, 0, 3));
    }
}
