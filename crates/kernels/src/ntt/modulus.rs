//! Arithmetic modulo a prime, with results that may lie a few multiples of the prime too high.

use std::fmt;

/// A prime modulus below `2^62`, and what numbers are reduced with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Modulus {
    p: u64,
    one: Factor,
    /// `2^64`.
    word: Factor,
}

/// A number below a modulus that many others are multiplied by, with `floor(2^64 value / p)`
/// (Shoup's trick: see NTL's `MulModPrecon`).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Factor {
    pub(super) value: u64,
    pub(super) quotient: u64,
}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus({})", self.p)
    }
}

impl fmt::Debug for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factor(..)")
    }
}

impl Modulus {
    /// The most bits of a modulus: four times the prime still fits a word.
    pub const MAX_BITS: u32 = 62;

    /// The most bits of a modulus for which sums of `2^28` products fit 128 bits, and four times
    /// the prime the 52 bits that AVX-512 IFMA multiplies.
    pub const NARROW_BITS: u32 = 50;

    /// Checks and takes an odd prime.
    ///
    /// # Panics
    /// If it is none, or too large.
    pub fn new(p: u64) -> Self {
        assert!(p >> Self::MAX_BITS == 0 && p > 2 && is_prime(p), "an odd prime below 2^{}", Self::MAX_BITS);
        let factor = |value: u64| Factor { value, quotient: ((u128::from(value) << 64) / u128::from(p)) as u64 };
        Self { p, one: factor(1), word: factor(((1u128 << 64) % u128::from(p)) as u64) }
    }

    /// The largest primes below `2^bits` that are 1 modulo `step`, largest first. Both must be
    /// powers of two.
    ///
    /// # Panics
    /// If there are not so many between `63/64 2^bits` and `2^bits`.
    pub fn largest(bits: u32, step: u64, count: usize) -> Vec<Self> {
        assert!(bits <= Self::MAX_BITS && step.is_power_of_two() && step >> bits == 0, "bits and step of the primes");
        let least = (1u64 << bits) - (1 << bits >> 6);
        let candidates = (1..)
            .map_while(|k| (1u64 << bits).checked_sub(k * step))
            .take_while(|&below| below >= least)
            .map(|below| below + 1);
        let primes: Vec<Self> = candidates.filter(|&p| is_prime(p)).take(count).map(Self::new).collect();
        assert_eq!(primes.len(), count, "not enough primes of {bits} bits");
        primes
    }

    /// Whether `n` is a prime; exact for all of its values.
    pub fn is_prime(n: u64) -> bool {
        is_prime(n)
    }

    /// The prime.
    pub const fn p(self) -> u64 {
        self.p
    }

    /// A number to multiply by, reduced first.
    pub fn factor(self, value: u64) -> Factor {
        let value = self.reduce(u128::from(value));
        Factor { value, quotient: ((u128::from(value) << 64) / u128::from(self.p)) as u64 }
    }

    /// `x * factor`, below `2 p`.
    #[inline(always)]
    pub const fn times(self, x: u64, factor: Factor) -> u64 {
        let quotient = ((x as u128 * factor.quotient as u128) >> 64) as u64;
        x.wrapping_mul(factor.value).wrapping_sub(quotient.wrapping_mul(self.p))
    }

    /// A word's residue, below `2 p`.
    #[inline(always)]
    pub const fn word(self, x: u64) -> u64 {
        self.times(x, self.one)
    }

    /// The residue of two words.
    #[inline(always)]
    pub fn reduce(self, x: u128) -> u64 {
        self.below(self.times((x >> 64) as u64, self.word) + self.word(x as u64))
    }

    /// The residue of a number below `4 p`.
    #[inline(always)]
    pub fn below(self, x: u64) -> u64 {
        let x = x.min(x.wrapping_sub(2 * self.p));
        x.min(x.wrapping_sub(self.p))
    }

    /// The residue of a signed number between `-p` and `p`.
    #[inline(always)]
    pub const fn signed(self, x: i64) -> u64 {
        (x + (x >> 63 & self.p as i64)) as u64
    }

    /// The residue of a word taken as a signed number, below `3 p`.
    #[inline(always)]
    pub const fn signed_word(self, x: u64) -> u64 {
        self.word(x) + ((x as i64 >> 63) as u64 & (self.p - self.word.value))
    }

    /// `x + y` for residues.
    #[inline(always)]
    pub fn sum(self, x: u64, y: u64) -> u64 {
        (x + y).min((x + y).wrapping_sub(self.p))
    }

    /// `x - y` for residues.
    #[inline(always)]
    pub fn difference(self, x: u64, y: u64) -> u64 {
        x.wrapping_sub(y).min(x.wrapping_sub(y).wrapping_add(self.p))
    }

    /// `x * y` for residues.
    pub fn product(self, x: u64, y: u64) -> u64 {
        self.reduce(u128::from(x) * u128::from(y))
    }

    /// `x^exponent`; the exponent is public.
    pub fn power(self, x: u64, exponent: u64) -> u64 {
        let bits = (0..u64::BITS - exponent.leading_zeros()).rev();
        bits.fold(1, |power, i| {
            let square = self.product(power, power);
            if exponent >> i & 1 == 1 { self.product(square, x) } else { square }
        })
    }

    /// The inverse of a residue other than zero.
    pub fn inverse(self, x: u64) -> u64 {
        self.power(x, self.p - 2)
    }

    /// A root of unity of this order, a power of two; always the same one, so that two processes
    /// agree on it.
    pub fn root(self, order: u64) -> u64 {
        assert!(
            order.is_power_of_two() && order > 1 && (self.p - 1).is_multiple_of(order),
            "the prime has roots of the order"
        );
        let mut roots = (2..).map(|x| self.power(x, (self.p - 1) / order));
        roots.find(|&root| self.power(root, order / 2) == self.p - 1).expect("half of all numbers are no squares")
    }
}

/// Miller and Rabin's test with the twelve first primes as bases, which is exact for 64 bits
/// (Sorenson and Webster, 2015).
fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 || BASES.iter().any(|&base| n.is_multiple_of(base)) {
        return BASES.contains(&n);
    }
    let product = |x: u64, y: u64| (u128::from(x) * u128::from(y) % u128::from(n)) as u64;
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    BASES.iter().all(|&base| {
        let mut x = (0..64 - odd.leading_zeros()).rev().fold(1, |power, i| {
            let square = product(power, power);
            if odd >> i & 1 == 1 { product(square, base) } else { square }
        });
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = product(x, x);
            x == n - 1
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::words;

    #[test]
    fn primes_are_told_from_others() {
        let sieve: Vec<u64> =
            (2..2000u64).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).collect();
        assert_eq!((0..2000).filter(|&n| is_prime(n)).collect::<Vec<_>>(), sieve);
        // Carmichael numbers and strong pseudoprimes; Mersenne primes.
        assert!([561, 3_215_031_751, 3_825_123_056_546_413_051, 341_550_071_728_321].iter().all(|&n| !is_prime(n)));
        assert!([(1 << 61) - 1, (1 << 31) - 1, 18_446_744_073_709_551_557].iter().all(|&n| is_prime(n)));
    }

    #[test]
    fn the_largest_primes_are_of_their_form() {
        for bits in [20, 44, 49, 50] {
            let primes = Modulus::largest(bits, 1 << 14, if bits == 20 { 0 } else { 4 });
            assert!(
                primes.iter().all(|m| m.p() % (1 << 14) == 1 && m.p() >> (bits - 1) == 1 && is_prime(m.p())),
                "{primes:?}"
            );
            assert!(primes.is_sorted_by(|a, b| a.p() > b.p()));
        }
    }

    #[test]
    fn residues_are_those_of_division() {
        let edges = [0, 1, u128::MAX, u128::from(u64::MAX), 1 << 64, (1 << 100) - 1];
        let largest = |bits| Modulus::largest(bits, 2, 1)[0];
        for modulus in [Modulus::new(3), Modulus::new(12289), largest(50), largest(62)] {
            let p = modulus.p();
            for x in edges.into_iter().chain(words(p, 500)) {
                assert_eq!(u128::from(modulus.reduce(x)), x % u128::from(p), "{x} modulo {p}");
                let (high, low) = ((x >> 64) as u64, x as u64);
                let product = modulus.times(low, modulus.factor(high));
                assert!(product < 2 * p);
                assert_eq!(u128::from(product % p), u128::from(low % p) * u128::from(high % p) % u128::from(p));
                let signed = modulus.signed_word(low);
                assert!(signed < 3 * p);
                assert_eq!(i128::from(signed % p), i128::from(low as i64).rem_euclid(i128::from(p)));
                let small = low as i64 % p as i64;
                assert_eq!(i128::from(modulus.signed(small)), i128::from(small).rem_euclid(i128::from(p)));
            }
            assert!((1..20).filter(|x| x % p != 0).all(|x| modulus.product(modulus.inverse(x % p), x % p) == 1));
            for (x, y) in [(0, 0), (0, p - 1), (p - 1, 0), (p - 1, p - 1), (1, 2)] {
                assert_eq!(modulus.sum(x, y), (x + y) % p);
                assert_eq!(modulus.difference(x, y), (x + p - y) % p);
            }
            assert!((0..4).all(|k| modulus.below(k * p + 1) == 1 && modulus.below(k * p) == 0));
        }
    }
}
