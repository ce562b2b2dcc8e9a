//! Polynomials and ciphertexts of BFV in messages and states.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::service::{StateError, StateReader};
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Poly, Scheme, SecretKey, Seed, Values};
use vesica_structures::secret::Secret;

const BAD_RESIDUE: &str = "a polynomial is malformed";

/// Bytes of the first half of a fresh ciphertext.
pub fn half_bytes(scheme: &Scheme) -> usize {
    scheme.poly_bytes(scheme.all_primes())
}

/// The first half of a fresh ciphertext, as it travels.
pub fn bytes_of_half(scheme: &Scheme, half: &Poly<Values>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(half_bytes(scheme));
    scheme.write_poly(half, &mut bytes);
    bytes
}

/// Receives the seed that second halves come from.
pub fn receive_seed<S: Stream<Element = u8>>(ch: &mut Channel) -> Result<Seed, Abort> {
    let mut seed = [0; Seed::BYTES];
    ch.recv_stream::<S>(&mut seed)?;
    Ok(Seed::from_bytes(seed))
}

/// Sends the first half of a fresh ciphertext.
pub fn send_half<S: Stream<Element = u8>>(scheme: &Scheme, half: &Poly<Values>, ch: &mut Channel) -> Result<(), Abort> {
    ch.send_stream::<S>(&bytes_of_half(scheme, half))
}

/// Receives the bytes of a first half, and the half.
pub fn receive_half<S: Stream<Element = u8>>(
    scheme: &Scheme,
    ch: &mut Channel,
) -> Result<(Vec<u8>, Poly<Values>), Abort> {
    let mut bytes = vec![0; half_bytes(scheme)];
    ch.recv_stream::<S>(&mut bytes)?;
    let half = scheme.read_poly(&bytes, scheme.all_primes()).ok_or(Abort::PeerMisbehaved(S::STEP, BAD_RESIDUE))?;
    Ok((bytes, half))
}

/// Receives `count` first halves.
pub fn receive_halves<S: Stream<Element = u8>>(
    scheme: &Scheme,
    count: usize,
    ch: &mut Channel,
) -> Result<Vec<Poly<Values>>, Abort> {
    (0..count).map(|_| Ok(receive_half::<S>(scheme, ch)?.1)).collect()
}

/// Sends a ciphertext for who decrypts it.
pub fn send_short<S: Stream<Element = u8>>(
    scheme: &Scheme,
    ciphertext: &Ciphertext<Coefficients>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let mut bytes = Vec::new();
    scheme.write_ciphertext(ciphertext, &mut bytes);
    ch.send_stream::<S>(&bytes)
}

/// Receives a ciphertext of so many primes to decrypt.
pub fn receive_short<S: Stream<Element = u8>>(
    scheme: &Scheme,
    primes: usize,
    ch: &mut Channel,
) -> Result<Ciphertext<Coefficients>, Abort> {
    let mut bytes = vec![0; scheme.ciphertext_bytes(primes)];
    ch.recv_stream::<S>(&mut bytes)?;
    scheme.read_ciphertext(&bytes, primes).ok_or(Abort::PeerMisbehaved(S::STEP, BAD_RESIDUE))
}

/// Sends a ciphertext of one prime for who decrypts it, with so many bits of each coefficient of both halves.
pub fn send_rounded<S: Stream<Element = u8>>(
    scheme: &Scheme,
    ciphertext: &Ciphertext<Coefficients>,
    bits: [u32; 2],
    ch: &mut Channel,
) -> Result<(), Abort> {
    let mut bytes = Vec::with_capacity(scheme.rounded_bytes(bits));
    scheme.write_rounded(ciphertext, bits, &mut bytes);
    ch.send_stream::<S>(&bytes)
}

/// Receives what [`send_rounded`] sent.
pub fn receive_rounded<S: Stream<Element = u8>>(
    scheme: &Scheme,
    bits: [u32; 2],
    ch: &mut Channel,
) -> Result<Ciphertext<Coefficients>, Abort> {
    let mut bytes = vec![0; scheme.rounded_bytes(bits)];
    ch.recv_stream::<S>(&mut bytes)?;
    scheme.read_rounded(&bytes, bits).ok_or(Abort::PeerMisbehaved(S::STEP, BAD_RESIDUE))
}

/// What to tell of a ciphertext that does not decrypt.
pub fn exhausted<S: Stream>() -> Abort {
    Abort::PeerMisbehaved(S::STEP, "the noise of a ciphertext is exhausted")
}

/// The secret key in a state.
pub fn read_key(scheme: &Scheme, bytes: &mut StateReader<'_>) -> Result<SecretKey, StateError> {
    let key = Secret::new(bytes.elements::<u8>(half_bytes(scheme))?);
    SecretKey::from_bytes(scheme, &key).ok_or(StateError::Damaged("its key is malformed"))
}

/// The first half of a ciphertext in a state.
pub fn read_half(scheme: &Scheme, bytes: &mut StateReader<'_>) -> Result<(Vec<u8>, Poly<Values>), StateError> {
    let half: Vec<u8> = bytes.elements(half_bytes(scheme))?;
    let poly = scheme.read_poly(&half, scheme.all_primes());
    Ok((half, poly.ok_or(StateError::Damaged(BAD_RESIDUE))?))
}

/// The bytes of `count` first halves in a state.
pub fn read_halves(scheme: &Scheme, count: usize, bytes: &mut StateReader<'_>) -> Result<Vec<u8>, StateError> {
    let mut halves = Vec::new();
    for _ in 0..count {
        halves.extend_from_slice(&read_half(scheme, bytes)?.0);
    }
    Ok(halves)
}
