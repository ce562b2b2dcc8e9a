//! The left column of the figure.

use rand_core::Rng;
use vesica_mpc::opprf;
use vesica_mpc::permute_share;
use vesica_mpc::silent;
use vesica_mpc::tasks::{Permuted, VoleSender};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::{Gf64, Value};
use vesica_structures::hashing::CuckooTable;
use vesica_structures::packing::pack;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::{Digests, Salt};
use super::params::DIGESTS_PER_PIECE;
use super::{Functions, Params};
use vesica_protocols::bins::POSITIONS;
use vesica_protocols::membership::NO_ITEM;

/// The sender, set up.
pub struct Sender {
    params: Params,
    functions: Functions,
    opprf: opprf::Receiver,
    permutation: permute_share::Receiver<Gf64>,
    vole: VoleSender,
}

impl Sender {
    /// Step 1, and all that needs no input. The OPPRF comes last: its receiver leaves some of the
    /// set-up to its run.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        let functions = Functions::derive(ch, params, &salt);
        let vole = silent::Sender::<Gf64>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        let permutation = ch.reversed(|ch| permute_share::Receiver::setup(&params.permutation, ch, rng))?;
        let opprf = ch.reversed(|ch| opprf::Receiver::setup(&params.opprf, ch, rng))?;
        Ok(Self { params: params.clone(), functions, opprf, permutation, vole })
    }

    /// Steps 2 and 4 to 6; which item each place holds.
    pub(super) fn ask(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        let Self { params, functions, opprf, permutation, mut vole } = self;
        // Step 2.
        let phase = ch.phase(Phase::HashItems);
        let table = CuckooTable::build_vartime(&functions.bins.positions(items), params.bins).map_err(|_| {
            Abort::StatisticalFailure("the sender's items do not fit into their bins; items must be distinct")
        })?;
        let keys: [Vec<u128>; POSITIONS] = std::array::from_fn(|choice| functions.bins.keys(choice, items));
        let full: Vec<_> = (0..params.bins).filter_map(|bin| table.bin(bin).map(|entry| (bin, entry))).collect();
        let asked = full.iter().map(|(_, entry)| keys[usize::from(entry.choice)][entry.item as usize]).collect();
        drop((phase, keys));

        // Step 4. An empty bin takes something random, which is equal to s_j as rarely as the function's
        // value at a key that nobody programmed.
        let outputs = ch.reversed(|ch| opprf.run(asked, ch, rng))?;
        let mut t =
            Secret::new((0..params.bins).map(|_| Gf64(rng.next_u64() >> (64 - params.sigma))).collect::<Vec<_>>());
        full.iter().zip(&outputs.values).for_each(|((bin, _), &output)| t[*bin] = Gf64::from_bits(output));

        // Step 5.
        let order = Secret::new(random_order(params.bins, rng));
        let Permuted { shares: z } = &mut ch.reversed(|ch| permutation.run(order.to_vec(), ch, rng))?;
        z.iter_mut().zip(order.iter()).for_each(|(z, &bin)| *z += t[bin as usize]);

        // Step 6.
        let _phase = ch.phase(Phase::Equality);
        let delta = vole.delta;
        let mut packed = Vec::new();
        for (piece, (b, z)) in vole.b.chunks_mut(DIGESTS_PER_PIECE).zip(z.chunks(DIGESTS_PER_PIECE)).enumerate() {
            Gf64::scale_add(b, delta, z);
            packed.clear();
            pack(&functions.digests(piece * DIGESTS_PER_PIECE, b, params.digest_bits), params.digest_bits, &mut packed);
            ch.send_stream::<Digests>(&packed)?;
        }
        let item = |&bin: &u32| table.bin(bin as usize).map_or(NO_ITEM, |entry| entry.item);
        Ok(Secret::new(order.iter().map(item).collect()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use vesica_structures::fields::Gf128;
    use vesica_testkit::two_party;

    use super::*;
    use crate::membership::gmr21::Receiver;

    /// The receiver learns which of the places are common ones. If a place were a bin, it would
    /// tell in which of its bins an item lies, and so which others are in the set.
    #[test]
    fn a_place_says_nothing_of_the_bin() {
        let items: Vec<u128> = (1..=400).collect();
        let params = Params::derive(items.len(), items.len()).unwrap();
        let ((order, positions), found) = two_party(
            |ch, rng| {
                let sender = Sender::setup(&params, ch, rng)?;
                let positions = sender.functions.bins.positions(&items);
                Ok((sender.ask(&items, ch, rng)?, positions))
            },
            |ch, rng| Receiver::setup(&params, ch, rng)?.test(&items, ch, rng),
        );
        let found: Vec<u32> = (0..).zip(found.iter()).filter(|(_, common)| *common).map(|(place, _)| place).collect();
        assert_eq!(found.len(), items.len());
        let held: HashSet<u32> = found.iter().map(|&place| order[place as usize]).collect();
        assert_eq!(held, (0..items.len() as u32).collect());
        // Three of more than 520 places are an item's bins: two items are in place on average.
        let in_place =
            found.iter().filter(|&&place| positions[order[place as usize] as usize].contains(&place)).count();
        assert!(in_place < 20, "{in_place}");
    }

    #[test]
    fn a_digest_is_of_its_place() {
        let params = Params::derive(9, 9).unwrap();
        let (functions, ()) = two_party(|ch, _| Ok(Functions::derive(ch, &params, &[1; 32])), |_, _| Ok(()));
        let at = |place| functions.digests(place, &[Gf128(5); 2], params.digest_bits);
        assert!(at(7)[1] == at(8)[0] && at(7)[0] != at(7)[1]);
    }
}
