//! The left column of the figure: gets two keys a transfer.

use curve25519_dalek::{RistrettoPoint, Scalar};
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::hashes::{bind_messages, slot_hash};
use super::messages::{NAME, ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use crate::base_ot::{KeyPairs, encode, key_pairs};
use crate::binding::Binding;

/// The two keys of each transfer, and a binding to this run's messages.
pub(super) fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort> {
    let _phase = ch.phase(Phase::BaseOt);
    let session = Binding::new(ch, NAME);

    // Step 1.
    let c = Secret::new(Scalar::random(rng));
    let a = RistrettoPoint::mul_base(&c).compress();
    ch.send(&SenderPoint(a))?;

    // Step 2.
    let mut points = Vec::with_capacity(transfers);
    let mut shared = Secret::new(Vec::with_capacity(2 * transfers));
    for first in (0..transfers).step_by(TRANSFERS_PER_MESSAGE) {
        let ReceiverPoints(pairs) = ch.recv(TRANSFERS_PER_MESSAGE.min(transfers - first))?;
        for (i, pair) in (first..).zip(&pairs) {
            for slot in 0..2 {
                let point = pair[slot]
                    .decompress()
                    .ok_or(Abort::PeerMisbehaved(ReceiverPoints::STEP, "not a point of the group"))?;
                shared.push(*c * (point + slot_hash(session, i, slot as u8, &pair[1 - slot])));
            }
        }
        points.extend(pairs);
    }
    let run = bind_messages(session, &a, &points);
    Ok((key_pairs(run, &encode(&shared)), run))
}
