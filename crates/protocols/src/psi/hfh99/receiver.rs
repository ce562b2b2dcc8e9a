//! The right column of the figure.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, DoublyBlinded, FinishArrows};
use super::oprf::{Outputs, blind_items};
use super::params::Params;
use crate::ecdh::{
    BAD_POINT, CHUNKS_IN_FLIGHT, POINT_BYTES, POINTS_PER_CHUNK, Point, ask, blind_points, inverse, random_exponent,
};
use crate::psi::finish;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, with its blinding `b`.
#[derive(Debug)]
pub struct Receiver {
    params: Params,
    exponent: Secret<Scalar>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, _ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), exponent: random_exponent(rng) })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        _rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let params = &self.params;
        params.finish.check_receiver(&input)?;
        let session = ch.session();

        // Steps 1 and 2.
        let outputs = Outputs { session, points: self.ask(&session, &input.items, ch)? };

        // Steps 3 to 5.
        let phase = ch.phase(Phase::Match);
        let mut tags = finish::Receiver::new(&params.finish);
        tags.add(&outputs.tags(), 0..);
        drop(phase);
        tags.finish::<FinishArrows>(input, outputs, ch)
    }
}

impl Receiver {
    /// Returns `a H(y)` of the own items.
    fn ask(&self, session: &[u8; 32], items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<Point>>, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let inverse = inverse(&self.exponent);
        let mut points = Secret::new(Vec::with_capacity(items.len()));
        let send = |chunk: &[u128], ch: &mut Channel| {
            ch.send_stream::<Blinded>(&blind_items(session, chunk, &self.exponent))?;
            Ok(chunk.len())
        };
        ask(CHUNKS_IN_FLIGHT, items.chunks(POINTS_PER_CHUNK), ch, send, |count, ch| {
            points.extend_from_slice(&unblind(count, &inverse, ch)?);
            Ok(())
        })?;
        Ok(points)
    }
}

/// Receives `count` doubly blinded points and takes the own blinding off.
fn unblind(count: usize, inverse: &Secret<Scalar>, ch: &mut Channel) -> Result<Secret<Vec<Point>>, Abort> {
    let mut doubly_blinded = vec![[0; POINT_BYTES]; count];
    ch.recv_stream::<DoublyBlinded>(&mut doubly_blinded)?;
    blind_points(doubly_blinded, inverse).ok_or(Abort::PeerMisbehaved(DoublyBlinded::STEP, BAD_POINT))
}
