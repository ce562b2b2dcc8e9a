//! Evaluations in the order of their bins.

use std::ops::Range;

/// Which evaluations each bin has.
pub(super) struct Bins {
    /// Evaluations, bin after bin.
    pub(super) order: Vec<u32>,
    starts: Vec<u32>,
}

impl Bins {
    /// Sorts evaluations by their bins.
    pub(super) fn new(bins: usize, evaluations: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; bins + 1];
        for (_, bin) in evaluations.clone() {
            starts[bin as usize + 1] += 1;
        }
        for bin in 0..bins {
            starts[bin + 1] += starts[bin];
        }
        let mut next = starts.clone();
        let mut order = vec![0; starts[bins] as usize];
        for (evaluation, bin) in evaluations {
            let place = &mut next[bin as usize];
            order[*place as usize] = evaluation;
            *place += 1;
        }
        Self { order, starts }
    }

    /// The number of bins.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places in `order` of some bins.
    pub(super) fn places(&self, bins: Range<usize>) -> Range<usize> {
        self.starts[bins.start] as usize..self.starts[bins.end] as usize
    }

    /// The bins in parts of at most `size`.
    pub(super) fn parts(&self, size: usize) -> Vec<Range<usize>> {
        (0..self.len()).step_by(size).map(|first| first..self.len().min(first + size)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_grouped_in_their_order() {
        let bins = Bins::new(4, [3u32, 0, 3, 1, 0].into_iter().enumerate().map(|(i, bin)| (i as u32, bin)));
        assert_eq!(bins.order, [1, 4, 3, 0, 2]);
        assert_eq!((bins.places(0..1), bins.places(1..3), bins.places(0..4)), (0..2, 2..3, 0..5));
        assert_eq!(bins.parts(3), [0..3, 3..4]);
    }
}
