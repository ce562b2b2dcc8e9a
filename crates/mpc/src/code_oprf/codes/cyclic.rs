//! Primitive BCH codes: the generator polynomial, and the code words of single bits.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::code_oprf::rows::MatrixRow;

/// A binary cyclic code of length `2^degree - 1`: the words, as polynomials, that have consecutive powers of a
/// primitive element `alpha` as roots. By the BCH bound its distance is one more than there are such roots.
pub(super) struct Cyclic {
    /// Degree of the field over GF(2).
    pub degree: usize,
    /// The primitive polynomial by which the field is made.
    pub field: u16,
    /// The exponents of the consecutive roots.
    pub roots: RangeInclusive<usize>,
    /// Bits that a word stands for: the length minus the degree of the generator polynomial.
    pub dimension: usize,
    /// [`Self::make_generator`], once it is made.
    pub generator: LazyLock<Vec<bool>>,
}

impl Cyclic {
    /// Bits of a word: the elements of the field without zero.
    pub fn length(&self) -> usize {
        (1 << self.degree) - 1
    }

    /// The BCH bound.
    pub fn distance(&self) -> usize {
        self.roots.end() - self.roots.start() + 2
    }

    /// `alpha^0 .. alpha^(length - 1)`.
    pub fn powers(&self) -> Vec<u16> {
        let mut power = 1;
        let next = |_| {
            let this = power;
            power <<= 1;
            if power >> self.degree == 1 {
                power ^= self.field;
            }
            this
        };
        (0..self.length()).map(next).collect()
    }

    /// The generator polynomial: the product of the minimal polynomials of the roots, lowest coefficient first.
    pub fn make_generator(&self) -> Vec<bool> {
        let length = self.length();
        let powers = self.powers();
        let mut logarithms = vec![0; length + 1];
        powers.iter().enumerate().for_each(|(exponent, &power)| logarithms[usize::from(power)] = exponent);
        let product = |a: u16, exponent: usize| match a {
            0 => 0,
            a => powers[(logarithms[usize::from(a)] + exponent) % length],
        };
        // A root's conjugates, by squaring, are the other roots of its minimal polynomial.
        let mut is_root = vec![false; length];
        for root in self.roots.clone() {
            let mut conjugate = root;
            for _ in 0..self.degree {
                is_root[conjugate] = true;
                conjugate = 2 * conjugate % length;
            }
        }
        let mut generator = vec![1];
        for root in (0..length).filter(|&exponent| is_root[exponent]) {
            // Times x + alpha^root.
            let scaled: Vec<u16> = generator.iter().map(|&coefficient| product(coefficient, root)).collect();
            generator.insert(0, 0);
            generator.iter_mut().zip(scaled).for_each(|(coefficient, scaled)| *coefficient ^= scaled);
        }
        // All conjugates are there, so that the coefficients are bits.
        generator.into_iter().map(|coefficient| coefficient == 1).collect()
    }

    /// The code word of the key with this one bit, without its first `punctured` places: the multiple of the
    /// generator polynomial that has this one among its highest `dimension` coefficients.
    pub fn row<R: MatrixRow>(&self, bit: usize, punctured: usize) -> R {
        let degree = self.length() - self.dimension;
        let mut remainder = vec![false; degree + bit + 1];
        remainder[degree + bit] = true;
        for top in (degree..=degree + bit).rev() {
            if remainder[top] {
                let multiple = &mut remainder[top - degree..=top];
                multiple.iter_mut().zip(self.generator.iter()).for_each(|(place, &coefficient)| *place ^= coefficient);
            }
        }
        remainder[degree + bit] = true;
        let mut row = R::of(|_| 0);
        for (place, _) in remainder[punctured..].iter().enumerate().filter(|(_, is_one)| **is_one) {
            row.blocks_mut()[place / 128] |= 1 << (place % 128);
        }
        row
    }

    /// Checks what the bound on the distance and the dimension stand on, and some of the words.
    #[cfg(test)]
    pub fn check<R: MatrixRow>(&self, bits: impl Iterator<Item = usize>) {
        let length = self.length();
        // alpha generates the whole group: only then do consecutive powers say anything of the distance.
        let mut powers = self.powers();
        assert_eq!(powers[length - 1] << 1 ^ self.field, 1);
        powers.sort_unstable();
        assert!((1..=length as u16).eq(powers));

        assert_eq!(self.generator.len() - 1, length - self.dimension);
        let powers = self.powers();
        for bit in bits {
            let word: R = self.row(bit, 0);
            let ones: Vec<usize> = (0..length).filter(|j| word.blocks()[j / 128] >> (j % 128) & 1 == 1).collect();
            for root in self.roots.clone() {
                assert_eq!(ones.iter().fold(0, |sum, j| sum ^ powers[j * root % length]), 0, "bit {bit}, root {root}");
            }
            // Systematic, so that different bits have independent words.
            let top: Vec<usize> = ones.into_iter().filter(|&place| place >= length - self.dimension).collect();
            assert_eq!(top, [length - self.dimension + bit]);
        }
    }
}
