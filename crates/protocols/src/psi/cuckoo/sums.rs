//! Sums of what a bin's transfers give, which come part by part.

use std::ops::Range;

use vesica_mpc::tasks::PrfOutputs;
use vesica_structures::secret::Secret;

/// Adds up the values of the transfers of each bin. A part of the transfers may begin and end within a
/// bin.
pub(super) struct Sums {
    /// Transfers a bin.
    transfers: usize,
    /// For each block of an output the sums of the bin that the last part did not finish.
    unfinished: Vec<Secret<Vec<u128>>>,
}

/// The sums of some bins, which are finished.
pub(super) struct Finished {
    /// The bins.
    pub(super) bins: Range<usize>,
    /// For each block of an output a sum for each entry of each bin, in order.
    pub(super) sums: Vec<Secret<Vec<u128>>>,
}

impl Sums {
    /// None yet, for outputs of `blocks` blocks.
    pub(super) fn new(transfers: usize, blocks: usize) -> Self {
        Self { transfers, unfinished: (0..blocks).map(|_| Secret::new(Vec::new())).collect() }
    }

    /// The transfers of a bin that are in a part of them.
    pub(super) fn transfers_in(&self, bin: usize, part: &Range<usize>) -> Range<usize> {
        let first = bin * self.transfers;
        part.start.max(first)..part.end.min(first + self.transfers)
    }

    /// The bins that a part of the transfers is of.
    pub(super) fn bins_in(&self, part: &Range<usize>) -> Range<usize> {
        part.start / self.transfers..part.end.div_ceil(self.transfers)
    }

    /// Adds the values of the next part, which are in the order of bins, transfers, and the `load(bin)`
    /// entries of a bin.
    pub(super) fn add(&mut self, part: Range<usize>, load: impl Fn(usize) -> usize, values: &PrfOutputs) -> Finished {
        let bins = self.bins_in(&part);
        let per_block = values.values.len() / self.unfinished.len();
        let entries = bins.clone().map(&load).sum();
        let ends_within = !part.end.is_multiple_of(self.transfers);
        let mut all = Vec::with_capacity(self.unfinished.len());
        for block in 0..self.unfinished.len() {
            let mut values = &values.values[block * per_block..][..per_block];
            let begun = std::mem::replace(&mut self.unfinished[block], Secret::new(Vec::new()));
            let mut sums = Secret::new(Vec::with_capacity(entries));
            sums.extend_from_slice(&begun);
            let mut first = 0;
            for bin in bins.clone() {
                let load = load(bin);
                // The first bin may have sums already.
                sums.resize(first + load, 0);
                for _ in self.transfers_in(bin, &part) {
                    let (of_transfer, rest) = values.split_at(load);
                    sums[first..].iter_mut().zip(of_transfer).for_each(|(sum, value)| *sum ^= value);
                    values = rest;
                }
                first += load;
            }
            if ends_within {
                let last = load(bins.end - 1);
                self.unfinished[block] = Secret::new(sums[first - last..].to_vec());
                sums.truncate(first - last);
            }
            all.push(sums);
        }
        Finished { bins: bins.start..bins.end - usize::from(ends_within), sums: all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of all lengths give the same sums.
    #[test]
    fn sums_do_not_depend_on_the_parts() {
        let (transfers, bins, blocks) = (3, 40, 2);
        let load = |bin: usize| bin % 4;
        // The value of block, transfer and entry.
        let value = |block: usize, transfer: usize, entry: usize| {
            0x9e37_79b9_u128.pow(2 + block as u32) * (transfer * 7 + entry + 1) as u128
        };
        let expected = |block: usize, bin: usize, entry: usize| {
            (3 * bin..3 * bin + 3).fold(0, |sum, transfer| sum ^ value(block, transfer, entry))
        };
        for length in [1, 2, 3, 4, 7, 50, 120] {
            let mut sums = Sums::new(transfers, blocks);
            let mut next = 0;
            for start in (0..transfers * bins).step_by(length) {
                let part = start..(start + length).min(transfers * bins);
                let values = (0..blocks).flat_map(|block| {
                    part.clone().flat_map(move |transfer| {
                        (0..load(transfer / 3)).map(move |entry| value(block, transfer, entry))
                    })
                });
                let values = PrfOutputs { values: values.collect() };
                let finished = sums.add(part, load, &values);
                assert_eq!(finished.bins.start, next);
                next = finished.bins.end;
                for (block, sums) in finished.sums.iter().enumerate() {
                    let expected: Vec<u128> = finished
                        .bins
                        .clone()
                        .flat_map(|bin| (0..load(bin)).map(move |entry| expected(block, bin, entry)))
                        .collect();
                    assert_eq!(**sums, expected, "parts of {length}, from {start}");
                }
            }
            assert_eq!(next, bins);
        }
    }
}
