//! The convolution of an expand-convolute code (see `mpc::silent::code`): a linear map over GF(2)
//! with public coefficients, applied in place to long vectors.
//!
//! With `K = 24`, bit `d - 1` of `taps[i]` says whether element `i`, once final, is added to
//! element `i + d`, for `d` in `1..=K`.

use crate::dispatch::{backend, dispatch};

/// How far an element reaches: `taps` have this many bits.
pub const WINDOW: usize = 24;

/// For `i` ascending and `d` in `1..=WINDOW`: `x[i + d] ^= x[i]` where bit `d - 1` of `taps[i]` is
/// set. Bits above are ignored.
///
/// # Panics
/// If the lengths differ.
pub fn convolve(x: &mut [u128], taps: &[u32]) {
    assert_eq!(x.len(), taps.len(), "one word of taps an element");
    dispatch!(
        backend(),
        portable: portable(x, taps),
        avx2: x86::avx2_128(x, taps),
        avx512: x86::avx512_128(x, taps),
    );
}

/// As [`convolve`], over 64-bit elements.
///
/// # Panics
/// If the lengths differ.
pub fn convolve_u64(x: &mut [u64], taps: &[u32]) {
    assert_eq!(x.len(), taps.len(), "one word of taps an element");
    dispatch!(
        backend(),
        portable: portable(x, taps),
        avx2: x86::avx2_64(x, taps),
        avx512: x86::avx512_64(x, taps),
    );
}

/// As [`convolve`], over elements of four bits; the high halves of the bytes stay zero.
///
/// # Panics
/// If the lengths differ, or an element has more than four bits.
pub fn convolve_u4(x: &mut [u8], taps: &[u32]) {
    assert_eq!(x.len(), taps.len(), "one word of taps an element");
    assert!(x.iter().fold(0, |all, x| all | x) < 16, "elements of four bits");
    dispatch!(
        backend(),
        portable: portable(x, taps),
        avx2: x86::avx2_4(x, taps),
        avx512: x86::avx512_4(x, taps),
    );
}

/// An element of a vector over GF(2): what the portable loops need.
trait Element: Copy + std::ops::BitXorAssign {
    /// The element where `bit` is 1, zero where it is 0.
    fn select(self, bit: u32) -> Self;
}

impl Element for u128 {
    #[inline(always)]
    fn select(self, bit: u32) -> Self {
        self & u128::from(bit).wrapping_neg()
    }
}

impl Element for u64 {
    #[inline(always)]
    fn select(self, bit: u32) -> Self {
        self & u64::from(bit).wrapping_neg()
    }
}

impl Element for u8 {
    #[inline(always)]
    fn select(self, bit: u32) -> Self {
        self & (bit as u8).wrapping_neg()
    }
}

/// The definition, written down.
#[inline(always)]
fn portable<T: Element>(x: &mut [T], taps: &[u32]) {
    let whole = x.len().saturating_sub(WINDOW);
    for (i, &taps) in taps[..whole].iter().enumerate() {
        let window: &mut [T; WINDOW + 1] = x[i..].first_chunk_mut().expect("i + WINDOW < x.len()");
        let (&mut [source], targets) = window.split_at_mut(1) else { unreachable!("split at one") };
        for (d, target) in targets.iter_mut().enumerate() {
            *target ^= source.select(taps >> d & 1);
        }
    }
    tail(x, taps, whole);
}

/// The same from element `from` on, with every bound checked.
fn tail<T: Element>(x: &mut [T], taps: &[u32], from: usize) {
    for i in from..x.len() {
        let (head, targets) = x.split_at_mut(i + 1);
        for (d, target) in targets.iter_mut().take(WINDOW).enumerate() {
            *target ^= head[i].select(taps[i] >> d & 1);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{WINDOW, tail};

    /// Masks of a register's 64-bit lanes: lane `l` of entry `i` is set where bit `l` of `i` is.
    #[repr(align(32))]
    struct Masks<const N: usize>([[u64; 4]; N]);

    static LANES_OF_64: Masks<16> = masks(1);
    static LANES_OF_128: Masks<4> = masks(2);

    /// The masks where a bit stands for `width` lanes.
    const fn masks<const N: usize>(width: usize) -> Masks<N> {
        let mut masks = [[0; 4]; N];
        let mut i = 0;
        while i < 4 * N {
            if (i / 4) >> (i % 4 / width) & 1 == 1 {
                masks[i / 4][i % 4] = u64::MAX;
            }
            i += 1;
        }
        Masks(masks)
    }

    /// The array, each element one place lower. Written so that the compiler keeps it in registers:
    /// `rotate_left` moves memory, which each of its elements would then go through.
    #[inline(always)]
    fn turned<T: Copy, const N: usize>(array: [T; N]) -> [T; N] {
        std::array::from_fn(|i| array[(i + 1) % N])
    }

    macro_rules! avx2_twin {
        ($(#[$doc:meta])* $name:ident, $element:ty, $masks:ident, [$($s:literal: $broadcast:expr),+]) => {
            $(#[$doc])*
            #[target_feature(enable = "avx2")]
            pub(super) fn $name(x: &mut [$element], taps: &[u32]) {
                const LANES: usize = 32 / size_of::<$element>();
                const REACH: usize = WINDOW / LANES;
                let groups = (x.len() / LANES).saturating_sub(REACH);
                let mut window = [_mm256_setzero_si256(); REACH + 1];
                if groups > 0 {
                    for (r, w) in window.iter_mut().enumerate() {
                        // SAFETY: group r <= REACH < groups + REACH <= x.len() / LANES lies within x.
                        *w = unsafe { _mm256_loadu_si256(x.as_ptr().add(r * LANES).cast()) };
                    }
                }
                for g in 0..groups {
                    $(
                        let source: __m256i = $broadcast(window[0]);
                        // From the source on, and so from its group's first element by s more: bit b reaches element b of the window.
                        let reached = (taps[g * LANES + $s] & ((1 << WINDOW) - 1)) << ($s + 1);
                        for (r, w) in window.iter_mut().enumerate() {
                            let mask = &$masks.0[(reached >> (r * LANES)) as usize % (1 << LANES)];
                            // SAFETY: an entry has 32 bytes, and is aligned to as many.
                            let mask = unsafe { _mm256_load_si256(mask.as_ptr().cast()) };
                            *w = _mm256_xor_si256(*w, _mm256_and_si256(source, mask));
                        }
                    )+
                    // SAFETY: group g < groups lies within x.
                    unsafe { _mm256_storeu_si256(x.as_mut_ptr().add(g * LANES).cast(), window[0]) };
                    window = turned(window);
                    if g + 1 < groups {
                        // SAFETY: group g + 1 + REACH < groups + REACH lies within x.
                        window[REACH] = unsafe { _mm256_loadu_si256(x.as_ptr().add((g + 1 + REACH) * LANES).cast()) };
                    } else {
                        for (r, &w) in window[..REACH].iter().enumerate() {
                            // SAFETY: group g + 1 + r < groups + REACH lies within x.
                            unsafe { _mm256_storeu_si256(x.as_mut_ptr().add((g + 1 + r) * LANES).cast(), w) };
                        }
                    }
                }
                tail(x, taps, groups * LANES);
            }
        };
    }

    avx2_twin!(
        /// Two elements are a register; a group's sources reach into the twelve groups after it.
        avx2_128, u128, LANES_OF_128,
        [0: |w| _mm256_permute2x128_si256::<0x00>(w, w), 1: |w| _mm256_permute2x128_si256::<0x11>(w, w)]
    );
    avx2_twin!(
        /// Four elements are a register; a group's sources reach into the six groups after it.
        avx2_64, u64, LANES_OF_64,
        [
            0: |w| _mm256_permute4x64_epi64::<0x00>(w),
            1: |w| _mm256_permute4x64_epi64::<0x55>(w),
            2: |w| _mm256_permute4x64_epi64::<0xaa>(w),
            3: |w| _mm256_permute4x64_epi64::<0xff>(w)
        ]
    );

    /// Lane `l` of entry `i` is bit `l` of `i`.
    static BITS_OF_4: [[u32; 4]; 16] = {
        let mut bits = [[0; 4]; 16];
        let mut i = 0;
        while i < 4 * 16 {
            bits[i / 4][i % 4] = (i / 4) as u32 >> (i % 4) & 1;
            i += 1;
        }
        bits
    };

    /// A lane of 32 bits for each bit of the elements: what is to be added to this element and to
    /// those after it, the next one higher.
    #[inline(always)]
    fn by_lanes(x: &mut [u8], taps: &[u32]) {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let mut state = _mm_setzero_si128();
            for (x, &taps) in x.iter_mut().zip(taps) {
                let bits = _mm_loadu_si128(BITS_OF_4[usize::from(*x) % 16].as_ptr().cast());
                state = _mm_xor_si128(state, bits);
                let set = _mm_srai_epi32::<31>(_mm_slli_epi32::<31>(state));
                *x = _mm_movemask_ps(_mm_castsi128_ps(set)) as u8;
                let reached = _mm_set1_epi32((taps & ((1 << WINDOW) - 1)) as i32);
                state = _mm_xor_si128(_mm_srli_epi32::<1>(state), _mm_and_si128(set, reached));
            }
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_4(x: &mut [u8], taps: &[u32]) {
        by_lanes(x, taps);
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
    pub(super) fn avx512_4(x: &mut [u8], taps: &[u32]) {
        by_lanes(x, taps);
    }

    /// Every bit of the low half doubled: a mask of 64-bit lanes from one of 128-bit lanes.
    #[inline]
    #[target_feature(enable = "bmi2")]
    fn doubled(bits: u32) -> u64 {
        _pdep_u64(u64::from(bits), 0x5555_5555_5555_5555) * 3
    }

    /// Four elements are a register; a group's sources reach into the six groups after it, which
    /// stay in registers.
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,bmi2")]
    pub(super) fn avx512_128(x: &mut [u128], taps: &[u32]) {
        const LANES: usize = 4;
        const REACH: usize = WINDOW / LANES;
        let groups = (x.len() / LANES).saturating_sub(REACH);
        let mut window = [_mm512_setzero_si512(); REACH + 1];
        if groups > 0 {
            for (r, w) in window.iter_mut().enumerate() {
                // SAFETY: group r <= REACH < groups + REACH <= x.len() / LANES lies within x.
                *w = unsafe { _mm512_loadu_si512(x.as_ptr().add(r * LANES).cast()) };
            }
        }
        for g in 0..groups {
            let word = |s: usize| taps[g * LANES + s] & ((1 << WINDOW) - 1);
            macro_rules! scatter {
                ($($s:literal),+) => {$(
                    let source = _mm512_shuffle_i64x2::<{ $s * 0b01_01_01_01 }>(window[0], window[0]);
                    let mask = doubled(word($s) << ($s + 1));
                    for (r, w) in window.iter_mut().enumerate() {
                        *w = _mm512_mask_xor_epi64(*w, (mask >> (8 * r)) as u8, *w, source);
                    }
                )+};
            }
            scatter!(0, 1, 2, 3);
            // SAFETY: group g < groups lies within x.
            unsafe { _mm512_storeu_si512(x.as_mut_ptr().add(g * LANES).cast(), window[0]) };
            window = turned(window);
            if g + 1 < groups {
                // SAFETY: group g + 1 + REACH < groups + REACH lies within x.
                window[REACH] = unsafe { _mm512_loadu_si512(x.as_ptr().add((g + 1 + REACH) * LANES).cast()) };
            } else {
                for (r, &w) in window[..REACH].iter().enumerate() {
                    // SAFETY: group g + 1 + r < groups + REACH lies within x.
                    unsafe { _mm512_storeu_si512(x.as_mut_ptr().add((g + 1 + r) * LANES).cast(), w) };
                }
            }
        }
        tail(x, taps, groups * LANES);
    }

    /// Eight elements are a register; a group's sources reach into the three groups after it.
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,bmi2")]
    pub(super) fn avx512_64(x: &mut [u64], taps: &[u32]) {
        const LANES: usize = 8;
        const REACH: usize = WINDOW / LANES;
        let groups = (x.len() / LANES).saturating_sub(REACH);
        let mut window = [_mm512_setzero_si512(); REACH + 1];
        if groups > 0 {
            for (r, w) in window.iter_mut().enumerate() {
                // SAFETY: group r <= REACH < groups + REACH <= x.len() / LANES lies within x.
                *w = unsafe { _mm512_loadu_si512(x.as_ptr().add(r * LANES).cast()) };
            }
        }
        for g in 0..groups {
            let word = |s: usize| taps[g * LANES + s] & ((1 << WINDOW) - 1);
            macro_rules! scatter {
                ($($s:literal),+) => {$(
                    let source = _mm512_permutexvar_epi64(_mm512_set1_epi64($s), window[0]);
                    let mask = word($s) << ($s + 1);
                    for (r, w) in window.iter_mut().enumerate() {
                        *w = _mm512_mask_xor_epi64(*w, (mask >> (8 * r)) as u8, *w, source);
                    }
                )+};
            }
            scatter!(0, 1, 2, 3, 4, 5, 6, 7);
            // SAFETY: group g < groups lies within x.
            unsafe { _mm512_storeu_si512(x.as_mut_ptr().add(g * LANES).cast(), window[0]) };
            window = turned(window);
            if g + 1 < groups {
                // SAFETY: group g + 1 + REACH < groups + REACH lies within x.
                window[REACH] = unsafe { _mm512_loadu_si512(x.as_ptr().add((g + 1 + REACH) * LANES).cast()) };
            } else {
                for (r, &w) in window[..REACH].iter().enumerate() {
                    // SAFETY: group g + 1 + r < groups + REACH lies within x.
                    unsafe { _mm512_storeu_si512(x.as_mut_ptr().add((g + 1 + r) * LANES).cast(), w) };
                }
            }
        }
        tail(x, taps, groups * LANES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, with_backend};

    /// A small generator for test inputs.
    fn words(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ (state >> 29)
        }
    }

    #[test]
    fn all_backends_follow_the_definition() {
        for len in [0usize, 1, 2, 23, 24, 25, 27, 28, 29, 31, 32, 33, 100, 1001] {
            let mut next = words(len as u64);
            let x: Vec<u128> = (0..len).map(|_| u128::from(next()) << 64 | u128::from(next())).collect();
            let halves: Vec<u64> = x.iter().map(|&x| x as u64).collect();
            let nibbles: Vec<u8> = x.iter().map(|&x| x as u8 & 15).collect();
            let taps: Vec<u32> = (0..len).map(|_| next() as u32).collect();
            let mut expected = x.clone();
            for i in 0..len {
                for d in 1..=WINDOW {
                    if i + d < len && taps[i] >> (d - 1) & 1 == 1 {
                        expected[i + d] ^= expected[i];
                    }
                }
            }
            let expected_halves: Vec<u64> = expected.iter().map(|&x| x as u64).collect();
            for backend in Backend::available() {
                with_backend(backend, || {
                    let (mut wide, mut narrow) = (x.clone(), halves.clone());
                    convolve(&mut wide, &taps);
                    convolve_u64(&mut narrow, &taps);
                    assert_eq!(wide, expected, "{} at {len}", backend.name());
                    assert_eq!(narrow, expected_halves, "{} at {len}", backend.name());
                    let mut narrowest = nibbles.clone();
                    convolve_u4(&mut narrowest, &taps);
                    assert!(
                        narrowest.iter().zip(&expected).all(|(&x, &wide)| x == wide as u8 & 15),
                        "{} at {len}",
                        backend.name()
                    );
                });
            }
        }
    }
}
