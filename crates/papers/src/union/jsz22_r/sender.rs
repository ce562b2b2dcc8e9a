//! The left column of the figure.

use vesica_mpc::permute_share;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::packing::pack;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::Values;
use super::params::ITEMS_PER_PIECE;
use super::{Params, bins};
use vesica_protocols::bins::{Hashes, POSITIONS};
use vesica_protocols::ecdh::shuffled;
use vesica_protocols::union::oprf;

/// The sender, set up.
pub struct Sender {
    params: Params,
    bins: Hashes,
    oprf: oprf::Sender,
    permutation: permute_share::Receiver<Gf128>,
}

impl Sender {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let oprf = oprf::Sender::setup(&params.parts.oprf, ch, rng)?;
        let bins = bins(ch, params, oprf.salt());
        let permutation = ch.reversed(|ch| permute_share::Receiver::setup(&params.parts.permutation, ch, rng))?;
        Ok(Self { params: params.clone(), bins, oprf, permutation })
    }

    /// Steps 2 and 3; which item each place holds.
    pub(super) fn ask(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        let Self { params, bins, oprf, permutation } = self;
        let order = Secret::new(random_order(params.bins, rng));
        let permuted = ch.reversed(|ch| permutation.run(order.to_vec(), ch, rng))?;

        let phase = ch.phase(Phase::HashItems);
        let mut place_of = Secret::new(vec![0; params.bins]);
        (0u32..).zip(order.iter()).for_each(|(place, &bin)| place_of[bin as usize] = place);
        let share_of = |bin: u32| permuted.shares[place_of[bin as usize] as usize].0;
        let (numbers, items) = shuffled(items, rng);
        let mut points = Secret::new(Vec::with_capacity(POSITIONS * items.len()));
        for (&item, bins) in items.iter().zip(bins.positions(&items)) {
            points.extend(bins.map(|bin| item ^ share_of(bin)));
        }
        drop(phase);

        // Step 2.
        let values = oprf.evaluate(&points, ch)?;

        // Step 3.
        let _phase = ch.phase(Phase::Masks);
        let low = u128::MAX >> (u128::BITS - params.digest_bits);
        let mut packed = Vec::new();
        for values in values.chunks(POSITIONS * ITEMS_PER_PIECE) {
            let mut values: Vec<Gf128> = values.iter().map(|value| Gf128(value & low)).collect();
            values.chunks_mut(POSITIONS).for_each(|of_item| of_item.sort_unstable_by_key(|value| value.0));
            packed.clear();
            pack(&values, params.digest_bits, &mut packed);
            ch.send_stream::<Values>(&packed)?;
        }
        Ok(numbers)
    }
}
