//! The keys of a client under which the server computes.

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::rlwe::bfv::{PublicKey, Scheme, SecretKey, Seed, SwitchKey};
use vesica_structures::rng::SecretRng;

use super::query::SEED_BYTES;
use super::ring::Ring;
use crate::recurrent::ciphertexts::{receive_half, send_half};

/// Sends as arrow `S` the seed of a public key and a key for products, and their first halves.
pub(super) fn send<S: Stream<Element = u8>>(
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
pub(super) fn receive<S: Stream<Element = u8>>(
    scheme: &Scheme,
    ch: &mut Channel,
) -> Result<(PublicKey, SwitchKey), Abort> {
    let mut seed = [0; SEED_BYTES];
    ch.recv_stream::<S>(&mut seed)?;
    let seed = Seed::from_bytes(seed);
    let public = PublicKey::new(scheme, &seed, 0, receive_half::<S>(scheme, ch)?.1);
    let halves: Result<Vec<_>, Abort> = (0..scheme.digits()).map(|_| Ok(receive_half::<S>(scheme, ch)?.1)).collect();
    Ok((public, SwitchKey::new(scheme, &seed, 1, halves?)))
}

/// Bytes of the keys.
pub(super) fn bytes(ring: &Ring) -> usize {
    SEED_BYTES + (1 + ring.scheme.digits()) * ring.half_bytes()
}
