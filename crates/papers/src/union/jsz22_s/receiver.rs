//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::permute_share;
use vesica_mpc::tasks::{Permuted, ToPermute};
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::SimpleTable;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;
use vesica_structures::tags::TagFinder;

use super::messages::{Records, Shares, Tags, Values};
use super::pads::Pads;
use super::{Params, bins};
use crate::union::jsz22::{self, Parts};
use vesica_protocols::bins::{Hashes, POSITIONS};
use vesica_protocols::tasks::{UnionReceiverInput, UnionReceiverOutput};
use vesica_protocols::union::{oprf, plain};

/// The receiver, set up.
pub struct Receiver {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, unless a set is empty.
pub(super) struct SetUp {
    bins: Hashes,
    oprf: oprf::Sender,
    permutation: permute_share::Params<Gf128>,
}

/// What the receiver has after step 3.
pub(super) struct Answered {
    /// `c'_i`.
    shares: Permuted<Gf128>,
    permutation: permute_share::Params<Gf128>,
}

impl SetUp {
    /// Step 1, and the OPRF's VOLE.
    fn new(params: &Params, parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let oprf = ch.reversed(|ch| oprf::Sender::setup(&parts.oprf, ch, rng))?;
        Ok(Self { bins: bins(ch, params, oprf.salt()), oprf, permutation: parts.permutation })
    }

    /// All up to step 3.
    pub(super) fn answer(
        self,
        params: &Params,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Answered, Abort> {
        let Self { bins, oprf, permutation } = self;
        let order = Secret::new(random_order(params.bins, rng));
        let permute = |ch: &mut Channel, rng: &mut SecretRng| {
            permute_share::Receiver::setup(&permutation, ch, rng)?.run(order.to_vec(), ch, rng)
        };
        let cells = permute(ch, rng)?;
        let shares = permute(ch, rng)?;

        let phase = ch.phase(Phase::HashItems);
        let table = SimpleTable::build_vartime(&bins.positions(items), params.bins, params.capacity)
            .map_err(|_| Abort::StatisticalFailure("a bin has more of the receiver's items than it has room for"))?;
        let mut points = Secret::new(Vec::with_capacity(POSITIONS * items.len()));
        for (&bin, share) in order.iter().zip(&cells.shares) {
            points.extend(table.bin(bin as usize).iter().map(|entry| items[entry.item as usize] ^ share.0));
        }
        drop(phase);

        // Step 2.
        let values = ch.reversed(|ch| oprf.evaluate(&points, ch))?;

        // Step 3.
        let _phase = ch.phase(Phase::Masks);
        let low = u128::MAX >> (u128::BITS - params.digest_bits);
        let mut left = &values[..];
        let mut packed = Vec::new();
        for order in order.chunks(params.bins_per_piece()) {
            let mut piece = Vec::with_capacity(order.len() * params.capacity);
            for &bin in order.iter() {
                let first = piece.len();
                let (own, rest) = left.split_at(table.bin(bin as usize).len());
                left = rest;
                piece.extend(own.iter().map(|value| Gf128(value & low)));
                piece.resize_with(first + params.capacity, || Gf128(rng.block() & low));
                piece[first..].sort_unstable_by_key(|value| value.0);
            }
            packed.clear();
            pack(&piece, params.digest_bits, &mut packed);
            ch.send_stream::<Values>(&packed)?;
        }
        Ok(Answered { shares, permutation })
    }
}

/// Step 4: the key of each bin without a common item, in the order of both sides; noise at other
/// places.
pub(super) fn keys(answered: Answered, ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u128>>, Abort> {
    let Answered { shares: mut own, permutation } = answered;
    let shares = Secret::new(jsz22::shares(own.shares.len(), rng));
    let input = ToPermute { values: std::mem::take(&mut own.shares), shares: shares.to_vec() };
    ch.reversed(|ch| permute_share::Sender::setup(&permutation, ch, rng)?.run(input, ch, rng))?;
    let _phase = ch.phase(Phase::Payload);
    let mut keys = Secret::new(vec![0u128; shares.len()]);
    ch.recv_stream::<Shares>(&mut keys)?;
    keys.iter_mut().zip(shares.iter()).for_each(|(key, share)| *key ^= share.0);
    Ok(keys)
}

/// Step 5: the records, opened where the receiver has the key, and where that is. All places take the
/// same work.
pub(super) fn take(params: &Params, keys: &[u128], ch: &mut Channel) -> Result<(Vec<u8>, Bits), Abort> {
    let _phase = ch.phase(Phase::Payload);
    let (items, width) = (params.request.sender_items, params.request.record_bytes);
    let pads = Pads::new(ch, width, params.tag_bits);
    let mut finder = TagFinder::new(items, params.tag_bits, true);
    let (piece, mut packed, mut records) = (plain::places_per_piece(width), Vec::new(), Vec::new());
    for first in (0..items).step_by(piece) {
        let mut tags = vec![Gf128::default(); piece.min(items - first)];
        packed.resize(packed_len(tags.len(), params.tag_bits), 0);
        ch.recv_stream::<Tags>(&mut packed)?;
        unpack(&packed, params.tag_bits, &mut tags)
            .ok_or(Abort::PeerMisbehaved(Tags::STEP, "bits beyond the last tag"))?;
        finder.add(bytemuck::cast_slice(&tags), first as u32..);
        plain::next::<Records>(&mut records, tags.len() * width, ch)?;
    }
    finder.find(&pads.tags(keys));
    let found = finder.found();
    let key_of = Secret::new(found.theirs().iter().map(|&key| keys[key as usize]).collect::<Vec<u128>>());
    pads.add(&key_of, &mut records);
    Ok((records, Bits::from_words(found.bits().to_vec(), items)))
}

impl Party for Receiver {
    type Params = Params;
    type Input = UnionReceiverInput;
    type Output = UnionReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let set_up = params.parts.as_ref().map(|parts| SetUp::new(params, parts, ch, rng)).transpose()?;
        Ok(Self { params: params.clone(), set_up })
    }

    fn run(
        self,
        input: UnionReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<UnionReceiverOutput, Abort> {
        let Self { params, set_up } = self;
        input.check(params.request.receiver_items)?;
        let Some(set_up) = set_up else { return plain::receive::<Records>(&params.request, ch) };
        let answered = set_up.answer(&params, &input.items, ch, rng)?;
        let keys = keys(answered, ch, rng)?;
        Ok(plain::output(&params.request, take(&params, &keys, ch)?))
    }
}
