//! The right column of the figure.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, Digests, DoublyBlinded};
use super::params::Params;
use super::{DIGEST_CONTEXT, DOMAIN};
use crate::ecdh::digests::{self, digests};
use crate::ecdh::{
    BAD_POINT, Exponent, POINT_BYTES, POINTS_PER_CHUNK, Point, blind_items, blind_points, random_exponent,
};
use crate::tasks::{AggregateOutput, AggregateReceiverInput};

/// The receiver, with its blinding `b`.
#[derive(Debug)]
pub struct Receiver {
    params: Params,
    exponent: Secret<Scalar>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params, _ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), exponent: random_exponent(rng) })
    }

    fn run(
        self,
        input: AggregateReceiverInput,
        ch: &mut Channel,
        _rng: &mut SecretRng,
    ) -> Result<AggregateOutput, Abort> {
        input.check(&self.params.request, false)?;
        let session = ch.session();
        let (asked, digested) = self.params.counts();

        // Step 1.
        let phase = ch.phase(Phase::HashItems);
        for items in input.items[..asked].chunks(POINTS_PER_CHUNK) {
            ch.send_stream::<Blinded>(&blind_items(DOMAIN, &session, items, &self.exponent))?;
        }

        // Step 2.
        let inverse = self.exponent.inverse();
        let mut points: Secret<Vec<Point>> = Secret::new(Vec::with_capacity(asked));
        while points.len() < asked {
            let mut doubly_blinded = vec![[0; POINT_BYTES]; (asked - points.len()).min(POINTS_PER_CHUNK)];
            ch.recv_stream::<DoublyBlinded>(&mut doubly_blinded)?;
            points.extend_from_slice(
                &blind_points(doubly_blinded, &inverse).ok_or(Abort::PeerMisbehaved(DoublyBlinded::STEP, BAD_POINT))?,
            );
        }
        drop(phase);

        // Step 3.
        let own = digests(DIGEST_CONTEXT, &session, std::slice::from_ref(&points));
        let found = digests::find::<Digests>(&own, digested, self.params.digest_bits, ch)?;
        Ok(AggregateOutput::one(vec![found.count_ones() as u64]))
    }
}
