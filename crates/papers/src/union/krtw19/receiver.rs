//! The right column of the figure.

use rayon::prelude::*;
use vesica_mpc::bits::Bits;
use vesica_mpc::code_oprf::{self, PseudoRandom};
use vesica_mpc::tasks::{Evaluations, PrfOutputs};
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::packing::{packed_len, unpack};
use vesica_structures::polynomial::Interpolation;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Polynomials, Salt, Values};
use super::params::VALUES_PER_PIECE;
use super::{Bins, OVERFLOW, Params};

/// The receiver, set up.
pub struct Receiver {
    pub(super) params: Params,
    pub(super) salt: [u8; 32],
    membership: code_oprf::Sender<PseudoRandom>,
    equality: code_oprf::Receiver<PseudoRandom>,
}

impl Receiver {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Salt(salt) = ch.recv(())?;
        let membership = ch.reversed(|ch| code_oprf::Sender::setup(&params.membership, ch, rng))?;
        let equality = code_oprf::Receiver::setup(&params.equality, ch, rng)?;
        Ok(Self { params: params.clone(), salt, membership, equality })
    }

    /// Steps 2 and 3; for each place whether its item is common.
    pub(super) fn test(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { params, salt, membership, equality } = self;
        let phase = ch.phase(Phase::HashItems);
        let bins = Bins::new(ch, &params, &salt, items, params.coefficients)?;
        let targets = Secret::new((0..params.places()).map(|_| rng.block()).collect::<Vec<u128>>());
        drop(phase);

        // Step 2.
        let functions = ch.reversed(|ch| membership.functions(ch, rng))?;
        let phase = ch.phase(Phase::Encode);
        let width = params.places_per_bin;
        for first in (0..params.bins).step_by(params.bins_per_piece()) {
            let piece = first..params.bins.min(first + params.bins_per_piece());
            let seeds: Vec<SecretRng> = piece.clone().map(|_| rng.child()).collect();
            let of_bin = |(bin, rng): (usize, SecretRng)| {
                let keys: Vec<u128> = bins.bin(bin).iter().map(|&item| items[item as usize]).collect();
                let places = bin * width..(bin + 1) * width;
                let evaluations = Evaluations {
                    instances: places.clone().flat_map(|place| std::iter::repeat_n(place as u32, keys.len())).collect(),
                    keys: keys.repeat(width),
                };
                program(&keys, &functions.evaluate(&evaluations), &targets[places], params.coefficients, rng)
            };
            let polynomials = piece.into_par_iter().zip(seeds).map(of_bin).collect::<Result<Vec<_>, Abort>>()?;
            for polynomials in polynomials {
                ch.send_stream::<Polynomials>(&polynomials)?;
            }
        }
        drop((phase, functions));

        // Step 3.
        let own = equality.run(targets.to_vec(), ch, rng)?;
        let _phase = ch.phase(Phase::Equality);
        let low = u128::MAX >> (u128::BITS - params.digest_bits);
        let mut found = Vec::with_capacity(params.places());
        let mut packed = Vec::new();
        for own in own.values.chunks(VALUES_PER_PIECE) {
            let mut values = vec![Gf128::default(); own.len()];
            packed.resize(packed_len(own.len(), params.digest_bits), 0);
            ch.recv_stream::<Values>(&mut packed)?;
            unpack(&packed, params.digest_bits, &mut values)
                .ok_or(Abort::PeerMisbehaved(Values::STEP, "bits beyond the last value"))?;
            found.extend(own.iter().zip(values).map(|(own, value)| own & low == value.0));
        }
        Ok(found.into_iter().collect())
    }
}

/// The polynomials of a bin: for each of its places one that takes the place's target plus the value
/// of its function at each of the keys, and random values at random points besides.
pub(super) fn program(
    keys: &[u128],
    outputs: &PrfOutputs,
    targets: &[u128],
    coefficients: usize,
    mut rng: SecretRng,
) -> Result<Vec<u128>, Abort> {
    let random = coefficients.checked_sub(keys.len()).ok_or(OVERFLOW)?;
    let mut filled = |of_keys: &mut dyn Iterator<Item = u128>| {
        let mut all = Secret::new(Vec::with_capacity(coefficients));
        all.extend(of_keys.map(Gf128));
        all.extend((0..random).map(|_| Gf128(rng.block())));
        all
    };
    let interpolation = Interpolation::new(&filled(&mut keys.iter().copied())).ok_or(OVERFLOW)?;
    let mut polynomials = Vec::with_capacity(targets.len() * coefficients);
    for (place, target) in targets.iter().enumerate() {
        let values = &outputs.values[place * keys.len()..][..keys.len()];
        let values = filled(&mut values.iter().map(|value| value ^ target));
        polynomials.extend(interpolation.through(&values).into_iter().map(|coefficient| coefficient.0));
    }
    Ok(polynomials)
}
