//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::{OtPairs, VoleReceiver};
use vesica_mpc::{silent, silent_ot};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::packing::pack;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{
    Flips, Points, ReceiverNames, ReceiverRecords, Results, Salt, SenderNames, SenderRecords, Values,
};
use super::pads::{For, Pads};
use super::params::Parts;
use super::peeling::{Content, Hashes, MANY, Peeling, low};
use super::records::Records;
use super::{Params, TESTS_PER_PIECE, digest, receive_packed, rounds};
use crate::tasks::{UnionReceiverInput, UnionReceiverOutput};
use crate::union::bit_streams;

/// The receiver, set up.
pub struct Receiver {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, if there is an item at all.
pub(super) struct SetUp {
    salt: [u8; 32],
    ots: OtPairs,
    vole: VoleReceiver<Gf128>,
}

impl SetUp {
    fn new(parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Salt(salt) = ch.recv(())?;
        let ots = ch.reversed(|ch| silent_ot::Sender::setup(&parts.ots, ch, rng)?.run((), ch, rng))?;
        let vole = silent::Receiver::<Gf128>::setup(&parts.vole, ch, rng)?.run((), ch, rng)?;
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
    ots: OtPairs,
    vole: VoleReceiver<Gf128>,
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
        let flips = bit_streams::receive::<Flips>(peeling.tests(), ch)?;
        self.ask(peeling, first, &flips, ch, rng)?;
        let found = self.find(peeling, first, ch)?;
        bit_streams::send::<Results>(&found.iter().map(Option::is_some).collect(), ch)?;
        ch.send(&digest(&found))?;
        drop(phase);
        let phase = ch.phase(Phase::Match);
        let peeled = peeling.peel(&found, left);
        drop(phase);
        let Self { ots, vole, pads, records, .. } = self;
        let of_empty = |test: usize| ots.pairs[test][usize::from(!flips.get(test - first))];
        records.give::<ReceiverRecords>(&peeled, first, &pads[0], of_empty, ch)?;
        records.take::<SenderRecords>(&peeled, first, &pads[1], |test| vole.a[test].0, ch)?;
        Ok(peeled.len())
    }

    /// Arrow 3.
    fn ask(
        &self,
        peeling: &Peeling<'_>,
        first: usize,
        flips: &Bits,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let &Params { name_bits, point_bits, .. } = self.params;
        let (mut names, mut points) = (Vec::new(), Vec::new());
        let tests = peeling.tests();
        for start in (0..tests).step_by(TESTS_PER_PIECE) {
            let piece = start..tests.min(start + TESTS_PER_PIECE);
            // The block that the sender has where it has nothing.
            let of_empty = |test| self.ots.pairs[first + test][usize::from(!flips.get(test))];
            let blocks = Secret::new(piece.clone().map(of_empty).collect::<Vec<u128>>());
            let pads = self.pads[0].of(&blocks, first + start, For::Name);
            let padded = piece.clone().zip(pads.iter()).map(|(test, pad)| Gf128(peeling.name(test) ^ pad));
            let padded: Vec<Gf128> = padded.collect();
            let masked = piece.map(|test| {
                let random = rng.block();
                let point = match peeling.content(test) {
                    Content::Many => random,
                    Content::Empty | Content::One(_) => peeling.name(test),
                };
                Gf128(point) + self.vole.c[first + test]
            });
            let masked: Vec<Gf128> = masked.collect();
            names.clear();
            pack(&padded, name_bits, &mut names);
            ch.send_stream::<ReceiverNames>(&names)?;
            points.clear();
            pack(&masked, point_bits, &mut points);
            ch.send_stream::<Points>(&points)?;
        }
        Ok(())
    }

    /// Arrow 4; for each test what the union's bin holds, if that is one item or none.
    fn find(&self, peeling: &Peeling<'_>, first: usize, ch: &mut Channel) -> Result<Vec<Option<u128>>, Abort> {
        let &Params { name_bits, value_bits, .. } = self.params;
        let tests = peeling.tests();
        let mut found = Vec::with_capacity(tests);
        for start in (0..tests).step_by(TESTS_PER_PIECE) {
            let len = TESTS_PER_PIECE.min(tests - start);
            let names = receive_packed::<SenderNames>(len, name_bits, ch)?;
            let values = receive_packed::<Values>(len, value_bits, ch)?;
            let number = first + start;
            let blocks = bytemuck::cast_slice(&self.vole.a[number..][..len]);
            let pads = self.pads[1].of(blocks, number, For::Name);
            let own = self.pads[1].of(blocks, number, For::Value);
            let of_tests = names.iter().zip(pads.iter()).zip(values.iter().zip(own.iter()));
            found.extend((start..).zip(of_tests).map(|(test, ((name, pad), (value, own)))| {
                let heard = (name.0 ^ pad) & low(name_bits);
                let is_equal = value.0 == own & low(value_bits);
                match peeling.content(test) {
                    Content::Empty => (heard != MANY).then_some(heard),
                    Content::One(_) => is_equal.then(|| peeling.name(test)),
                    Content::Many => None,
                }
            }));
        }
        Ok(found)
    }
}

impl Party for Receiver {
    type Params = Params;
    type Input = UnionReceiverInput;
    type Output = UnionReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let set_up = params.parts.as_ref().map(|parts| SetUp::new(parts, ch, rng)).transpose()?;
        Ok(Self { params: params.clone(), set_up })
    }

    fn run(
        self,
        input: UnionReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<UnionReceiverOutput, Abort> {
        let Self { params, set_up } = self;
        input.check_mutual(params.request.receiver_items, params.request.record_bytes)?;
        let Some(set_up) = set_up else {
            return Ok(UnionReceiverOutput::default());
        };
        let (hashes, mut run) = set_up.start(&params, input.records, ch);
        rounds(&params, &hashes, &input.items, ch, |peeling, first, left, ch| {
            run.round(peeling, first, left, ch, rng)
        })?;
        Ok(UnionReceiverOutput { records: run.records.into_new() })
    }
}
