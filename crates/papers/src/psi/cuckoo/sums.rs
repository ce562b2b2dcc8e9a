//! Sums of what a bin's transfers give, which come part by part, and the values that are made of them.

use std::ops::Range;

use rayon::prelude::*;
use vesica_mpc::tasks::PrfOutputs;
use vesica_structures::secret::Secret;

/// Fewest sums that are worth a task of a thread.
const MIN_SUMS: usize = 256;

/// Adds up the values of the transfers of each bin. A part of the transfers may begin and end within a
/// bin.
pub(super) struct Sums {
    /// Transfers a bin.
    transfers: usize,
    /// Of the hash of sums.
    key: [u8; 32],
    /// For each block of an output the sums of the bin that the last part did not finish.
    unfinished: Vec<Secret<Vec<u128>>>,
}

/// The values of some bins, which are finished: hashes of the sums if several transfers are added up.
pub(super) struct Finished {
    /// The bins.
    pub(super) bins: Range<usize>,
    /// For each block of an output a value for each entry of each bin, in order.
    pub(super) sums: Vec<Secret<Vec<u128>>>,
}

impl Sums {
    /// None yet, for outputs of `blocks` blocks. `key` is that of the run's hash.
    pub(super) fn new(transfers: usize, blocks: usize, key: [u8; 32]) -> Self {
        Self { transfers, key, unfinished: (0..blocks).map(|_| Secret::new(Vec::new())).collect() }
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
        let finished = bins.start..bins.end - usize::from(ends_within);
        if self.transfers > 1 {
            let of_entries: Vec<u32> =
                finished.clone().flat_map(|bin| std::iter::repeat_n(bin as u32, load(bin))).collect();
            for (block, sums) in (0..).zip(&mut all) {
                sums.par_iter_mut().zip(&of_entries).with_min_len(MIN_SUMS).for_each(|(sum, &bin)| {
                    *sum = hash(&self.key, bin, block, *sum);
                });
            }
        }
        Finished { bins: finished, sums: all }
    }
}

/// The value of a bin's entry whose chunks add up to `sum`. Sums depend on each other where a bin has many
/// entries; their hashes do not.
fn hash(key: &[u8; 32], bin: u32, block: u8, sum: u128) -> u128 {
    let mut input = [0; 21];
    input[..16].copy_from_slice(&sum.to_le_bytes());
    input[16..20].copy_from_slice(&bin.to_le_bytes());
    input[20] = block;
    let output: [u128; 2] = bytemuck::cast(*blake3::keyed_hash(key, &input).as_bytes());
    u128::from_le(output[0])
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
            let sum = (3 * bin..3 * bin + 3).fold(0, |sum, transfer| sum ^ value(block, transfer, entry));
            hash(&[7; 32], bin as u32, block as u8, sum)
        };
        for length in [1, 2, 3, 4, 7, 50, 120] {
            let mut sums = Sums::new(transfers, blocks, [7; 32]);
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

    /// Equal sums of different bins and blocks, and of runs with different keys, are different values; one
    /// transfer's values stay as they are.
    #[test]
    fn values_are_hashes_of_bin_block_and_sum() {
        let values =
            [hash(&[1; 32], 2, 0, 9), hash(&[1; 32], 3, 0, 9), hash(&[1; 32], 2, 1, 9), hash(&[2; 32], 2, 0, 9)];
        let mut different = values.to_vec();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), values.len());
        // Two strings that share no chunk and two that mix them: the sums depend on each other, the values do not.
        let chunk = |number: u128| number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let entries = [[1, 2], [3, 4], [1, 4], [3, 2]].map(|[one, other]: [u128; 2]| [chunk(one), chunk(other + 8)]);
        assert_eq!(entries.iter().fold(0, |all, [one, other]| all ^ one ^ other), 0);
        let by_transfer = (0..2).flat_map(|transfer| entries.map(|entry| entry[transfer])).collect();
        let finished = Sums::new(2, 1, [1; 32]).add(0..2, |_| entries.len(), &PrfOutputs { values: by_transfer });
        assert_ne!(finished.sums[0].iter().fold(0, |all, value| all ^ value), 0);
        let alone = Sums::new(1, 1, [1; 32]).add(0..1, |_| 2, &PrfOutputs { values: vec![5, 6] });
        assert_eq!(**alone.sums[0], vec![5, 6]);
    }
}
