//! The left column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::{OtChosen, VoleSender};
use vesica_mpc::{silent, silent_ot};
use vesica_party::{Abort, Channel, Fixed, Party, Phase, Stream};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use rand_core::Rng;

use super::messages::{
    Digest, Flips, Points, ReceiverNames, ReceiverRecords, Results, Salt, SenderNames, SenderRecords, Values,
};
use super::pads::{For, Pads};
use super::params::{Parts, Table};
use super::peeling::{Hashes, Left, MANY, Peeling, low, select};
use super::records::Records;
use super::{Params, TOO_MANY, digest, pieces, receive_packed, rounds, send_packed, space};
use vesica_protocols::tasks::{NewRecords, UnionSenderInput, UnionSenderOutput};
use vesica_protocols::union::bit_streams;

/// The sender, set up.
pub struct Sender {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, if there is an item at all.
pub(super) struct SetUp {
    pub(super) salt: [u8; 32],
    pub(super) ots: OtChosen,
    pub(super) vole: VoleSender,
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
        // A round tests no bin twice.
        let most_tests = params.tables.iter().map(Table::bins).max().unwrap_or(0);
        let heard = Secret::new(Vec::with_capacity(most_tests));
        (hashes, Run { params, ots, vole, pads, records, heard, space: Space::new() })
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
    /// For each test of a round what the receiver says of its bin where this side has nothing, else
    /// nothing; then `A'`, and in the end what the union's bin holds.
    heard: Secret<Vec<u128>>,
    space: Space,
}

/// Work space for the tests of a piece.
struct Space {
    packed: Vec<u8>,
    own: Secret<Vec<u128>>,
    random: Secret<Vec<u128>>,
    inner: Secret<Vec<u128>>,
    pads: Secret<Vec<u128>>,
}

impl Space {
    fn new() -> Self {
        Self { packed: Vec::new(), own: space(), random: space(), inner: space(), pads: space() }
    }
}

impl Run<'_> {
    /// A round whose tests are numbered from `first` on.
    pub(super) fn round(
        &mut self,
        peeling: &mut Peeling<'_>,
        first: usize,
        left: &mut Left,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let phase = ch.phase(Phase::Equality);
        let choices = &self.ots.choices[first..];
        let flips: Bits = peeling.are_empty().zip(choices).map(|(is_empty, choice)| choice ^ is_empty).collect();
        bit_streams::send::<Flips>(&flips, ch)?;
        self.listen(peeling, first, ch)?;
        self.answer(peeling, first, ch, rng)?;

        let results = bit_streams::receive::<Results>(peeling.tests(), ch)?;
        drop(phase);
        let phase = ch.phase(Phase::Match);
        let mut is_full = false;
        for (found, is_open) in self.heard.iter_mut().zip(results.iter()) {
            is_full |= is_open && *found == MANY;
            *found = select(is_open, *found, MANY);
        }
        if is_full {
            return Err(Abort::PeerMisbehaved(Results::STEP, "it opens a bin of several items"));
        }
        if ch.recv::<Digest>(())? != digest(&self.heard) {
            return Err(Abort::PeerMisbehaved(<Digest as Fixed>::STEP, "the tables of both sides differ"));
        }
        let peeled = peeling.peel(&self.heard, left).ok_or(Abort::PeerMisbehaved(Results::STEP, TOO_MANY))?;
        drop(phase);
        let Self { ots, vole, pads, records, .. } = self;
        records.take::<ReceiverRecords>(&peeled, first, &pads[0], |test| ots.chosen[test], ch)?;
        records.give::<SenderRecords>(&peeled, first, &pads[1], |test| vole.b[test].0, ch)
    }

    /// Arrow 3.
    fn listen(&mut self, peeling: &Peeling<'_>, first: usize, ch: &mut Channel) -> Result<(), Abort> {
        let Self { params, ots, vole, pads: [of_ots, _], heard: all_heard, space, .. } = self;
        let Params { name_bits, point_bits, .. } = **params;
        let tests = peeling.tests();
        all_heard.resize(tests, 0);
        let mut are_empty = peeling.are_empty();
        for piece in pieces(tests) {
            let number = first + piece.start;
            let Space { packed, own: points, pads, .. } = &mut *space;
            let [points, pads] = [points, pads].map(|space| &mut space[..piece.len()]);
            let heard = &mut all_heard[piece];
            receive_packed::<ReceiverNames>(heard, name_bits, packed, ch)?;
            receive_packed::<Points>(points, point_bits, packed, ch)?;
            of_ots.of(&ots.chosen[number..][..heard.len()], number, For::Name, pads);
            for ((heard, pad), is_empty) in heard.iter_mut().zip(pads).zip(are_empty.by_ref()) {
                *heard = select(is_empty, (*heard ^ *pad) & low(name_bits), 0);
            }
            let points: &[Gf128] = bytemuck::cast_slice(points);
            Gf128::scale_add(&mut vole.b[number..][..points.len()], vole.delta, points);
        }
        Ok(())
    }

    /// Arrow 4, when all of arrow 3 has come: the receiver reads nothing before. It works on one piece
    /// while this side makes the next.
    fn answer(
        &mut self,
        peeling: &Peeling<'_>,
        first: usize,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let Self { params, vole, pads: [_, of_vole], heard: all_heard, space, .. } = self;
        let Params { name_bits, point_bits, value_bits, .. } = **params;
        for piece in pieces(peeling.tests()) {
            let number = first + piece.start;
            let Space { packed, own, random, inner, pads } = &mut *space;
            let [own, random, inner, pads] = [own, random, inner, pads].map(|space| &mut space[..piece.len()]);
            peeling.say(piece.clone(), own);
            rng.fill_bytes(bytemuck::cast_slice_mut(random));
            inner.copy_from_slice(bytemuck::cast_slice(&vole.b[number..][..piece.len()]));

            let points = random;
            for ((heard, &own), point) in all_heard[piece].iter_mut().zip(&*own).zip(&mut *points) {
                // Where this side has something, it has heard nothing.
                *heard |= own;
                *point = select(own == MANY, u128::from_le(*point), *heard) & low(point_bits);
            }
            of_vole.of(inner, number, For::Name, pads);
            own.iter_mut().zip(&*pads).for_each(|(own, pad)| *own ^= pad);
            send_packed::<SenderNames>(own, name_bits, packed, ch)?;

            let points: &[Gf128] = bytemuck::cast_slice(points);
            Gf128::scale_add(bytemuck::cast_slice_mut(inner), vole.delta, points);
            of_vole.of(inner, number, For::Value, pads);
            send_packed::<Values>(pads, value_bits, packed, ch)?;
        }
        Ok(())
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
