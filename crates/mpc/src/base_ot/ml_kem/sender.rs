//! The left column of the figure: gets two keys a transfer.

use bytemuck::Zeroable;
use ml_kem::Encapsulate;
use ml_kem::ml_kem_768::EncapsulationKey;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::hashes::{bind_messages, slot_hash};
use super::messages::{Ciphertexts, ID, PublicKeys, TRANSFERS_PER_BATCH};
use super::vector::{self, Vector};
use crate::base_ot::{KeyPairs, key};
use crate::binding::Binding;

/// The two keys of each transfer, and a binding to this run's messages.
pub(super) fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort> {
    let _phase = ch.phase(Phase::BaseOt);
    let session = Binding::new(ch, ID);

    // Step 1. Batch by batch: a wrong key ends the run before all of them have come.
    let mut received = Vec::new();
    let mut ciphertexts = Vec::new();
    // With all its space from the start: no copy is left behind.
    let mut shared: Secret<Vec<[[u8; 32]; 2]>> = Secret::new(Vec::with_capacity(transfers));
    for first in (0..transfers).step_by(TRANSFERS_PER_BATCH) {
        let mut batch = vec![PublicKeys::zeroed(); TRANSFERS_PER_BATCH.min(transfers - first)];
        ch.recv_stream::<PublicKeys>(&mut batch)?;
        for (i, keys) in (first..).zip(&batch) {
            let mut sent = Ciphertexts::zeroed();
            let mut of_slots = [[0; 32]; 2];
            for (slot, (ciphertext, shared)) in sent.0.iter_mut().zip(&mut of_slots).enumerate() {
                (*ciphertext, *shared) = encapsulate(session, i, slot, keys, rng)?;
            }
            ciphertexts.push(sent);
            shared.push(of_slots);
            of_slots.zeroize();
        }
        received.extend(batch);
    }

    // Step 2.
    for batch in ciphertexts.chunks(TRANSFERS_PER_BATCH) {
        ch.send_stream::<Ciphertexts>(batch)?;
    }
    let run = bind_messages(session, &received, &ciphertexts);
    let keys = shared.iter().enumerate();
    let keys = keys.map(|(i, pair)| [0, 1].map(|slot| key(run, i, slot, &pair[usize::from(slot)])));
    Ok((Secret::new(keys.collect()), run))
}

/// A ciphertext for a slot, and what it encapsulates.
fn encapsulate(
    session: Binding,
    index: usize,
    slot: usize,
    keys: &PublicKeys,
    rng: &mut SecretRng,
) -> Result<([u8; super::messages::CIPHERTEXT_BYTES], [u8; 32]), Abort> {
    const NOT_A_VECTOR: Abort = Abort::PeerMisbehaved(PublicKeys::STEP, "not a vector of numbers modulo 3329");
    let masked = Vector::decode(&keys.vectors[slot]).ok_or(NOT_A_VECTOR)?;
    let vector = masked.plus(&slot_hash(session, index, slot as u8, &keys.rho, &keys.vectors[1 - slot]));
    let mut encoded = [0; vector::BYTES + 32];
    encoded[..vector::BYTES].copy_from_slice(&vector.encode());
    encoded[vector::BYTES..].copy_from_slice(&keys.rho);
    let public = EncapsulationKey::new(&encoded.into()).map_err(|_| NOT_A_VECTOR)?;
    let (ciphertext, mut key) = public.encapsulate_with_rng(rng);
    let shared = key.into();
    key.zeroize();
    Ok((ciphertext.into(), shared))
}
