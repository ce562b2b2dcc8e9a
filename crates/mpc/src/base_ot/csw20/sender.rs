//! The left column of the figure: gets two keys a transfer.

use curve25519_dalek::RistrettoPoint;
use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Message, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::hashes::{answer, proof, response, shift_of, sum};
use super::messages::{Answer, Challenges, ID, Proof, ReceiverPoints, Seed, SenderPoint};
use crate::base_ot::{KeyPairs, bind_points, decode, encode, key_pairs};
use crate::binding::Binding;
use crate::group::random_scalar;

/// The two keys of each transfer, and a binding to this run's messages.
pub(super) fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort> {
    let _phase = ch.phase(Phase::BaseOt);
    let session = Binding::new(ch, ID);

    // Step 1.
    let Seed(seed) = ch.recv(())?;
    let mut points = vec![[0; 32]; transfers];
    ch.recv_stream::<ReceiverPoints>(&mut points)?;

    // Step 2.
    let a = random_scalar(rng);
    let own = RistrettoPoint::mul_base(&a).compress().to_bytes();
    let of_shift = Secret::new(*a * shift_of(session, &seed));
    let mut shared = Secret::new(Vec::with_capacity(2 * transfers));
    for point in &points {
        let of_zero = *a * decode(point, ReceiverPoints::STEP)?;
        shared.extend([of_zero, of_zero - *of_shift]);
    }
    let run = bind_points(session, &[&[seed, own], &points]);
    let encoded = encode(&shared);
    let keys = key_pairs(run, &encoded);
    let (of_transfers, _) = encoded.as_chunks::<2>();
    let [zeros, ones]: [Secret<Vec<_>>; 2] = [0, 1].map(|slot| {
        let points = of_transfers.iter().map(|pair| &pair[usize::from(slot)]).enumerate();
        Secret::new(points.map(|(i, point)| response(run, i, slot, point)).collect())
    });
    let challenges: Vec<_> = zeros.iter().zip(ones.iter()).map(|(zero, one)| sum(zero, one)).collect();
    let expected = answer(run, &zeros);
    ch.send(&SenderPoint(own))?;
    ch.send_stream::<Challenges>(&challenges)?;
    ch.send(&Proof(proof(run, &expected)))?;

    // Step 3.
    let Answer(answered) = ch.recv(())?;
    if !bool::from(answered.ct_eq(&expected)) {
        return Err(Abort::PeerMisbehaved(Answer::STEP, "the answer is wrong"));
    }
    Ok((keys, run))
}
