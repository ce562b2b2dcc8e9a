//! The twin without assumptions; the AVX2 twin compiles it once more for its own features.

use super::rows::{BandRow, Dependent, Equations, LINE, ROW_LINES, Stretch, Window, add};

const BYTES: usize = ROW_LINES;

/// From byte `BYTES - k` on: a mask without the first `k` bytes of a row.
static MASKS: [u8; 2 * BYTES] = {
    let mut masks = [0; 2 * BYTES];
    let mut i = BYTES;
    while i < 2 * BYTES {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};

/// See [`super::Stretch::insert_vartime`].
#[inline(always)]
pub(super) fn insert<const L: usize>(
    stretch: &mut Stretch<'_, L>,
    equations: Equations<'_, L>,
) -> Result<(), Dependent> {
    let Stretch { first: first_line, leading, values, leads, beyond, .. } = stretch;
    let leading: &mut [u8] = bytemuck::cast_slice_mut(leading);
    let mut window = Window::new(equations.lines.first().map_or(0, |&line| line as usize - *first_line), leads);
    for (line, row, value) in equations.iter() {
        window.move_to(line as usize - *first_line, leads);
        let Some((first, reduced, value)) = leading_column(row, value, leading, values, &window) else {
            window.write(leads);
            return Err(Dependent);
        };
        let column = LINE * window.line + first;
        if column >= values.len() {
            beyond.push((line, BandRow(reduced), value));
            continue;
        }
        // The row from the line of the column on.
        let mut shifted = [0; 2 * BYTES];
        shifted[..BYTES].copy_from_slice(bytemuck::bytes_of(&reduced));
        leading[BYTES * column..][..BYTES].copy_from_slice(&shifted[first / LINE..][..BYTES]);
        values[column] = value;
        window.words[first / 64] |= 1 << (first % 64);
    }
    window.write(leads);
    Ok(())
}

/// Reduces a row until its first column leads no row: that column within the row, the reduced row,
/// its value.
#[inline(always)]
fn leading_column<const L: usize>(
    row: &BandRow,
    mut value: [u64; L],
    leading: &[u8],
    values: &[[u64; L]],
    window: &Window,
) -> Option<(usize, [u64; 8], [u64; L])> {
    let mut row = row.0;
    for i in 0..8 {
        // The word that decides is reduced on its own, so that it need not wait for the rest of the row.
        let mut word = row[i];
        while word != 0 {
            let first = 64 * i + word.trailing_zeros() as usize;
            if window.words[i] >> (first % 64) & 1 == 0 {
                return Some((first, row, value));
            }
            let (column, late) = (LINE * window.line + first, first / LINE);
            // The other row as seen from this one's line: what lies before it in memory is masked.
            let other = &leading[BYTES * column - late..][..BYTES];
            let mask = &MASKS[BYTES - late..][..BYTES];
            word ^= word_at(&leading[BYTES * column..], 0) << ((first % 64) & !7);
            for (j, word) in row.iter_mut().enumerate() {
                *word ^= word_at(other, j) & word_at(mask, j);
            }
            value = add(value, values[column]);
        }
    }
    None
}

#[inline(always)]
fn word_at(bytes: &[u8], j: usize) -> u64 {
    u64::from_le_bytes(*bytes[8 * j..].first_chunk().expect("eight bytes a word"))
}

/// See [`super::System::back_substitute_vartime`].
#[inline(always)]
pub(super) fn back_substitute<const L: usize>(
    leading: &[BandRow],
    values: &[[u64; L]],
    leads: &[u8],
    table: &mut [[u64; L]],
    known: usize,
) {
    let (table, _) = table.as_chunks_mut::<LINE>();
    let lines = table.len();
    let mut sums = Sums::<L>::new();
    for (line, cells) in table.iter_mut().enumerate().rev() {
        let leads = if line < lines - known { leads[line] } else { 0 };
        for c in (0..LINE).rev().filter(|c| leads >> c & 1 == 1) {
            let column = LINE * line + c;
            let row: &[u8; BYTES] = bytemuck::cast_ref(&leading[column].0);
            // Later lines, and the later cells of this one.
            let mut value = add(values[column], sums.product(line, 1..ROW_LINES.min(lines - line), row));
            let mut later = row[0] & !(1 << c);
            while later != 0 {
                value = add(value, cells[later.trailing_zeros() as usize]);
                later &= later - 1;
            }
            cells[c] = value;
        }
        sums.put(line, cells);
    }
}

/// See [`super::products`].
#[inline(always)]
pub(super) fn products<const L: usize>(table: &[[u64; L]], lines: &[u32], rows: &[BandRow], out: &mut [[u64; L]]) {
    let (table, _) = table.as_chunks::<LINE>();
    let mut sums = Sums::<L>::new();
    // The lines whose sums are at hand: at most the last `ROW_LINES`.
    let (mut from, mut to) = (0, 0);
    for ((&line, row), out) in lines.iter().zip(rows).zip(out) {
        let line = line as usize;
        if line < from || line > to {
            (from, to) = (line, line);
        }
        let end = (line + ROW_LINES).min(table.len());
        while to < end {
            sums.put(to, &table[to]);
            to += 1;
        }
        from = from.max(to.saturating_sub(ROW_LINES));
        *out = sums.product(line, 0..end - line, bytemuck::cast_ref(&row.0));
    }
}

/// Lines of the table as the sums of all subsets of their first and of their last four cells, by
/// line modulo [`ROW_LINES`].
struct Sums<const L: usize>([[[[u64; L]; 16]; 2]; ROW_LINES]);

impl<const L: usize> Sums<L> {
    #[inline(always)]
    fn new() -> Self {
        Self([[[[0; L]; 16]; 2]; ROW_LINES])
    }

    #[inline(always)]
    fn put(&mut self, line: usize, cells: &[[u64; L]; LINE]) {
        for (sums, cells) in self.0[line % ROW_LINES].iter_mut().zip(cells.as_chunks::<4>().0) {
            for (bit, &cell) in cells.iter().enumerate() {
                for subset in 0..1 << bit {
                    sums[1 << bit | subset] = add(sums[subset], cell);
                }
            }
        }
    }

    /// The row, of a byte a line from `line` on, times the lines `line + i` for `i` in `ahead`.
    #[inline(always)]
    fn product(&self, line: usize, ahead: std::ops::Range<usize>, row: &[u8; BYTES]) -> [u64; L] {
        let (mut low, mut high) = ([0; L], [0; L]);
        for i in ahead {
            let sums = &self.0[(line + i) % ROW_LINES];
            low = add(low, sums[0][usize::from(row[i] & 15)]);
            high = add(high, sums[1][usize::from(row[i] >> 4)]);
        }
        add(low, high)
    }
}
