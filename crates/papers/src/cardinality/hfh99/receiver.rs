//! The right column of the figure.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagFinder;

use super::messages::{Arrows, DoublyBlinded};
use super::params::Params;
use vesica_protocols::ecdh::{POINT_BYTES, POINTS_PER_CHUNK, Point, exchange, random_exponent};
use vesica_protocols::tasks::{AggregateOutput, AggregateReceiverInput};

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
        let request = &self.params.request;
        input.check(request, false)?;

        // Steps 1 and 2.
        let points = exchange::receiver::<Arrows>(&input.items, request.sender_items, &self.exponent, ch)?;

        // Step 3.
        let _phase = ch.phase(Phase::Match);
        let mut theirs = TagFinder::new(points.points(), u128::BITS, false);
        let mut first = 0;
        for chunk in points.chunks() {
            theirs.add(&heads(chunk), first..);
            first += chunk.len() as u32;
        }
        drop(points);
        let mut left = self.params.returned();
        while left > 0 {
            let mut doubly_blinded = vec![[0; POINT_BYTES]; left.min(POINTS_PER_CHUNK)];
            ch.recv_stream::<DoublyBlinded>(&mut doubly_blinded)?;
            theirs.find(&heads(&doubly_blinded));
            left -= doubly_blinded.len();
        }
        Ok(AggregateOutput::one(vec![theirs.found().count() as u64]))
    }
}

/// 128 bits of each encoding: enough to tell them apart, for points under both blindings are
/// pseudo-random.
fn heads(points: &[Point]) -> Vec<u128> {
    let head = |point: &Point| {
        let [head, _]: [u128; 2] = bytemuck::cast(*point);
        head
    };
    points.iter().map(head).collect()
}
