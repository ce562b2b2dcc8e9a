//! The right column of the figure: gets one key a transfer, by a choice bit.

use curve25519_dalek::{RistrettoPoint, Scalar};
use subtle::Choice;
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{ID, ReceiverPoints, SenderPoints};
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

    // Step 1.
    let peer: SenderPoints = ch.recv(())?;
    let power = decode(&peer.power, SenderPoints::STEP)?;
    let constant = decode(&peer.constant, SenderPoints::STEP)?;

    // Step 2. No branch and no address depends on a choice.
    // With all their space from the start: no copy is left behind.
    let transfers = choices.len();
    let mut slots = Secret::new(Vec::with_capacity(transfers));
    let mut shared = Secret::new(Vec::with_capacity(transfers));
    let mut points = Vec::with_capacity(transfers);
    for choice in choices {
        let exponent = Secret::new(Scalar::random(rng));
        let chosen = RistrettoPoint::mul_base(&exponent);
        let other = constant - chosen;
        points.push(select(chosen.compress().as_bytes(), other.compress().as_bytes(), choice));
        shared.push(*exponent * power);
        slots.push(choice.unwrap_u8());
    }
    ch.send_stream::<ReceiverPoints>(&points)?;
    let run = bind_points(session, &[&[peer.power, peer.constant], &points]);
    Ok((chosen_keys(run, &slots, &encode(&shared)), run))
}
