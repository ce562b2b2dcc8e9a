//! The field of p = 2^255 - 19, eight elements side by side, in floating point, for machines without
//! IFMA: there, it is the fused multiply-add that multiplies widest.
//!
//! An element is six signed limbs of 43 and 42 bits in turns, each a double that holds an integer;
//! limb `i` counts 2^ceil(42.5 i). "Tight" limbs lie within 2^42 (even `i`) or 2^41 (odd `i`) of
//! zero, but for 2^13: products and squares give such, and [`Doubles::load`] counts as two. Factors
//! may be sums or differences of up to three tight elements. Then nothing is ever rounded but where
//! it is meant to be: 19 times a limb is below 2^53, and a column of a product below 2^94 (9 * 2^84
//! * (1 + 19 * 3.5), the lowest).
//!
//! A column is summed twice. `high` begins at 1.5 * 2^95, where doubles are multiples of 2^43 up to
//! 2^94 on either side, so that each multiply-add rounds to such. What it has rounded off, below
//! 2^42, is exact in a second multiply-add, and six of these sum up exactly. All of it takes
//! rounding to the nearest, as every thread begins with. There are no subnormal numbers, and no
//! other ones on which the time of an instruction depends.

use std::arch::x86_64::*;

use super::encoded::Encoded;
use super::field::{Field, Words, unrolled};
use super::points::{self, Digits, Point, compiled};

/// Limbs of an element.
const LIMBS: usize = 6;

/// Elements side by side.
const LANES: usize = 8;

/// Eight elements of the field.
#[derive(Clone, Copy)]
pub(super) struct Doubles([__m512d; LIMBS]);

compiled!(Doubles, "avx512f,avx512dq");

/// Bits of limb `i`.
const fn width(i: usize) -> u32 {
    43 - (i as u32 & 1)
}

/// 2^`exponent`.
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The bit at which limb `i` begins.
const fn start(i: usize) -> usize {
    (85 * i).div_ceil(2)
}

/// Limbs of four words, whose highest bit is dropped.
fn limbs(words: &Words) -> [i64; LIMBS] {
    std::array::from_fn(|i| {
        let (word, shift) = (start(i) / 64, start(i) % 64);
        let low = words[word] >> shift;
        let high = if shift + width(i) as usize > 64 { words[word + 1] << (64 - shift) } else { 0 };
        ((low | high) & ((1 << width(i)) - 1)) as i64
    })
}

impl Doubles {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn splat(words: &Words) -> Self {
        Self(limbs(words).map(|limb| _mm512_set1_pd(limb as f64)))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn load(bytes: &[Encoded]) -> Self {
        let mut lanes = [[0i64; LANES]; LIMBS];
        for (lane, bytes) in bytes.iter().enumerate() {
            let (words, _) = bytes.as_chunks();
            let words: Words = std::array::from_fn(|word| u64::from_le_bytes(words[word]));
            for (limb, value) in lanes.iter_mut().zip(limbs(&words)) {
                limb[lane] = value;
            }
        }
        Self(lanes.map(|limb| _mm512_cvtepi64_pd(bytemuck::must_cast(limb))))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn store(&self, bytes: &mut [Encoded]) {
        let lanes: [[u64; LANES]; LIMBS] = self.canonical().map(bytemuck::must_cast);
        for (lane, bytes) in bytes.iter_mut().enumerate() {
            let mut words = [0u64; 4];
            for (i, limb) in lanes.iter().enumerate() {
                let (word, shift) = (start(i) / 64, start(i) % 64);
                words[word] |= limb[lane] << shift;
                if shift + width(i) as usize > 64 {
                    words[word + 1] |= limb[lane] >> (64 - shift);
                }
            }
            *bytes = bytemuck::must_cast(words.map(u64::to_le_bytes));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn add(&self, other: &Self) -> Self {
        let mut sum = *self;
        for (sum, other) in sum.0.iter_mut().zip(other.0) {
            *sum = _mm512_add_pd(*sum, other);
        }
        sum
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn sub(&self, other: &Self) -> Self {
        let mut difference = *self;
        for (difference, other) in difference.0.iter_mut().zip(other.0) {
            *difference = _mm512_sub_pd(*difference, other);
        }
        difference
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn select(&self, mask: __mmask8, other: &Self) -> Self {
        let mut chosen = *self;
        for (chosen, other) in chosen.0.iter_mut().zip(other.0) {
            *chosen = _mm512_mask_mov_pd(*chosen, mask, other);
        }
        chosen
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    #[expect(clippy::absurd_extreme_comparisons, reason = "indices are constants, and some of them the least")]
    fn mul(&self, other: &Self) -> Self {
        let (f, g) = (&self.0, &other.0);
        let (mut f2, mut g19) = (*f, *g);
        unrolled!(I in 0 1 2 3 4 5, {
            f2[I] = _mm512_add_pd(f[I], f[I]);
            g19[I] = _mm512_mul_pd(g[I], _mm512_set1_pd(19.0));
        });
        let mut columns = [Column::new(); LIMBS];
        unrolled!(K in 0 1 2 3 4 5, {
            unrolled!(I in 0 1 2 3 4 5, {
                const J: usize = (K + LIMBS - I) % LIMBS;
                // Limbs of two odd indices begin half a bit late each: their product counts twice.
                let left = if I % 2 == 1 && J % 2 == 1 { f2[I] } else { f[I] };
                let right = if I + J >= LIMBS { g19[J] } else { g[J] };
                columns[K].add(left, right);
            });
        });
        carried(&columns, 1.0)
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn square(&self) -> Self {
        carried(&self.squared_columns(), 1.0)
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn square_twice(&self) -> Self {
        carried(&self.squared_columns(), 2.0)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    #[expect(clippy::absurd_extreme_comparisons, reason = "indices are constants, and some of them the least")]
    fn squared_columns(&self) -> [Column; LIMBS] {
        let f = &self.0;
        let (mut f2, mut f19) = (*f, *f);
        unrolled!(I in 0 1 2 3 4 5, {
            f2[I] = _mm512_add_pd(f[I], f[I]);
            // 38 for odd limbs: the half bit of the factor is in it.
            f19[I] = _mm512_mul_pd(f[I], _mm512_set1_pd((19 << (I % 2)) as f64));
        });
        let mut columns = [Column::new(); LIMBS];
        unrolled!(K in 0 1 2 3 4 5, {
            unrolled!(I in 0 1 2 3 4 5, {
                const J: usize = (K + LIMBS - I) % LIMBS;
                const ODD: bool = I % 2 == 1 && J % 2 == 1;
                const WRAPS: bool = I + J >= LIMBS;
                // The multiple of f_i that is left beside f_j, 2 f_j, 19 f_j or 38 f_j.
                if I <= J {
                    let right = if WRAPS {
                        f19[J]
                    } else if ODD {
                        f2[J]
                    } else {
                        f[J]
                    };
                    let left = if I < J && (!WRAPS || J.is_multiple_of(2) || ODD) { f2[I] } else { f[I] };
                    columns[K].add(left, right);
                }
            });
        });
        columns
    }

    /// The representative below p as integers, each limb from 0 to its width.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn canonical(&self) -> [__m512i; LIMBS] {
        let mut h = self.0.map(|limb| _mm512_cvtpd_epi64(limb));
        let nineteen = _mm512_set1_epi64(19);
        // The quotient by p, rounded down: what carries out of the top when 19 2^-255 of the value are
        // added.
        let half = _mm512_set1_epi64(1 << (width(LIMBS - 1) - 1));
        let mut quotient = shift_down(LIMBS - 1, _mm512_add_epi64(_mm512_mullo_epi64(h[LIMBS - 1], nineteen), half));
        for (i, &limb) in h.iter().enumerate() {
            quotient = shift_down(i, _mm512_add_epi64(limb, quotient));
        }
        h[0] = _mm512_add_epi64(h[0], _mm512_mullo_epi64(quotient, nineteen));
        for i in 0..LIMBS {
            let carry = shift_down(i, h[i]);
            h[i] = _mm512_and_si512(h[i], _mm512_set1_epi64((1 << width(i)) - 1));
            if i + 1 < LIMBS {
                h[i + 1] = _mm512_add_epi64(h[i + 1], carry);
            }
        }
        h
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn is_negative(&self) -> __mmask8 {
        _mm512_test_epi64_mask(self.canonical()[0], _mm512_set1_epi64(1))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn is_zero(&self) -> __mmask8 {
        let bits = self.canonical().into_iter().fold(_mm512_setzero_si512(), |all, limb| _mm512_or_si512(all, limb));
        _mm512_testn_epi64_mask(bits, bits)
    }
}

/// A value exists only where the machine has the instructions, as [`Field`] says.
macro_rules! method {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        #[inline(always)]
        fn $name(&self, $($argument: $type),*) -> $result {
            // SAFETY: there is a value.
            unsafe { Self::$name(self, $($argument),*) }
        }
    };
}

impl Field for Doubles {
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn splat(words: &Words) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { Self::splat(words) }
    }

    #[inline(always)]
    unsafe fn load(bytes: &[Encoded]) -> Self {
        // SAFETY: the caller vouches for the instructions.
        unsafe { Self::load(bytes) }
    }

    #[inline(always)]
    fn store(&self, bytes: &mut [Encoded]) {
        // SAFETY: there is a value.
        unsafe { Self::store(self, bytes) }
    }

    method!(add(other: &Self) -> Self);
    method!(sub(other: &Self) -> Self);
    method!(mul(other: &Self) -> Self);
    method!(square() -> Self);
    method!(square_twice() -> Self);
    method!(select(mask: u8, other: &Self) -> Self);
    method!(is_negative() -> u8);
    method!(is_zero() -> u8);

    #[inline(always)]
    fn exchanged(&self, distance: usize) -> Self {
        let lanes: [[f64; LANES]; LIMBS] = self.0.map(bytemuck::must_cast);
        Self(lanes.map(|limb| bytemuck::must_cast(std::array::from_fn::<f64, LANES, _>(|lane| limb[lane ^ distance]))))
    }
}

/// `value` over 2^width(i), rounded down.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn shift_down(i: usize, value: __m512i) -> __m512i {
    if i.is_multiple_of(2) { _mm512_srai_epi64::<43>(value) } else { _mm512_srai_epi64::<42>(value) }
}

/// Where doubles are multiples of 2^43.
const HIGH: f64 = 1.5 * power(95);

/// A column of a product: the sum is `high - HIGH + low`.
#[derive(Clone, Copy)]
struct Column {
    high: __m512d,
    low: __m512d,
}

impl Column {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn new() -> Self {
        Self { high: _mm512_set1_pd(HIGH), low: _mm512_setzero_pd() }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn add(&mut self, left: __m512d, right: __m512d) {
        let high = _mm512_fmadd_pd(left, right, self.high);
        let rounded = _mm512_sub_pd(high, self.high);
        self.low = _mm512_add_pd(self.low, _mm512_fmsub_pd(left, right, rounded));
        self.high = high;
    }
}

/// `times` (1 or 2) the value of these columns, tight.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn carried(columns: &[Column; LIMBS], times: f64) -> Doubles {
    let mut x = columns.map(|column| _mm512_mul_pd(column.low, _mm512_set1_pd(times)));
    let high = columns.map(|column| _mm512_sub_pd(column.high, _mm512_set1_pd(HIGH)));
    // Below 2^53 afterwards: the highest column, whose carry counts 19 times, has no terms that do.
    unrolled!(I in 0 1 2 3 4 5, {
        x[(I + 1) % LIMBS] = _mm512_fmadd_pd(high[I], _mm512_set1_pd(times * carry_counts(I)), x[(I + 1) % LIMBS])
    });
    // What carries now is below 2^13 and disturbs no limb that it comes to: all at once.
    let mut carry = x;
    unrolled!(I in 0 1 2 3 4 5, {
        let multiples = _mm512_set1_pd(1.5 * power(52 + width(I) as i32));
        carry[I] = _mm512_sub_pd(_mm512_add_pd(x[I], multiples), multiples);
    });
    unrolled!(I in 0 1 2 3 4 5, { x[I] = _mm512_sub_pd(x[I], carry[I]) });
    unrolled!(I in 0 1 2 3 4 5, {
        x[(I + 1) % LIMBS] = _mm512_fmadd_pd(carry[I], _mm512_set1_pd(carry_counts(I)), x[(I + 1) % LIMBS])
    });
    Doubles(x)
}

/// What a unit of limb `i` is in the next one, 19 of which begin again below the first.
const fn carry_counts(i: usize) -> f64 {
    (if i + 1 == LIMBS { 19.0 } else { 1.0 }) * power(-(width(i) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, testing};

    /// `-a`, `0` or `a` in each limb, where `a` is `tight` tight limbs.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn extreme(signs: u128, tight: f64) -> Doubles {
        let digit = |i: usize| f64::from((signs >> (2 * i)) as u8 & 3).min(2.0) - 1.0;
        Doubles(std::array::from_fn(|i| _mm512_set1_pd(digit(i) * tight * (power(width(i) as i32 - 1) + power(13)))))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn stored(x: &Doubles) -> [Encoded; LANES] {
        let mut bytes = [[0; 32]; LANES];
        x.store(&mut bytes);
        bytes
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn reduced(x: &Doubles) -> Doubles {
        Doubles::load(&stored(x))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn assert_tight(x: &Doubles) {
        for (i, limb) in x.0.iter().enumerate() {
            let lanes: [f64; LANES] = bytemuck::must_cast(*limb);
            assert!(
                lanes.iter().all(|lane| lane.abs() <= power(width(i) as i32 - 1) + power(13)),
                "limb {i}: {lanes:?}"
            );
        }
    }

    /// Products of the largest factors that are allowed are those of the same elements with small
    /// limbs, and tight.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn extremes() {
        let words = testing::words(1, 2000).into_iter().zip(testing::words(2, 2000));
        for (f, g) in words.chain([(0, 0), (0, u128::MAX), (u128::MAX, u128::MAX)]) {
            let (f, g) = (extreme(f, 3.0), extreme(g, 3.0));
            let (small_f, small_g) = (reduced(&f), reduced(&g));
            let product = f.mul(&g);
            assert_tight(&product);
            assert_eq!(stored(&product), stored(&small_f.mul(&small_g)));
            assert_eq!(stored(&product), stored(&g.mul(&f)));
            let (square, twice) = (f.square(), f.square_twice());
            assert_tight(&square);
            assert_tight(&twice);
            assert_eq!(stored(&square), stored(&small_f.mul(&small_f)));
            assert_eq!(stored(&twice), stored(&square.add(&square)));
        }
    }

    /// Values around multiples of p, in limbs of every sign, come out below p.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn canonical_forms() {
        let small = |value: f64| {
            let mut limbs = [_mm512_setzero_pd(); LIMBS];
            limbs[0] = _mm512_set1_pd(value);
            Doubles(limbs)
        };
        let mut modulus = [0xff; 32];
        (modulus[0], modulus[31]) = (0xed, 0x7f);
        let p = Doubles::load(&[modulus; LANES]);
        // Zero, borrowed from the highest limb.
        let mut borrowed = small(0.0);
        borrowed.0[LIMBS - 1] = _mm512_set1_pd(-1.0);
        borrowed.0[LIMBS - 2] = _mm512_set1_pd(power(width(LIMBS - 2) as i32));
        for base in [small(0.0), p, p.negated(), p.add(&p), borrowed] {
            for offset in -30..=30i8 {
                let got = base.add(&small(f64::from(offset)));
                let mut expected = if offset < 0 { modulus } else { [0u8; 32] };
                expected[0] = expected[0].wrapping_add_signed(offset);
                assert_eq!(stored(&got)[3], expected, "offset {offset}");
                assert_eq!(got.is_zero() == u8::MAX, offset == 0);
                assert_eq!(got.is_negative() == u8::MAX, expected[0] & 1 == 1);
            }
        }
        assert_eq!(stored(&Doubles::load(&[[0xff; 32]; LANES]))[0][0], 18);
    }

    #[test]
    fn limbs_at_their_bounds() {
        if Backend::Avx512.is_available() {
            // SAFETY: the backend has the features.
            unsafe {
                extremes();
                canonical_forms();
            }
        }
    }
}
