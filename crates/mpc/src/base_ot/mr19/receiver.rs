//! The right column of the figure: gets one key a transfer, by a choice bit.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::{RistrettoPoint, Scalar};
use subtle::Choice;
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::hashes::{bind_messages, slot_hash};
use super::messages::{NAME, ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use crate::base_ot::{ChosenKeys, chosen_keys, decode, encode, select};
use crate::binding::Binding;

/// The chosen key of each transfer, and a binding to this run's messages.
pub(super) fn receive(
    choices: impl ExactSizeIterator<Item = Choice>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(ChosenKeys, Binding), Abort> {
    let _phase = ch.phase(Phase::BaseOt);
    let session = Binding::new(ch, NAME);

    // Step 2, which does not wait for step 1. No branch and no address depends on a choice.
    // With all their space from the start: no copy is left behind.
    let mut exponents = Secret::new(Vec::with_capacity(choices.len()));
    let mut slots = Secret::new(Vec::with_capacity(choices.len()));
    let transfers = choices.len();
    let (mut points, mut sent) = (Vec::with_capacity(transfers), 0);
    for (i, choice) in choices.enumerate() {
        let slot = choice.unwrap_u8();
        let exponent = Secret::new(Scalar::random(rng));
        let other = RistrettoPoint::random(rng).compress();
        let own = (RistrettoPoint::mul_base(&exponent) - slot_hash(session, i, slot, &other)).compress();
        let (own, other) = (own.as_bytes(), other.as_bytes());
        points.push([select(own, other, choice), select(other, own, choice)].map(CompressedRistretto));
        exponents.push(*exponent);
        slots.push(slot);
        if points.len() == transfers || points.len() - sent == TRANSFERS_PER_MESSAGE {
            ch.send(&ReceiverPoints(points[sent..].to_vec()))?;
            sent = points.len();
        }
    }

    // Step 1.
    let SenderPoint(encoded) = ch.recv(())?;
    let a = decode(encoded.as_bytes(), SenderPoint::STEP)?;
    let shared: Secret<Vec<RistrettoPoint>> = Secret::new(exponents.iter().map(|exponent| exponent * a).collect());
    let run = bind_messages(session, &encoded, &points);
    Ok((chosen_keys(run, &slots, &encode(&shared)), run))
}
