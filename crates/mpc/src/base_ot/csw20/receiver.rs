//! The right column of the figure: gets one key a transfer, by a choice bit.

use curve25519_dalek::traits::Identity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::Rng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::hashes::{answer, proof, response, shift_of, sum};
use super::messages::{Answer, Challenges, ID, Proof, ReceiverPoints, Seed, SenderPoint};
use crate::base_ot::{ChosenKeys, bind_points, chosen_keys, decode, encode, select};
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
    // With all their space from the start: no copy is left behind.
    let mut seed = [0; 32];
    rng.fill_bytes(&mut seed);
    let shift = shift_of(session, &seed);
    let transfers = choices.len();
    let mut slots = Secret::new(Vec::with_capacity(transfers));
    let mut exponents = Secret::new(Vec::with_capacity(transfers));
    let mut points = Vec::with_capacity(transfers);
    for choice in choices {
        let exponent = Secret::new(Scalar::random(rng));
        let shift = RistrettoPoint::conditional_select(&RistrettoPoint::identity(), &shift, choice);
        points.push((RistrettoPoint::mul_base(&exponent) + shift).compress().to_bytes());
        exponents.push(*exponent);
        slots.push(choice.unwrap_u8());
    }
    ch.send(&Seed(seed))?;
    ch.send_stream::<ReceiverPoints>(&points)?;

    // Step 2.
    let SenderPoint(of_sender) = ch.recv(())?;
    let peer = decode(&of_sender, SenderPoint::STEP)?;
    let mut challenges = vec![[0; 32]; transfers];
    ch.recv_stream::<Challenges>(&mut challenges)?;
    let Proof(expected) = ch.recv(())?;
    let shared: Secret<Vec<_>> = Secret::new(exponents.iter().map(|exponent| exponent * peer).collect());
    let run = bind_points(session, &[&[seed, of_sender], &points]);
    let encoded = encode(&shared);
    let keys = chosen_keys(run, &slots, &encoded);
    let mut responses = Secret::new(Vec::with_capacity(transfers));
    for (i, ((point, &slot), challenge)) in encoded.iter().zip(slots.iter()).zip(&challenges).enumerate() {
        let chosen = response(run, i, slot, point);
        responses.push(select(&chosen, &sum(&chosen, challenge), Choice::from(slot)));
    }
    let own = answer(run, &responses);
    if !bool::from(proof(run, &own).ct_eq(&expected)) {
        return Err(Abort::PeerMisbehaved(Proof::STEP, "the sender's proof does not fit its challenges"));
    }

    // Step 3.
    ch.send(&Answer(own))?;
    Ok((keys, run))
}
