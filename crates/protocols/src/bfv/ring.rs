//! A scheme with the lengths of its ciphertexts, and what makes an answer tell nothing but what it
//! encrypts.

use rand_core::Rng;
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, PublicKey, Scheme};
use vesica_structures::rng::SecretRng;

/// A scheme, how many primes its ciphertexts have, and how answers are flooded.
pub struct Ring {
    /// The scheme.
    pub scheme: Scheme,
    /// Primes that are left when answers are flooded.
    pub kept_primes: usize,
    /// Primes of an answer.
    pub sent_primes: usize,
    /// Bits of each of the four summands of a flood.
    pub flood_bits: u32,
}

impl Ring {
    /// Bytes of half of a fresh ciphertext.
    pub fn half_bytes(&self) -> usize {
        self.scheme.poly_bytes(self.scheme.all_primes())
    }

    /// Bytes of an answer.
    pub fn answer_bytes(&self) -> usize {
        self.scheme.ciphertext_bytes(self.sent_primes)
    }
}

/// What travels of a value with the kept primes, where nothing but what is encrypted may be known.
pub fn hide(
    ring: &Ring,
    key: &PublicKey,
    value: &Ciphertext<Coefficients>,
    rng: &mut SecretRng,
) -> Ciphertext<Coefficients> {
    let mut hidden = drown(ring, key, value, rng);
    ring.scheme.switch_down(&mut hidden, ring.sent_primes);
    hidden
}

/// Adds a fresh encryption of zero and drowns the noise.
pub fn drown(
    ring: &Ring,
    key: &PublicKey,
    value: &Ciphertext<Coefficients>,
    rng: &mut SecretRng,
) -> Ciphertext<Coefficients> {
    let scheme = &ring.scheme;
    let mut drowned = scheme.ciphertext_coefficients(key.zero(scheme, rng));
    scheme.switch_down(&mut drowned, ring.kept_primes);
    scheme.add(&mut drowned, value);
    scheme.flood(&mut drowned, ring.flood_bits, rng);
    drowned
}

/// A uniform number below the modulus of plaintexts, which fits 32 bits.
pub fn residue(plain: u64, rng: &mut SecretRng) -> u64 {
    loop {
        let draw = u64::from(rng.next_u32()) & (plain.next_power_of_two() - 1);
        if draw < plain {
            return draw;
        }
    }
}

/// `x^-1` modulo a prime of at most 32 bits, 0 for 0. The exponent is public.
pub fn inverse(x: u64, p: u64) -> u64 {
    let (mut power, mut square, mut exponent) = (1, x % p, p - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * square % p;
        }
        square = square * square % p;
        exponent >>= 1;
    }
    power
}
