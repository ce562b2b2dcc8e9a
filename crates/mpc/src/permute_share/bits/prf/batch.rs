//! How evaluations lie in words: one bit of each, in lanes side by side.

/// Words of a stripe in a full batch: 512 lanes, so that all of a batch stays in the cache.
pub(super) const WORDS: usize = 8;

/// Stripes of a batch. A byte carries five elements of F_3, one of a lane in each stripe.
pub(super) const STRIPES: usize = 5;

/// Lanes that are filled up: one word of each stripe.
pub(super) const UNIT: usize = STRIPES * 64;

/// Evaluations of a full batch.
const BATCH: usize = WORDS * UNIT;

/// Some evaluations, those of one stripe after those of the one before. Only the last batch may
/// have fewer than all, and then fewer words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// The first evaluation.
    pub first: usize,
    /// Evaluations.
    len: usize,
    /// Words of a stripe.
    pub words: usize,
}

impl Batch {
    /// The batches of so many evaluations.
    pub fn all(evaluations: usize) -> impl Iterator<Item = Self> {
        (0..evaluations).step_by(BATCH).map(move |first| {
            let len = BATCH.min(evaluations - first);
            Self { first, len, words: len.div_ceil(UNIT) }
        })
    }

    /// The evaluation in a lane of a stripe, if there is one.
    pub fn evaluation(&self, stripe: usize, lane: usize) -> Option<usize> {
        let place = 64 * self.words * stripe + lane;
        (lane < 64 * self.words && place < self.len).then_some(self.first + place)
    }

    /// Calls `work` with each word that has evaluations: its stripe, its number there, its first
    /// evaluation, and which of its lanes have one.
    pub fn each_word(&self, mut work: impl FnMut(usize, usize, usize, u64)) {
        for (number, place) in (0..self.len).step_by(64).enumerate() {
            let used = u64::MAX >> (64 - (self.len - place).min(64));
            work(number / self.words, number % self.words, self.first + place, used);
        }
    }

    /// Where the trits of a key bit begin in its two streams. Streams of different key bits have no
    /// counter in common, so that a guess at the key of one of them is a guess at no other one.
    pub fn counter(&self, key_bit: u128) -> u128 {
        key_bit << 96 | (self.first as u128) << 32
    }

    /// Words of all stripes.
    pub fn all_words(&self) -> usize {
        STRIPES * self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_evaluation_has_one_lane() {
        for evaluations in [0, 1, 63, 64, 65, UNIT, UNIT + 1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 700] {
            let (mut seen, mut by_words, mut words) = (Vec::new(), Vec::new(), 0);
            for batch in Batch::all(evaluations) {
                assert_eq!(batch.first % BATCH, 0);
                words += batch.all_words();
                seen.extend((0..STRIPES).flat_map(|s| (0..64 * WORDS).filter_map(move |l| batch.evaluation(s, l))));
                batch.each_word(|stripe, word, first, used| {
                    let lanes = (0..64).filter(|lane| used >> lane & 1 == 1);
                    by_words.extend(lanes.map(|lane| first + lane));
                    assert_eq!(batch.evaluation(stripe, 64 * word), Some(first));
                });
            }
            assert!(seen.iter().copied().eq(0..evaluations) && seen == by_words, "{evaluations}");
            assert_eq!(words, STRIPES * evaluations.div_ceil(UNIT));
        }
    }
}
