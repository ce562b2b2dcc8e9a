//! The group Ristretto255 (RFC 9496), with the suite `ristretto255_XMD:SHA-512_R255MAP_RO_` of RFC
//! 9380.

use curve25519_dalek::Scalar;
use vesica_mpc::group;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::exponent::{Exponent, Message};

impl Exponent for Scalar {
    type Point = group::Encoded;

    fn random(rng: &mut SecretRng) -> Secret<Self> {
        group::random_scalar(rng)
    }

    fn inverse(&self) -> Secret<Self> {
        Secret::new(self.invert())
    }

    fn hash_and_multiply(&self, domain: &[u8], messages: &[Message], out: &mut [group::Encoded]) {
        let hash = |message: &Message| group::hash_to_uniform(domain, message);
        let hashed: Secret<Vec<group::Uniform>> = Secret::new(messages.iter().map(hash).collect());
        group::map_and_multiply(self, &hashed, out);
    }

    fn multiply(&self, points: &mut [group::Encoded]) -> bool {
        group::multiply(self, points)
    }
}
