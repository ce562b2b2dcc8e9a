//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::{OtPairs, VoleReceiver};
use vesica_mpc::{silent, silent_ot};
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use rand_core::Rng;

use super::messages::{
    Flips, Points, ReceiverNames, ReceiverRecords, Results, Salt, SenderNames, SenderRecords, Values,
};
use super::pads::{For, Pads};
use super::params::Parts;
use super::peeling::{EMPTY, Hashes, Left, MANY, Peeling, low, select};
use super::records::Records;
use super::{Params, TOO_MANY, digest, pieces, receive_packed, rounds, send_packed, space};
use vesica_protocols::tasks::{UnionReceiverInput, UnionReceiverOutput};
use vesica_protocols::union::bit_streams;

/// The receiver, set up.
pub struct Receiver {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, if there is an item at all.
pub(super) struct SetUp {
    pub(super) salt: [u8; 32],
    pub(super) ots: OtPairs,
    pub(super) vole: VoleReceiver<Gf128>,
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
        (hashes, Run { params, ots, vole, pads, records, space: Space::new() })
    }
}

/// A run, round after round.
pub(super) struct Run<'a> {
    params: &'a Params,
    ots: OtPairs,
    /// `c` is used up by arrow 3. In its place stands what this side has in the bin, and in the end what
    /// the union has.
    vole: VoleReceiver<Gf128>,
    /// Pads of OT blocks, and of the VOLE's elements.
    pads: [Pads; 2],
    records: Records,
    space: Space,
}

/// Work space for the tests of a piece.
struct Space {
    packed: Vec<u8>,
    said: Secret<Vec<u128>>,
    random: Secret<Vec<u128>>,
    blocks: Secret<Vec<u128>>,
    names: Secret<Vec<u128>>,
    values: Secret<Vec<u128>>,
    pads: Secret<Vec<u128>>,
    expected: Secret<Vec<u128>>,
}

impl Space {
    fn new() -> Self {
        Self {
            packed: Vec::new(),
            said: space(),
            random: space(),
            blocks: space(),
            names: space(),
            values: space(),
            pads: space(),
            expected: space(),
        }
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
        let tests = peeling.tests();
        let flips = bit_streams::receive::<Flips>(tests, ch)?;
        self.ask(peeling, first, &flips, ch, rng)?;
        self.find(tests, first, ch)?;
        let found: &[u128] = bytemuck::cast_slice(&self.vole.c[first..][..tests]);
        bit_streams::send::<Results>(&found.iter().map(|&name| name != MANY).collect(), ch)?;
        ch.send(&digest(found))?;
        drop(phase);
        let phase = ch.phase(Phase::Match);
        let peeled = peeling.peel(found, left).ok_or(Abort::PeerMisbehaved(SenderNames::STEP, TOO_MANY))?;
        drop(phase);
        let Self { ots, vole, pads, records, .. } = self;
        let of_empty = |test: usize| ots.pairs[test][usize::from(!flips.get(test - first))];
        records.give::<ReceiverRecords>(&peeled, first, &pads[0], of_empty, ch)?;
        records.take::<SenderRecords>(&peeled, first, &pads[1], |test| vole.a[test].0, ch)
    }

    /// Arrow 3.
    fn ask(
        &mut self,
        peeling: &Peeling<'_>,
        first: usize,
        flips: &Bits,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let Self { params, ots, vole, pads: [of_ots, _], space, .. } = self;
        let Params { name_bits, point_bits, .. } = **params;
        for piece in pieces(peeling.tests()) {
            let number = first + piece.start;
            let Space { packed, said, random, blocks, names, pads, .. } = &mut *space;
            let [said, random, blocks, names, pads] =
                [said, random, blocks, names, pads].map(|space| &mut space[..piece.len()]);
            peeling.say(piece.clone(), said);
            rng.fill_bytes(bytemuck::cast_slice_mut(random));

            // The block that the sender has where it has nothing.
            let of_empty = |(pair, test): (&[u128; 2], usize)| pair[usize::from(!flips.get(test))];
            let of_tests = ots.pairs[number..].iter().zip(piece).map(of_empty);
            blocks.iter_mut().zip(of_tests).for_each(|(block, of_empty)| *block = of_empty);
            of_ots.of(blocks, number, For::Name, pads);
            names.iter_mut().zip(said.iter().zip(&*pads)).for_each(|(name, (said, pad))| *name = said ^ pad);
            send_packed::<ReceiverNames>(names, name_bits, packed, ch)?;

            let points = names;
            let of_tests = said.iter().zip(random.iter()).zip(&mut vole.c[number..]);
            for (point, ((&said, &random), c)) in points.iter_mut().zip(of_tests) {
                *point = select(said == MANY, u128::from_le(random), said) ^ c.0;
                c.0 = said;
            }
            send_packed::<Points>(points, point_bits, packed, ch)?;
        }
        Ok(())
    }

    /// Arrow 4; for each test what the union's bin holds, if that is one item or none, else [`MANY`].
    fn find(&mut self, tests: usize, first: usize, ch: &mut Channel) -> Result<(), Abort> {
        let Self { params, vole, pads: [_, of_vole], space, .. } = self;
        let Params { name_bits, value_bits, .. } = **params;
        for piece in pieces(tests) {
            let number = first + piece.start;
            let Space { packed, names, values, pads, expected, .. } = &mut *space;
            let [names, values, pads, expected] =
                [names, values, pads, expected].map(|space| &mut space[..piece.len()]);
            receive_packed::<SenderNames>(names, name_bits, packed, ch)?;
            receive_packed::<Values>(values, value_bits, packed, ch)?;
            let blocks = bytemuck::cast_slice(&vole.a[number..][..piece.len()]);
            of_vole.of(blocks, number, For::Name, pads);
            of_vole.of(blocks, number, For::Value, expected);
            let of_tests = names.iter().zip(&*pads).zip(values.iter().zip(&*expected));
            for (found, ((name, pad), (value, expected))) in vole.c[number..].iter_mut().zip(of_tests) {
                let heard = (name ^ pad) & low(name_bits);
                let is_equal = *value == expected & low(value_bits);
                // Where this side has several items, both are `MANY`.
                found.0 = select(found.0 == EMPTY, heard, select(is_equal, found.0, MANY));
            }
        }
        Ok(())
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
