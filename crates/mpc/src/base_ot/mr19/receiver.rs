//! The right column of the figure: gets one key a transfer, by a choice bit.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::Rng;
use subtle::{Choice, ConditionallySelectable};
use vesica_party::{Abort, Channel, Message, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use super::{NAME, bind_messages, slot_hash, transfer_key};
use crate::binding::Binding;
use crate::tasks::{CorrelationRequest, OtChosen};

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(OtChosen);

impl Party for Receiver {
    type Params = CorrelationRequest;
    type Input = ();
    type Output = OtChosen;

    fn setup(params: &CorrelationRequest, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let choices: Secret<Vec<bool>> = Secret::new((0..params.len).map(|_| rng.next_u32() & 1 == 1).collect());
        let (chosen, _) = receive(choices.iter().map(|&bit| Choice::from(u8::from(bit))), ch, rng)?;
        Ok(Self(OtChosen { choices: choices.clone(), chosen: chosen.clone() }))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtChosen, Abort> {
        Ok(self.0)
    }
}

/// The chosen key of each transfer, and a binding to this run's messages.
pub(crate) fn receive(
    choices: impl ExactSizeIterator<Item = Choice>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(Secret<Vec<u128>>, Binding), Abort> {
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
        let exponent = Scalar::random(rng);
        let other = RistrettoPoint::random(rng).compress();
        let own = (RistrettoPoint::mul_base(&exponent) - slot_hash(session, i, slot, &other)).compress();
        points.push([select(&own, &other, choice), select(&other, &own, choice)]);
        exponents.push(exponent);
        slots.push(slot);
        if points.len() == transfers || points.len() - sent == TRANSFERS_PER_MESSAGE {
            ch.send(&ReceiverPoints(points[sent..].to_vec()))?;
            sent = points.len();
        }
    }

    // Step 1.
    let SenderPoint(encoded) = ch.recv(())?;
    let a = encoded.decompress().ok_or(Abort::PeerMisbehaved(SenderPoint::STEP, "not a point of the group"))?;
    if a.is_identity() {
        return Err(Abort::PeerMisbehaved(SenderPoint::STEP, "the neutral point"));
    }
    let shared: Secret<Vec<RistrettoPoint>> = Secret::new(exponents.iter().map(|exponent| exponent * a).collect());
    let doubled = Secret::new(RistrettoPoint::double_and_compress_batch(&*shared));
    let run = bind_messages(session, &encoded, &points);
    let keys = doubled
        .iter()
        .zip(slots.iter())
        .enumerate()
        .map(|(i, (shared, &slot))| transfer_key(run, i, slot, shared))
        .collect();
    Ok((Secret::new(keys), run))
}

/// `zero` where `choice` is 0, else `one`.
fn select(zero: &CompressedRistretto, one: &CompressedRistretto, choice: Choice) -> CompressedRistretto {
    let mut bytes = [0u8; 32];
    for (byte, (zero, one)) in bytes.iter_mut().zip(zero.as_bytes().iter().zip(one.as_bytes())) {
        *byte = u8::conditional_select(zero, one, choice);
    }
    CompressedRistretto(bytes)
}
