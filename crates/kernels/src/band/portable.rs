//! The twin without assumptions; the AVX2 twin compiles its elimination once more for its own features.

use super::{Dependent, Echelon, LINE, ROW_LINES, Row, add};

/// See [`super::System::insert`].
#[inline(always)]
pub(super) fn insert<const L: usize>(
    leading: &mut [Row],
    echelon: &mut Echelon<L>,
    lines: &[u32],
    rows: &[Row],
    values: &[[u64; L]],
) -> Result<(), Dependent> {
    for ((&line, row), &value) in lines.iter().zip(rows).zip(values) {
        let line = line as usize;
        let (mut row, mut value) = (row.0, value);
        let column = loop {
            let Some(word) = row.iter().position(|&word| word != 0) else { return Err(Dependent) };
            let first = 64 * word + row[word].trailing_zeros() as usize;
            let column = LINE * line + first;
            if echelon.leads[column / LINE] >> (column % LINE) & 1 == 0 {
                leading[column] = Row(towards_start(&row, first / LINE));
                break column;
            }
            let other = towards_end(&leading[column].0, first / LINE);
            row = add(row, other);
            value = add(value, echelon.values[column]);
        };
        echelon.values[column] = value;
        echelon.leads[column / LINE] |= 1 << (column % LINE);
    }
    Ok(())
}

/// The row, seen from `lines < 64` lines earlier.
#[inline(always)]
fn towards_end(row: &[u64; 8], lines: usize) -> [u64; 8] {
    let (words, bits) = (lines / 8, 8 * (lines % 8));
    let word = |j: usize| if j >= words { row[j - words] } else { 0 };
    // Two shifts, as a shift by 64 is none.
    std::array::from_fn(|j| word(j) << bits | if j == 0 { 0 } else { word(j - 1) >> 1 >> (63 - bits) })
}

/// The row, seen from `lines < 64` lines later; columns before that are zero already.
#[inline(always)]
fn towards_start(row: &[u64; 8], lines: usize) -> [u64; 8] {
    let (words, bits) = (lines / 8, 8 * (lines % 8));
    let word = |j: usize| row.get(j + words).copied().unwrap_or(0);
    std::array::from_fn(|j| word(j) >> bits | word(j + 1) << 1 << (63 - bits))
}

/// See [`super::System::back_substitute`].
pub(super) fn back_substitute<const L: usize>(leading: &[Row], echelon: &Echelon<L>, table: &mut [[u64; L]]) {
    for (column, row) in leading.iter().enumerate().rev() {
        if echelon.leads[column / LINE] >> (column % LINE) & 1 == 1 {
            // The cell itself takes part in the product, so it starts at zero.
            table[column] = [0; L];
            table[column] = add(echelon.values[column], product(table, column / LINE, row));
        }
    }
}

/// See [`super::products`].
pub(super) fn products<const L: usize>(table: &[[u64; L]], lines: &[u32], rows: &[Row], out: &mut [[u64; L]]) {
    for ((&line, row), out) in lines.iter().zip(rows).zip(out) {
        *out = product(table, line as usize, row);
    }
}

#[inline(always)]
fn product<const L: usize>(table: &[[u64; L]], line: usize, row: &Row) -> [u64; L] {
    let (lines, _) = table.as_chunks::<LINE>();
    let coefficients: &[u8; ROW_LINES] = bytemuck::cast_ref(&row.0);
    let mut sum = [0; L];
    for (line, &byte) in lines[line..].iter().zip(coefficients) {
        for (bit, cell) in line.iter().enumerate() {
            let mask = u64::from(byte >> bit & 1).wrapping_neg();
            sum = add(sum, cell.map(|limb| limb & mask));
        }
    }
    sum
}
