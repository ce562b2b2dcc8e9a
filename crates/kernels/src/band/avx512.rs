//! AVX-512 with VBMI and GFNI: a row is one register, and eight rows meet a line in one
//! instruction.
//!
//! `vgf2p8affineqb` multiplies, in each of eight lanes, an 8 x 8 matrix over GF(2) with eight
//! bytes. Let lane `b` hold the matrix whose columns are the `b`-th bytes of the line's eight
//! cells, and let every lane's bytes be the coefficients of eight rows at this line: then byte `r`
//! of lane `b` is the `b`-th byte of row `r` times the line. A transposition of bytes at the end
//! gives eight products.

use std::arch::x86_64::*;

use super::rows::{BandRow, Dependent, Equations, LINE, ROW_LINES, Stretch, Window, add};

/// Bytes -64 to 127 of the integers: 64 of them from `64 + k` on are the indices `j + k`.
static IOTA: [u8; 192] = {
    let mut iota = [0; 192];
    let mut i = 0;
    while i < 192 {
        iota[i] = (i as u8).wrapping_sub(64);
        i += 1;
    }
    iota
};

/// Permutation of bytes that takes byte `j` of lane `i` to byte `i` of lane `j`.
static TRANSPOSE: [u64; 8] = transposition(false);

/// The same, from the last lane to the first: the instruction counts the rows of a matrix
/// downwards.
static TRANSPOSE_DOWN: [u64; 8] = transposition(true);

const fn transposition(downwards: bool) -> [u64; 8] {
    let mut indices = [0; 8];
    let mut i = 0;
    while i < 64 {
        let (lane, byte) = (i / 8, i % 8);
        let from = if downwards { 7 - byte } else { byte };
        indices[lane] |= ((8 * from + lane) as u64) << (8 * byte);
        i += 1;
    }
    indices
}

/// See [`super::Stretch::insert_vartime`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,bmi1,bmi2")]
pub(super) fn insert<const L: usize>(
    stretch: &mut Stretch<'_, L>,
    equations: Equations<'_, L>,
) -> Result<(), Dependent> {
    let Stretch { first: first_line, leading, values, leads, beyond, .. } = stretch;
    let mut window = Window::new(equations.lines.first().map_or(0, |&line| line as usize - *first_line), leads);
    for (line, row, value) in equations.iter() {
        window.move_to(line as usize - *first_line, leads);
        let Some((first, reduced, value)) = leading_column(row, value, leading, values, &window) else {
            window.write(leads);
            return Err(Dependent);
        };
        let column = LINE * window.line + first;
        if column >= leading.len() {
            beyond.push((line, BandRow(words(reduced)), value));
            continue;
        }
        store(&mut leading[column].0, shifted(reduced, (first / LINE) as isize));
        values[column] = value;
        window.words[first / 64] |= 1 << (first % 64);
    }
    window.write(leads);
    Ok(())
}

/// Reduces a row until its first column leads no row: that column within the row, the reduced row,
/// its value.
///
/// The loop runs on one 64-bit word, the shifts of whole rows beside it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,bmi1,bmi2")]
fn leading_column<const L: usize>(
    row: &BandRow,
    mut value: [u64; L],
    leading: &[BandRow],
    values: &[[u64; L]],
    window: &Window,
) -> Option<(usize, __m512i, [u64; L])> {
    let mut reduced = load(&row.0);
    let mut word = row.0[0];
    for i in 0..8 {
        if i > 0 {
            word = words(reduced)[i];
        }
        while word != 0 {
            let first = word.trailing_zeros() as usize;
            if window.words[i] >> first & 1 == 0 {
                return Some((64 * i + first, reduced, value));
            }
            let column = LINE * window.line + 64 * i + first;
            let other = &leading[column].0;
            word ^= other[0] << (first & !7);
            reduced = _mm512_xor_si512(reduced, shifted(load(other), -((8 * i + first / LINE) as isize)));
            value = add(value, values[column]);
        }
    }
    None
}

/// See [`super::System::back_substitute_vartime`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni,bmi1,bmi2")]
pub(super) fn back_substitute<const L: usize>(
    leading: &[BandRow],
    values: &[[u64; L]],
    leads: &[u8],
    table: &mut [[u64; L]],
    known: usize,
) {
    let (table, _) = table.as_chunks_mut::<LINE>();
    let (values, _) = values.as_chunks::<LINE>();
    let (leading, _) = leading.as_chunks::<LINE>();
    let lines = table.len();
    let mut matrices = Matrices::<L>::new();
    for line in (lines - known..lines).rev() {
        matrices.put(line, &planes(&table[line]));
    }
    for line in (0..lines - known).rev() {
        let mut rows = [_mm512_setzero_si512(); 8];
        let mut triangle = [0; 8];
        for (r, row) in leading[line].iter().enumerate() {
            rows[r] = load(&row.0);
            triangle[r] = row.0[0];
        }
        // Eight rows that all begin in this line: what later lines add to them, then this line's triangle
        // from its last column down.
        let ahead = ROW_LINES.min(lines - line);
        let mut coefficients = coefficients(&rows);
        if ahead < ROW_LINES {
            coefficients.as_flattened_mut()[ahead..].fill(0);
        }
        let sums = matrices.product(line, 1..ahead, &coefficients);
        let mut cells: [__m512i; L] = planes(&values[line]);
        let given: [__m512i; L] = planes(&table[line]);
        let free = !leads[line];
        for l in 0..L {
            cells[l] = _mm512_mask_mov_epi64(_mm512_xor_si512(cells[l], sums[l]), free, given[l]);
        }
        let triangle = load(&triangle);
        for column in (1..LINE as i64).rev() {
            // The rows above that have this column.
            let above = (1 << column) - 1;
            let hit = _mm512_mask_test_epi64_mask(above, triangle, _mm512_set1_epi64(1 << column));
            for cells in &mut cells {
                let cell = _mm512_permutexvar_epi64(_mm512_set1_epi64(column), *cells);
                *cells = _mm512_mask_xor_epi64(*cells, hit, *cells, cell);
            }
        }
        for l in 0..L {
            for (cell, limb) in table[line].iter_mut().zip(words(cells[l])) {
                cell[l] = limb;
            }
        }
        matrices.put(line, &cells);
    }
}

/// See [`super::products`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,gfni,bmi1,bmi2")]
pub(super) fn products<const L: usize>(table: &[[u64; L]], lines: &[u32], rows: &[BandRow], out: &mut [[u64; L]]) {
    let (table, _) = table.as_chunks::<LINE>();
    let mut matrices = Matrices::<L>::new();
    // The lines whose matrices are at hand: at most the last `RING`.
    let (mut from, mut to) = (0, 0);
    let mut done = 0;
    while done < rows.len() {
        // Up to eight rows that start at most eight lines after the first of them.
        let first = lines[done] as usize;
        let near = |&&line: &&u32| (line as usize) >= first && line as usize <= first + 8;
        let count = lines[done..].iter().take(8).take_while(near).count();
        let mut whole = [_mm512_setzero_si512(); 8];
        let mut beyond = [0u64; 8];
        let mut span = ROW_LINES;
        for r in 0..count {
            let late = lines[done + r] as usize - first;
            whole[r] = shifted(load(&rows[done + r].0), -(late as isize));
            // The lines that the shift cut off.
            beyond[r] = ((u128::from(rows[done + r].0[7]) << (8 * late)) >> 64) as u64;
            span = span.max(ROW_LINES + late);
        }
        let end = (first + span).min(table.len());
        if first < from || first > to || first + RING < to {
            (from, to) = (first, first);
        }
        for (line, cells) in table.iter().enumerate().take(end).skip(to) {
            matrices.put(line, &planes(cells));
        }
        to = to.max(end);
        let mut coefficients = coefficients(&whole);
        coefficients[8] = words(transposed(load(&beyond)));
        coefficients.as_flattened_mut()[end - first..].fill(0);
        let sums = matrices.product(first, 0..end - first, &coefficients);
        for l in 0..L {
            for (out, limb) in out[done..done + count].iter_mut().zip(words(sums[l])) {
                out[l] = limb;
            }
        }
        done += count;
    }
}

/// Lines of which [`Matrices`] keeps the last ones put: more than two rows that start eight lines
/// apart see.
const RING: usize = 128;

/// Lines of the table as matrices, by line modulo [`RING`].
struct Matrices<const L: usize>([[[u64; 8]; L]; RING]);

impl<const L: usize> Matrices<L> {
    fn new() -> Self {
        assert!(L <= 2, "wider values do not come here");
        Self([[[0; 8]; L]; RING])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn put(&mut self, line: usize, planes: &[__m512i; L]) {
        for (matrix, &plane) in self.0[line % RING].iter_mut().zip(planes) {
            let down = _mm512_permutexvar_epi8(load(&TRANSPOSE_DOWN), plane);
            // The matrix `down` times the unit vectors, from the last to the first: its transpose.
            store(matrix, _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(0x0102_0408_1020_4080), down));
        }
    }

    /// Limb `l` of eight rows times the lines `line + i` for `i` in `ahead`, byte `r` of word `i`
    /// of `coefficients` being row `r`'s at line `line + i`, the first word from `ahead.end` on
    /// zero; lane `r` of result `l` is row `r`'s.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    fn product(&self, line: usize, ahead: std::ops::Range<usize>, coefficients: &[[u64; 8]; 9]) -> [__m512i; L] {
        let (matrices, coefficients) = (&self.0, coefficients.as_flattened());
        let zero = [_mm512_setzero_si512(); L];
        // Two sums, as each waits for itself.
        let (mut even, mut odd) = (zero, zero);
        let mut i = ahead.start;
        while i < ahead.end {
            let next = i + 1;
            let bytes = _mm512_set1_epi64(coefficients[i] as i64);
            // Zero after an odd number of lines.
            let next_bytes = _mm512_set1_epi64(coefficients[next] as i64);
            let (here, there) = (&matrices[(line + i) % RING], &matrices[(line + next) % RING]);
            for l in 0..L {
                even[l] = _mm512_xor_si512(even[l], _mm512_gf2p8affine_epi64_epi8::<0>(bytes, load(&here[l])));
                odd[l] = _mm512_xor_si512(odd[l], _mm512_gf2p8affine_epi64_epi8::<0>(next_bytes, load(&there[l])));
            }
            i += 2;
        }
        for l in 0..L {
            even[l] = transposed(_mm512_xor_si512(even[l], odd[l]));
        }
        even
    }
}

/// Byte `r` of word `8 k + j`: the coefficients of row `r` at its line `8 k + j`. The last eight
/// words are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn coefficients(rows: &[__m512i; 8]) -> [[u64; 8]; 9] {
    let mut out = [[0; 8]; 9];
    let [a, b, c, d, e, f, g, h] = *rows;
    // Even and odd lanes of pairs of rows, then a transposition of 4 x 4 half-lanes of 128 bits.
    let even = [
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpacklo_epi64(e, f),
        _mm512_unpacklo_epi64(g, h),
    ];
    let odd = [
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpackhi_epi64(c, d),
        _mm512_unpackhi_epi64(e, f),
        _mm512_unpackhi_epi64(g, h),
    ];
    for (parity, [ab, cd, ef, gh]) in [even, odd].into_iter().enumerate() {
        let (ab_cd_even, ab_cd_odd) = (_mm512_shuffle_i64x2::<0x88>(ab, cd), _mm512_shuffle_i64x2::<0xdd>(ab, cd));
        let (ef_gh_even, ef_gh_odd) = (_mm512_shuffle_i64x2::<0x88>(ef, gh), _mm512_shuffle_i64x2::<0xdd>(ef, gh));
        store(&mut out[parity], transposed(_mm512_shuffle_i64x2::<0x88>(ab_cd_even, ef_gh_even)));
        store(&mut out[2 + parity], transposed(_mm512_shuffle_i64x2::<0x88>(ab_cd_odd, ef_gh_odd)));
        store(&mut out[4 + parity], transposed(_mm512_shuffle_i64x2::<0xdd>(ab_cd_even, ef_gh_even)));
        store(&mut out[6 + parity], transposed(_mm512_shuffle_i64x2::<0xdd>(ab_cd_odd, ef_gh_odd)));
    }
    out
}

/// The cells of a line by limb: lane `c` of result `l` is limb `l` of cell `c`.
#[inline]
#[target_feature(enable = "avx512f")]
fn planes<const L: usize>(line: &[[u64; L]; LINE]) -> [__m512i; L] {
    let (words, _) = line.as_flattened().as_chunks::<8>();
    let first = load(&words[0]);
    let mut planes = [first; L];
    if L == 2 {
        let second = load(&words[1]);
        for (limb, plane) in planes.iter_mut().enumerate() {
            let limb = limb as i64;
            let of_limb =
                _mm512_setr_epi64(limb, limb + 2, limb + 4, limb + 6, limb + 8, limb + 10, limb + 12, limb + 14);
            *plane = _mm512_permutex2var_epi64(first, of_limb, second);
        }
    }
    planes
}

/// Byte `j` of lane `i` to byte `i` of lane `j`.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn transposed(x: __m512i) -> __m512i {
    _mm512_permutexvar_epi8(load(&TRANSPOSE), x)
}

/// Byte `j + by` to byte `j`, zero where there is none; `-64 < by < 64`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn shifted(row: __m512i, by: isize) -> __m512i {
    let at = (64 + by) as usize;
    let window = &IOTA[at..at + 64];
    // SAFETY: `window` is 64 readable bytes; the load needs no alignment.
    let from = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
    let kept = if by < 0 { u64::MAX << -by } else { u64::MAX >> by };
    _mm512_maskz_permutexvar_epi8(kept, from, row)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: `words` is 64 readable bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u64; 8], x: __m512i) {
    // SAFETY: `words` is 64 writable bytes; the store needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), x) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words(x: __m512i) -> [u64; 8] {
    let mut words = [0; 8];
    store(&mut words, x);
    words
}
