//! The left column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::permute_share;
use vesica_mpc::tasks::ToPermute;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::CuckooTable;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::{Records, Shares, Tags, Values};
use super::pads::Pads;
use super::{Params, bins};
use crate::union::jsz22::{self, Parts};
use vesica_protocols::bins::Hashes;
use vesica_protocols::tasks::{UnionSenderInput, UnionSenderOutput};
use vesica_protocols::union::{oprf, plain};

/// Shares of arrow 4 that travel at a time.
const SHARES_PER_PIECE: usize = 1 << 14;

/// The sender, set up.
pub struct Sender {
    pub(super) params: Params,
    pub(super) set_up: Option<SetUp>,
}

/// The result of the set-up, unless a set is empty. Each network is set up when its turn comes: at
/// 2^20 items the OTs of one take 0.8 GB.
pub(super) struct SetUp {
    bins: Hashes,
    oprf: oprf::Receiver,
    permutation: permute_share::Params<Gf128>,
}

/// What the sender has after step 3.
pub(super) struct Compared {
    pub(super) table: CuckooTable,
    /// `kappa` of each bin.
    keys: Secret<Vec<Gf128>>,
    /// `c_i`.
    shares: Secret<Vec<Gf128>>,
    /// `1 + u_i`: whether the bin at each place of the receiver's order holds a common item.
    pub(super) common: Bits,
    permutation: permute_share::Params<Gf128>,
}

impl SetUp {
    /// Step 1, and the OPRF's VOLE.
    fn new(params: &Params, parts: &Parts, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let oprf = ch.reversed(|ch| oprf::Receiver::setup(&parts.oprf, ch, rng))?;
        Ok(Self { bins: bins(ch, params, oprf.salt()), oprf, permutation: parts.permutation })
    }

    /// All up to step 3.
    pub(super) fn compare(
        self,
        params: &Params,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compared, Abort> {
        let phase = ch.phase(Phase::HashItems);
        let (table, cells) = jsz22::table(&self.bins, params.bins, items, rng)?;
        let keys = Secret::new(jsz22::shares(params.bins, rng));
        let (item_shares, shares) = (jsz22::shares(params.bins, rng), Secret::new(jsz22::shares(params.bins, rng)));
        let asked = Secret::new(item_shares.iter().map(|share| share.0).collect::<Vec<u128>>());
        drop(phase);
        for input in [
            ToPermute { values: cells, shares: item_shares },
            ToPermute { values: keys.to_vec(), shares: shares.to_vec() },
        ] {
            permute_share::Sender::setup(&self.permutation, ch, rng)?.run(input, ch, rng)?;
        }

        // Step 2.
        let own = ch.reversed(|ch| self.oprf.ask(&asked, ch))?;

        // Step 3.
        let _phase = ch.phase(Phase::Equality);
        let low = u128::MAX >> (u128::BITS - params.digest_bits);
        let mut common = Vec::with_capacity(params.bins);
        let mut packed = Vec::new();
        for own in own.chunks(params.bins_per_piece()) {
            let mut values = vec![Gf128::default(); own.len() * params.capacity];
            packed.resize(packed_len(values.len(), params.digest_bits), 0);
            ch.recv_stream::<Values>(&mut packed)?;
            unpack(&packed, params.digest_bits, &mut values)
                .ok_or(Abort::PeerMisbehaved(Values::STEP, "bits beyond the last value"))?;
            let of_bin = |(own, values): (&u128, &[Gf128])| {
                values.iter().fold(false, |found, value| found | (value.0 == own & low))
            };
            common.extend(own.iter().zip(values.chunks(params.capacity)).map(of_bin));
        }
        let common = common.into_iter().collect();
        Ok(Compared { table, keys, shares, common, permutation: self.permutation })
    }
}

impl Compared {
    /// Step 4.
    fn open(&self, params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let order = Secret::new(random_order(params.bins, rng));
        let permuted =
            ch.reversed(|ch| permute_share::Receiver::setup(&self.permutation, ch, rng)?.run(order.to_vec(), ch, rng))?;
        let _phase = ch.phase(Phase::Payload);
        for (order, permuted) in order.chunks(SHARES_PER_PIECE).zip(permuted.shares.chunks(SHARES_PER_PIECE)) {
            let share = |(&place, permuted): (&u32, &Gf128)| {
                let (share, place) = (*permuted + self.shares[place as usize], place as usize);
                // Something random instead of the share at a common item; no branch.
                share.0 ^ rng.block() & u128::from(self.common.get(place)).wrapping_neg()
            };
            ch.send_stream::<Shares>(&order.iter().zip(permuted).map(share).collect::<Vec<u128>>())?;
        }
        Ok(())
    }

    /// Step 5.
    fn give(self, params: &Params, records: &[u8], ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let _phase = ch.phase(Phase::Payload);
        let (items, width) = (params.request.sender_items, params.request.record_bytes);
        let mut key_of = Secret::new(vec![0u128; items]);
        let full = self.keys.iter().enumerate().filter_map(|(bin, key)| Some((self.table.bin(bin)?, key)));
        full.for_each(|(entry, key)| key_of[entry.item as usize] = key.0);
        let order = Secret::new(random_order(items, rng));
        let pads = Pads::new(ch, width, params.tag_bits);
        let mut packed = Vec::new();
        for order in order.chunks(plain::places_per_piece(width)) {
            let keys = Secret::new(order.iter().map(|&item| key_of[item as usize]).collect::<Vec<u128>>());
            packed.clear();
            pack(bytemuck::cast_slice::<u128, Gf128>(&pads.tags(&keys)), params.tag_bits, &mut packed);
            ch.send_stream::<Tags>(&packed)?;
            let mut cells = plain::cells(records, width, order);
            pads.add(&keys, &mut cells);
            ch.send_stream::<Records>(&cells)?;
        }
        Ok(())
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = UnionSenderInput;
    type Output = UnionSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let set_up = params.parts.as_ref().map(|parts| SetUp::new(params, parts, ch, rng)).transpose()?;
        Ok(Self { params: params.clone(), set_up })
    }

    fn run(self, input: UnionSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<UnionSenderOutput, Abort> {
        let Self { params, set_up } = self;
        let width = params.request.record_bytes;
        input.check(params.request.sender_items, width)?;
        match set_up {
            Some(set_up) => {
                let compared = set_up.compare(&params, &input.items, ch, rng)?;
                compared.open(&params, ch, rng)?;
                compared.give(&params, &input.records, ch, rng)?;
            }
            None => plain::send::<Records>(&input.records, width, ch, rng)?,
        }
        Ok(UnionSenderOutput::default())
    }
}
