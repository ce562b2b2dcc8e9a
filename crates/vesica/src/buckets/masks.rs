//! What hides the results of single buckets, where only the total over all of them is to be seen.

use std::fmt;

use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// Numbers in `Z_2^64` that the sender adds to the results of its buckets. Those of all buckets but the last are
/// uniform and independent, and all of them add up to what the sender adds to the totals. So the results that the
/// receiver sees are uniform numbers whose sum is the totals: it could make them up from the totals alone.
///
/// For runs of which none is run again. Where that may be, each attempt has masks of its own: [`Masks::independent`].
pub struct Masks {
    /// Results of a bucket.
    results: usize,
    /// Bucket by bucket.
    masks: Secret<Vec<u64>>,
}

impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masks").field("results", &self.results).finish_non_exhaustive()
    }
}

impl Masks {
    /// For at least one bucket, whose results are as many as `added` has numbers: what the sender adds to the totals,
    /// noise or zeros.
    pub fn new(buckets: usize, added: &[u64], rng: &mut SecretRng) -> Self {
        let results = added.len();
        // Room for all of it at once: a vector that grows leaves copies behind, which nobody wipes.
        let mut masks = Secret::new(vec![0; buckets.max(1) * results]);
        let (drawn, last) = masks.split_at_mut(buckets.saturating_sub(1) * results);
        last.copy_from_slice(added);
        for drawn in drawn.chunks_exact_mut(results.max(1)) {
            for (mask, last) in drawn.iter_mut().zip(&mut *last) {
                *mask = rng.block() as u64;
                *last = last.wrapping_sub(*mask);
            }
        }
        Self { results, masks }
    }

    /// The same, where those of all buckets are uniform and independent. What they add up to is told when all buckets are
    /// run: those that count may be of several conversations.
    pub fn independent(buckets: usize, results: usize, rng: &mut SecretRng) -> Self {
        let mut masks = Secret::new(vec![0; buckets * results]);
        masks.iter_mut().for_each(|mask| *mask = rng.block() as u64);
        Self { results, masks }
    }

    /// Those of a bucket, one for each result.
    pub fn of(&self, bucket: usize) -> &[u64] {
        &self.masks[bucket * self.results..(bucket + 1) * self.results]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_add_up_to_what_is_added_to_the_totals_and_are_uniform_before() {
        let mut rng = SecretRng::insecure_from_seed(3);
        for (buckets, totals) in [(1, vec![7]), (2, vec![0]), (64, vec![0, u64::MAX, 5]), (3, vec![])] {
            let masks = Masks::new(buckets, &totals, &mut rng);
            let mut sums = vec![0u64; totals.len()];
            for bucket in 0..buckets {
                let of = masks.of(bucket);
                assert_eq!(of.len(), totals.len());
                sums.iter_mut().zip(of).for_each(|(sum, mask)| *sum = sum.wrapping_add(*mask));
            }
            assert_eq!(sums, totals);
        }
        let new = |rng: &mut _| Masks::new(3, &[1000], rng);
        let independent = |rng: &mut _| Masks::independent(3, 1, rng);
        for make in [&new as &dyn Fn(&mut SecretRng) -> Masks, &independent] {
            // Every bit of every bucket's mask, the last one's too, is one in about half of all runs.
            let mut ones = [[0; 64]; 3];
            for _ in 0..4000 {
                let masks = make(&mut rng);
                for (bucket, ones) in ones.iter_mut().enumerate() {
                    (0..64).for_each(|bit| ones[bit] += masks.of(bucket)[0] >> bit & 1);
                }
            }
            // Eight standard deviations of 31.6.
            assert!(ones.iter().flatten().all(|ones| ones.abs_diff(2000) < 253), "{ones:?}");
        }
    }
}
