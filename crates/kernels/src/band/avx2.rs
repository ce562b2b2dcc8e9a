//! AVX2: products by masked loads, four limbs each; of values wider than 128 bits, the portable
//! twin compiled once more.

use std::arch::x86_64::*;

use super::portable;
use super::rows::{BandRow, Dependent, Equations, LINE, ROW_LINES, Stretch, add};

/// See [`super::Stretch::insert_vartime`].
#[target_feature(enable = "avx2")]
pub(super) fn insert<const L: usize>(
    stretch: &mut Stretch<'_, L>,
    equations: Equations<'_, L>,
) -> Result<(), Dependent> {
    portable::insert(stretch, equations)
}

/// See [`super::System::back_substitute_vartime`].
#[target_feature(enable = "avx2")]
pub(super) fn back_substitute<const L: usize>(
    leading: &[BandRow],
    values: &[[u64; L]],
    leads: &[u8],
    table: &mut [[u64; L]],
    known: usize,
) {
    if L > 2 {
        return portable::back_substitute(leading, values, leads, table, known);
    }
    for column in (0..table.len() - LINE * known).rev() {
        if leads[column / LINE] >> (column % LINE) & 1 == 1 {
            // The cell itself takes part in the product, so it starts at zero.
            table[column] = [0; L];
            table[column] = add(values[column], product(table, column / LINE, &leading[column]));
        }
    }
}

/// See [`super::products`].
#[target_feature(enable = "avx2")]
pub(super) fn products<const L: usize>(table: &[[u64; L]], lines: &[u32], rows: &[BandRow], out: &mut [[u64; L]]) {
    if L > 2 {
        return portable::products(table, lines, rows, out);
    }
    for ((&line, row), out) in lines.iter().zip(rows).zip(out) {
        *out = product(table, line as usize, row);
    }
}

#[target_feature(enable = "avx2")]
fn product<const L: usize>(table: &[[u64; L]], line: usize, row: &BandRow) -> [u64; L] {
    assert!(L <= 2, "wider values do not come here");
    let (lines, _) = table.as_chunks::<LINE>();
    let coefficients: &[u8; ROW_LINES] = bytemuck::cast_ref(&row.0);
    // Limb i of a line is of cell i / L; a shift by 7 - cell brings the cell's coefficient to the sign
    // of its limb.
    let shift = |i: i64| 7 - i / L as i64;
    let shifts: [__m256i; 4] = std::array::from_fn(|v| {
        let i = 4 * (v as i64 % (2 * L as i64));
        _mm256_setr_epi64x(shift(i), shift(i + 1), shift(i + 2), shift(i + 3))
    });
    let mut sums = [_mm256_setzero_si256(); 4];
    for (line, &byte) in lines[line..].iter().zip(coefficients) {
        let byte = _mm256_set1_epi8(byte as i8);
        let limbs = line.as_flattened();
        for (v, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
            let mask = _mm256_sllv_epi64(byte, shifts[v]);
            // SAFETY: `four` is 32 readable bytes; the load needs no alignment.
            let cells = unsafe { _mm256_maskload_epi64(four.as_ptr().cast(), mask) };
            sums[v] = _mm256_xor_si256(sums[v], cells);
        }
    }
    let sum = _mm256_xor_si256(_mm256_xor_si256(sums[0], sums[1]), _mm256_xor_si256(sums[2], sums[3]));
    let mut limbs = [0u64; 4];
    // SAFETY: `limbs` is 32 writable bytes; the store needs no alignment.
    unsafe { _mm256_storeu_si256(limbs.as_mut_ptr().cast(), sum) };
    let mut product = [0; L];
    for (i, limb) in limbs.into_iter().enumerate() {
        product[i % L] ^= limb;
    }
    product
}
