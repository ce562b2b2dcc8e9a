//! The field of p = 2^255 - 19, eight elements side by side.
//!
//! An element is ten signed limbs of 26 and 25 bits in turns; limb `i` counts 2^ceil(25.5 i). "Tight" limbs lie within 2^25 (even `i`) or 2^24 (odd `i`) of zero, but
//! for a few units: products and squares give such. A sum or difference of up to three tight elements may be a factor: 19 times its limbs are
//! below 2^31, as the 32-bit multiplier wants, and ten products of limbs below 2^62.

use std::arch::x86_64::*;

use super::Encoded;

/// Limbs of an element.
const LIMBS: usize = 10;

/// Elements side by side.
pub(super) const LANES: usize = 8;

/// An element as four words, lowest first.
pub(super) type Words = [u64; 4];

pub(super) const ZERO: Words = [0; 4];
pub(super) const ONE: Words = [1, 0, 0, 0];
/// A square root of -1: 2^((p - 1) / 4).
pub(super) const SQRT_M1: Words = [0xc4ee_1b27_4a0e_a0b0, 0x2f43_1806_ad2f_e478, 0x2b4d_0099_3dfb_d7a7, 0x2b83_2480_4fc1_df0b];

/// Eight elements of the field.
#[derive(Clone, Copy)]
pub(super) struct Field([__m512i; LIMBS]);

/// Bits of limb `i`.
const fn width(i: usize) -> u32 {
    26 - (i as u32 & 1)
}

/// The bit at which limb `i` begins.
const fn start(i: usize) -> usize {
    (51 * i).div_ceil(2)
}

/// `$body` for each of these limbs, `$i` a constant in it: the compiler leaves loops of this length as they are, at half the speed.
macro_rules! unrolled {
    ($i:ident, $body:block) => { unrolled!($i in 0 1 2 3 4 5 6 7 8 9, $body) };
    ($i:ident in $($limb:literal)+, $body:block) => {$({
        const $i: usize = $limb;
        $body
    })+};
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

impl Field {
    /// One element in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn splat(words: &Words) -> Self {
        Self(limbs(words).map(|limb| _mm512_set1_epi64(limb)))
    }

    /// An element a lane, from 32 little-endian bytes whose highest bit is dropped; all values below 2^255 are taken.
    #[target_feature(enable = "avx512f")]
    pub(super) fn load(bytes: &[Encoded; LANES]) -> Self {
        let mut lanes = [[0i64; LANES]; LIMBS];
        for (lane, bytes) in bytes.iter().enumerate() {
            let (words, _) = bytes.as_chunks();
            let words: Words = std::array::from_fn(|word| u64::from_le_bytes(words[word]));
            for (limb, value) in lanes.iter_mut().zip(limbs(&words)) {
                limb[lane] = value;
            }
        }
        Self(lanes.map(|limb| bytemuck::must_cast(limb)))
    }

    /// The canonical bytes of each lane.
    #[target_feature(enable = "avx512f")]
    pub(super) fn store(&self) -> [Encoded; LANES] {
        let lanes: [[u64; LANES]; LIMBS] = self.canonical().0.map(|limb| bytemuck::must_cast(limb));
        std::array::from_fn(|lane| {
            let mut words = [0u64; 4];
            for (i, limb) in lanes.iter().enumerate() {
                let (word, shift) = (start(i) / 64, start(i) % 64);
                words[word] |= limb[lane] << shift;
                if shift + width(i) as usize > 64 {
                    words[word + 1] |= limb[lane] >> (64 - shift);
                }
            }
            bytemuck::must_cast(words.map(u64::to_le_bytes))
        })
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(&self, other: &Self) -> Self {
        let mut sum = *self;
        for (sum, other) in sum.0.iter_mut().zip(other.0) {
            *sum = _mm512_add_epi64(*sum, other);
        }
        sum
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sub(&self, other: &Self) -> Self {
        let mut difference = *self;
        for (difference, other) in difference.0.iter_mut().zip(other.0) {
            *difference = _mm512_sub_epi64(*difference, other);
        }
        difference
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn negated(&self) -> Self {
        Self([_mm512_setzero_si512(); LIMBS]).sub(self)
    }

    /// `other` in the lanes of `mask`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn select(&self, mask: __mmask8, other: &Self) -> Self {
        let mut chosen = *self;
        for (chosen, other) in chosen.0.iter_mut().zip(other.0) {
            *chosen = _mm512_mask_mov_epi64(*chosen, mask, other);
        }
        chosen
    }

    /// Negated in the lanes of `mask`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn negated_where(&self, mask: __mmask8) -> Self {
        self.select(mask, &self.negated())
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let (f, g) = (&self.0, &other.0);
        let nineteen = _mm512_set1_epi64(19);
        let (mut f2, mut g19) = (*f, *g);
        unrolled!(I, {
            f2[I] = _mm512_add_epi64(f[I], f[I]);
            g19[I] = _mm512_mul_epi32(g[I], nineteen);
        });
        // Limbs of two odd indices begin half a bit late each: their product counts twice.
        let mut h = [_mm512_setzero_si512(); LIMBS];
        unrolled!(K, {
            unrolled!(I, {
                const J: usize = (K + LIMBS - I) % LIMBS;
                let left = if I % 2 == 1 && J % 2 == 1 { f2[I] } else { f[I] };
                let right = if I + J >= LIMBS { g19[J] } else { g[J] };
                h[K] = _mm512_add_epi64(h[K], _mm512_mul_epi32(left, right));
            });
        });
        carried(h)
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn square(&self) -> Self {
        carried(self.squared_limbs())
    }

    /// Twice the square.
    #[target_feature(enable = "avx512f")]
    pub(super) fn square_twice(&self) -> Self {
        let mut h = self.squared_limbs();
        for h in &mut h {
            *h = _mm512_add_epi64(*h, *h);
        }
        carried(h)
    }

    /// Limbs of the square before the carries.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn squared_limbs(&self) -> [__m512i; LIMBS] {
        let f = &self.0;
        let (mut f2, mut f19) = (*f, *f);
        unrolled!(I, {
            f2[I] = _mm512_add_epi64(f[I], f[I]);
            // 38 for odd limbs: the half bit of the factor is in it.
            f19[I] = _mm512_mul_epi32(f[I], _mm512_set1_epi64(19 << (I % 2)));
        });
        let mut h = [_mm512_setzero_si512(); LIMBS];
        unrolled!(K, {
            unrolled!(I, {
                const J: usize = (K + LIMBS - I) % LIMBS;
                const ODD: bool = I % 2 == 1 && J % 2 == 1;
                const WRAPS: bool = I + J >= LIMBS;
                // The multiple of f_i that is left beside f_j, 2 f_j, 19 f_j or 38 f_j.
                if I <= J {
                    let right = if WRAPS { f19[J] } else { if ODD { f2[J] } else { f[J] } };
                    let left = if I < J && (!WRAPS || J % 2 == 0 || ODD) { f2[I] } else { f[I] };
                    h[K] = _mm512_add_epi64(h[K], _mm512_mul_epi32(left, right));
                }
            });
        });
        h
    }

    /// Squared `times` times.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn squares(&self, times: usize) -> Self {
        (0..times).fold(*self, |x, _| x.square())
    }

    /// To the power (p - 5) / 8 = 2^252 - 3.
    #[target_feature(enable = "avx512f")]
    pub(super) fn root_power(&self) -> Self {
        // ones_k is the power of 2^k - 1.
        let squared = self.square();
        let ninth = squared.squares(2).mul(self);
        let ones_5 = ninth.mul(&squared).square().mul(&ninth);
        let ones_10 = ones_5.squares(5).mul(&ones_5);
        let ones_20 = ones_10.squares(10).mul(&ones_10);
        let ones_40 = ones_20.squares(20).mul(&ones_20);
        let ones_50 = ones_40.squares(10).mul(&ones_10);
        let ones_100 = ones_50.squares(50).mul(&ones_50);
        let ones_200 = ones_100.squares(100).mul(&ones_100);
        let ones_250 = ones_200.squares(50).mul(&ones_50);
        ones_250.squares(2).mul(self)
    }

    /// The representative below p, each limb from 0 to its width.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn canonical(&self) -> Self {
        let mut h = self.0;
        // The quotient by p, rounded down: what carries out of the top when 19 2^-255 of the value are added.
        let half = _mm512_set1_epi64(1 << 24);
        let mut quotient = _mm512_srai_epi64::<25>(_mm512_add_epi64(_mm512_mul_epi32(h[LIMBS - 1], _mm512_set1_epi64(19)), half));
        for (i, &limb) in h.iter().enumerate() {
            quotient = shift_down(i, _mm512_add_epi64(limb, quotient));
        }
        h[0] = _mm512_add_epi64(h[0], _mm512_mul_epi32(quotient, _mm512_set1_epi64(19)));
        for i in 0..LIMBS {
            let carry = shift_down(i, h[i]);
            h[i] = _mm512_and_si512(h[i], _mm512_set1_epi64((1 << width(i)) - 1));
            if i + 1 < LIMBS {
                h[i + 1] = _mm512_add_epi64(h[i + 1], carry);
            }
        }
        Self(h)
    }

    /// Lanes whose canonical representative is odd: the "negative" ones of RFC 9496.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn is_negative(&self) -> __mmask8 {
        _mm512_test_epi64_mask(self.canonical().0[0], _mm512_set1_epi64(1))
    }

    /// Lanes that are zero.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn is_zero(&self) -> __mmask8 {
        let bits = self.canonical().0.into_iter().fold(_mm512_setzero_si512(), |all, limb| _mm512_or_si512(all, limb));
        _mm512_testn_epi64_mask(bits, bits)
    }

    /// The representative that is not negative, of each lane or its negation.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn abs(&self) -> Self {
        self.negated_where(self.is_negative())
    }

    /// `SQRT_RATIO_M1(self, v)` of RFC 9496, section 4.2: the root of `self / v` that is not negative, and the lanes that have one (others get that of `sqrt(-1) self / v`).
    #[target_feature(enable = "avx512f")]
    pub(super) fn sqrt_ratio(&self, v: &Self) -> (__mmask8, Self) {
        let v3 = v.square().mul(v);
        let v7 = v3.square().mul(v);
        let root = self.mul(&v3).mul(&self.mul(&v7).root_power());
        let check = v.mul(&root.square());
        let i = Self::splat(&SQRT_M1);
        let correct = check.sub(self).is_zero();
        let flipped = check.add(self).is_zero();
        let flipped_by_i = check.add(&self.mul(&i)).is_zero();
        let root = root.select(flipped | flipped_by_i, &root.mul(&i));
        (correct | flipped, root.abs())
    }
}

/// `value` over 2^width(i), rounded down.
#[inline]
#[target_feature(enable = "avx512f")]
fn shift_down(i: usize, value: __m512i) -> __m512i {
    if i % 2 == 0 { _mm512_srai_epi64::<26>(value) } else { _mm512_srai_epi64::<25>(value) }
}

/// Tight limbs of the same value, for limbs below 2^62.
#[inline]
#[target_feature(enable = "avx512f")]
fn carried(mut h: [__m512i; LIMBS]) -> Field {
    // With half a unit of the next limb added, rounding down is rounding to the nearest; it is taken off again at the end.
    unrolled!(I, {
        h[I] = _mm512_add_epi64(h[I], _mm512_set1_epi64(1 << (width(I) - 1)));
    });
    // Two chains side by side, each step of which waits for the one before.
    unrolled!(I in 0 4 1 5 2 6 3 7 4 8 9 0, {
        let carry = shift_down(I, h[I]);
        h[I] = _mm512_and_si512(h[I], _mm512_set1_epi64((1 << width(I)) - 1));
        if I + 1 < LIMBS {
            h[(I + 1) % LIMBS] = _mm512_add_epi64(h[(I + 1) % LIMBS], carry);
        } else {
            let times_18 = _mm512_add_epi64(_mm512_slli_epi64::<4>(carry), _mm512_slli_epi64::<1>(carry));
            h[0] = _mm512_add_epi64(h[0], _mm512_add_epi64(times_18, carry));
        }
    });
    unrolled!(I, {
        h[I] = _mm512_sub_epi64(h[I], _mm512_set1_epi64(1 << (width(I) - 1)));
    });
    Field(h)
}
