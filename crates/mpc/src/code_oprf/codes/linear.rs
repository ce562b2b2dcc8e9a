//! Code words of linear codes, many at a time.

use vesica_kernels::transpose::transpose_128x128;
use vesica_structures::secret::Secret;

use crate::code_oprf::rows::MatrixRow;

/// Bits of a key that one table serves.
const GROUP: usize = 8;

/// A linear code: bit `j` of a key's word is the sum of the key's bits that column `j` of the
/// generator matrix names.
///
/// It is evaluated column by column for 128 keys at a time, so that what is looked up where depends
/// on the code alone, and not on the keys: of each eight bits of the keys all 256 sums are made once,
/// and each column takes one of them ("the method of the four Russians").
pub(super) struct LinearCode {
    /// For each eight bits of a key: what each column has of them.
    groups: Vec<Vec<u8>>,
    width: usize,
}

impl LinearCode {
    /// The code whose words are the sums of these rows; bit `i` of a key is for row `i`.
    pub fn new<R: MatrixRow>(generator: &[R], width: usize) -> Self {
        let bit = |row: &R, j: usize| (row.blocks()[j / 128] >> (j % 128)) as u8 & 1;
        let column =
            |rows: &[R], j: usize| rows.iter().enumerate().fold(0, |column, (i, row)| column | bit(row, j) << i);
        let groups = generator.chunks(GROUP).map(|rows| (0..width).map(|j| column(rows, j)).collect());
        Self { groups: groups.collect(), width }
    }

    /// Calls `each` with the number and the code word of each of `count` keys: `block` gives 128 bits of a key, by
    /// its number and theirs.
    pub fn words<R: MatrixRow>(
        &self,
        count: usize,
        block: impl Fn(usize, usize) -> u128,
        mut each: impl FnMut(usize, R),
    ) {
        let mut sums = Secret::new([0; 1 << GROUP]);
        let mut columns = Secret::new(vec![0; 128 * R::BLOCKS]);
        let mut bits = Secret::new([0; 128]);
        for first in (0..count).step_by(128) {
            let keys = first..count.min(first + 128);
            columns.fill(0);
            for (number, groups) in self.groups.chunks(128 / GROUP).enumerate() {
                bits.fill(0);
                bits.iter_mut().zip(keys.clone()).for_each(|(bits, key)| *bits = block(key, number));
                transpose_128x128(&mut bits);
                for (group, bits) in groups.iter().zip(bits.chunks_exact(GROUP)) {
                    for (i, &bit) in bits.iter().enumerate() {
                        let (lower, upper) = sums[..2 << i].split_at_mut(1 << i);
                        upper.iter_mut().zip(lower).for_each(|(upper, lower)| *upper = *lower ^ bit);
                    }
                    for (column, &of) in columns[..self.width].iter_mut().zip(group) {
                        *column ^= sums[usize::from(of)];
                    }
                }
            }
            for tile in columns.as_chunks_mut::<128>().0 {
                transpose_128x128(tile);
            }
            for (i, key) in keys.enumerate() {
                each(key, R::of(|quarter| columns[128 * quarter + i]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_sum_of_the_rows_that_the_key_names() {
        let generator: Vec<[u128; 4]> =
            (0..19).map(|i| std::array::from_fn(|q| 0x9e37_79b9_7f4a_7c15_u128.pow(i + q as u32 + 1))).collect();
        let width = 500;
        let code = LinearCode::new(&generator, width);
        let keys: Vec<u128> = (0..300).map(|i| (i * 0x1234_5677) & 0x7_ffff).collect();
        let mut count = 0;
        code.words::<[u128; 4]>(
            keys.len(),
            |number, _| keys[number],
            |number, word| {
                let mut expected = [0; 4];
                let named = generator.iter().enumerate().filter(|(i, _)| keys[number] >> i & 1 == 1);
                for (_, row) in named {
                    expected.iter_mut().zip(row).for_each(|(sum, row)| *sum ^= row);
                }
                expected[3] &= u128::MAX >> (512 - width);
                assert_eq!(word, expected, "key {number}");
                count += 1;
            },
        );
        assert_eq!(count, keys.len());
    }
}
