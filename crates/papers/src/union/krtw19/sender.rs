//! The left column of the figure.

use rand_core::Rng;
use rayon::prelude::*;
use vesica_mpc::code_oprf::{self, PseudoRandom};
use vesica_mpc::tasks::Evaluations;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::packing::pack;
use vesica_structures::polynomial::evaluate;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::{Polynomials, Salt, Values};
use super::params::VALUES_PER_PIECE;
use super::{Bins, Params};
use vesica_protocols::membership::NO_ITEM;

/// The sender, set up.
pub struct Sender {
    params: Params,
    salt: [u8; 32],
    membership: code_oprf::Receiver<PseudoRandom>,
    equality: code_oprf::Sender<PseudoRandom>,
}

impl Sender {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        let membership = ch.reversed(|ch| code_oprf::Receiver::setup(&params.membership, ch, rng))?;
        let equality = code_oprf::Sender::setup(&params.equality, ch, rng)?;
        Ok(Self { params: params.clone(), salt, membership, equality })
    }

    /// Steps 2 and 3; which item each place holds, bin after bin.
    pub(super) fn ask(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        let Self { params, salt, membership, equality } = self;
        let phase = ch.phase(Phase::HashItems);
        let bins = Bins::new(ch, &params, &salt, items, params.places_per_bin)?;
        let mut places = Secret::new(vec![NO_ITEM; params.places()]);
        for (places, items) in places.chunks_mut(params.places_per_bin).zip(bins.iter()) {
            let order = Secret::new(random_order(places.len(), rng));
            items.iter().zip(order.iter()).for_each(|(&item, &place)| places[place as usize] = item);
        }
        let point = |&item: &u32| items.get(item as usize).copied().unwrap_or_else(|| rng.block());
        let points = Secret::new(places.iter().map(point).collect::<Vec<u128>>());
        drop(phase);

        // Step 2.
        let mut targets = ch.reversed(|ch| membership.run(points.to_vec(), ch, rng))?;
        let phase = ch.phase(Phase::Decode);
        let piece = params.bins_per_piece() * params.places_per_bin;
        let mut polynomials = vec![0; piece.min(params.places()) * params.coefficients];
        for (targets, points) in targets.values.chunks_mut(piece).zip(points.chunks(piece)) {
            let polynomials = &mut polynomials[..points.len() * params.coefficients];
            ch.recv_stream::<Polynomials>(polynomials)?;
            let of_places = polynomials.par_chunks(params.coefficients).zip(points);
            targets.par_iter_mut().zip(of_places).for_each(|(target, (polynomial, &point))| {
                *target ^= evaluate(bytemuck::cast_slice(polynomial), Gf128(point)).0;
            });
        }
        drop(phase);

        // Step 3.
        let instances = (0..params.places() as u32).collect();
        let keys = std::mem::take(&mut targets.values);
        let values = equality.run(Evaluations { instances, keys }, ch, rng)?;
        let _phase = ch.phase(Phase::Equality);
        let mut packed = Vec::new();
        for values in values.values.chunks(VALUES_PER_PIECE) {
            packed.clear();
            pack(bytemuck::cast_slice::<u128, Gf128>(values), params.digest_bits, &mut packed);
            ch.send_stream::<Values>(&packed)?;
        }
        Ok(places)
    }
}
