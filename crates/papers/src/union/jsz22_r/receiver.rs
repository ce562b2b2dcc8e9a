//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_mpc::permute_share;
use vesica_mpc::tasks::ToPermute;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::CuckooTable;
use vesica_structures::packing::{packed_len, unpack};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagFinder;

use super::messages::Values;
use super::params::ITEMS_PER_PIECE;
use super::{Params, bins};
use crate::union::jsz22;
use vesica_protocols::bins::{Hashes, POSITIONS};
use vesica_protocols::union::oprf;

/// The receiver, set up.
pub struct Receiver {
    pub(super) params: Params,
    bins: Hashes,
    oprf: oprf::Receiver,
    permutation: permute_share::Sender<Gf128>,
}

impl Receiver {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let oprf = oprf::Receiver::setup(&params.parts.oprf, ch, rng)?;
        let bins = bins(ch, params, oprf.salt());
        let permutation = ch.reversed(|ch| permute_share::Sender::setup(&params.parts.permutation, ch, rng))?;
        Ok(Self { params: params.clone(), bins, oprf, permutation })
    }

    /// All up to step 2: the receiver's table, and the function at its share of each place.
    pub(super) fn share(
        self,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(CuckooTable, Secret<Vec<u128>>), Abort> {
        let Self { params, bins, oprf, permutation } = self;
        let phase = ch.phase(Phase::HashItems);
        let (table, values) = jsz22::table(&bins, params.bins, items, rng)?;
        let permuted = ToPermute { values, shares: jsz22::shares(params.bins, rng) };
        let asked = Secret::new(permuted.shares.iter().map(|share| share.0).collect::<Vec<u128>>());
        drop(phase);
        ch.reversed(|ch| permutation.run(permuted, ch, rng))?;
        Ok((table, oprf.ask(&asked, ch)?))
    }

    /// Steps 2 and 3; for each place whether its item is common.
    pub(super) fn test(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let params = self.params.clone();
        let (_, own) = self.share(items, ch, rng)?;
        let _phase = ch.phase(Phase::Masks);
        let mut finder = TagFinder::new(POSITIONS * params.sender_items, params.digest_bits, false);
        receive(&params, ch, |first, values| finder.add(values, first as u32..))?;
        finder.find(&own);
        let found = finder.found();
        let any = |place: usize| (0..POSITIONS).fold(false, |any, choice| any | found.get(POSITIONS * place + choice));
        Ok((0..params.sender_items).map(any).collect())
    }
}

/// Step 3: hands pieces of the values to `take`, with the number of their first one.
pub(super) fn receive(params: &Params, ch: &mut Channel, mut take: impl FnMut(usize, &[u128])) -> Result<(), Abort> {
    let (count, piece) = (POSITIONS * params.sender_items, POSITIONS * ITEMS_PER_PIECE);
    let mut packed = Vec::new();
    for first in (0..count).step_by(piece) {
        let mut values = vec![Gf128::default(); piece.min(count - first)];
        packed.resize(packed_len(values.len(), params.digest_bits), 0);
        ch.recv_stream::<Values>(&mut packed)?;
        unpack(&packed, params.digest_bits, &mut values)
            .ok_or(Abort::PeerMisbehaved(Values::STEP, "bits beyond the last value"))?;
        take(first, bytemuck::cast_slice(&values));
    }
    Ok(())
}
