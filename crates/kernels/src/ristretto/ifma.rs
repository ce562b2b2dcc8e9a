//! The field of p = 2^255 - 19 with AVX-512 IFMA, which multiplies integers of 52 bits: eight
//! elements side by side in registers of 512 bits, or four in registers of 256 bits.
//!
//! An element is five limbs of 51 bits; limb `i` counts 2^(51 i). Between operations, all limbs lie
//! below 2^51 + 2^15 ("tight"): a product reads 52 bits of a limb and no more. So sums and differences
//! carry, too. Nothing is signed: a difference is taken from twice p.
//!
//! A product of two limbs is `low + 2^52 high`, and `high` counts twice in the next column. A column
//! has at most five of each, below 5 * 2^52 + 2 * 5 * (2^50 + 2^16) < 2^55. The columns from 2^255 on
//! begin again at 1, 19 times: sums stay below 20 * 2^55 < 2^60, and twice that fits a word. What
//! carries is then below 2^10, and 19 times that below 2^15.

use std::arch::x86_64::*;

use bytemuck::Pod;
use curve25519_dalek::Scalar;

use super::encoded::{Checked, Composites, ENCODED_BYTES, Encoded, Stated, Uniform};
use super::field::{Field, Words, unrolled};
use super::points::{self, Digits, Point, compiled};
use super::proofs;

/// Limbs of an element.
const LIMBS: usize = 5;

/// Bits of a limb.
const WIDTH: usize = 51;

const MASK: u64 = (1 << WIDTH) - 1;

/// The limbs of 2 p, each above every tight limb.
const TWICE_P: [u64; LIMBS] = [2 * MASK - 36, 2 * MASK, 2 * MASK, 2 * MASK, 2 * MASK];

/// Words side by side in a register.
///
/// # Safety
/// Of all functions: the machine has AVX-512 F, VL, DQ and IFMA.
pub(super) trait Vector: Pod {
    unsafe fn splat(word: u64) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn times_16(self) -> Self;
    /// What is above the lowest limb.
    unsafe fn carry(self) -> Self;
    /// Plus the lowest 52 bits of a product of two numbers of 52 bits.
    unsafe fn add_low(self, left: Self, right: Self) -> Self;
    /// Plus the highest 52 bits of it.
    unsafe fn add_high(self, left: Self, right: Self) -> Self;
    /// `other` in the lanes of `mask`.
    unsafe fn select(self, mask: u8, other: Self) -> Self;
    /// Lanes that have no bit in common.
    unsafe fn disjoint(self, other: Self) -> u8;
}

macro_rules! vector {
    ($register:ty, $splat:ident $add:ident $sub:ident $and:ident $or:ident $up:ident $down:ident $low:ident $high:ident
        $select:ident $disjoint:ident) => {
        impl Vector for $register {
            operation!(splat(word: u64) -> Self, $splat(word as i64));
            operation!(add(self, other: Self) -> Self, $add(self, other));
            operation!(sub(self, other: Self) -> Self, $sub(self, other));
            operation!(and(self, other: Self) -> Self, $and(self, other));
            operation!(or(self, other: Self) -> Self, $or(self, other));
            operation!(times_16(self) -> Self, $up::<4>(self));
            operation!(carry(self) -> Self, $down::<51>(self));
            operation!(add_low(self, left: Self, right: Self) -> Self, $low(self, left, right));
            operation!(add_high(self, left: Self, right: Self) -> Self, $high(self, left, right));
            operation!(select(self, mask: u8, other: Self) -> Self, $select(self, mask, other));
            operation!(disjoint(self, other: Self) -> u8, $disjoint(self, other));
        }
    };
}

macro_rules! operation {
    ($name:ident($($arguments:tt)*) -> $result:ty, $body:expr) => {
        #[inline(always)]
        unsafe fn $name($($arguments)*) -> $result {
            // SAFETY: the caller vouches for the instructions.
            unsafe { $body }
        }
    };
}

vector!(__m512i, _mm512_set1_epi64 _mm512_add_epi64 _mm512_sub_epi64 _mm512_and_si512 _mm512_or_si512 _mm512_slli_epi64
    _mm512_srli_epi64 _mm512_madd52lo_epu64 _mm512_madd52hi_epu64 _mm512_mask_mov_epi64 _mm512_testn_epi64_mask);
vector!(__m256i, _mm256_set1_epi64x _mm256_add_epi64 _mm256_sub_epi64 _mm256_and_si256 _mm256_or_si256 _mm256_slli_epi64
    _mm256_srli_epi64 _mm256_madd52lo_epu64 _mm256_madd52hi_epu64 _mm256_mask_mov_epi64 _mm256_testn_epi64_mask);

/// Elements side by side. A value exists only where the machine has the instructions: those who make
/// one from nothing vouch for that.
#[derive(Clone, Copy)]
pub(super) struct Limbs<V>([V; LIMBS]);

/// Eight elements.
pub(super) type Eight = Limbs<__m512i>;

/// Four elements.
pub(super) type Four = Limbs<__m256i>;

/// Elements up to which the narrow registers are taken.
const FEW: usize = 4;

/// Where the narrow registers take over.
fn wide(elements: usize) -> usize {
    let rest = elements % 8;
    elements - if rest <= FEW { rest } else { 0 }
}

compiled!(Eight, "avx512f,avx512dq,avx512vl,avx512ifma");
compiled!(Four, "avx512f,avx512dq,avx512vl,avx512ifma");

/// # Safety
/// The machine has the instructions. So for the functions below.
pub(super) unsafe fn multiply(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    let (wide, narrow) = elements.split_at_mut(wide(elements.len()));
    // SAFETY: the caller vouches for the instructions; below, too.
    let valid = unsafe { points::multiply::<Eight>(scalar, wide) & points::multiply::<Four>(scalar, narrow) };
    if !valid {
        elements.fill([0; ENCODED_BYTES]);
    }
    valid
}

/// # Safety
/// As above.
pub(super) unsafe fn map_and_multiply(scalar: &Scalar, uniform: &[Uniform], out: &mut [Encoded]) {
    let place = wide(uniform.len());
    let ((uniform, few), (out, few_out)) = (uniform.split_at(place), out.split_at_mut(place));
    // SAFETY: as above.
    unsafe {
        points::map_and_multiply::<Eight>(scalar, uniform, out);
        points::map_and_multiply::<Four>(scalar, few, few_out);
    }
}

/// # Safety
/// As above.
pub(super) unsafe fn multiply_by_each(scalars: &[Scalar], elements: &mut [Encoded]) -> bool {
    let place = wide(elements.len());
    let ((scalars, few), (wide, narrow)) = (scalars.split_at(place), elements.split_at_mut(place));
    // SAFETY: as above.
    let valid =
        unsafe { points::multiply_by_each::<Eight>(scalars, wide) & points::multiply_by_each::<Four>(few, narrow) };
    if !valid {
        elements.fill([0; ENCODED_BYTES]);
    }
    valid
}

/// # Safety
/// As above.
pub(super) unsafe fn map_and_multiply_by_each(scalars: &[Scalar], uniform: &[Uniform], out: &mut [Encoded]) {
    let place = wide(scalars.len());
    let ((scalars, few), (uniform, few_uniform)) = (scalars.split_at(place), uniform.split_at(place));
    let (out, few_out) = out.split_at_mut(place);
    // SAFETY: as above.
    unsafe {
        points::map_and_multiply_by_each::<Eight>(scalars, uniform, out);
        points::map_and_multiply_by_each::<Four>(few, few_uniform, few_out);
    }
}

/// # Safety
/// As above.
pub(super) unsafe fn map_all(uniform: &[Uniform], out: &mut [Encoded]) {
    let place = wide(uniform.len());
    let ((uniform, few), (out, few_out)) = (uniform.split_at(place), out.split_at_mut(place));
    // SAFETY: as above.
    unsafe {
        points::map_all::<Eight>(uniform, out);
        points::map_all::<Four>(few, few_out);
    }
}

/// # Safety
/// As above.
pub(super) unsafe fn add_map_and_multiply(scalar: &Scalar, elements: &mut [Encoded], uniform: &[Uniform]) -> bool {
    let place = wide(elements.len());
    let ((uniform, few), (wide, narrow)) = (uniform.split_at(place), elements.split_at_mut(place));
    // SAFETY: as above.
    let valid = unsafe {
        points::add_map_and_multiply::<Eight>(scalar, wide, uniform)
            & points::add_map_and_multiply::<Four>(scalar, narrow, few)
    };
    if !valid {
        elements.fill([0; ENCODED_BYTES]);
    }
    valid
}

/// # Safety
/// As above.
pub(super) unsafe fn generate_and_subtract_map(scalars: &[Scalar], uniform: &[Uniform], out: &mut [Encoded]) {
    let place = wide(scalars.len());
    let ((scalars, few), (uniform, few_uniform)) = (scalars.split_at(place), uniform.split_at(place));
    let (out, few_out) = out.split_at_mut(place);
    // SAFETY: as above.
    unsafe {
        points::generate_and_subtract_map::<Eight>(scalars, uniform, out);
        points::generate_and_subtract_map::<Four>(few, few_uniform, few_out);
    }
}

/// # Safety
/// As above.
pub(super) unsafe fn multiply_each(element: &Encoded, scalars: &[Scalar], out: &mut [Encoded]) -> bool {
    let place = wide(scalars.len());
    let ((scalars, few), (out, few_out)) = (scalars.split_at(place), out.split_at_mut(place));
    // SAFETY: as above.
    unsafe {
        points::multiply_each::<Eight>(element, scalars, out) & points::multiply_each::<Four>(element, few, few_out)
    }
}

/// # Safety
/// As above.
pub(super) unsafe fn composites(
    weights: &[Scalar],
    elements: &[Encoded],
    key: &Scalar,
    nonce: &Scalar,
) -> Option<Composites> {
    // SAFETY: as above.
    unsafe {
        if elements.len() <= FEW {
            proofs::composites::<Four>(weights, elements, key, nonce)
        } else {
            proofs::composites::<Eight>(weights, elements, key, nonce)
        }
    }
}

/// # Safety
/// As above.
pub(super) unsafe fn checked(weights: &[Scalar], stated: &Stated<'_>) -> Option<Checked> {
    // SAFETY: as above.
    unsafe {
        if weights.len() <= FEW {
            proofs::checked::<Four>(weights, stated)
        } else {
            proofs::checked::<Eight>(weights, stated)
        }
    }
}

/// Limb `i` of four words, whose highest bit is dropped.
#[inline(always)]
fn limb(words: &Words, i: usize) -> u64 {
    let (word, shift) = (WIDTH * i / 64, WIDTH * i % 64);
    let high = if shift + WIDTH > 64 { words[word + 1] << (64 - shift) } else { 0 };
    (words[word] >> shift | high) & MASK
}

impl<V: Vector> Limbs<V> {
    const LANES: usize = size_of::<V>() / size_of::<u64>();

    /// The value of columns below 2^61, tight.
    #[inline(always)]
    fn carried(mut columns: [V; LIMBS]) -> Self {
        // SAFETY: there is a value.
        unsafe {
            let mask = V::splat(MASK);
            let mut carry = columns;
            unrolled!(I in 0 1 2 3 4, {
                carry[I] = columns[I].carry();
                columns[I] = columns[I].and(mask);
            });
            unrolled!(I in 1 2 3 4, { columns[I] = columns[I].add(carry[I - 1]) });
            columns[0] = columns[0].add_low(carry[4], V::splat(19));
        }
        Self(columns)
    }

    /// The columns of a product, given as sums of low halves, and of high halves with what counts as
    /// they do; 2^255 on begins again at 1.
    #[inline(always)]
    fn folded(low: &[V; 2 * LIMBS], high: &[V; 2 * LIMBS]) -> [V; LIMBS] {
        let mut columns = [low[0]; LIMBS];
        // SAFETY: there is a value.
        unsafe {
            unrolled!(I in 0 1 2 3 4, {
                let wraps = low[LIMBS + I].add(high[LIMBS + I]).add(high[LIMBS + I]);
                let times_3 = wraps.add(wraps).add(wraps);
                columns[I] = low[I].add(high[I]).add(high[I]).add(times_3).add(wraps.times_16());
            });
        }
        columns
    }

    #[inline(always)]
    #[expect(clippy::absurd_extreme_comparisons, reason = "indices are constants, and some of them the least")]
    fn squared_columns(&self) -> [V; LIMBS] {
        let f = &self.0;
        // SAFETY: there is a value.
        unsafe {
            let zero = V::splat(0);
            // Products of two limbs count twice, so that their low halves belong to `high`, and their high halves
            // twice.
            let (mut low, mut high, mut highest) = ([zero; 2 * LIMBS], [zero; 2 * LIMBS], [zero; 2 * LIMBS]);
            unrolled!(I in 0 1 2 3 4, {
                low[2 * I] = low[2 * I].add_low(f[I], f[I]);
                high[2 * I + 1] = high[2 * I + 1].add_high(f[I], f[I]);
                unrolled!(J in 0 1 2 3 4, {
                    if I < J {
                        high[I + J] = high[I + J].add_low(f[I], f[J]);
                        highest[I + J + 1] = highest[I + J + 1].add_high(f[I], f[J]);
                    }
                });
            });
            unrolled!(I in 1 2 3 4 5 6 7 8 9, { high[I] = high[I].add(highest[I]).add(highest[I]) });
            Self::folded(&low, &high)
        }
    }

    /// The representative below p, each limb below 2^51.
    #[inline(always)]
    fn canonical(&self) -> [V; LIMBS] {
        let mut h = self.0;
        // SAFETY: there is a value.
        unsafe {
            let mask = V::splat(MASK);
            // Tight elements are below 2 p: whether p is to be taken off is what 19 more carries out of the top.
            let mut quotient = h[0].add(V::splat(19)).carry();
            unrolled!(I in 1 2 3 4, { quotient = quotient.add(h[I]).carry() });
            h[0] = h[0].add_low(quotient, V::splat(19));
            unrolled!(I in 0 1 2 3, {
                h[I + 1] = h[I + 1].add(h[I].carry());
                h[I] = h[I].and(mask);
            });
            h[4] = h[4].and(mask);
        }
        h
    }
}

impl<V: Vector> Field for Limbs<V> {
    const LANES: usize = Self::LANES;

    #[inline(always)]
    unsafe fn splat(words: &Words) -> Self {
        let mut limbs = [V::zeroed(); LIMBS];
        // SAFETY: the caller vouches for the instructions.
        unrolled!(I in 0 1 2 3 4, { limbs[I] = unsafe { V::splat(limb(words, I)) } });
        Self(limbs)
    }

    #[inline(always)]
    unsafe fn load(bytes: &[Encoded]) -> Self {
        let mut limbs = [V::zeroed(); LIMBS];
        let lanes: &mut [u64] = bytemuck::must_cast_slice_mut(&mut limbs);
        for (lane, bytes) in bytes.iter().enumerate() {
            let (words, _) = bytes.as_chunks();
            let mut words_of = [0; 4];
            for (word, bytes) in words_of.iter_mut().zip(words) {
                *word = u64::from_le_bytes(*bytes);
            }
            for i in 0..LIMBS {
                lanes[Self::LANES * i + lane] = limb(&words_of, i);
            }
        }
        Self(limbs)
    }

    #[inline(always)]
    fn store(&self, bytes: &mut [Encoded]) {
        let canonical = self.canonical();
        let lanes: &[u64] = bytemuck::must_cast_slice(&canonical);
        for (lane, bytes) in bytes.iter_mut().enumerate() {
            let mut words: Words = [0; 4];
            for i in 0..LIMBS {
                let (word, shift, limb) = (WIDTH * i / 64, WIDTH * i % 64, lanes[Self::LANES * i + lane]);
                words[word] |= limb << shift;
                if shift + WIDTH > 64 {
                    words[word + 1] |= limb >> (64 - shift);
                }
            }
            for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
        }
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let mut sum = self.0;
        // SAFETY: there is a value.
        unrolled!(I in 0 1 2 3 4, { sum[I] = unsafe { sum[I].add(other.0[I]) } });
        Self::carried(sum)
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        let mut difference = self.0;
        unrolled!(I in 0 1 2 3 4, {
            // SAFETY: there is a value.
            difference[I] = unsafe { difference[I].add(V::splat(TWICE_P[I])).sub(other.0[I]) };
        });
        Self::carried(difference)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        let (f, g) = (&self.0, &other.0);
        // SAFETY: there is a value.
        unsafe {
            let zero = V::splat(0);
            let (mut low, mut high) = ([zero; 2 * LIMBS], [zero; 2 * LIMBS]);
            unrolled!(I in 0 1 2 3 4, {
                unrolled!(J in 0 1 2 3 4, {
                    low[I + J] = low[I + J].add_low(f[I], g[J]);
                    high[I + J + 1] = high[I + J + 1].add_high(f[I], g[J]);
                });
            });
            Self::carried(Self::folded(&low, &high))
        }
    }

    #[inline(always)]
    fn square(&self) -> Self {
        Self::carried(self.squared_columns())
    }

    #[inline(always)]
    fn square_twice(&self) -> Self {
        let mut columns = self.squared_columns();
        // SAFETY: there is a value.
        unrolled!(I in 0 1 2 3 4, { columns[I] = unsafe { columns[I].add(columns[I]) } });
        Self::carried(columns)
    }

    #[inline(always)]
    fn select(&self, mask: u8, other: &Self) -> Self {
        let mut chosen = self.0;
        // SAFETY: there is a value.
        unrolled!(I in 0 1 2 3 4, { chosen[I] = unsafe { chosen[I].select(mask, other.0[I]) } });
        Self(chosen)
    }

    #[inline(always)]
    fn exchanged(&self, distance: usize) -> Self {
        let mut exchanged = [V::zeroed(); LIMBS];
        let from: &[u64] = bytemuck::must_cast_slice(&self.0);
        let to: &mut [u64] = bytemuck::must_cast_slice_mut(&mut exchanged);
        // The number of lanes is a power of two above the distance.
        for (place, word) in to.iter_mut().enumerate() {
            *word = from[place ^ distance];
        }
        Self(exchanged)
    }

    #[inline(always)]
    fn is_negative(&self) -> u8 {
        // SAFETY: there is a value.
        unsafe { Self::ALL & !self.canonical()[0].disjoint(V::splat(1)) }
    }

    #[inline(always)]
    fn is_zero(&self) -> u8 {
        let [a, b, c, d, e] = self.canonical();
        // SAFETY: there is a value.
        unsafe {
            let bits = a.or(b).or(c.or(d)).or(e);
            bits.disjoint(bits)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::array;

    use proptest::prelude::*;

    use super::*;
    use crate::Backend;

    /// The greatest tight limb.
    const GREATEST: u64 = (1 << 51) + (1 << 15) - 1;

    type Columns = [u128; LIMBS];

    /// An element a lane as its limbs.
    type Elements = [[u64; LIMBS]; 8];

    fn limbs_of(element: &[u64; LIMBS]) -> Columns {
        element.map(u128::from)
    }

    fn product(f: &[u64; LIMBS], g: &[u64; LIMBS]) -> Columns {
        let mut columns = [0; LIMBS];
        for (i, f) in limbs_of(f).into_iter().enumerate() {
            for (j, g) in limbs_of(g).into_iter().enumerate() {
                columns[(i + j) % LIMBS] += f * g * if i + j < LIMBS { 1 } else { 19 };
            }
        }
        columns
    }

    /// The canonical bytes of columns below 2^120, one limb after the other.
    fn encoded(mut columns: Columns) -> Encoded {
        let carry = |columns: &mut Columns| {
            for i in 0..LIMBS {
                let carry = columns[i] >> 51;
                columns[i] &= u128::from(MASK);
                columns[(i + 1) % LIMBS] += carry * if i + 1 < LIMBS { 1 } else { 19 };
            }
        };
        (0..4).for_each(|_| carry(&mut columns));
        // Only p to 2^255 - 1 are left to be reduced: with 19 more, they carry.
        let is_reduced = columns[0] < (1 << 51) - 19 || columns[1..].iter().any(|limb| *limb != u128::from(MASK));
        if !is_reduced {
            columns = [columns[0] - ((1 << 51) - 19), 0, 0, 0, 0];
        }
        array::from_fn(|byte| {
            let bit = |bit: usize| (columns.get(bit / WIDTH).map_or(0, |limb| limb >> (bit % WIDTH)) & 1) as u8;
            (0..8).map(|i| bit(8 * byte + i) << i).sum()
        })
    }

    /// A limb: any, or at an end of its range or of the prime's limbs, or with a single bit.
    fn limb() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..=GREATEST,
            Just(0),
            Just(GREATEST),
            MASK - 40..=MASK + 40,
            0..40u64,
            (0u32..52).prop_map(|bit| 1 << bit).prop_filter("tight", |limb| *limb <= GREATEST),
        ]
    }

    fn elements() -> impl Strategy<Value = Elements> {
        prop::array::uniform8(prop::array::uniform5(limb()))
    }

    fn of<V: Vector>(elements: &Elements) -> Limbs<V> {
        let mut limbs = [V::zeroed(); LIMBS];
        let lanes: &mut [u64] = bytemuck::must_cast_slice_mut(&mut limbs);
        for (place, word) in lanes.iter_mut().enumerate() {
            *word = elements[place % Limbs::<V>::LANES][place / Limbs::<V>::LANES];
        }
        Limbs(limbs)
    }

    /// Checks that the result is tight, and in each lane what is expected.
    #[inline(always)]
    fn check<V: Vector>(got: &Limbs<V>, expected: impl Fn(usize) -> Columns) {
        let limbs: &[u64] = bytemuck::must_cast_slice(&got.0);
        assert!(limbs.iter().all(|limb| *limb <= GREATEST), "{limbs:x?}");
        let mut bytes = [[0; ENCODED_BYTES]; 8];
        let bytes = &mut bytes[..Limbs::<V>::LANES];
        got.store(bytes);
        for (lane, bytes) in bytes.iter().enumerate() {
            assert_eq!(*bytes, encoded(expected(lane)), "lane {lane}");
        }
    }

    #[inline(always)]
    fn operations<V: Vector>(f: &Elements, g: &Elements) {
        let (x, y) = (of::<V>(f), of::<V>(g));
        check(&x, |lane| limbs_of(&f[lane]));
        check(&x.mul(&y), |lane| product(&f[lane], &g[lane]));
        check(&x.square(), |lane| product(&f[lane], &f[lane]));
        check(&x.square_twice(), |lane| product(&f[lane], &f[lane]).map(|column| 2 * column));
        check(&x.add(&y), |lane| array::from_fn(|i| u128::from(f[lane][i] + g[lane][i])));
        check(&x.sub(&y), |lane| array::from_fn(|i| u128::from(f[lane][i] + TWICE_P[i] - g[lane][i])));
        check(&x.negated(), |lane| array::from_fn(|i| u128::from(TWICE_P[i] - f[lane][i])));
        check(&x.exchanged(2), |lane| limbs_of(&f[lane ^ 2]));
        check(&x.select(0b1010_0110, &y), |lane| {
            limbs_of(if 0b1010_0110 >> lane & 1 == 1 { &g[lane] } else { &f[lane] })
        });
        let lanes = |holds: &dyn Fn(Encoded) -> bool| -> u8 {
            (0..Limbs::<V>::LANES).map(|lane| u8::from(holds(encoded(limbs_of(&f[lane])))) << lane).sum()
        };
        assert_eq!(x.is_negative(), lanes(&|bytes| bytes[0] & 1 == 1));
        assert_eq!(x.is_zero(), lanes(&|bytes| bytes == [0; ENCODED_BYTES]));
        // As the loading of what storing gave.
        let mut bytes = [[0; ENCODED_BYTES]; 8];
        x.store(&mut bytes[..Limbs::<V>::LANES]);
        // SAFETY: there is a value.
        check(&unsafe { Limbs::<V>::load(&bytes[..Limbs::<V>::LANES]) }, |lane| limbs_of(&f[lane]));
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma")]
    fn both_widths(f: &Elements, g: &Elements) {
        operations::<__m512i>(f, g);
        operations::<__m256i>(f, g);
    }

    fn check_operations(f: &Elements, g: &Elements) {
        if Backend::Vaes.is_available() {
            // SAFETY: the backend has the features.
            unsafe { both_widths(f, g) }
        }
    }

    /// Values around zero, p, 2 p and 2^255, in each form that they have, and the greatest limbs.
    #[test]
    fn operations_at_the_edges_of_the_field() {
        let p = [MASK - 18, MASK, MASK, MASK, MASK];
        let near = |base: [u64; LIMBS], offset: u64| [base[0] + offset, base[1], base[2], base[3], base[4]];
        let mut values = vec![[GREATEST; LIMBS], [MASK; LIMBS], [0, 0, 0, 0, GREATEST], [GREATEST, 0, 0, 0, 0]];
        for offset in 0..24 {
            values.push(near([0; LIMBS], offset));
            values.push(near([p[0] - 20, p[1], p[2], p[3], p[4]], offset));
            values.push(near(p, offset));
            // Zero, and p, carried at every limb only when all are looked at.
            values.push([MASK + 1 - 19 + offset, MASK, MASK, MASK, MASK]);
            values.push([MASK + 1, MASK, MASK, MASK, MASK - offset]);
        }
        for (i, first) in values.iter().enumerate() {
            for second in &values {
                check_operations(&[*first; 8], &array::from_fn(|lane| if lane == i % 8 { *first } else { *second }));
            }
        }
    }

    proptest! {
        #[test]
        fn operations_are_those_of_the_field(f in elements(), g in elements()) {
            check_operations(&f, &g);
        }
    }
}
