//! The transforms with AVX-512 IFMA, eight butterflies at a time: numbers below `2^52`, and quotients
//! of 52 bits, which are the first bits of those of 64.
//!
//! Where a prime leaves room for it, the sums of butterflies are not reduced from layer to layer: the
//! const parameter `LAZY`. From coefficients to values a number then grows by at most `2 p` in a layer,
//! in the other direction to twice its bound.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use super::modulus::{Factor, Modulus};
use super::portable;
use super::roots::Roots;
use crate::dispatch::{Backend, backend};

/// Words of a 512-bit register.
pub(super) const LANES: usize = 8;

/// Whether the twin for 52 bits serves.
pub(super) fn has_ifma(modulus: Modulus) -> bool {
    backend() >= Backend::Vaes && modulus.p() >> Modulus::NARROW_BITS == 0
}

/// Eight words.
type Words = [u64; LANES];

const MASK: i64 = (1 << 52) - 1;

/// The prime in all lanes.
#[derive(Clone, Copy)]
struct Prime {
    p: __m512i,
    p2: __m512i,
    /// `2^52 - p`.
    negative: __m512i,
    mask: __m512i,
}

/// A factor for each lane.
#[derive(Clone, Copy)]
struct Factors {
    value: __m512i,
    quotient: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn set(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

impl Factors {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(Factor { value, quotient }: Factor) -> Self {
        Self { value: set(value), quotient: set(quotient >> 12) }
    }

    /// The factor at this place of a table in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn at(roots: &Roots, place: usize) -> Self {
        Self::new(Factor { value: roots.values[place], quotient: roots.quotients[place] })
    }

    /// The `8 / EACH` factors from this place on, `EACH` times each.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn spread<const EACH: usize>(roots: &Roots, place: usize) -> Self {
        let spread = |table: &[u64]| {
            let mut words: Words = [0; LANES];
            words[..LANES / EACH].copy_from_slice(&table[place..place + LANES / EACH]);
            let indices: Words = std::array::from_fn(|i| (i / EACH) as u64);
            _mm512_permutexvar_epi64(must_cast(indices), must_cast(words))
        };
        Self { value: spread(&roots.values), quotient: _mm512_srli_epi64::<12>(spread(&roots.quotients)) }
    }
}

impl Prime {
    /// The residue of a sum of products, from that of their low halves and that of their high halves, below `2^52` with
    /// what the low ones carry; `units` are 1 and `2^52`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sum(&self, lows: __m512i, highs: __m512i, units: [Factors; 2]) -> __m512i {
        let [low, high] = units;
        let highs = _mm512_add_epi64(highs, _mm512_srli_epi64::<52>(lows));
        let lows = _mm512_and_si512(lows, self.mask);
        self.below(_mm512_add_epi64(self.times(highs, high), self.times(lows, low)))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(modulus: Modulus) -> Self {
        let p = modulus.p();
        Self { p: set(p), p2: set(2 * p), negative: set((1 << 52) - p), mask: _mm512_set1_epi64(MASK) }
    }

    /// `x * factor`, below `2 p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn times(self, x: __m512i, factor: Factors) -> __m512i {
        let zero = _mm512_setzero_si512();
        let quotient = _mm512_madd52hi_epu64(zero, x, factor.quotient);
        let low = _mm512_madd52lo_epu64(zero, x, factor.value);
        _mm512_and_si512(_mm512_madd52lo_epu64(low, quotient, self.negative), self.mask)
    }

    /// Below `2 p`, of what is below `4 p`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn below_2p(self, x: __m512i) -> __m512i {
        _mm512_min_epu64(x, _mm512_sub_epi64(x, self.p2))
    }

    /// Below `p`, of what is below `4 p`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn below(self, x: __m512i) -> __m512i {
        let x = self.below_2p(x);
        _mm512_min_epu64(x, _mm512_sub_epi64(x, self.p))
    }

    /// A butterfly from coefficients to values, of numbers below `4 p`, or `2^52 - 2 p` where it is
    /// lazy: then both grow by at most `2 p`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn forward<const LAZY: bool>(self, a: &mut __m512i, b: &mut __m512i, root: Factors) {
        let left = if LAZY { *a } else { self.below_2p(*a) };
        let right = self.times(*b, root);
        *a = _mm512_add_epi64(left, right);
        *b = _mm512_sub_epi64(_mm512_add_epi64(left, self.p2), right);
    }

    /// A butterfly from values to coefficients, of numbers below `bound`, a multiple of `p` below
    /// `2^51`. What comes of it is below `2 p`, or below twice the bound where it is lazy.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn inverse<const LAZY: bool>(self, a: &mut __m512i, b: &mut __m512i, root: Factors, bound: __m512i) {
        let (left, right) = (*a, *b);
        let sum = _mm512_add_epi64(left, right);
        *a = if LAZY { sum } else { self.below_2p(sum) };
        *b = self.times(_mm512_sub_epi64(_mm512_add_epi64(left, bound), right), root);
    }

    /// The bound of the next layer of [`inverse`](Self::inverse).
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn next_bound<const LAZY: bool>(self, bound: __m512i) -> __m512i {
        if LAZY { _mm512_add_epi64(bound, bound) } else { bound }
    }
}

/// Takes the lanes of two registers apart and puts them together again: the lanes of the pair that
/// `FIRST` and `SECOND` list.
#[inline]
#[target_feature(enable = "avx512f")]
fn shuffle(a: __m512i, b: __m512i, first: Words, second: Words) -> (__m512i, __m512i) {
    (_mm512_permutex2var_epi64(a, must_cast(first), b), _mm512_permutex2var_epi64(a, must_cast(second), b))
}

/// The lower and the upper halves of both.
const HALVES: (Words, Words) = ([0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]);
/// Pairs in turn: from halves to quarters, and back.
const PAIRS: (Words, Words) = ([0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]);
/// Single lanes in turn: from quarters to eighths, and back.
const SINGLES: (Words, Words) = ([0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]);
/// From eighths to the natural order.
const MERGE: (Words, Words) = ([0, 8, 1, 9, 2, 10, 3, 11], [4, 12, 5, 13, 6, 14, 7, 15]);
/// From the natural order to eighths.
const SPLIT: (Words, Words) = ([0, 2, 4, 6, 8, 10, 12, 14], [1, 3, 5, 7, 9, 11, 13, 15]);

/// The four quarters of a block.
type Quarters<'a> = [&'a mut [Words]; 4];

fn quarters(block: &mut [Words]) -> Quarters<'_> {
    let (low, high) = block.split_at_mut(block.len() / 2);
    let (a, b) = low.split_at_mut(low.len() / 2);
    let (c, d) = high.split_at_mut(high.len() / 2);
    [a, b, c, d]
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn forward(modulus: Modulus, roots: &Roots, x: &mut [u64]) {
    // Coefficients are below 4 p.
    let growth = 4 + 2 * u64::from(x.len().ilog2());
    if modulus.p() <= (1 << 52) / growth {
        forward_by::<true>(modulus, roots, x);
    } else {
        forward_by::<false>(modulus, roots, x);
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn forward_by<const LAZY: bool>(modulus: Modulus, roots: &Roots, x: &mut [u64]) {
    let prime = Prime::new(modulus);
    let one = Factors::new(modulus.factor(1));
    let (x, _) = x.as_chunks_mut::<LANES>();
    let mut blocks = 1;
    // Layers of whole registers: two at a time, and one alone where their number is odd.
    if x.len().trailing_zeros() % 2 == 1 {
        let (left, right) = x.split_at_mut(x.len() / 2);
        let root = Factors::at(roots, 1);
        for (left, right) in left.iter_mut().zip(right) {
            let (mut a, mut b) = (must_cast(*left), must_cast(*right));
            prime.forward::<LAZY>(&mut a, &mut b, root);
            (*left, *right) = (must_cast(a), must_cast(b));
        }
        blocks = 2;
    }
    while blocks < x.len() {
        let size = x.len() / blocks;
        for (i, block) in x.chunks_exact_mut(size).enumerate() {
            let outer = Factors::at(roots, blocks + i);
            let inner = [0, 1].map(|j| Factors::at(roots, 2 * (blocks + i) + j));
            let [a, b, c, d] = quarters(block);
            for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                let [mut w, mut x, mut y, mut z] = [*a, *b, *c, *d].map(must_cast::<Words, __m512i>);
                prime.forward::<LAZY>(&mut w, &mut y, outer);
                prime.forward::<LAZY>(&mut x, &mut z, outer);
                prime.forward::<LAZY>(&mut w, &mut x, inner[0]);
                prime.forward::<LAZY>(&mut y, &mut z, inner[1]);
                [*a, *b, *c, *d] = [w, x, y, z].map(must_cast::<__m512i, Words>);
            }
        }
        blocks *= 4;
    }
    // The last three layers, within registers.
    let n = x.len() * LANES;
    let (pairs, _) = x.as_chunks_mut::<2>();
    for (i, [first, second]) in pairs.iter_mut().enumerate() {
        let (a, b): (__m512i, __m512i) = (must_cast(*first), must_cast(*second));
        let (mut a, mut b) = shuffle(a, b, HALVES.0, HALVES.1);
        prime.forward::<LAZY>(&mut a, &mut b, Factors::spread::<4>(roots, n / 8 + 2 * i));
        let (mut a, mut b) = shuffle(a, b, PAIRS.0, PAIRS.1);
        prime.forward::<LAZY>(&mut a, &mut b, Factors::spread::<2>(roots, n / 4 + 4 * i));
        let (mut a, mut b) = shuffle(a, b, SINGLES.0, SINGLES.1);
        prime.forward::<LAZY>(&mut a, &mut b, Factors::spread::<1>(roots, n / 2 + 8 * i));
        // A product reduces what is not lazy by less than four times the prime.
        let [a, b] = if LAZY { [prime.times(a, one), prime.times(b, one)] } else { [a, b] };
        let (a, b) = shuffle(prime.below(a), prime.below(b), MERGE.0, MERGE.1);
        (*first, *second) = (must_cast(a), must_cast(b));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn inverse(modulus: Modulus, inverses: &Roots, scale: Factor, x: &mut [u64]) {
    // Values are below p, and the bound of the last layer is doubled.
    if modulus.p() <= (1 << 52) / (2 * x.len() as u64) {
        inverse_by::<true>(modulus, inverses, scale, x);
    } else {
        inverse_by::<false>(modulus, inverses, scale, x);
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn inverse_by<const LAZY: bool>(modulus: Modulus, inverses: &Roots, scale: Factor, x: &mut [u64]) {
    let prime = Prime::new(modulus);
    let (x, _) = x.as_chunks_mut::<LANES>();
    let n = x.len() * LANES;
    let bounds = {
        let first = prime.p2;
        let second = prime.next_bound::<LAZY>(first);
        [first, second, prime.next_bound::<LAZY>(second)]
    };
    let (pairs, _) = x.as_chunks_mut::<2>();
    for (i, [first, second]) in pairs.iter_mut().enumerate() {
        let (a, b): (__m512i, __m512i) = (must_cast(*first), must_cast(*second));
        let (mut a, mut b) = shuffle(a, b, SPLIT.0, SPLIT.1);
        prime.inverse::<LAZY>(&mut a, &mut b, Factors::spread::<1>(inverses, n / 2 + 8 * i), bounds[0]);
        let (mut a, mut b) = shuffle(a, b, SINGLES.0, SINGLES.1);
        prime.inverse::<LAZY>(&mut a, &mut b, Factors::spread::<2>(inverses, n / 4 + 4 * i), bounds[1]);
        let (mut a, mut b) = shuffle(a, b, PAIRS.0, PAIRS.1);
        prime.inverse::<LAZY>(&mut a, &mut b, Factors::spread::<4>(inverses, n / 8 + 2 * i), bounds[2]);
        let (a, b) = shuffle(a, b, HALVES.0, HALVES.1);
        (*first, *second) = (must_cast(a), must_cast(b));
    }
    let mut blocks = x.len() / 4;
    let mut bound = prime.next_bound::<LAZY>(bounds[2]);
    while blocks > 0 {
        let size = x.len() / blocks;
        let next = prime.next_bound::<LAZY>(bound);
        for (i, block) in x.chunks_exact_mut(size).enumerate() {
            let outer = Factors::at(inverses, blocks + i);
            let inner = [0, 1].map(|j| Factors::at(inverses, 2 * (blocks + i) + j));
            let [a, b, c, d] = quarters(block);
            for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                let [mut w, mut x, mut y, mut z] = [*a, *b, *c, *d].map(must_cast::<Words, __m512i>);
                prime.inverse::<LAZY>(&mut w, &mut x, inner[0], bound);
                prime.inverse::<LAZY>(&mut y, &mut z, inner[1], bound);
                prime.inverse::<LAZY>(&mut w, &mut y, outer, next);
                prime.inverse::<LAZY>(&mut x, &mut z, outer, next);
                [*a, *b, *c, *d] = [w, x, y, z].map(must_cast::<__m512i, Words>);
            }
        }
        bound = prime.next_bound::<LAZY>(next);
        blocks /= 4;
    }
    if x.len().trailing_zeros() % 2 == 1 {
        let (left, right) = x.split_at_mut(x.len() / 2);
        let root = Factors::at(inverses, 1);
        for (left, right) in left.iter_mut().zip(right) {
            let (mut a, mut b) = (must_cast(*left), must_cast(*right));
            prime.inverse::<LAZY>(&mut a, &mut b, root, bound);
            (*left, *right) = (must_cast(a), must_cast(b));
        }
    }
    let scale = Factors::new(scale);
    for x in x {
        *x = must_cast(prime.below(prime.times(must_cast(*x), scale)));
    }
}

/// Sums of at most eight products: their low halves below `2^55`, their high halves below `2^51`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn products(modulus: Modulus, pairs: &[[&[u64]; 2]], out: &mut [u64]) {
    let prime = Prime::new(modulus);
    let [high, low] = [52, 0].map(|bits| Factors::new(modulus.factor(1 << bits)));
    let (chunks, rest) = out.as_chunks_mut::<LANES>();
    let first = chunks.len() * LANES;
    for (i, out) in chunks.iter_mut().enumerate() {
        let (mut lows, mut highs) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for [x, y] in pairs {
            let (x, y): (__m512i, __m512i) =
                (must_cast(x.as_chunks::<LANES>().0[i]), must_cast(y.as_chunks::<LANES>().0[i]));
            lows = _mm512_madd52lo_epu64(lows, x, y);
            highs = _mm512_madd52hi_epu64(highs, x, y);
        }
        *out = must_cast(prime.sum(lows, highs, [low, high]));
    }
    if !rest.is_empty() {
        portable::products(modulus, pairs, first, out);
    }
}

/// Sums of at most fifteen products of 50 bits: their low halves below `2^56`, their high halves below `15 * 2^48`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn weighted_sum(modulus: Modulus, rows: &[&[u64]], weights: &[u64], out: &mut [u64]) {
    let prime = Prime::new(modulus);
    let [high, low] = [52, 0].map(|bits| Factors::new(modulus.factor(1 << bits)));
    let (chunks, rest) = out.as_chunks_mut::<LANES>();
    let first = chunks.len() * LANES;
    for (i, out) in chunks.iter_mut().enumerate() {
        let (mut lows, mut highs) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (row, &weight) in rows.iter().zip(weights) {
            let (x, weight): (__m512i, __m512i) = (must_cast(row.as_chunks::<LANES>().0[i]), set(weight));
            lows = _mm512_madd52lo_epu64(lows, x, weight);
            highs = _mm512_madd52hi_epu64(highs, x, weight);
        }
        *out = must_cast(prime.sum(lows, highs, [low, high]));
    }
    if !rest.is_empty() {
        portable::weighted_sum(modulus, rows, weights, first, out);
    }
}

/// `(x + above - y) factor`, reduced.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn subtract_and_multiply(modulus: Modulus, x: &mut [u64], y: &[u64], above: u64, factor: Factor) {
    let prime = Prime::new(modulus);
    let (factors, vector_above) = (Factors::new(factor), set(above));
    let ((chunks, rest), (others, other_rest)) = (x.as_chunks_mut::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in chunks.iter_mut().zip(others) {
        let difference = _mm512_sub_epi64(_mm512_add_epi64(must_cast(*x), vector_above), must_cast(*y));
        *x = must_cast(prime.below(prime.times(difference, factors)));
    }
    portable::subtract_and_multiply(modulus, rest, other_rest, above, factor);
}
