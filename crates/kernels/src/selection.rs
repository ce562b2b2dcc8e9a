//! Sums of lines of a table over GF(2), chosen by the bits of a word: products of bit matrices.

use crate::dispatch::{backend, dispatch};
use crate::gf64::Row;

/// Bits of a selector that are looked up together.
const GROUP: usize = 4;

/// `out[i]` = the sum of all `rows[j]` for which bit `j` of `selectors[i]` is set.
///
/// Sums of four rows at a time are looked up in tables (32 KiB of them), at places that depend on the selectors.
///
/// # Panics
/// If there is not one selector for each of `out`.
pub fn select(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    assert_eq!(selectors.len(), out.len(), "a selector for each sum");
    dispatch!(
        backend(),
        portable: portable(rows, selectors, out),
        avx2: avx2(rows, selectors, out),
        avx512: avx512(rows, selectors, out),
    );
}

/// The loop itself: inlined into each twin, where the compiler turns it into that feature's vectors.
#[inline(always)]
fn portable(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    let add = |a: &Row, b: &Row| -> Row { std::array::from_fn(|word| a[word] ^ b[word]) };
    let mut tables = [[Row::default(); 1 << GROUP]; 128 / GROUP];
    for (table, rows) in tables.iter_mut().zip(rows.chunks_exact(GROUP)) {
        for (bit, row) in rows.iter().enumerate() {
            for place in 0..1 << bit {
                table[place | 1 << bit] = add(&table[place], row);
            }
        }
    }
    for (&selector, out) in selectors.iter().zip(out) {
        let mut sum = Row::default();
        for (group, table) in tables.iter().enumerate() {
            sum = add(&sum, &table[(selector >> (GROUP * group)) as usize % (1 << GROUP)]);
        }
        *out = sum;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    portable(rows, selectors, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn avx512(rows: &[Row; 128], selectors: &[u128], out: &mut [Row]) {
    portable(rows, selectors, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on_every_backend, words};

    #[test]
    fn sums_are_those_of_the_rows_that_are_chosen() {
        let all: Vec<u64> = words(1, 512).iter().flat_map(|&word| [word as u64, (word >> 64) as u64]).collect();
        let rows: [Row; 128] = std::array::from_fn(|i| std::array::from_fn(|word| all[8 * i + word]));
        let selectors = [words(2, 20), (0..128).map(|bit| 1 << bit).collect(), vec![0, u128::MAX]].concat();
        let sums = on_every_backend(|| {
            let mut out = vec![[9; 8]; selectors.len()];
            select(&rows, &selectors, &mut out);
            out
        });
        for (selector, sum) in selectors.iter().zip(sums) {
            let chosen = rows.iter().enumerate().filter(|(i, _)| selector >> i & 1 == 1);
            let expected = chosen.fold([0; 8], |sum: Row, (_, row)| std::array::from_fn(|word| sum[word] ^ row[word]));
            assert_eq!(sum, expected, "{selector:x}");
        }
    }
}
