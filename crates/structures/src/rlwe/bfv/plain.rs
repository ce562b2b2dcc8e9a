//! Plaintexts: polynomials modulo `t`, and their slots.

use vesica_kernels::ntt::Modulus;
use zeroize::Zeroize;

use super::poly::{Poly, Values};
use super::scheme::Scheme;

/// A plaintext: the coefficients of a polynomial modulo `t`.
#[derive(Clone, PartialEq, Eq)]
pub struct Plain {
    pub(super) coefficients: Vec<u64>,
}

impl Plain {
    /// The coefficients, each below `t`.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// The plaintext with these coefficients; nothing where they are not `n`, or one is not below
    /// `t`.
    pub fn from_coefficients(scheme: &Scheme, coefficients: Vec<u64>) -> Option<Self> {
        let most = coefficients.iter().fold(0, |most: u64, &c| most.max(c));
        (coefficients.len() == scheme.n && most < scheme.plain.t).then_some(Self { coefficients })
    }
}

impl Zeroize for Plain {
    fn zeroize(&mut self) {
        self.coefficients.zeroize();
    }
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Plain(..)")
    }
}

impl Scheme {
    /// The plaintext with these slots, each below `t`; slots that are not given are 0.
    ///
    /// # Panics
    /// If there are more than `n` slots.
    pub fn encode(&self, slots: &[u64]) -> Plain {
        self.encode_mapped(slots, |_, slot| slot)
    }

    /// The plaintext of this power of each slot.
    ///
    /// # Panics
    /// If there are more than `n` slots.
    pub fn encode_powers(&self, slots: &[u64], exponent: u64) -> Plain {
        self.encode_mapped(slots, |modulus, slot| modulus.power(slot, exponent))
    }

    fn encode_mapped(&self, slots: &[u64], map: impl Fn(Modulus, u64) -> u64) -> Plain {
        assert!(slots.len() <= self.n, "at most as many slots as coefficients");
        let mut coefficients = vec![0; self.n];
        let mut row = zeroize::Zeroizing::new(vec![0; self.n]);
        for prime in &self.batching.primes {
            let modulus = prime.ntt.modulus();
            row.fill(0);
            for (&slot, &place) in slots.iter().zip(&self.batching.places) {
                row[place as usize] = map(modulus, modulus.reduce(slot.into()));
            }
            prime.ntt.inverse(&mut row);
            for (sum, &x) in coefficients.iter_mut().zip(row.iter()) {
                let y = modulus.below(modulus.times(x, prime.inverse));
                *sum = (*sum + y * prime.cofactor).min((*sum + y * prime.cofactor).wrapping_sub(self.plain.t));
            }
        }
        Plain { coefficients }
    }

    /// The slots of a plaintext.
    pub fn decode(&self, plain: &Plain) -> Vec<u64> {
        let mut slots = vec![0; self.n];
        let mut row = zeroize::Zeroizing::new(vec![0; self.n]);
        for prime in &self.batching.primes {
            let modulus = prime.ntt.modulus();
            for (x, &c) in row.iter_mut().zip(&plain.coefficients) {
                *x = modulus.reduce(c.into());
            }
            prime.ntt.forward(&mut row);
            for (slot, &place) in slots.iter_mut().zip(&self.batching.places) {
                let y = modulus.below(modulus.times(row[place as usize], prime.inverse));
                *slot = (*slot + y * prime.cofactor).min((*slot + y * prime.cofactor).wrapping_sub(self.plain.t));
            }
        }
        slots
    }

    /// A plaintext as a factor of ciphertexts with so many primes: its coefficients next to zero.
    pub fn multiplier(&self, plain: &Plain, primes: usize) -> Poly<Values> {
        let (t, half) = (self.plain.t, self.plain.t / 2);
        let centre = |&c: &u64| {
            let above = ((half.wrapping_sub(c)) as i64) >> 63;
            c as i64 - (t as i64 & above)
        };
        let centred = zeroize::Zeroizing::new(plain.coefficients.iter().map(centre).collect::<Vec<i64>>());
        let mut poly = self.zero(primes);
        for (ntt, row) in self.rows_mut(&mut poly) {
            let modulus = ntt.modulus();
            row.iter_mut().zip(&*centred).for_each(|(x, &c)| *x = modulus.below(modulus.signed_word(c as u64)));
        }
        self.values(poly)
    }
}
