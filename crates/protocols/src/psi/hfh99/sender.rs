//! The left column of the figure.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagSorter;

use super::messages::{Blinded, DoublyBlinded, Payloads, Proofs, Tags};
use super::oprf::{Output, blind_many, tags_of};
use super::params::Params;
use crate::ecdh::{BAD_POINT, POINT_BYTES, POINTS_PER_CHUNK, Point, blind_points, random_exponent};
use crate::psi::{both_learn, payload};
use crate::tags;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, with its blinding `a`.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    exponent: Secret<Scalar>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, _ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), exponent: random_exponent(rng) })
    }

    fn run(self, input: IntersectSenderInput, ch: &mut Channel, _rng: &mut SecretRng) -> Result<IntersectSenderOutput, Abort> {
        let params = &self.params;
        input.check(params.sender_items, params.payload_bytes)?;
        let session = ch.session();

        // Steps 1 and 2, with a share of the own items behind each answer.
        let points = self.answer_and_blind(&input.items, ch)?;

        // Step 3.
        let phase = ch.phase(Phase::Masks);
        let mut own = TagSorter::new(params.sender_items, params.tag_bits);
        own.add(&tags_of(&session, &points), 0..);
        let order = tags::send::<Tags, u32>(own, params.sender_items, params.tag_bits, ch)?;
        drop(phase);

        // Step 4.
        let phase = ch.phase(Phase::Payload);
        let keystream = |item: usize, out: &mut [u8]| Output::of(&session, &points[item]).fill_keystream(out);
        payload::send::<Payloads>(&input.payloads, params.payload_bytes, &order, keystream, ch)?;
        drop(phase);

        // Step 5.
        if !params.both_learn {
            return Ok(IntersectSenderOutput { matches: None });
        }
        let _phase = ch.phase(Phase::Match);
        let expected: Secret<Vec<u128>> = Secret::new(points.iter().map(|point| Output::of(&session, point).proof).collect());
        let most = params.sender_items.min(params.receiver_items);
        Ok(IntersectSenderOutput { matches: Some(both_learn::receive::<Proofs>(most, &expected, ch)?) })
    }
}

impl Sender {
    /// Answers the receiver's chunks with its blinding `a`, and returns `a H(x)` of the own items.
    fn answer_and_blind(&self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<Point>>, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let chunks = self.params.receiver_items.div_ceil(POINTS_PER_CHUNK);
        let share = items.len().div_ceil(chunks.max(1)).max(1);
        let mut own = items.chunks(share);
        let mut points = Secret::new(Vec::with_capacity(items.len()));
        let mut left = self.params.receiver_items;
        while left > 0 {
            let mut blinded = vec![[0; POINT_BYTES]; left.min(POINTS_PER_CHUNK)];
            ch.recv_stream::<Blinded>(&mut blinded)?;
            left -= blinded.len();
            let doubly_blinded = blind_points(blinded, &self.exponent).ok_or(Abort::PeerMisbehaved(Blinded::STEP, BAD_POINT))?;
            ch.send_stream::<DoublyBlinded>(&doubly_blinded)?;
            if let Some(items) = own.next() {
                blind_many(items, &self.exponent, &mut points, ch)?;
            }
        }
        for items in own {
            blind_many(items, &self.exponent, &mut points, ch)?;
        }
        Ok(points)
    }
}
