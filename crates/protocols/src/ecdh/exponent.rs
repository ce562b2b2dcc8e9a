//! Groups of Diffie-Hellman, each known by the type of its exponents.

use bytemuck::Pod;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

/// A message that is hashed to a group: the session's identifier and an item.
pub type Message = [u8; 48];

/// A secret exponent of a group, uniform and not zero. Every method takes the same steps whatever
/// the exponent is.
pub trait Exponent: Zeroize + Send + Sync + Sized + 'static {
    /// An encoded element.
    type Point: Pod + Zeroize + Send + Sync + PartialEq;

    /// A fresh exponent.
    fn random(rng: &mut SecretRng) -> Secret<Self>;

    /// The exponent that takes this one off again.
    fn inverse(&self) -> Secret<Self>;

    /// `exponent H(message)` for each message, where `H` hashes to the group under `domain`. The
    /// caller spreads batches over threads.
    ///
    /// # Panics
    /// If `out` is not as long as `messages`.
    fn hash_and_multiply(&self, domain: &[u8], messages: &[Message], out: &mut [Self::Point]);

    /// Multiplies the peer's points in place. Says whether all of them were valid, and none the
    /// neutral element; where it says no, they are of no use.
    #[must_use]
    fn multiply(&self, points: &mut [Self::Point]) -> bool;
}
