//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Abort, Channel, Role, Step, Stream};
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Poly, Scheme, Values};

use super::params::{SENT_PRIMES, half_bytes, sent_bytes};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "cm25-select", number, from, carries }
}

macro_rules! arrows {
    ($($(#[$doc:meta])* $name:ident: $number:literal, $from:ident, $carries:literal;)+) => {$(
        $(#[$doc])*
        pub(super) enum $name {}

        impl Stream for $name {
            const STEP: Step = step($number, Role::$from, $carries);
            type Element = u8;
        }
    )+};
}

arrows! {
    /// Arrow 1: the seeds of the server's hash functions and of its ciphertexts.
    Seeds: 1, Sender, "the server's seeds";
    /// Arrow 2: the first half of the server's public key.
    ServerKey: 2, Sender, "the server's public key";
    /// Arrow 3: the first halves of the ciphertexts of the table.
    Table: 3, Sender, "the encrypted table";
    /// Arrow 4: the seed of the client's keys, and their first halves.
    ClientKeys: 4, Receiver, "the client's keys";
    /// Arrow 5: the seed of the encrypted masks.
    MaskSeed: 5, Receiver, "the seed of the encrypted masks";
    /// Arrow 6: for each item and limb, `D`.
    Differences: 6, Receiver, "the masked differences";
    /// Arrow 7: for each item and limb, the first half of the encrypted mask.
    Masks: 7, Receiver, "the encrypted masks";
    /// Arrow 8: for each item and limb, `E`.
    Answers: 8, Sender, "the answers";
}

const BAD_RESIDUE: &str = "a polynomial is malformed";

/// Sends the first half of a fresh ciphertext.
pub(super) fn send_half<S: Stream<Element = u8>>(
    scheme: &Scheme,
    half: &Poly<Values>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let mut bytes = Vec::with_capacity(half_bytes());
    scheme.write_poly(half, &mut bytes);
    ch.send_stream::<S>(&bytes)
}

/// Receives the bytes of a first half, and the half.
pub(super) fn receive_half<S: Stream<Element = u8>>(
    scheme: &Scheme,
    ch: &mut Channel,
) -> Result<(Vec<u8>, Poly<Values>), Abort> {
    let mut bytes = vec![0; half_bytes()];
    ch.recv_stream::<S>(&mut bytes)?;
    let half = scheme.read_poly(&bytes, scheme.all_primes()).ok_or(Abort::PeerMisbehaved(S::STEP, BAD_RESIDUE))?;
    Ok((bytes, half))
}

/// Sends a ciphertext for who decrypts it.
pub(super) fn send_short<S: Stream<Element = u8>>(
    scheme: &Scheme,
    ciphertext: &Ciphertext<Coefficients>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let mut bytes = Vec::with_capacity(sent_bytes());
    scheme.write_ciphertext(ciphertext, &mut bytes);
    ch.send_stream::<S>(&bytes)
}

/// Receives a ciphertext to decrypt.
pub(super) fn receive_short<S: Stream<Element = u8>>(
    scheme: &Scheme,
    ch: &mut Channel,
) -> Result<Ciphertext<Coefficients>, Abort> {
    let mut bytes = vec![0; sent_bytes()];
    ch.recv_stream::<S>(&mut bytes)?;
    scheme.read_ciphertext(&bytes, SENT_PRIMES).ok_or(Abort::PeerMisbehaved(S::STEP, BAD_RESIDUE))
}
