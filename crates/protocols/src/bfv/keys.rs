//! The keys under which another party computes.

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::rlwe::bfv::{PublicKey, Scheme, SecretKey, Seed, SwitchKey};
use vesica_structures::rng::SecretRng;

use super::Ring;
use crate::bfv::ciphertexts::{receive_half, receive_halves, receive_seed, send_half};

/// Bytes of the seed of ciphertexts, or of keys.
pub const SEED_BYTES: usize = Seed::BYTES;

/// Sends as arrow `S` the seed of a public key and a key for products, and their first halves.
pub fn send<S: Stream<Element = u8>>(
    scheme: &Scheme,
    key: &SecretKey,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let mut keys = key.encryptor(scheme, rng);
    ch.send_stream::<S>(&keys.seed().to_bytes())?;
    send_half::<S>(scheme, &keys.public_key(rng), ch)?;
    keys.product_key(rng).iter().try_for_each(|half| send_half::<S>(scheme, half, ch))
}

/// Receives the public key and the key for products as arrow `S`.
pub fn receive<S: Stream<Element = u8>>(scheme: &Scheme, ch: &mut Channel) -> Result<(PublicKey, SwitchKey), Abort> {
    let seed = receive_seed::<S>(ch)?;
    let public = PublicKey::new(scheme, &seed, 0, receive_half::<S>(scheme, ch)?.1);
    let halves = receive_halves::<S>(scheme, scheme.digits(), ch)?;
    Ok((public, SwitchKey::new(scheme, &seed, 1, halves)))
}

/// Bytes of the keys.
pub fn bytes(ring: &Ring) -> usize {
    SEED_BYTES + (1 + ring.scheme.digits()) * ring.half_bytes()
}
