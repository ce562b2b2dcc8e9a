//! The vacuum filter: Wang, Zhou, Shi, Qian, "Vacuum Filters: More Space-Efficient and Faster
//! Replacement for Bloom and Cuckoo Filters" (VLDB 2019).
//!
//! A cuckoo filter whose number of buckets need not be a power of two. In a large table, the two
//! buckets of a fingerprint lie in one aligned range of `L` buckets, `L` a power of two; fingerprints
//! have one of four ranges, of which most are short, so that both buckets are often in one page.
//! In a small table the buckets `b` and `hash - b`, modulo their number, belong together. Other than in the paper, a
//! fingerprint's two buckets in a range are never the same one.
//!
//! The error is that of the cuckoo filter: for each tag of the set two of `B` first buckets, whatever
//! the pairing.

use super::buckets::{Pairing, SLOTS, filter_of_buckets};
use crate::facts::ceil_log2;

/// Tags from which on buckets are paired in ranges, as in the paper.
const LEAST_TAGS_FOR_RANGES: usize = 1 << 18;

/// Buckets for a load of at most 0.95, and two more, without which a small table would often fail.
pub(super) fn least_buckets(tags: usize) -> usize {
    (tags * 100).div_ceil(95 * SLOTS) + if tags > SLOTS { 2 } else { 0 }
}

/// Any number of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranges {
    buckets: usize,
    /// Lengths of the four ranges, powers of two that divide the number of buckets; `None` in a small
    /// table.
    lengths: Option<[usize; 4]>,
}

impl Ranges {
    fn for_tags(tags: usize) -> Self {
        let buckets = least_buckets(tags);
        if tags < LEAST_TAGS_FOR_RANGES {
            return Self { buckets, lengths: None };
        }
        // Fingerprints of range i and of all shorter ranges are 1 - i/4 of all.
        let mut lengths = [4, 3, 2, 1].map(|quarters| range(buckets, quarters));
        // The paper doubles the shortest one.
        lengths[3] *= 2;
        let longest = lengths[0];
        Self { buckets: buckets.next_multiple_of(longest), lengths: Some(lengths.map(|length| length.min(longest))) }
    }
}

/// The least power of two `L` such that no range of `L` buckets is expected to get more than 0.97 of
/// its slots (RangeSelection in the paper): with `r` of all fingerprints confined to such ranges,
/// `c` of them, `3.8 r L + 1.5 sqrt(2 * 3.8 r L ln c) < 0.97 * 4 L`. Squared, with `ln c <= 0.6932
/// ceil(log2 c)`, this is in whole numbers.
fn range(buckets: usize, quarters: u64) -> usize {
    let fits = |length: usize| {
        let ranges = u64::from(ceil_log2(buckets.div_ceil(length)));
        let room = 1552 - 380 * quarters;
        474_150 * quarters * ranges < room * room * length as u64
    };
    let mut length = 1;
    while !fits(length) {
        length *= 2;
    }
    length
}

impl Pairing for Ranges {
    fn buckets(&self) -> usize {
        self.buckets
    }

    #[inline]
    fn other(&self, bucket: usize, hash: u64) -> usize {
        match self.lengths {
            // Never the same bucket: with offset 0, which the paper allows, a share `1 / L` of all fingerprints has
            // one bucket only, and in a large table five of them meet in one.
            Some(lengths) => bucket ^ ((hash >> 2) as usize & (lengths[hash as usize % 4] - 1)).max(1),
            None => {
                let sum = (hash % self.buckets as u64) as usize;
                if sum >= bucket { sum - bucket } else { sum + self.buckets - bucket }
            }
        }
    }
}

filter_of_buckets! {
    /// A vacuum filter.
    VacuumFilter, Ranges, Ranges::for_tags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::mix::mix64;

    #[test]
    fn buckets_belong_together_in_pairs() {
        for tags in [1, 2, 5, 100, 5000, 1 << 18, 3 << 20, 1 << 26] {
            let ranges = Ranges::for_tags(tags);
            let load = tags as f64 / (SLOTS * ranges.buckets) as f64;
            assert!(load <= 0.95 && (tags < 1 << 18 || load > 0.88), "{tags}: {load}");
            for hash in (0..1000).map(mix64) {
                for bucket in [0, ranges.buckets / 3, ranges.buckets - 1] {
                    let other = ranges.other(bucket, hash);
                    assert!(other < ranges.buckets && ranges.other(other, hash) == bucket, "{tags}");
                }
            }
        }
    }

    /// No attempt can place five fingerprints that have one bucket, nor nine that share two. A table of `B` buckets is
    /// expected to have `B P(Poisson(a) >= 5)` of the first, where `a` of them are expected at a bucket, and for
    /// each offset half of `B P(Poisson(2 c) >= 9)` of the second, where `c` of them are expected from a bucket.
    #[test]
    fn fingerprints_that_fit_nowhere_are_seldom() {
        let tail = |mean: f64, least: u32| {
            let at_least: f64 = (1..=least).map(|i| mean / f64::from(i)).product();
            // The probability of `least` without its constant, and what each further one adds.
            (0..60).map(|k| (1..=k).map(|i| mean / f64::from(least + i)).product::<f64>()).sum::<f64>()
                * at_least
                * (-mean).exp()
        };
        let mut worst: f64 = 0.0;
        for tags in (18..=28).flat_map(|log| [1usize << log, (3 << log) / 2, (1 << log) * 97 / 100]) {
            if !(LEAST_TAGS_FOR_RANGES..=1 << 28).contains(&tags) {
                continue;
            }
            let ranges = Ranges::for_tags(tags);
            let lengths = ranges.lengths.expect("a large table");
            let each = tags as f64 / ranges.buckets as f64;
            let mut of_offsets = vec![0.0; lengths[0]];
            for (i, length) in (0u64..).zip(lengths) {
                for offset in 0..length as u64 {
                    of_offsets[ranges.other(0, offset << 2 | i)] += each / (4 * length) as f64;
                }
            }
            let [alone, pairs @ ..] = &of_offsets[..] else { panic!("a range of a bucket or more") };
            let stuck = ranges.buckets as f64
                * (tail(*alone, 5) + pairs.iter().map(|&mean| tail(2.0 * mean, 9)).sum::<f64>() / 2.0);
            worst = worst.max(stuck);
        }
        assert!((0.001..0.02).contains(&worst), "{worst}");
    }

    /// The paper's own test, with logarithms, and its own least length or twice that.
    #[test]
    fn ranges_are_as_the_paper_computes_them() {
        for tags in [1 << 18, 1 << 20, 3 << 20, 1 << 26] {
            let buckets = least_buckets(tags);
            for quarters in 1..=4 {
                let fits = |length: usize| {
                    let ranges = (buckets as f64 / length as f64).ceil();
                    let each = 3.8 * quarters as f64 / 4.0 * length as f64;
                    each + 1.5 * (2.0 * each * ranges.ln()).sqrt() < 0.97 * 4.0 * length as f64
                };
                let (own, least) = (range(buckets, quarters), (0..).map(|log| 1 << log).find(|&length| fits(length)));
                let least = least.expect("one range");
                assert!(fits(own) && (own == least || own == 2 * least), "{tags} {quarters}: {own}, {least}");
            }
        }
        assert_eq!(Ranges::for_tags(1 << 20).lengths, Some([16384, 128, 32, 16]));
    }
}
