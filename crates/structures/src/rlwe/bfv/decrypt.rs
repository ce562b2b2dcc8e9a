//! Decryption.

use super::ciphertext::Ciphertext;
use super::keys::SecretKey;
use super::plain::Plain;
use super::poly::{Coefficients, Poly};
use super::scheme::Scheme;
use crate::secret::Secret;

/// A ciphertext whose noise has come close to what makes decryption wrong, or has passed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the noise of a ciphertext is exhausted")]
pub struct NoiseExhausted;

impl Scheme {
    /// `c0 + c1 s`.
    pub(super) fn phase(&self, ciphertext: &Ciphertext<Coefficients>, key: &SecretKey) -> Secret<Poly<Coefficients>> {
        let primes = self.primes_of(&ciphertext.c0);
        let c1 = self.values(ciphertext.c1.clone());
        let mut phase = Secret::new(self.coefficients(self.sum_of_products(&[[&c1, &key.s]], primes)));
        self.add_into(&mut phase, &ciphertext.c0);
        phase
    }

    /// What is encrypted.
    ///
    /// # Errors
    /// If the noise of a coefficient is more than half of what makes its decryption wrong. Noise
    /// that has outgrown `q` is uniform, and passes with probability `2^-n`.
    pub fn decrypt(&self, ciphertext: &Ciphertext<Coefficients>, key: &SecretKey) -> Result<Plain, NoiseExhausted> {
        let phase = self.phase(ciphertext, key);
        let t = u128::from(self.plain.t);
        let base = &self.bases[self.primes_of(&phase) - 1];
        let fractions = Secret::new(base.fractions(&phase.residues, self.n));
        let mut exhausted = 0;
        let coefficient = |&fraction: &u64| {
            // t x / q in units of 2^-60, and half a unit of the message to round.
            let scaled = t * u128::from(fraction) + (1 << 59);
            // From a quarter to three quarters of the way to the next message, with the half added above.
            let rest = scaled as u64 & ((1 << 60) - 1);
            exhausted |= u64::from(rest.wrapping_sub(1 << 58) > 1 << 59);
            let message = (scaled >> 60) as u64;
            message.min(message.wrapping_sub(self.plain.t))
        };
        let coefficients = fractions.iter().map(coefficient).collect();
        let mut plain = Secret::new(Plain { coefficients });
        if exhausted != 0 {
            return Err(NoiseExhausted);
        }
        Ok(Plain { coefficients: std::mem::take(&mut plain.coefficients) })
    }
}
