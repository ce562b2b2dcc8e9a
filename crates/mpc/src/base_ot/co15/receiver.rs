//! The right column of the figure: gets one key a transfer, by a choice bit.

use curve25519_dalek::traits::Identity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use subtle::{Choice, ConditionallySelectable};
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{ID, ReceiverPoints, SenderPoint};
use crate::base_ot::{ChosenKeys, bind_points, chosen_keys, decode, encode};
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
    let SenderPoint(encoded) = ch.recv(())?;
    let peer = decode(&encoded, SenderPoint::STEP)?;

    // Step 2. No branch and no address depends on a choice.
    // With all their space from the start: no copy is left behind.
    let transfers = choices.len();
    let mut slots = Secret::new(Vec::with_capacity(transfers));
    let mut shared = Secret::new(Vec::with_capacity(transfers));
    let mut points = Vec::with_capacity(transfers);
    for choice in choices {
        let exponent = Secret::new(Scalar::random(rng));
        let shift = RistrettoPoint::conditional_select(&RistrettoPoint::identity(), &peer, choice);
        points.push((RistrettoPoint::mul_base(&exponent) + shift).compress().to_bytes());
        shared.push(*exponent * peer);
        slots.push(choice.unwrap_u8());
    }
    ch.send_stream::<ReceiverPoints>(&points)?;
    let run = bind_points(session, &[&[encoded], &points]);
    Ok((chosen_keys(run, &slots, &encode(&shared)), run))
}
