//! The right column of the figure: gets one key a transfer, by a choice bit.

use curve25519_dalek::Scalar;
use rand_core::Rng;
use subtle::Choice;
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::hashes::{bind_messages, slot_hash};
use super::messages::{NAME, ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use crate::base_ot::{ChosenKeys, chosen_keys, decode, select};
use crate::binding::Binding;
use crate::group::{self, ENCODED_BYTES};

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
    let transfers = choices.len();
    let mut exponents = Secret::new(Vec::with_capacity(transfers));
    let mut slots = Secret::new(Vec::with_capacity(transfers));
    let mut points = Vec::with_capacity(transfers);
    // Each of these, beside what is sent, gives the choices of a message: which point was mapped, and which was made.
    let mut uniform = Secret::new(vec![[0; 64]; TRANSFERS_PER_MESSAGE]);
    let mut others = Secret::new(vec![[0; ENCODED_BYTES]; TRANSFERS_PER_MESSAGE]);
    let mut owns = Secret::new(vec![[0; ENCODED_BYTES]; TRANSFERS_PER_MESSAGE]);
    let mut choices = choices.enumerate();
    for first in (0..transfers).step_by(TRANSFERS_PER_MESSAGE) {
        let now = TRANSFERS_PER_MESSAGE.min(transfers - first);
        let (uniform, others, owns) = (&mut uniform[..now], &mut others[..now], &mut owns[..now]);
        for uniform in uniform.iter_mut() {
            exponents.push(Scalar::random(rng));
            rng.fill_bytes(uniform);
        }
        group::map(uniform, others);
        for ((uniform, other), (i, choice)) in uniform.iter_mut().zip(others.iter()).zip(choices.by_ref()) {
            let slot = choice.unwrap_u8();
            *uniform = slot_hash(session, i, slot, other);
            slots.push(slot);
        }
        group::generate_and_subtract_map(&exponents[first..], uniform, owns);
        for ((own, other), &slot) in owns.iter().zip(others.iter()).zip(&slots[first..]) {
            let choice = Choice::from(slot);
            points.push([select(own, other, choice), select(other, own, choice)]);
        }
        ch.send(&ReceiverPoints(points[first..].to_vec()))?;
    }

    // Step 1.
    let SenderPoint(a) = ch.recv(())?;
    decode(&a, SenderPoint::STEP)?;
    let doubled: Secret<Vec<Scalar>> = Secret::new(exponents.iter().map(|exponent| exponent + exponent).collect());
    let mut shared = Secret::new(vec![[0; ENCODED_BYTES]; transfers]);
    if !group::multiply_each(&a, &doubled, &mut shared) {
        return Err(Abort::PeerMisbehaved(SenderPoint::STEP, "not a point of the group"));
    }
    let run = bind_messages(session, &a, &points);
    Ok((chosen_keys(run, &slots, &shared), run))
}
