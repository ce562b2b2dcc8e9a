//! The left column of the figure.

use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blinded, DoublyBlinded, FinishArrows};
use super::oprf::Outputs;
use super::params::Params;
use super::{PointOf, Variant};
use crate::ecdh::{BAD_POINT, Exponent, POINTS_PER_CHUNK, answer, blind_many, blind_points};
use crate::psi::finish;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, with its blinding `a`.
#[derive(Debug)]
pub struct Sender<V: Variant> {
    params: Params,
    exponent: Secret<V::Exponent>,
}

impl<V: Variant> Party for Sender<V> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, _ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), exponent: V::Exponent::random(rng) })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let params = &self.params;
        params.finish.check_sender(&input)?;

        // Steps 1 and 2, with a share of the own items behind each answer.
        let outputs = Outputs { session: ch.session(), points: self.answer_and_blind(&input.items, ch)? };

        // Steps 3 to 5.
        let phase = ch.phase(Phase::Masks);
        let mut tags = finish::Sender::new(&params.finish);
        tags.add(&outputs.tags(), 0..);
        drop(phase);
        tags.finish::<FinishArrows<V>>(&input, outputs, ch, rng)
    }
}

impl<V: Variant> Sender<V> {
    /// Answers the receiver's chunks with its blinding `a`, and returns `a H(x)` of the own items.
    fn answer_and_blind(&self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<PointOf<V>>>, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let chunks = self.params.finish.receiver_items.div_ceil(POINTS_PER_CHUNK);
        let share = items.len().div_ceil(chunks.max(1)).max(1);
        let mut own = items.chunks(share);
        let mut points = Secret::new(Vec::with_capacity(items.len()));
        answer::<Blinded<V>>(self.params.finish.receiver_items, ch, |blinded, ch| {
            let doubly_blinded =
                blind_points(blinded, &self.exponent).ok_or(Abort::PeerMisbehaved(<Blinded<V>>::STEP, BAD_POINT))?;
            ch.send_stream::<DoublyBlinded<V>>(&doubly_blinded)?;
            own.next().map_or(Ok(()), |items| blind_many(V::DOMAIN, items, &self.exponent, &mut points, ch))
        })?;
        for items in own {
            blind_many(V::DOMAIN, items, &self.exponent, &mut points, ch)?;
        }
        Ok(points)
    }
}
