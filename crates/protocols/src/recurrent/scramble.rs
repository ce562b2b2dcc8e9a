//! Random bijections of what a slot holds in all limbs: zero stays, anything else becomes uniform
//! among what is not zero.

use vesica_structures::rlwe::bfv::{Ciphertext, Poly, Scheme, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::bfv::residue;

/// `t`: slots hold numbers below it.
pub const PLAIN: u64 = 147_457;

/// A primitive root modulo `t`, so that `X^L - ROOT` is irreducible for `L` = 2, 3, 4 and 6: every
/// prime factor of `L` divides `t - 1 = 2^14 3^2`, and 4 does, too.
pub const ROOT: u64 = 10;

/// A uniform number below `t`.
pub fn uniform(rng: &mut SecretRng) -> u64 {
    residue(PLAIN, rng)
}

/// For each slot, the multiplication by a uniform element, not zero, of the field `F_t[X] / (X^L -
/// ROOT)`, whose elements are the slot's limbs.
pub struct Scramble {
    /// The element's limbs.
    own: Secret<Vec<Poly<Values>>>,
    /// From the second one on, its limbs times [`ROOT`].
    wrapped: Secret<Vec<Poly<Values>>>,
}

impl Scramble {
    /// For ciphertexts with so many primes.
    pub fn new(scheme: &Scheme, limbs: usize, primes: usize, rng: &mut SecretRng) -> Self {
        let mut elements = Secret::new(vec![vec![0; scheme.slots()]; limbs]);
        for slot in 0..scheme.slots() {
            let mut any = 0;
            while any == 0 {
                for limb in elements.iter_mut() {
                    limb[slot] = uniform(rng);
                    any |= limb[slot];
                }
            }
        }
        let factor = |slots: &[u64]| {
            let plain = Secret::new(scheme.encode(slots));
            scheme.multiplier(&plain, primes)
        };
        let own = elements.iter().map(|slots| factor(slots)).collect();
        let times_root = |slots: &Vec<u64>| {
            let moved = Secret::new(slots.iter().map(|slot| slot * ROOT % PLAIN).collect::<Vec<u64>>());
            factor(&moved)
        };
        let wrapped = elements.iter().skip(1).map(times_root).collect();
        Self { own: Secret::new(own), wrapped: Secret::new(wrapped) }
    }

    /// The limbs of the product.
    pub fn apply(&self, scheme: &Scheme, limbs: &[Ciphertext<Values>]) -> Vec<Ciphertext<Values>> {
        let count = limbs.len();
        let limb = |k: usize| {
            let factor = |l: usize| if l <= k { &self.own[k - l] } else { &self.wrapped[count + k - l - 1] };
            let products: Vec<_> = limbs.iter().enumerate().map(|(l, limb)| (limb, factor(l))).collect();
            scheme.combine(&products)
        };
        (0..count).map(limb).collect()
    }
}
