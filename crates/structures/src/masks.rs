//! Sorting masks and finding one's own among the other party's: both take pseudo-random masks, and stay correct on any others.
//!
//! The sort is on all bits. It is also the sender's shuffle: what order its items had must not show (DESIGN 2.3), so that a sort on a prefix
//! that leaves ties in table order would leak.

use rayon::prelude::*;
use zeroize::Zeroize;

/// Below this many masks the general-purpose sort is used.
const SMALL: usize = 64;

/// Greatest width in bits of one distribution pass: as many write streams as a second-level TLB serves.
const MAX_DIGIT: u32 = 11;

/// Sorts masks of `width` bits, on all their bits, in the pool that is installed. Linear time for pseudo-random masks. Wider masks come out in
/// an order that is not theirs.
///
/// # Panics
/// If `width` is not in `1..=128`.
pub fn sort_masks(masks: &mut [u128], width: u32) {
    assert!((1..=128).contains(&width), "a mask has 1 to 128 bits");
    if masks.len() < SMALL {
        masks.sort_unstable();
        return;
    }
    let mut scratch = vec![0u128; masks.len()];
    let digit = first_digit(masks.len()).min(width);
    let shift = width - digit;
    let ends = distribute(masks, &mut scratch, shift, digit);
    // Bucket by bucket: from the scratch back to the masks, sorted.
    let mut buckets = Vec::with_capacity(ends.len());
    let (mut from, mut to, mut start) = (&mut scratch[..], &mut masks[..], 0);
    for end in ends {
        let (from_bucket, from_rest) = from.split_at_mut(end - start);
        let (to_bucket, to_rest) = to.split_at_mut(end - start);
        buckets.push((from_bucket, to_bucket));
        (from, to, start) = (from_rest, to_rest, end);
    }
    let finish = |(from, to): (&mut [u128], &mut [u128])| {
        if from.len() < SMALL || shift == 0 {
            to.copy_from_slice(from);
        } else {
            let digit = from.len().ilog2().min(MAX_DIGIT).min(shift);
            distribute(from, to, shift - digit, digit);
        }
        // Nearly in order by now: what the digits did not tell apart are neighbours.
        insertion_sort(to);
        from.zeroize();
    };
    if rayon::current_num_threads() > 1 {
        buckets.into_par_iter().for_each(finish);
    } else {
        buckets.into_iter().for_each(finish);
    }
}

/// Half of the bits of an index, so that two passes tell apart nearly all of `count` uniform masks.
fn first_digit(count: usize) -> u32 {
    count.ilog2().div_ceil(2).min(MAX_DIGIT)
}

/// Copies `from` to `to`, ordered by the `digit` bits above `shift`; the end of each digit's bucket.
fn distribute(from: &[u128], to: &mut [u128], shift: u32, digit: u32) -> Vec<usize> {
    let bucket = |mask: u128| (mask >> shift) as usize & ((1 << digit) - 1);
    let mut next = vec![0usize; 1 << digit];
    for &mask in from {
        next[bucket(mask)] += 1;
    }
    let mut sum = 0;
    for count in &mut next {
        sum += std::mem::replace(count, sum);
    }
    for &mask in from {
        let place = &mut next[bucket(mask)];
        to[*place] = mask;
        *place += 1;
    }
    next
}

/// Sorts nearly sorted masks; gives up for the general-purpose sort when they turn out not to be (the masks were not uniform).
fn insertion_sort(masks: &mut [u128]) {
    let mut moves = masks.len() * 8;
    for i in 1..masks.len() {
        let mask = masks[i];
        let mut hole = i;
        while hole > 0 && masks[hole - 1] > mask {
            masks[hole] = masks[hole - 1];
            hole -= 1;
        }
        masks[hole] = mask;
        moves = moves.saturating_sub(i - hole);
        if moves == 0 {
            masks.sort_unstable();
            return;
        }
    }
}

/// A mask that both sides have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Its place in the own, unsorted masks.
    pub own: u32,
    /// Its first place in the other side's sorted masks.
    pub theirs: u32,
}

/// Which of the `own` masks are among `sorted`, by ascending own place. All have `width` bits; own masks are pseudo-random (`sorted`, which a
/// peer chose, may be any ascending masks: a lookup is never worse than a binary search).
///
/// # Panics
/// If `width` is not in `1..=128`, a sorted mask is wider, or there are more than `u32::MAX` masks on a side.
pub fn match_sorted(sorted: &[u128], own: &[u128], width: u32) -> Vec<Match> {
    assert!((1..=128).contains(&width), "a mask has 1 to 128 bits");
    assert!(sorted.len() < u32::MAX as usize && own.len() <= u32::MAX as usize, "at most 2^32 - 1 masks");
    if sorted.is_empty() {
        return Vec::new();
    }
    let digit = sorted.len().ilog2().saturating_sub(2).clamp(1, width);
    let bucket = |mask: u128| (mask >> (width - digit)) as usize;
    // starts[b] = how many sorted masks lie in the buckets below b.
    let mut starts = vec![0u32; (1 << digit) + 1];
    for &mask in sorted {
        starts[bucket(mask) + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let piece = own.len().div_ceil(rayon::current_num_threads()).max(1 << 14);
    let pieces = own.par_chunks(piece).enumerate().map(|(number, own)| {
        let mut matches = Vec::new();
        let mut ranges = [(0, 0); LOOKAHEAD];
        for (batch, masks) in own.chunks(LOOKAHEAD).enumerate() {
            // Two independent passes: the second one's cache misses overlap, as the first one's do.
            for (range, &mask) in ranges.iter_mut().zip(masks) {
                let bucket = bucket(mask);
                *range = match starts.get(bucket..=bucket + 1) {
                    Some(&[start, end]) => (start as usize, end as usize),
                    _ => (0, 0),
                };
            }
            for (i, (&(start, end), &mask)) in ranges.iter().zip(masks).enumerate() {
                let place = start + first_not_below(&sorted[start..end], mask);
                if place < end && sorted[place] == mask {
                    let own = number * piece + batch * LOOKAHEAD + i;
                    matches.push(Match { own: own as u32, theirs: place as u32 });
                }
            }
        }
        matches
    });
    pieces.collect::<Vec<_>>().concat()
}

/// Lookups under way at a time.
const LOOKAHEAD: usize = 64;

/// How many of the ascending `masks` are below `mask`.
#[inline]
fn first_not_below(masks: &[u128], mask: u128) -> usize {
    if masks.len() <= 16 {
        masks.iter().map(|&other| usize::from(other < mask)).sum()
    } else {
        masks.partition_point(|&other| other < mask)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::SecretRng;

    fn uniform(count: usize, width: u32, seed: u64) -> Vec<u128> {
        let mut rng = SecretRng::insecure_from_seed(seed);
        (0..count).map(|_| rng.block() >> (128 - width)).collect()
    }

    fn plain_matches(sorted: &[u128], own: &[u128]) -> Vec<Match> {
        let find = |(i, mask): (usize, &u128)| {
            let place = sorted.partition_point(|other| other < mask);
            (sorted.get(place) == Some(mask)).then_some(Match { own: i as u32, theirs: place as u32 })
        };
        own.iter().enumerate().filter_map(find).collect()
    }

    #[test]
    fn sorts_uniform_masks_on_all_bits() {
        for width in [1, 3, 8, 12, 64, 82, 128] {
            for count in [0, 1, 63, 64, 65, 5000, 1 << 16] {
                let mut masks = uniform(count, width, count as u64);
                let mut expected = masks.clone();
                expected.sort_unstable();
                sort_masks(&mut masks, width);
                assert_eq!(masks, expected, "{count} masks of {width} bits");
            }
        }
    }

    #[test]
    fn sorts_masks_that_share_their_high_bits() {
        let mut masks = uniform(20_000, 32, 1);
        let mut expected = masks.clone();
        expected.sort_unstable();
        sort_masks(&mut masks, 128);
        assert_eq!(masks, expected);
    }

    #[test]
    fn threads_do_not_change_the_result() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let mut sorted = uniform(100_000, 74, 2);
        let mut own = uniform(90_000, 74, 3);
        own[..50_000].copy_from_slice(&sorted[..50_000]);
        let mut again = sorted.clone();
        sort_masks(&mut sorted, 74);
        pool.install(|| sort_masks(&mut again, 74));
        assert_eq!(sorted, again);
        let matches = match_sorted(&sorted, &own, 74);
        assert_eq!(matches, plain_matches(&sorted, &own));
        assert_eq!(matches, pool.install(|| match_sorted(&sorted, &own, 74)));
        assert_eq!(matches.len(), 50_000);
    }

    #[test]
    fn matches_against_masks_that_a_peer_crowded_together() {
        let mut sorted: Vec<u128> = (0..50_000).map(|i| i / 2).collect();
        sorted.push(u128::MAX);
        let own = vec![3, u128::MAX, 25_000, 24_999, 0];
        assert_eq!(match_sorted(&sorted, &own, 128), plain_matches(&sorted, &own));
    }

    proptest! {
        #[test]
        fn any_masks_sort_and_match(mut sorted in proptest::collection::vec(any::<u128>(), 0..300), mut own in proptest::collection::vec(any::<u128>(), 0..100), width in 1u32..=128, keep in 1u32..=128) {
            for mask in sorted.iter_mut().chain(&mut own) {
                *mask = (*mask >> (128 - keep)) & (u128::MAX >> (128 - width));
            }
            let mut expected = sorted.clone();
            expected.sort_unstable();
            sort_masks(&mut sorted, width);
            prop_assert_eq!(&sorted, &expected);
            prop_assert_eq!(match_sorted(&sorted, &own, width), plain_matches(&sorted, &own));
        }
    }
}
