//! The ring `Z_q[X] / (X^d + 1)`, and how its elements are drawn.
//!
//! An element is given by its coefficients or by its values at the odd powers of a root `w` of
//! order `2 d`. The values are in *orbit order*: those at `w^(5^i)` for `i < d / 2`, then those at
//! `w^(-5^i)`. So the automorphism that takes `X` to `X^(5^j)` moves the values of either half `j`
//! places to the front, cyclically, and the one that takes `X` to `X^-1` swaps the halves.

use std::sync::OnceLock;

use rand_core::Rng;
use vesica_kernels::ntt::{Factor, Modulus, Ntt};

use crate::rng::SecretRng;
use crate::secret::Secret;

/// `d`.
pub const DEGREE: usize = 1 << 11;
/// Powers of five modulo `2 d` that differ: half of the odd numbers.
pub(super) const HALF: usize = DEGREE / 2;
/// Bits of `q`.
pub const MODULUS_BITS: u32 = 50;
/// Fair coins on either side of an error, whose deviation is `sqrt(COINS / 2)`, 3.24.
pub(super) const COINS: u32 = 21;

/// Separates our polynomials from other uses of a seed.
const CONTEXT: &str = "vesica v1 pir 2026 uniform polynomials";

/// Small signed coefficients.
pub(super) type Small = Secret<Vec<i8>>;

/// `q` and the transforms.
pub(super) struct Ring {
    pub modulus: Modulus,
    /// `w`.
    root: u64,
    ntt: Ntt,
    /// The powers of `w`.
    powers: Vec<Factor>,
    /// The place of the value at `w^e` in the order of the transform, for odd `e`, at `e / 2`.
    places: Vec<u32>,
    /// The exponents of `w` in orbit order.
    exponents: Vec<u32>,
}

/// The ring, made at the first call.
pub(super) fn ring() -> &'static Ring {
    static RING: OnceLock<Ring> = OnceLock::new();
    RING.get_or_init(Ring::new)
}

impl Ring {
    fn new() -> Self {
        let modulus = Modulus::largest(MODULUS_BITS, 2 * DEGREE as u64, 1)[0];
        let ntt = Ntt::new(modulus, DEGREE);
        let root = points(&ntt, DEGREE)[0];
        let mut powers = Vec::with_capacity(2 * DEGREE);
        let mut power = 1;
        for _ in 0..2 * DEGREE {
            powers.push(modulus.factor(power));
            power = modulus.product(power, root);
        }
        let places = places(modulus, &ntt, DEGREE, root);
        let mut exponents = Vec::with_capacity(DEGREE);
        for sign in [1, 2 * DEGREE - 1] {
            let mut exponent = sign;
            for _ in 0..HALF {
                exponents.push(exponent as u32);
                exponent = 5 * exponent % (2 * DEGREE);
            }
        }
        Self { modulus, root, ntt, powers, places, exponents }
    }

    /// A shorter transform, of `length` coefficients, over the root `w^(d / length)`, and where it
    /// puts the value at each odd power of that root: at half the exponent, the place.
    pub fn shorter(&self, length: usize) -> (Ntt, Vec<u32>) {
        let root = self.modulus.power(self.root, (DEGREE / length) as u64);
        let ntt = Ntt::with_root(self.modulus, length, root);
        let places = places(self.modulus, &ntt, length, root);
        (ntt, places)
    }

    pub fn q(&self) -> u64 {
        self.modulus.p()
    }

    /// `w^exponent`.
    pub fn power(&self, exponent: usize) -> Factor {
        self.powers[exponent % (2 * DEGREE)]
    }

    /// The exponents of `w` in orbit order.
    pub fn exponents(&self) -> &[u32] {
        &self.exponents
    }

    /// `a b`.
    pub fn product(&self, a: u64, b: u64) -> u64 {
        self.modulus.product(a, b)
    }

    /// `a + b`.
    pub fn sum(&self, a: u64, b: u64) -> u64 {
        self.modulus.below(a + b)
    }

    /// `a - b`.
    pub fn difference(&self, a: u64, b: u64) -> u64 {
        self.modulus.below(a + self.q() - b)
    }

    /// A small signed number as a residue.
    pub fn signed(&self, x: i64) -> u64 {
        self.modulus.signed(x)
    }

    /// The number of least absolute value with this residue.
    pub fn centred(&self, x: u64) -> i64 {
        let above = (self.q() / 2).wrapping_sub(x) as i64 >> 63;
        x as i64 - (self.q() as i64 & above)
    }

    /// Switches residues to the modulus `2^bits`: to the nearest multiple of `q / 2^bits`, up to
    /// `2^-13` of one. In the same time for any residues.
    pub fn rounder(&self, bits: u32) -> impl Fn(u64) -> u64 + use<> {
        // What this leaves out of the quotient is below 1, and 2^50 of that 2^-14.
        let factor = (1u128 << (u64::BITS + bits)) / u128::from(self.q());
        move |x| ((u128::from(x) * factor + (1 << (u64::BITS - 1))) >> u64::BITS) as u64 & ((1 << bits) - 1)
    }

    /// Switches a number below `2^bits` back from the modulus `2^bits`.
    pub fn widened(&self, x: u32, bits: u32) -> u64 {
        ((u128::from(x) * u128::from(self.q()) + (1 << (bits - 1))) >> bits) as u64
    }

    /// Coefficients below `4 q` to values.
    pub fn values(&self, coefficients: &mut Vec<u64>) {
        self.ntt.forward(coefficients);
        let values = self.exponents.iter().map(|&e| coefficients[self.places[e as usize / 2] as usize]).collect();
        *coefficients = values;
    }

    /// The values of a polynomial with small coefficients.
    pub fn values_of(&self, small: &Small) -> Secret<Vec<u64>> {
        let mut spent: Secret<Vec<u64>> = Secret::new(small.iter().map(|&x| self.signed(x.into())).collect());
        self.ntt.forward(&mut spent);
        let mut values = Secret::new(Vec::with_capacity(DEGREE));
        values.extend(self.exponents.iter().map(|&e| spent[self.places[e as usize / 2] as usize]));
        values
    }

    /// Values to coefficients.
    pub fn coefficients(&self, values: &[u64]) -> Vec<u64> {
        let mut coefficients = vec![0; DEGREE];
        for (&value, &e) in values.iter().zip(&self.exponents) {
            coefficients[self.places[e as usize / 2] as usize] = value;
        }
        self.ntt.inverse(&mut coefficients);
        coefficients
    }

    /// The `number`-th uniform element of a seed, by its values.
    ///
    /// The words of a hash's output are cut to the bits of `q`, and those that are not below `q` are
    /// left out. All of them are public.
    pub fn uniform(&self, seed: &[u8; 32], number: u64) -> Vec<u64> {
        let key = blake3::derive_key(CONTEXT, seed);
        let mut hash = blake3::Hasher::new_keyed(&key).update(&number.to_le_bytes()).finalize_xof();
        let mut values = Vec::with_capacity(DEGREE);
        let mut words = [0u64; 64];
        while values.len() < DEGREE {
            hash.fill(bytemuck::cast_slice_mut(&mut words));
            let drawn = words.iter().map(|word| u64::from_le(*word) >> (u64::BITS - MODULUS_BITS));
            let room = DEGREE - values.len();
            values.extend(drawn.filter(|&value| value < self.q()).take(room));
        }
        values
    }
}

/// The points at which a transform evaluates, in its order: the values of `X`.
fn points(ntt: &Ntt, length: usize) -> Vec<u64> {
    let mut points = vec![0; length];
    points[1] = 1;
    ntt.forward(&mut points);
    points
}

/// The places of the values at the odd powers of `root` in the order of a transform.
fn places(modulus: Modulus, ntt: &Ntt, length: usize, root: u64) -> Vec<u32> {
    let mut by_value = Vec::with_capacity(length);
    let square = modulus.product(root, root);
    let mut power = root;
    for i in 0..length {
        by_value.push((power, i));
        power = modulus.product(power, square);
    }
    by_value.sort_unstable();
    let mut places = vec![0; length];
    for (place, point) in (0..).zip(points(ntt, length)) {
        let found = by_value.binary_search_by_key(&point, |&(value, _)| value);
        places[by_value[found.expect("points are odd powers of the root")].1] = place;
    }
    places
}

/// Uniform in -1, 0, 1, up to `2^-64`.
pub(super) fn ternary(rng: &mut SecretRng) -> Small {
    sample(DEGREE, rng, |word| ((u128::from(word) * 3) >> 64) as i8 - 1)
}

/// The difference of two times [`COINS`] fair coins, `count` times.
pub(super) fn errors(count: usize, rng: &mut SecretRng) -> Small {
    const MASK: u64 = (1 << COINS) - 1;
    sample(count, rng, |word| (word & MASK).count_ones() as i8 - (word >> 32 & MASK).count_ones() as i8)
}

fn sample(count: usize, rng: &mut SecretRng, value: impl Fn(u64) -> i8) -> Small {
    let mut words = Secret::new(vec![0u64; count]);
    rng.fill_bytes(bytemuck::cast_slice_mut(&mut words));
    let mut small = Secret::new(Vec::with_capacity(count));
    small.extend(words.iter().map(|&word| value(word)));
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: u64) -> Vec<u64> {
        let mut key = [7; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        ring().uniform(&key, 0)
    }

    #[test]
    fn coefficients_come_back_from_values() {
        let ring = ring();
        let coefficients = random(1);
        let mut values = coefficients.clone();
        ring.values(&mut values);
        assert_ne!(values, coefficients);
        assert_eq!(ring.coefficients(&values), coefficients);
    }

    #[test]
    fn products_by_values_are_those_of_polynomials() {
        let ring = ring();
        let (mut a, mut b) = (vec![0; DEGREE], vec![0; DEGREE]);
        (a[3], a[DEGREE - 1], b[0], b[5]) = (7, 11, 13, ring.q() - 1);
        ring.values(&mut a);
        ring.values(&mut b);
        let product: Vec<u64> = a.iter().zip(&b).map(|(&a, &b)| ring.product(a, b)).collect();
        let mut expected = vec![0; DEGREE];
        // 7 * 13 X^3 - 7 X^8 + 11 * 13 X^(d - 1) + 11 X^4.
        (expected[3], expected[8], expected[DEGREE - 1], expected[4]) = (91, ring.q() - 7, 143, 11);
        assert_eq!(ring.coefficients(&product), expected);
    }

    /// What the packing relies on: automorphisms move values, and move nothing else.
    #[test]
    fn automorphisms_shift_and_swap_values() {
        let ring = ring();
        let coefficients = random(2);
        let mut values = coefficients.clone();
        ring.values(&mut values);
        for (sign, shift) in [(1, 0), (1, 1), (1, 700), (-1, 0), (-1, 3)] {
            let power = (0..shift).fold(1, |power, _| 5 * power % (2 * DEGREE));
            let g = if sign == 1 { power } else { 2 * DEGREE - power };
            let mut image = vec![0; DEGREE];
            for (i, &c) in coefficients.iter().enumerate() {
                let e = g * i % (2 * DEGREE);
                image[e % DEGREE] = if e < DEGREE { c } else { ring.difference(0, c) };
            }
            ring.values(&mut image);
            for i in 0..DEGREE {
                let half = (i / HALF) ^ usize::from(sign == -1);
                assert_eq!(image[i], values[half * HALF + (i % HALF + shift) % HALF], "{sign} {shift}, value {i}");
            }
        }
    }

    #[test]
    fn secrets_and_errors_have_their_moments() {
        let rng = &mut SecretRng::insecure_from_seed(3);
        let moments = |small: Small| {
            let count = small.len() as f64;
            let sum: f64 = small.iter().map(|&x| f64::from(x)).sum();
            (sum / count, small.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / count)
        };
        let many = 1 << 16;
        let ternaries: Vec<i8> = (0..many / DEGREE).flat_map(|_| ternary(rng).to_vec()).collect();
        let (mean, square) = moments(Secret::new(ternaries));
        assert!(mean.abs() < 0.02 && (square - 2.0 / 3.0).abs() < 0.01, "{mean}, {square}");
        let (mean, square) = moments(errors(many, rng));
        assert!(mean.abs() < 0.07 && (square - f64::from(COINS) / 2.0).abs() < 0.4, "{mean}, {square}");
        assert!(errors(many, rng).iter().all(|x| u32::from(x.unsigned_abs()) <= COINS));
    }

    #[test]
    fn uniform_elements_are_below_the_modulus_and_differ() {
        let ring = ring();
        let elements = [ring.uniform(&[1; 32], 0), ring.uniform(&[1; 32], 1), ring.uniform(&[2; 32], 0)];
        assert!(elements.iter().flatten().all(|&value| value < ring.q()));
        assert!(elements[0] != elements[1] && elements[0] != elements[2]);
        assert_eq!(ring.uniform(&[1; 32], 1), elements[1]);
        assert!((ring.q() >> (MODULUS_BITS - 1)) == 1);
        assert_eq!(
            [0, 1, ring.q() / 2, ring.q() / 2 + 1, ring.q() - 1].map(|x| ring.centred(x)),
            [0, 1, ring.q() as i64 / 2, -(ring.q() as i64 / 2), -1]
        );
    }
}
