//! The left column of the figure.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::masks::MaskSorter;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{DoublyMasked, Masked, Masks, Payloads, Proofs};
use super::oprf::{Output, mask_many, masks_of};
use super::params::Params;
use crate::ecdh::{BAD_POINT, CHUNK, POINT_BYTES, Point, mask_points, random_exponent};
use crate::masks;
use crate::psi::{both_learn, payload};
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, with its mask `a`.
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
        let points = self.answer_and_mask(&input.items, ch)?;

        // Step 3.
        let phase = ch.phase(Phase::Masks);
        let mut own = MaskSorter::new(params.sender_items, params.mask_bits);
        own.add(&masks_of(&session, &points), 0..);
        let order = masks::send::<Masks, u32>(own, params.sender_items, params.mask_bits, ch)?;
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
    /// Answers the receiver's chunks with its mask `a`, and returns `a H(x)` of the own items.
    fn answer_and_mask(&self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<Point>>, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let chunks = self.params.receiver_items.div_ceil(CHUNK);
        let share = items.len().div_ceil(chunks.max(1)).max(1);
        let mut own = items.chunks(share);
        let mut points = Secret::new(Vec::with_capacity(items.len()));
        let mut left = self.params.receiver_items;
        while left > 0 {
            let mut masked = vec![[0; POINT_BYTES]; left.min(CHUNK)];
            ch.recv_stream::<Masked>(&mut masked)?;
            left -= masked.len();
            let doubly_masked = mask_points(masked, &self.exponent).ok_or(Abort::PeerMisbehaved(Masked::STEP, BAD_POINT))?;
            ch.send_stream::<DoublyMasked>(&doubly_masked)?;
            if let Some(items) = own.next() {
                mask_many(items, &self.exponent, &mut points, ch)?;
            }
        }
        for items in own {
            mask_many(items, &self.exponent, &mut points, ch)?;
        }
        Ok(points)
    }
}
