//! Exact measurement of noise, for tests and derivations.

use super::ciphertext::Ciphertext;
use super::keys::SecretKey;
use super::poly::Coefficients;
use super::scheme::Scheme;

/// `words = words * factor + term`.
fn times_plus(words: &mut Vec<u64>, factor: u64, term: u64) {
    let mut carry = u128::from(term);
    for word in words.iter_mut() {
        carry += u128::from(*word) * u128::from(factor);
        *word = carry as u64;
        carry >>= 64;
    }
    if carry > 0 {
        words.push(carry as u64);
    }
}

/// The number in floating point.
fn to_f64(words: &[u64]) -> f64 {
    words.iter().rev().fold(0.0, |sum, &word| sum * 2f64.powi(64) + word as f64)
}

/// `x - y` for `x >= y`.
fn minus(x: &[u64], y: &[u64]) -> Vec<u64> {
    let mut borrow = 0;
    let word = |i: usize, borrow: &mut u64| {
        let (difference, first) = x[i].overflowing_sub(y.get(i).copied().unwrap_or(0));
        let (difference, second) = difference.overflowing_sub(*borrow);
        *borrow = u64::from(first | second);
        difference
    };
    (0..x.len()).map(|i| word(i, &mut borrow)).collect()
}

impl Scheme {
    /// The noise of each coefficient: the distance of `c0 + c1 s` from the nearest `(q / t) m`, with
    /// its sign. Exact to 53 bits.
    pub fn noise_of(&self, ciphertext: &Ciphertext<Coefficients>, key: &SecretKey) -> Vec<f64> {
        let phase = self.phase(ciphertext, key);
        let primes = self.primes_of(&phase);
        let moduli: Vec<_> = self.bases[primes - 1].moduli().collect();
        let q = self.modulus_words(primes);
        let noise = |i: usize| {
            // t x modulo q, digit by digit to the bases p_0, p_0 p_1, ..
            let mut residues: Vec<u64> = phase.rows(self.n).map(|row| row[i]).collect();
            for (residue, m) in residues.iter_mut().zip(&moduli) {
                *residue = m.product(*residue, m.reduce(self.plain.t.into()));
            }
            let mut digits = Vec::with_capacity(primes);
            for (j, m) in moduli.iter().enumerate() {
                let mut x = residues[j];
                for (&digit, p) in std::iter::zip(&digits, &moduli) {
                    let p = m.reduce(p.p().into());
                    x = m.product(m.difference(x, m.reduce(u128::from(digit))), m.inverse(p));
                }
                digits.push(x);
            }
            let mut number = vec![0];
            for (&digit, m) in digits.iter().zip(&moduli).rev() {
                times_plus(&mut number, m.p(), digit);
            }
            number.resize(q.len(), 0);
            let rest = minus(&q, &number);
            let (number, rest) = (to_f64(&number), to_f64(&rest));
            (if number < rest { number } else { -rest }) / self.plain.t as f64
        };
        (0..self.n).map(noise).collect()
    }

    /// `log2` of the largest [noise](Self::noise_of), 0 at least.
    pub fn noise_bits(&self, ciphertext: &Ciphertext<Coefficients>, key: &SecretKey) -> f64 {
        self.noise_of(ciphertext, key).into_iter().fold(1.0, |most: f64, x| most.max(x.abs())).log2()
    }

    /// `log2` of the noise from which on decryption reports exhaustion, `q / 4 t`, for ciphertexts
    /// with so many primes.
    pub fn room_bits(&self, primes: usize) -> f64 {
        (to_f64(&self.modulus_words(primes)) / (4.0 * self.plain.t as f64)).log2()
    }

    /// `q` in words, lowest first.
    fn modulus_words(&self, primes: usize) -> Vec<u64> {
        let mut words = vec![1];
        for modulus in self.bases[primes - 1].moduli() {
            times_plus(&mut words, modulus.p(), 0);
        }
        words
    }
}
