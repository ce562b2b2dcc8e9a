//! Adding lines of a table, taken at random and put in random order, to a vector: the expander of
//! an expand-convolute code (see `mpc::silent::code`). Places are public.
//!
//! The table outgrows the second-level cache, but all places are known ahead, so lines are fetched
//! while earlier ones are added. Whoever aligns tables to 64 bytes has every line of 128-bit
//! elements in one line of the cache.

use std::ops::BitXorAssign;

use crate::dispatch::{backend, dispatch};

/// Adjacent elements that are taken together.
pub const LINE: usize = 4;

/// The orders in which a line can be put.
const ORDERS: [[u8; LINE]; 24] = orders();

/// For each group of [`LINE`] elements of `out`, numbered `g`: `out[4 g + j] ^= table[4 line +
/// order[j]]`. The draw of the group names one of the table's lines and one of 24 orders: it stands
/// for the number `24 line + order = floor(draws[g] * 24 * lines / 2^32)`.
///
/// # Panics
/// If `out` is not of as many lines as there are draws, or the table is empty, not of whole lines,
/// or has more than `2^27` of them.
pub fn gather(out: &mut [u128], table: &[u128], draws: &[u32]) {
    check(out.len(), table.len(), draws.len());
    dispatch!(
        backend(),
        portable: portable(out, table, draws),
        avx2: x86::avx2_128(out, table, draws),
        avx512: x86::avx512_128(out, table, draws),
    );
}

/// As [`gather`], over 64-bit elements.
///
/// # Panics
/// As [`gather`].
pub fn gather_u64(out: &mut [u64], table: &[u64], draws: &[u32]) {
    check(out.len(), table.len(), draws.len());
    dispatch!(
        backend(),
        portable: portable(out, table, draws),
        avx2: x86::avx2_64(out, table, draws),
    );
}

/// As [`gather`], over bytes.
///
/// # Panics
/// As [`gather`].
pub fn gather_u8(out: &mut [u8], table: &[u8], draws: &[u32]) {
    check(out.len(), table.len(), draws.len());
    dispatch!(
        backend(),
        portable: portable(out, table, draws),
        avx2: x86::avx2_8(out, table, draws),
    );
}

fn check(out: usize, table: usize, draws: usize) {
    assert_eq!(out, draws * LINE, "one draw a group");
    assert!(table > 0 && table.is_multiple_of(LINE) && table / LINE <= 1 << 27, "a table of 1 to 2^27 whole lines");
}

const fn orders() -> [[u8; LINE]; 24] {
    let mut orders = [[0; LINE]; 24];
    let (mut found, mut code) = (0, 0);
    while code < 256 {
        let order = [code as u8 & 3, code as u8 >> 2 & 3, code as u8 >> 4 & 3, code as u8 >> 6];
        if 1 << order[0] | 1 << order[1] | 1 << order[2] | 1 << order[3] == 0b1111 {
            orders[found] = order;
            found += 1;
        }
        code += 1;
    }
    orders
}

/// The line of a draw among `lines`, and its order. The number that a draw stands for is `24 line +
/// order`: the product's high half and a 24th share of its low half.
#[inline(always)]
fn place(draw: u32, lines: usize) -> (usize, usize) {
    let product = u64::from(draw) * lines as u64;
    ((product >> 32) as usize, ((u64::from(product as u32) * ORDERS.len() as u64) >> 32) as usize)
}

#[inline(always)]
fn add<T: Copy + BitXorAssign>(out: &mut [T; LINE], line: &[T; LINE], order: &[u8; LINE]) {
    for (out, &from) in out.iter_mut().zip(order) {
        *out ^= line[usize::from(from) % LINE];
    }
}

/// The definition, written down.
#[inline(always)]
fn portable<T: Copy + BitXorAssign>(out: &mut [T], table: &[T], draws: &[u32]) {
    let (table, _) = table.as_chunks::<LINE>();
    for (out, &draw) in out.as_chunks_mut::<LINE>().0.iter_mut().zip(draws) {
        let (line, order) = place(draw, table.len());
        add(out, &table[line], &ORDERS[order]);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{LINE, ORDERS, place, portable};

    /// Lines that are under way at a time: as many as the memory answers at once where a table outgrows
    /// all caches, and few enough to stay in the first one.
    const AHEAD: usize = 128;

    /// Draws whose places are worked out at a time.
    const DRAWS_PER_BATCH: usize = 1024;

    /// The 32-bit lanes of a line of 64-bit elements in each order.
    static NARROW: Lanes<8> = lanes();

    /// The 64-bit lanes of a line of 128-bit elements in each order, in pairs of 32 bits as
    /// permutations of 64-bit lanes have them.
    static WIDE: Lanes<16> = lanes();

    /// The bytes of a line of bytes in each order.
    static BYTES: [[u8; LINE]; ORDERS.len()] = ORDERS;

    /// `N` lanes of 32 bits for each order.
    #[repr(align(64))]
    struct Lanes<const N: usize>([[u32; N]; ORDERS.len()]);

    /// For eight lanes: lane `2 j + h` comes from lane `2 order[j] + h`. For sixteen: the same of
    /// eight lanes of 64 bits, whose high halves are zero.
    const fn lanes<const N: usize>() -> Lanes<N> {
        let mut lanes = [[0; N]; ORDERS.len()];
        let mut i = 0;
        while i < 8 * ORDERS.len() {
            let (order, lane) = (i / 8, i % 8);
            lanes[order][lane * (N / 8)] = 2 * ORDERS[order][lane / 2] as u32 + (lane % 2) as u32;
            i += 1;
        }
        Lanes(lanes)
    }

    /// Calls `add` with each group's elements of `out`, its line of `table` and its order, with the
    /// lines on their way some time before.
    #[inline(always)]
    fn prefetching<T>(
        out: &mut [T],
        table: &[T],
        draws: &[u32],
        mut add: impl FnMut(&mut [T; LINE], &[T; LINE], usize),
    ) {
        let (groups, _) = out.as_chunks_mut::<LINE>();
        let (table, _) = table.as_chunks::<LINE>();
        let mut places = [(0, 0); AHEAD + DRAWS_PER_BATCH];
        let (first, rest) = draws.split_at(draws.len().min(AHEAD));
        for (place_of, &draw) in places.iter_mut().zip(first) {
            *place_of = place(draw, table.len());
            fetch(&table[place_of.0]);
        }
        let mut rest = rest.chunks(DRAWS_PER_BATCH);
        for groups in groups.chunks_mut(DRAWS_PER_BATCH) {
            // None are left for the last groups: for these, old places are fetched again.
            for (place_of, &draw) in places[AHEAD..].iter_mut().zip(rest.next().unwrap_or_default()) {
                *place_of = place(draw, table.len());
            }
            for (i, group) in groups.iter_mut().enumerate() {
                fetch(&table[places[i + AHEAD].0]);
                let (line, order) = places[i];
                add(group, &table[line], order);
            }
            places.copy_within(DRAWS_PER_BATCH.., 0);
        }
    }

    /// Asks for a line: in a table that is not aligned, its ends lie in two lines of the cache.
    #[inline(always)]
    fn fetch<T>(line: &[T; LINE]) {
        for element in [&line[0], &line[LINE - 1]] {
            // SAFETY: SSE is part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_128(out: &mut [u128], table: &[u128], draws: &[u32]) {
        prefetching(out, table, draws, |out, line, order| super::add(out, line, &ORDERS[order]));
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_64(out: &mut [u64], table: &[u64], draws: &[u32]) {
        prefetching(out, table, draws, |out, line, order| {
            let lanes = &NARROW.0[order];
            // SAFETY: all three are 32 bytes long.
            unsafe {
                let line = _mm256_loadu_si256(line.as_ptr().cast());
                let line = _mm256_permutevar8x32_epi32(line, _mm256_loadu_si256(lanes.as_ptr().cast()));
                let sum = _mm256_xor_si256(_mm256_loadu_si256(out.as_ptr().cast()), line);
                _mm256_storeu_si256(out.as_mut_ptr().cast(), sum);
            }
        });
    }

    /// Eight groups at a time. A table of bytes is small enough for the second-level cache: nothing
    /// is fetched ahead.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_8(out: &mut [u8], table: &[u8], draws: &[u32]) {
        const GROUPS: usize = 8;
        let lines = _mm256_set1_epi64x((table.len() / LINE) as i64);
        let orders = _mm256_set1_epi64x(ORDERS.len() as i64);
        // Byte j of 32-bit lane l of a 128-bit half comes from a byte of the same lane.
        let own_lane =
            _mm256_set_epi32(0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0, 0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0);
        let (groups, out_rest) = out.as_chunks_mut::<{ GROUPS * LINE }>();
        let (eights, rest) = draws.as_chunks::<GROUPS>();
        for (out, draws) in groups.iter_mut().zip(eights) {
            // SAFETY: a chunk of draws has 32 bytes and one of out as many; lines are below the table's, orders
            // below 24, both as in `place`.
            unsafe {
                let draws = _mm256_loadu_si256(draws.as_ptr().cast());
                let (even, odd) =
                    (_mm256_mul_epu32(draws, lines), _mm256_mul_epu32(_mm256_srli_epi64::<32>(draws), lines));
                // High halves are lines; those of 24 times the low halves are orders.
                let line = _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd);
                let (even, odd) = (_mm256_mul_epu32(even, orders), _mm256_mul_epu32(odd, orders));
                let order = _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd);
                let values = _mm256_i32gather_epi32::<4>(table.as_ptr().cast(), line);
                let order = _mm256_add_epi8(_mm256_i32gather_epi32::<4>(BYTES.as_ptr().cast(), order), own_lane);
                let sum = _mm256_xor_si256(_mm256_loadu_si256(out.as_ptr().cast()), _mm256_shuffle_epi8(values, order));
                _mm256_storeu_si256(out.as_mut_ptr().cast(), sum);
            }
        }
        portable(out_rest, table, rest);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    pub(super) fn avx512_128(out: &mut [u128], table: &[u128], draws: &[u32]) {
        prefetching(out, table, draws, |out, line, order| {
            let lanes = &WIDE.0[order];
            // SAFETY: all three are 64 bytes long.
            unsafe {
                let line = _mm512_loadu_si512(line.as_ptr().cast());
                let line = _mm512_permutexvar_epi64(_mm512_loadu_si512(lanes.as_ptr().cast()), line);
                let sum = _mm512_xor_si512(_mm512_loadu_si512(out.as_ptr().cast()), line);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), sum);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, with_backend};

    #[test]
    fn all_orders_of_a_line_are_there_once() {
        for (i, order) in ORDERS.iter().enumerate() {
            let mut sorted = *order;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            assert!(!ORDERS[..i].contains(order), "{order:?} twice");
        }
    }

    #[test]
    fn all_backends_follow_the_definition() {
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ (state >> 29)
        };
        for (groups, lines) in [
            (0usize, 1usize),
            (1, 1),
            (7, 3),
            (15, 10),
            (16, 10),
            (17, 11),
            (18, 1),
            (1000, 333),
            (1023, 50),
            (1152, 50),
            (3000, 777),
        ] {
            let table: Vec<u128> = (0..lines * LINE).map(|_| u128::from(next()) << 64 | u128::from(next())).collect();
            let out: Vec<u128> = (0..groups * LINE).map(|_| u128::from(next())).collect();
            let mut draws: Vec<u32> = (0..groups).map(|_| next() as u32).collect();
            draws.iter_mut().take(2).zip([u32::MAX, 0]).for_each(|(draw, edge)| *draw = edge);
            let mut expected = out.clone();
            for (g, &draw) in draws.iter().enumerate() {
                let number = (f64::from(draw) / 4_294_967_296.0 * 24.0 * lines as f64) as usize;
                for j in 0..LINE {
                    expected[LINE * g + j] ^= table[number / 24 * LINE + usize::from(ORDERS[number % 24][j])];
                }
            }
            let narrow = |x: &[u128]| x.iter().map(|&x| x as u64).collect::<Vec<u64>>();
            for backend in Backend::available() {
                with_backend(backend, || {
                    let (mut wide, mut halves) = (out.clone(), narrow(&out));
                    gather(&mut wide, &table, &draws);
                    gather_u64(&mut halves, &narrow(&table), &draws);
                    let bytes = |x: &[u128]| x.iter().map(|&x| x as u8).collect::<Vec<u8>>();
                    let mut narrowest = bytes(&out);
                    gather_u8(&mut narrowest, &bytes(&table), &draws);
                    assert_eq!(narrowest, bytes(&expected), "{} at {groups} of {lines}", backend.name());
                    assert_eq!(wide, expected, "{} at {groups} of {lines}", backend.name());
                    assert_eq!(halves, narrow(&expected), "{} at {groups} of {lines}", backend.name());
                });
            }
        }
    }
}
