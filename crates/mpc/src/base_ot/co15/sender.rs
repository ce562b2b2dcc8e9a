//! The left column of the figure: gets two keys a transfer.

use curve25519_dalek::RistrettoPoint;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{ID, ReceiverPoints, SenderPoint};
use crate::base_ot::{KeyPairs, bind_points, decode, encode, key_pairs};
use crate::binding::Binding;
use crate::group::random_scalar;

/// The two keys of each transfer, and a binding to this run's messages.
pub(super) fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort> {
    let _phase = ch.phase(Phase::BaseOt);
    let session = Binding::new(ch, ID);

    // Step 1.
    let a = random_scalar(rng);
    let own = RistrettoPoint::mul_base(&a);
    let encoded = own.compress().to_bytes();
    ch.send(&SenderPoint(encoded))?;
    let squared = Secret::new(*a * own);

    // Step 2.
    let mut points = vec![[0; 32]; transfers];
    ch.recv_stream::<ReceiverPoints>(&mut points)?;
    let mut shared = Secret::new(Vec::with_capacity(2 * transfers));
    for point in &points {
        let of_zero = *a * decode(point, ReceiverPoints::STEP)?;
        shared.extend([of_zero, of_zero - *squared]);
    }
    let run = bind_points(session, &[&[encoded], &points]);
    Ok((key_pairs(run, &encode(&shared)), run))
}
