//! What a worker says of the items of a bucket that matched: a bit an item.

/// The bits of the first `keys` of `size` items.
pub(super) fn of_matches(matches: &[u32], keys: usize, size: usize) -> Vec<u8> {
    let mut bits = vec![0; size.div_ceil(8)];
    // A partner that sends a dummy back to us gets nothing by it.
    for place in matches.iter().map(|&place| place as usize).filter(|&place| place < keys) {
        if let Some(byte) = bits.get_mut(place / 8) {
            *byte |= 1 << (place % 8);
        }
    }
    bits
}

/// The places that `bits` name.
pub fn places(bits: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let set = |(at, &byte): (usize, &u8)| (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| 8 * at + bit);
    bits.iter().enumerate().flat_map(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_name_the_places_of_keys_and_no_dummies() {
        let bits = of_matches(&[0, 7, 8, 12, 13, 40], 13, 20);
        assert_eq!(bits.len(), 3);
        assert_eq!(places(&bits).collect::<Vec<_>>(), [0, 7, 8, 12]);
    }
}
