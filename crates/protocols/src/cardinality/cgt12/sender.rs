//! The left column of the figure.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, Digests, DoublyBlinded};
use super::params::Params;
use super::{DIGEST_CONTEXT, DOMAIN};
use crate::ecdh::arrived::Arrived;
use crate::ecdh::digests::{self, digests};
use crate::ecdh::{BAD_POINT, POINTS_PER_CHUNK, blind_many, blind_points, random_exponent};
use crate::tasks::AggregateSenderInput;

/// The sender, with its blinding `a`.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    exponent: Secret<Scalar>,
}

impl Party for Sender {
    type Params = Params;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params, _ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), exponent: random_exponent(rng) })
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, _rng: &mut SecretRng) -> Result<(), Abort> {
        input.check(&self.params.request)?;
        let session = ch.session();
        let (points, digested) = self.params.counts();

        // Step 1.
        let phase = ch.phase(Phase::HashItems);
        let mut doubly_blinded = Arrived::new(points);
        while doubly_blinded.left() > 0 {
            let again =
                |blinded| blind_points(blinded, &self.exponent).ok_or(Abort::PeerMisbehaved(Blinded::STEP, BAD_POINT));
            doubly_blinded.take::<Blinded>(ch, again)?;
        }

        // Step 2, with a share of the own items behind each chunk: the receiver takes its blindings off
        // meanwhile.
        let share = digested.div_ceil(points.div_ceil(POINTS_PER_CHUNK).max(1)).max(1);
        let mut shares = input.items[..digested].chunks(share);
        let mut own = Secret::new(Vec::with_capacity(digested));
        for chunk in doubly_blinded.sorted().chunks(POINTS_PER_CHUNK) {
            ch.send_stream::<DoublyBlinded>(chunk)?;
            if let Some(items) = shares.next() {
                blind_many(DOMAIN, items, &self.exponent, &mut own, ch)?;
            }
        }
        drop(phase);

        // Step 3.
        digests::send::<Digests>(
            &digests(DIGEST_CONTEXT, &session, std::slice::from_ref(&own)),
            self.params.digest_bits,
            ch,
        )
    }
}
