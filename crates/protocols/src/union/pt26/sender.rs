//! The left column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::{OtChosen, VoleSender};
use vesica_mpc::{silent, silent_ot};
use vesica_party::{Abort, Channel, Fixed, Party, Phase, Stream};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::packing::{pack, packed_len};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use rand_core::Rng;

use super::messages::{
    Digest, Flips, Points, ReceiverNames, ReceiverRecords, Results, Salt, SenderNames, SenderRecords, Values,
};
use super::pads::{For, Pads};
use super::params::Parts;
use super::peeling::{Content, Hashes, Peeling, low};
use super::records::Records;
use super::{Params, TESTS_PER_PIECE, digest, receive_packed, rounds};
use crate::tasks::{NewRecords, UnionSenderInput, UnionSenderOutput};
use crate::union::bit_streams;

/// The sender, set up.
pub struct Sender {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, if there is an item at all.
pub(super) struct SetUp {
    salt: [u8; 32],
    ots: OtChosen,
    vole: VoleSender,
}

impl SetUp {
    fn new(parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        let ots = ch.reversed(|ch| silent_ot::Receiver::setup(&parts.ots, ch, rng)?.run((), ch, rng))?;
        let vole = silent::Sender::<Gf128>::setup(&parts.vole, ch, rng)?.run((), ch, rng)?;
        Ok(Self { salt, ots, vole })
    }

    /// The public functions of the run, and the run with this side's records.
    pub(super) fn start<'a>(self, params: &'a Params, records: Vec<u8>, ch: &Channel) -> (Hashes, Run<'a>) {
        let Self { salt, ots, vole } = self;
        let hashes = Hashes::new(ch, params, &salt);
        let pads = hashes.pads.map(Pads);
        let records = Records::new(records, params.request.record_bytes);
        (hashes, Run { params, ots, vole, pads, records })
    }
}

/// A run, round after round.
pub(super) struct Run<'a> {
    params: &'a Params,
    ots: OtChosen,
    /// `b`, and `b + delta d` where it is known.
    vole: VoleSender,
    /// Pads of OT blocks, and of the VOLE's elements.
    pads: [Pads; 2],
    records: Records,
}

impl Run<'_> {
    /// A round whose tests are numbered from `first` on; the number of items that came out.
    pub(super) fn round(
        &mut self,
        peeling: &mut Peeling<'_>,
        first: usize,
        left: &mut [bool],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<usize, Abort> {
        let phase = ch.phase(Phase::Equality);
        let tests = peeling.tests();
        let choices = &self.ots.choices[first..][..tests];
        let is_empty = |test: usize| peeling.content(test) == Content::Empty;
        let flips: Bits = choices.iter().enumerate().map(|(test, choice)| choice ^ is_empty(test)).collect();
        bit_streams::send::<Flips>(&flips, ch)?;

        let heard = self.answer(peeling, first, ch, rng)?;

        let results = bit_streams::receive::<Results>(tests, ch)?;
        drop(phase);
        let phase = ch.phase(Phase::Match);
        let mut found = Vec::with_capacity(tests);
        for (test, (is_open, &heard)) in results.iter().zip(heard.iter()).enumerate() {
            let name = match peeling.content(test) {
                Content::Many if is_open => {
                    return Err(Abort::PeerMisbehaved(Results::STEP, "it opens a bin of several items"));
                }
                Content::Empty => heard,
                Content::One(_) | Content::Many => peeling.name(test),
            };
            found.push(is_open.then_some(name));
        }
        if ch.recv::<Digest>(())? != digest(&found) {
            return Err(Abort::PeerMisbehaved(<Digest as Fixed>::STEP, "the tables of both sides differ"));
        }
        let peeled = peeling.peel(&found, left);
        drop(phase);
        let Self { ots, vole, pads, records, .. } = self;
        records.take::<ReceiverRecords>(&peeled, first, &pads[0], |test| ots.chosen[test], ch)?;
        records.give::<SenderRecords>(&peeled, first, &pads[1], |test| vole.b[test].0, ch)?;
        Ok(peeled.len())
    }

    /// Arrows 3 and 4; what the receiver says of the bins in which this side has nothing, zero for
    /// others.
    fn answer(
        &mut self,
        peeling: &Peeling<'_>,
        first: usize,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<u128>>, Abort> {
        let Self { params, ots, vole, pads: [of_ots, of_vole], .. } = self;
        let Params { name_bits, point_bits, value_bits, .. } = **params;
        let tests = peeling.tests();
        let mut all_heard = Secret::new(Vec::with_capacity(tests));
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for start in (0..tests).step_by(TESTS_PER_PIECE) {
            let len = TESTS_PER_PIECE.min(tests - start);
            let number = first + start;
            let mut heard = receive_packed::<ReceiverNames>(len, name_bits, ch)?;
            let masked = receive_packed::<Points>(len, point_bits, ch)?;
            let pads = of_ots.of(&ots.chosen[number..][..len], number, For::Name);
            let mut points = Secret::new(vec![Gf128::default(); len]);
            let mut own = Secret::new(vec![Gf128::default(); len]);
            let of_tests = heard.iter_mut().zip(pads.iter()).zip(points.iter_mut().zip(own.iter_mut()));
            for (test, ((heard, pad), (point, own))) in (start..).zip(of_tests) {
                let random = rng.block();
                own.0 = peeling.name(test);
                let said = (heard.0 ^ pad) & low(name_bits);
                let (is_heard, what) = match peeling.content(test) {
                    Content::Empty => (u128::MAX, said),
                    Content::One(_) => (0, own.0),
                    Content::Many => (0, random),
                };
                heard.0 = said & is_heard;
                point.0 = what & low(point_bits);
            }
            let inner = &mut vole.b[number..][..len];
            Gf128::scale_add(inner, vole.delta, &masked);
            let at_zero = of_vole.of(bytemuck::cast_slice(inner), number, For::Name);
            own.iter_mut().zip(at_zero.iter()).for_each(|(own, pad)| own.0 ^= pad);
            let mut at_points = Secret::new(inner.to_vec());
            Gf128::scale_add(&mut at_points, vole.delta, &points);
            let at_points = of_vole.of(bytemuck::cast_slice(&at_points), number, For::Value);
            pack(&own, name_bits, &mut names);
            pack(bytemuck::cast_slice::<u128, Gf128>(&at_points), value_bits, &mut values);
            all_heard.extend(heard.iter().map(|heard| heard.0));
        }
        let mut values = values.chunks(packed_len(TESTS_PER_PIECE, value_bits));
        for names in names.chunks(packed_len(TESTS_PER_PIECE, name_bits)) {
            ch.send_stream::<SenderNames>(names)?;
            ch.send_stream::<Values>(values.next().unwrap_or_default())?;
        }
        Ok(all_heard)
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = UnionSenderInput;
    type Output = UnionSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let set_up = params.parts.as_ref().map(|parts| SetUp::new(parts, ch, rng)).transpose()?;
        Ok(Self { params: params.clone(), set_up })
    }

    fn run(self, input: UnionSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<UnionSenderOutput, Abort> {
        let Self { params, set_up } = self;
        input.check(params.request.sender_items, params.request.record_bytes)?;
        let Some(set_up) = set_up else {
            return Ok(UnionSenderOutput { records: Some(NewRecords::default()) });
        };
        let (hashes, mut run) = set_up.start(&params, input.records, ch);
        rounds(&params, &hashes, &input.items, ch, |peeling, first, left, ch| {
            run.round(peeling, first, left, ch, rng)
        })?;
        Ok(UnionSenderOutput { records: Some(run.records.into_new()) })
    }
}
