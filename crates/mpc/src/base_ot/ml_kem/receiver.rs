//! The right column of the figure: gets one key a transfer, by a choice bit.

use bytemuck::Zeroable;
use ml_kem::ml_kem_768::DecapsulationKey;
use ml_kem::{Decapsulate, KeyExport};
use rand_core::Rng;
use subtle::Choice;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::hashes::{bind_messages, slot_hash};
use super::messages::{Ciphertexts, ID, PublicKeys, TRANSFERS_PER_BATCH};
use super::vector::{self, Vector, uniform};
use crate::base_ot::{ChosenKeys, key, select};
use crate::binding::Binding;

/// The chosen key of each transfer, and a binding to this run's messages.
pub(super) fn receive(
    choices: impl ExactSizeIterator<Item = Choice>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(ChosenKeys, Binding), Abort> {
    let _phase = ch.phase(Phase::BaseOt);
    let session = Binding::new(ch, ID);

    // Step 1. No branch and no address depends on a choice.
    let transfers = choices.len();
    // With all its space from the start: no copy is left behind.
    let mut slots = Secret::new(Vec::with_capacity(transfers));
    let mut secret_keys = Vec::with_capacity(transfers);
    let mut sent = Vec::with_capacity(transfers);
    for (i, choice) in choices.enumerate() {
        let slot = choice.unwrap_u8();
        let (secret_key, public) = public_keys(session, i, choice, rng)?;
        secret_keys.push(secret_key);
        slots.push(slot);
        sent.push(public);
    }
    for batch in sent.chunks(TRANSFERS_PER_BATCH) {
        ch.send_stream::<PublicKeys>(batch)?;
    }

    // Step 2.
    // Memory follows what has come.
    let mut ciphertexts = Vec::new();
    for first in (0..transfers).step_by(TRANSFERS_PER_BATCH) {
        ciphertexts.resize(transfers.min(first + TRANSFERS_PER_BATCH), Ciphertexts::zeroed());
        ch.recv_stream::<Ciphertexts>(&mut ciphertexts[first..])?;
    }
    let run = bind_messages(session, &sent, &ciphertexts);
    let mut keys = Secret::new(Vec::with_capacity(transfers));
    for (i, ((secret_key, &slot), Ciphertexts([zero, one]))) in
        secret_keys.iter().zip(slots.iter()).zip(&ciphertexts).enumerate()
    {
        let mut shared = secret_key.decapsulate(&select(zero, one, Choice::from(slot)).into());
        keys.push(key(run, i, slot, &shared));
        shared.zeroize();
    }
    Ok((keys, run))
}

/// A new secret key, and the message in which its public key is hidden in the chosen slot.
fn public_keys(
    session: Binding,
    index: usize,
    choice: Choice,
    rng: &mut SecretRng,
) -> Result<(DecapsulationKey, PublicKeys), Abort> {
    let mut seed = Secret::new([0; 64]);
    rng.fill_bytes(&mut *seed);
    let secret_key = DecapsulationKey::from_seed((*seed).into());
    // Wiped: it tells which slot is the chosen one.
    let encoded: Secret<[u8; vector::BYTES + 32]> = Secret::new(secret_key.encapsulation_key().to_bytes().into());
    let parts = encoded.first_chunk::<{ vector::BYTES }>().zip(encoded.last_chunk::<32>());
    let of_parts = parts.and_then(|(vector, rho)| Some((Secret::new(Vector::decode(vector)?), *rho)));
    let (public, rho) =
        of_parts.ok_or_else(|| Unsupported::new("a public key of ML-KEM that is not one", "report this as a bug"))?;

    let other = uniform(|bytes| rng.fill_bytes(bytes)).encode();
    let own = public.minus(&slot_hash(session, index, choice.unwrap_u8(), &rho, &other)).encode();
    Ok((secret_key, PublicKeys { rho, vectors: [select(&own, &other, choice), select(&other, &own, choice)] }))
}
