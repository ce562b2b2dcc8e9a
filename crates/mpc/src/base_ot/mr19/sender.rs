//! The left column of the figure: gets two keys a transfer.

use curve25519_dalek::{RistrettoPoint, Scalar};
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::hashes::{bind_messages, slot_hash};
use super::messages::{NAME, ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use crate::base_ot::{KeyPairs, key_pairs};
use crate::binding::Binding;
use crate::group::{self, Encoded, Uniform};

/// The two keys of each transfer, and a binding to this run's messages.
pub(super) fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort> {
    let _phase = ch.phase(Phase::BaseOt);
    let session = Binding::new(ch, NAME);

    // Step 1.
    let c = Secret::new(Scalar::random(rng));
    let a = RistrettoPoint::mul_base(&c).compress().to_bytes();
    ch.send(&SenderPoint(a))?;

    // Step 2.
    let doubled = Secret::new(*c + *c);
    let mut points = Vec::with_capacity(transfers);
    let mut shared = Secret::new(Vec::with_capacity(2 * transfers));
    for first in (0..transfers).step_by(TRANSFERS_PER_MESSAGE) {
        let ReceiverPoints(pairs) = ch.recv(TRANSFERS_PER_MESSAGE.min(transfers - first))?;
        let hash = |(i, pair): (usize, &[Encoded; 2])| {
            [0, 1].map(|slot: u8| slot_hash(session, i, slot, &pair[1 - usize::from(slot)]))
        };
        let hashes: Vec<Uniform> = (first..).zip(&pairs).flat_map(hash).collect();
        shared.extend_from_slice(pairs.as_flattened());
        if !group::add_map_and_multiply(&doubled, &mut shared[2 * first..], &hashes) {
            return Err(Abort::PeerMisbehaved(ReceiverPoints::STEP, "not a point of the group, or the neutral one"));
        }
        points.extend(pairs);
    }
    let run = bind_messages(session, &a, &points);
    Ok((key_pairs(run, &shared), run))
}
