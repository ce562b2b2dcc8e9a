//! Numbers by their residues modulo several primes, and their way from one set of primes to
//! another.

use vesica_kernels::ntt::{self, Modulus};
use zeroize::Zeroizing;

/// Bits of a fraction that is summed up: sums of 8 fractions fit a word.
const FRACTION_BITS: u32 = 60;

/// A number `q`, as its primes.
#[derive(Clone, Debug)]
pub(super) struct Base {
    primes: Vec<Prime>,
}

#[derive(Clone, Copy, Debug)]
struct Prime {
    modulus: Modulus,
    /// `p / q` modulo `p`.
    inverse: u64,
    /// Numbers below `p` shifted by so much fill a word.
    shift: u32,
    /// `2^(64 + FRACTION_BITS - shift) / p`, rounded down.
    reciprocal: u64,
}

impl Prime {
    /// `y / p` in units of `2^-FRACTION_BITS`, too small by less than 2.
    #[inline(always)]
    fn fraction(&self, y: u64) -> u64 {
        ((u128::from(y << self.shift) * u128::from(self.reciprocal)) >> 64) as u64
    }
}

/// The product of the primes modulo another one.
pub(super) fn product(primes: impl IntoIterator<Item = Modulus>, modulus: Modulus) -> u64 {
    primes.into_iter().fold(1, |product, prime| modulus.product(product, modulus.reduce(prime.p().into())))
}

impl Base {
    /// # Panics
    /// If there are more than 8 primes, or one of them has more than
    /// [`NARROW_BITS`](Modulus::NARROW_BITS).
    pub fn new(moduli: &[Modulus]) -> Self {
        assert!(moduli.len() <= 8 && moduli.iter().all(|m| m.p() >> Modulus::NARROW_BITS == 0), "8 narrow primes");
        let prime = |&modulus: &Modulus| {
            let others = moduli.iter().copied().filter(|other| *other != modulus);
            let inverse = modulus.inverse(product(others, modulus));
            let shift = modulus.p().leading_zeros();
            let reciprocal = ((1u128 << (64 + FRACTION_BITS - shift)) / u128::from(modulus.p())) as u64;
            Prime { modulus, inverse, shift, reciprocal }
        };
        Self { primes: moduli.iter().map(prime).collect() }
    }

    pub fn moduli(&self) -> impl ExactSizeIterator<Item = Modulus> + Clone + '_ {
        self.primes.iter().map(|prime| prime.modulus)
    }

    /// The fraction `x / q` of each number in units of `2^-60`, too small by less than 16 of them.
    /// Rows hold the residues.
    pub fn fractions(&self, rows: &[u64], n: usize) -> Vec<u64> {
        let (mut fractions, mut ys) = (vec![0; n], Zeroizing::new(vec![0; n]));
        for (prime, row) in self.primes.iter().zip(rows.chunks_exact(n)) {
            ntt::weighted_sum(prime.modulus, &[row], &[prime.inverse], &mut ys);
            fractions.iter_mut().zip(&*ys).for_each(|(fraction, &y)| *fraction += prime.fraction(y));
        }
        fractions.iter_mut().for_each(|fraction| *fraction &= (1 << FRACTION_BITS) - 1);
        fractions
    }
}

/// From residues modulo the primes of one base to those modulo others.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    targets: Vec<Target>,
}

#[derive(Clone, Debug)]
struct Target {
    modulus: Modulus,
    /// `q / p` for each prime `p` of the source, and `-q`.
    weights: Vec<u64>,
}

impl Conversion {
    pub fn new(from: &Base, to: &[Modulus]) -> Self {
        let target = |&modulus: &Modulus| {
            let without = |p: Modulus| from.moduli().filter(move |other| *other != p);
            let cofactors = from.moduli().map(|p| product(without(p), modulus));
            let negative = modulus.difference(0, product(from.moduli(), modulus));
            Target { modulus, weights: cofactors.chain([negative]).collect() }
        };
        Self { targets: to.iter().map(target).collect() }
    }

    /// The residues of the numbers next to zero whose residues modulo the primes of `from` are given,
    /// row by row.
    ///
    /// What lies within `2^-56 q` of `q / 2` may come out on the other side.
    pub fn convert(&self, from: &Base, rows: &[u64], n: usize) -> Vec<u64> {
        // x = sum of y_i q / p_i - v q, where v is the integer nearest to the sum of y_i / p_i.
        let mut ys = vec![0; rows.len()];
        let mut wholes = vec![1 << (FRACTION_BITS - 1); n];
        for ((prime, row), ys) in from.primes.iter().zip(rows.chunks_exact(n)).zip(ys.chunks_exact_mut(n)) {
            ntt::weighted_sum(prime.modulus, &[row], &[prime.inverse], ys);
            wholes.iter_mut().zip(&*ys).for_each(|(whole, &y)| *whole += prime.fraction(y));
        }
        wholes.iter_mut().for_each(|whole| *whole >>= FRACTION_BITS);
        let terms: Vec<&[u64]> = ys.chunks_exact(n).chain([&wholes[..]]).collect();
        let mut out = vec![0; self.targets.len() * n];
        for (target, out) in self.targets.iter().zip(out.chunks_exact_mut(n)) {
            ntt::weighted_sum(target.modulus, &terms, &target.weights, out);
        }
        out
    }
}
