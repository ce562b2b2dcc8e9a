//! Ring-LWE encryption of elements of `Z_2^64`, one value a coefficient. A stranger adds up some of
//! the values; the holder of the key decrypts the sum and learns nothing else.
//!
//! With `a_B` public and uniform, `s` ternary and secret, small `e`: block `B` of values is `b_B =
//! a_B s + e + (q / 2^64) v`, by coefficients. To add up the values at places `J`, a stranger takes
//! the constant coefficient of `b_B x^-j`, which is the coefficient `j` of `b_B`, and `a_B x^-j`
//! along with it. So the sum costs an addition a value, and a product in the ring a block: `A = sum
//! of a_B (sum over J of x^-j)`.
//!
//! ```text
//!   [`Key`] holder: s, values v                                       stranger: places J
//!                         b_0 = a_0 s + e, an encryption of zeros
//!      ------------------------------------------------------------------------>
//!                         b_1, b_2, .. : a coefficient a value
//!      ------------------------------------------------------------------------>
//!                         A + a_0 u + e',  sum of b + [b_0 u] + flood + (q / 2^64) r
//!      <------------------------------------------------------------------------
//!   the sum of v over J, plus r
//! ```
//!
//! *The stranger* sees ring-LWE samples under one `s`. *The holder* sees `a_0 u + e'`, a ring-LWE
//! sample under the fresh secret `u`, instead of `A`, and a decryption whose value is uniform by
//! `r` and whose noise is drowned by `flood`: [`flood_bits`].
//!
//! `N = 8192`, `q` of 124 bits, `s` and `u` ternary, noise centred binomial of variance 10.5. The
//! tables of the homomorphic encryption standard allow a `q` of 218 bits at this `N` for 128
//! bits of security. A value's fraction of `q / 2^64` is rounded at random, up or down with its
//! mean: so that errors add up like noise.

pub mod bfv;
mod hardness;
mod ring;

use rand_core::Rng;

use crate::rng::SecretRng;
use crate::secret::Secret;
pub use hardness::{PrimalAttack, RingLwe};
use ring::{
    DEGREE, PRIMES, add, add_all, add_product, backward, constant_of_product, forward, inverse, multiply, power,
    subtract,
};

/// Values in a block: one for each coefficient.
pub const BLOCK: usize = DEGREE;

/// An element of `Z_q`, by its residues.
pub type Element = [u64; 2];

/// Elements of a [`Sum`] as it travels.
pub const SUM_ELEMENTS: usize = DEGREE + 1;

/// Domain of the public polynomials.
const PUBLIC_CONTEXT: &str = "vesica v1 rlwe 2026 public polynomials";

/// `q mod 2^64`.
const Q_LOW: u64 = PRIMES[0].wrapping_mul(PRIMES[1]);
/// `2^-64` modulo either prime.
const UNIT: [u64; 2] = [inverse(power(2, 64, PRIMES[0]), PRIMES[0]), inverse(power(2, 64, PRIMES[1]), PRIMES[1])];
/// `p / q` modulo either prime `p`.
const COFACTOR: [u64; 2] = [inverse(PRIMES[1] % PRIMES[0], PRIMES[0]), inverse(PRIMES[0] % PRIMES[1], PRIMES[1])];

/// Whether all are reduced: what a stranger sends may be anything.
pub fn are_elements(elements: &[Element]) -> bool {
    elements.iter().all(|[low, high]| *low < PRIMES[0] && *high < PRIMES[1])
}

/// Width of the flood for a sum of at most `terms` values: what it drowns shifts its distribution
/// by at most `2^-distance_bits`; nothing if `q` has no room for so much. Larger noise than is
/// drowned, and a wrong result, have probability below `2^-49`.
///
/// Noise is a sum of centred binomial variables with coefficients in -1..=1, and of rounding:
/// sub-Gaussian, of variance proxy at most 11 for each of the terms and of the `2 N + 1` of
/// re-randomisation. It exceeds `t` with probability at most `2 exp(-t^2 / 2 V)`, which is `2^-49`
/// for `t^2 = 70 V`.
pub fn flood_bits(terms: usize, distance_bits: u32) -> Option<u32> {
    let variance = 11 * (terms as u64 + 2 * DEGREE as u64 + 1);
    // One for each cut root and fraction.
    let most = (70 * variance).isqrt() + 2;
    let bits = distance_bits + u64::BITS - most.leading_zeros();
    // Half the flood on either side, and the noise: together below q / 2^65 > 2^58 + 2^57.
    (bits <= 59 && most < 1 << 57).then_some(bits)
}

/// The public polynomial of a block, by values: uniform ones are those of a uniform polynomial.
fn public(key: &[u8; 32], block: u64) -> Vec<u64> {
    let mut stream = blake3::Hasher::new_keyed(key).update(&block.to_le_bytes()).finalize_xof();
    let mut draws = vec![0u64; 2 * DEGREE];
    stream.fill(bytemuck::cast_slice_mut(&mut draws));
    for (draws, p) in draws.chunks_exact_mut(DEGREE).zip(PRIMES) {
        for draw in draws {
            *draw &= (1 << 62) - 1;
            while *draw >= p {
                let mut again = [0; 8];
                stream.fill(&mut again);
                *draw = u64::from_le_bytes(again) & ((1 << 62) - 1);
            }
        }
    }
    draws
}

/// The polynomial with these small coefficients.
fn small(coefficients: impl Iterator<Item = i64>) -> Secret<Vec<u64>> {
    let mut poly = Secret::new(vec![0; 2 * DEGREE]);
    for (i, c) in coefficients.take(DEGREE).enumerate() {
        for (j, p) in PRIMES.into_iter().enumerate() {
            poly[j * DEGREE + i] = reduced(c, p);
        }
    }
    poly
}

/// A small number modulo `p`, without a branch.
fn reduced(c: i64, p: u64) -> u64 {
    (c as u64).wrapping_add(p & ((c >> 63) as u64))
}

/// Uniform in -1..=1.
fn ternary(rng: &mut SecretRng) -> Secret<Vec<u64>> {
    small(std::iter::repeat_with(|| {
        loop {
            // Two bits give 0, 1, 2, or another try.
            let draw = rng.next_u32() & 3;
            if draw < 3 {
                return i64::from(draw) - 1;
            }
        }
    }))
}

/// Centred binomial, of variance 10.5.
fn noise(rng: &mut SecretRng) -> i64 {
    let draw = rng.next_u64();
    let ones = |bits: u64| i64::from((bits & 0x1f_ffff).count_ones());
    ones(draw) - ones(draw >> 21)
}

/// `floor((q / 2^64) value)`, plus 1 with the probability of the fraction that was cut off, if
/// `draw` is uniform.
fn encode(value: u64, draw: u64) -> Element {
    // (q value - low) / 2^64, where q is 0 modulo either prime.
    let low = value.wrapping_mul(Q_LOW);
    let up = u64::from(draw < low);
    [0, 1].map(|i| subtract(up, multiply(low % PRIMES[i], UNIT[i], PRIMES[i]), PRIMES[i]))
}

/// The value whose code is nearest to `element`.
fn decode(element: Element) -> u64 {
    // element / q modulo 1, in units of 2^-128.
    let fraction = [0, 1].into_iter().fold(0u128, |sum, i| {
        let y = u128::from(multiply(element[i], COFACTOR[i], PRIMES[i])) << 64;
        let p = u128::from(PRIMES[i]);
        sum.wrapping_add(((y / p) << 64) | (((y % p) << 64) / p))
    });
    (fraction.wrapping_add(1 << 63) >> 64) as u64
}

/// The numbers that both sides derive for a session.
#[derive(Clone, Copy, Debug)]
pub struct Public([u8; 32]);

impl Public {
    /// The public polynomials of this session. Each key needs a session, or a label, of its own.
    pub fn new(session: &[u8; 32]) -> Self {
        Self(blake3::derive_key(PUBLIC_CONTEXT, session))
    }
}

/// The secret key, `s` by values.
#[derive(Debug)]
pub struct Key {
    public: Public,
    s: Secret<Vec<u64>>,
}

impl Key {
    /// A fresh key.
    pub fn new(public: Public, rng: &mut SecretRng) -> Self {
        let mut s = ternary(rng);
        forward(&mut s);
        Self { public, s }
    }

    /// Block 0: what strangers re-randomise with, [`BLOCK`] elements.
    pub fn zeros(&self, rng: &mut SecretRng) -> Vec<Element> {
        self.encrypt(0, &[0; BLOCK], rng)
    }

    /// At most [`BLOCK`] values as block `number`; each number above 0 serves once.
    ///
    /// # Panics
    /// If there are more values.
    pub fn encrypt(&self, number: u64, values: &[u64], rng: &mut SecretRng) -> Vec<Element> {
        assert!(values.len() <= BLOCK, "one block of values");
        let mut product = Secret::new(vec![0; 2 * DEGREE]);
        add_product(&mut product, &public(&self.public.0, number), &self.s);
        backward(&mut product);
        let noise = small(std::iter::repeat_with(|| noise(rng)));
        add_all(&mut product, &noise);
        let encrypted = |(i, &value): (usize, &u64)| {
            let code = encode(value, rng.next_u64());
            [0, 1].map(|j| add(product[j * DEGREE + i], code[j], PRIMES[j]))
        };
        values.iter().enumerate().map(encrypted).collect()
    }

    /// What a sum decrypts to, if all its elements are such.
    pub fn decrypt(&self, sum: &[Element]) -> Option<u64> {
        let (constant, elements) = sum.split_last()?;
        if elements.len() != DEGREE || !are_elements(sum) {
            return None;
        }
        let a: Vec<u64> = elements.iter().map(|e| e[0]).chain(elements.iter().map(|e| e[1])).collect();
        let product = constant_of_product(&a, &self.s);
        Some(decode([0, 1].map(|i| subtract(constant[i], product[i], PRIMES[i]))))
    }
}

/// The places of one block that are to be added up: `sum of x^-j`, by values.
#[derive(Debug)]
pub struct Choice {
    poly: Secret<Vec<u64>>,
}

impl Choice {
    /// A choice among the places of a block: for each place from the first one on, at most
    /// [`BLOCK`] of them, whether it is chosen. The work is the same whatever is chosen.
    ///
    /// # Panics
    /// If there are more places than that.
    pub fn new(chosen: impl IntoIterator<Item = bool>) -> Self {
        let mut poly = Secret::new(vec![0; 2 * DEGREE]);
        for (place, chosen) in chosen.into_iter().enumerate() {
            assert!(place < BLOCK, "a place in the block");
            for (i, p) in PRIMES.into_iter().enumerate() {
                // x^-j = -x^(N - j).
                let (at, c) = if place == 0 { (0, 1) } else { (DEGREE - place, p - 1) };
                poly[i * DEGREE + at] = c & u64::from(chosen).wrapping_neg();
            }
        }
        forward(&mut poly);
        Self { poly }
    }
}

/// A sum of encrypted values.
#[derive(Debug)]
pub struct Sum {
    /// The value representation of the polynomial `a`.
    a: Secret<Vec<u64>>,
    b: Secret<Element>,
}

impl Default for Sum {
    /// The empty sum.
    fn default() -> Self {
        Self { a: Secret::new(vec![0; 2 * DEGREE]), b: Secret::new([0; 2]) }
    }
}

impl Sum {
    /// The public half: adds the polynomial of block `number` at the chosen places.
    pub fn add_public(&mut self, public_of: Public, number: u64, choice: &Choice) {
        add_product(&mut self.a, &public(&public_of.0, number), &choice.poly);
    }

    /// Adds a value as it came if it is chosen: the other half of the sum. The work is the same if
    /// it is not.
    pub fn add_if(&mut self, chosen: bool, value: &Element) {
        self.add_value(&value.map(|residue| residue & u64::from(chosen).wrapping_neg()));
    }

    fn add_value(&mut self, value: &Element) {
        for (i, p) in PRIMES.into_iter().enumerate() {
            self.b[i] = add(self.b[i], value[i], p);
        }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        add_all(&mut self.a, &other.a);
        self.add_value(&other.b);
    }

    /// Adds `mask`, re-randomises with the key's encryption of zeros, and drowns the noise by a
    /// flood of that many bits: [`SUM_ELEMENTS`] elements for the holder of the key.
    pub fn finish(
        mut self,
        public_of: Public,
        zeros: &[Element],
        mask: u64,
        flood_bits: u32,
        rng: &mut SecretRng,
    ) -> Vec<Element> {
        let mut u = ternary(rng);
        forward(&mut u);
        add_product(&mut self.a, &public(&public_of.0, 0), &u);
        let mut error = small(std::iter::repeat_with(|| noise(rng)));
        forward(&mut error);
        add_all(&mut self.a, &error);

        let mut b_0: Vec<u64> = zeros.iter().map(|e| e[0]).chain(zeros.iter().map(|e| e[1])).collect();
        b_0.resize(2 * DEGREE, 0);
        forward(&mut b_0);
        self.add_value(&constant_of_product(&b_0, &u));
        self.add_value(&encode(mask, u64::MAX));
        // From -2^(bits - 1) on, so that half of it is on either side.
        let flood = rng.next_u64() >> (u64::BITS - flood_bits);
        self.add_value(&PRIMES.map(|p| subtract(flood % p, 1 << (flood_bits - 1), p)));
        let error = noise(rng);
        self.add_value(&PRIMES.map(|p| reduced(error, p)));

        let (low, high) = self.a.split_at(DEGREE);
        low.iter().zip(high).map(|(&low, &high)| [low, high]).chain([*self.b]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The element as a number in `-q / 2 ..= q / 2`.
    fn centred(element: Element) -> i128 {
        // x = e_0 + p_0 ((e_1 - e_0) / p_0 mod p_1).
        let [p, r] = PRIMES;
        let difference = subtract(element[1], element[0] % r, r);
        let x = u128::from(element[0]) + u128::from(p) * u128::from(multiply(difference, inverse(p % r, r), r));
        let q = u128::from(p) * u128::from(r);
        if x > q / 2 { -((q - x) as i128) } else { x as i128 }
    }

    fn setup() -> (Public, Key, SecretRng) {
        let mut rng = SecretRng::insecure_from_seed(5);
        let public = Public::new(&[3; 32]);
        (public, Key::new(public, &mut rng), rng)
    }

    #[test]
    fn codes_are_multiples_of_a_fraction_of_q_and_tolerate_noise() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let q = u128::from(PRIMES[0]) * u128::from(PRIMES[1]);
        for value in [0, 1, 2, 1 << 63, u64::MAX, rng.next_u64(), rng.next_u64()] {
            let down = encode(value, u64::MAX);
            // value q / 2^64, in two halves of q.
            let expected = u128::from(value) * (q >> 64) + ((u128::from(value) * (q & u128::from(u64::MAX))) >> 64);
            assert_eq!(centred(down), if expected > q / 2 { -((q - expected) as i128) } else { expected as i128 });
            for error in [0, 1 << 58, -(1 << 58), 3 << 57, -(3 << 57)] {
                let moved = [0, 1].map(|i| add(down[i], reduced(error, PRIMES[i]), PRIMES[i]));
                assert_eq!(decode(moved), value, "{error}");
            }
        }
        // Up with the probability of the fraction.
        let fraction = 7u64.wrapping_mul(Q_LOW);
        assert_eq!(centred(encode(7, fraction - 1)), centred(encode(7, fraction)) + 1);
    }

    #[test]
    fn chosen_values_add_up_and_only_they() {
        let (public, key, mut rng) = setup();
        let zeros = key.zeros(&mut rng);
        assert_eq!(zeros.len(), BLOCK);
        let values: Vec<u64> =
            (0..BLOCK as u64 + 100).map(|i| if i % 3 == 0 { u64::MAX } else { rng.next_u64() }).collect();
        let blocks: Vec<Vec<Element>> =
            values.chunks(BLOCK).zip(1..).map(|(values, number)| key.encrypt(number, values, &mut rng)).collect();
        let bits = flood_bits(values.len(), 41).unwrap();
        for step in [1, 2, 97, usize::MAX] {
            let (mut sum, mut expected) = (Sum::default(), 0u64);
            for (block, number) in blocks.iter().zip(0..) {
                let chosen = |place: usize| step < usize::MAX && place.is_multiple_of(step);
                let mut part = Sum::default();
                part.add_public(public, number as u64 + 1, &Choice::new((0..block.len()).map(chosen)));
                for (place, value) in block.iter().enumerate() {
                    part.add_if(chosen(place), value);
                    if chosen(place) {
                        expected = expected.wrapping_add(values[number * BLOCK + place]);
                    }
                }
                sum.add(&part);
            }
            let mask = rng.next_u64();
            let sent = sum.finish(public, &zeros, mask, bits, &mut rng);
            assert_eq!(sent.len(), SUM_ELEMENTS);
            assert_eq!(key.decrypt(&sent), Some(expected.wrapping_add(mask)), "every {step}th");
        }
    }

    /// What the holder of the key sees besides the value does not depend on the places: all
    /// elements are fresh, and the noise is that of the flood.
    #[test]
    fn a_finished_sum_is_fresh_and_its_noise_is_the_flood() {
        let (public, key, mut rng) = setup();
        let zeros = key.zeros(&mut rng);
        let bits = flood_bits(1, 41).unwrap();
        let finish = |rng: &mut SecretRng| Sum::default().finish(public, &zeros, 0, bits, rng);
        let sums: Vec<Vec<Element>> = (0..40).map(|_| finish(&mut rng)).collect();
        assert!(sums[0].iter().zip(&sums[1]).all(|(one, other)| one[0] != other[0] && one[1] != other[1]));
        let noise = sums.iter().map(|sum| {
            let a: Vec<u64> = (0..2 * DEGREE).map(|i| sum[i % DEGREE][i / DEGREE]).collect();
            let product = constant_of_product(&a, &key.s);
            centred([0, 1].map(|i| subtract(sum[DEGREE][i], product[i], PRIMES[i])))
        });
        let noise: Vec<i128> = noise.collect();
        assert!(noise.iter().all(|e| e.abs() < (1 << (bits - 1)) + (1 << 16)), "{noise:?}");
        let large = |sign: i128| noise.iter().filter(|&&e| sign * e > 1 << (bits - 3)).count();
        assert!(large(1) > 5 && large(-1) > 5, "{noise:?}");
    }

    #[test]
    fn fresh_noise_is_centred_binomial() {
        let (public, key, mut rng) = setup();
        let encrypted = key.encrypt(1, &[0; BLOCK], &mut rng);
        let mut product = vec![0; 2 * DEGREE];
        add_product(&mut product, &super::public(&public.0, 1), &key.s);
        backward(&mut product);
        let in_a_block =
            (0..BLOCK).map(|i| centred([0, 1].map(|j| subtract(encrypted[i][j], product[j * DEGREE + i], PRIMES[j]))));
        let squares: i128 = in_a_block.inspect(|e| assert!(e.abs() <= 21)).map(|e| e * e).sum();
        assert!((9..12).contains(&(squares / BLOCK as i128)), "{squares}");

        let many = 1 << 18;
        let (sum, squares) =
            (0..many).map(|_| noise(&mut rng)).fold((0, 0), |(sum, squares), e| (sum + e, squares + e * e));
        // Means 0 and 10.5; five standard deviations are 8300 and 37600.
        assert!(sum.abs() < 8300 && (2 * squares - 21 * many).abs() < 2 * 37_600, "{sum}, {squares}");
    }

    #[test]
    fn foreign_sums_are_refused_and_sizes_have_a_bound() {
        let (_, key, _) = setup();
        assert_eq!(key.decrypt(&[]), None);
        assert_eq!(key.decrypt(&[[0; 2]; SUM_ELEMENTS - 1]), None);
        assert_eq!(key.decrypt(&[[0; 2]; SUM_ELEMENTS]), Some(0));
        let mut wrong = [[0; 2]; SUM_ELEMENTS];
        wrong[5] = [0, PRIMES[1]];
        assert_eq!(key.decrypt(&wrong), None);
        assert_eq!(flood_bits(1 << 20, 41), Some(56));
        assert_eq!(flood_bits(1 << 20, 44), Some(59));
        assert_eq!(flood_bits(1 << 20, 45), None);
        assert_eq!(flood_bits(1 << 26, 41), Some(59));
        assert_eq!(flood_bits(1 << 28, 41), None);
    }
}
