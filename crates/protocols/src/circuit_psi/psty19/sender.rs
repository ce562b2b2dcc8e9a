//! The left column: programs values.

use rayon::prelude::*;
use vesica_mpc::code_oprf::{self, PseudoRandom};
use vesica_mpc::tasks::{Evaluations, PrfOutputs};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::polynomial::Interpolation;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::messages::Hint;
use crate::circuit_psi::Pairs;

/// Polynomials that are made at a time.
const POLYS_PER_MESSAGE: usize = 16;

const OVERFLOW: Abort =
    Abort::StatisticalFailure("a polynomial has too many points, or two equal ones; items must be distinct");

/// The sender, set up.
pub struct Sender {
    params: Params,
    oprf: code_oprf::Sender<PseudoRandom>,
}

impl Party for Sender {
    type Params = Params;
    type Input = Pairs;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), oprf: code_oprf::Sender::setup(&params.oprf, ch, rng)? })
    }

    fn run(self, pairs: Pairs, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let Self { params, oprf } = self;
        let Pairs { bins, programmed } = pairs;
        // Step 4.
        let mut masked = oprf.run(Evaluations { instances: bins, keys: programmed.keys.clone() }, ch, rng)?;
        masked.values.iter_mut().zip(&programmed.values).for_each(|(masked, value)| *masked ^= value);
        // A coefficient has 128 bits, the last block of a value perhaps fewer: zeros above them would tell
        // the receiver which of its keys were programmed.
        let used = params.output_bits - 128 * (params.blocks as u32 - 1);
        if used < 128 {
            let last = (params.blocks - 1) * programmed.keys.len();
            masked.values[last..].iter_mut().for_each(|masked| *masked ^= rng.block() << used);
        }

        // Step 6.
        let _phase = ch.phase(Phase::Encode);
        let (starts, order) = by_mega_bin(&params, &programmed.keys);
        let mut hint = vec![0u128; POLYS_PER_MESSAGE.min(params.mega_bins) * params.coefficients()];
        for first in (0..params.mega_bins).step_by(POLYS_PER_MESSAGE) {
            let count = POLYS_PER_MESSAGE.min(params.mega_bins - first);
            let hint = &mut hint[..count * params.coefficients()];
            let places = (first..first + count)
                .map(|mega_bin| (&order[starts[mega_bin]..starts[mega_bin + 1]], rng.child()))
                .collect::<Vec<_>>();
            hint.par_chunks_mut(params.coefficients())
                .zip(places)
                .try_for_each(|(hint, (places, rng))| program(&params, &programmed.keys, &masked, places, rng, hint))?;
            ch.send_stream::<Hint>(hint)?;
        }
        Ok(())
    }
}

/// The keys by mega-bins: where each mega-bin starts in the list behind it.
fn by_mega_bin(params: &Params, keys: &[u128]) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; params.mega_bins + 1];
    keys.iter().for_each(|&key| starts[params.mega_bin(key) + 1] += 1);
    for mega_bin in 0..params.mega_bins {
        starts[mega_bin + 1] += starts[mega_bin];
    }
    let mut next = starts.clone();
    let mut order = vec![0; keys.len()];
    for (place, &key) in keys.iter().enumerate() {
        let next = &mut next[params.mega_bin(key)];
        order[*next] = place as u32;
        *next += 1;
    }
    (starts, order)
}

/// The polynomials of a mega-bin through its keys, which stand at `places`, and random points.
fn program(
    params: &Params,
    keys: &[u128],
    masked: &PrfOutputs,
    places: &[u32],
    mut rng: SecretRng,
    hint: &mut [u128],
) -> Result<(), Abort> {
    if places.len() > params.capacity {
        return Err(OVERFLOW);
    }
    let random = params.capacity - places.len();
    let mut filled = |of: &[u128]| {
        let own = places.iter().map(|&place| Gf128(of[place as usize]));
        Secret::new(own.chain((0..random).map(|_| Gf128(rng.block()))).collect::<Vec<_>>())
    };
    let interpolation = Interpolation::new(&filled(keys)).ok_or(OVERFLOW)?;
    for (hint, values) in hint.chunks_exact_mut(params.capacity).zip(masked.values.chunks_exact(keys.len())) {
        hint.copy_from_slice(bytemuck::cast_slice(&interpolation.through(&filled(values))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use vesica_structures::polynomial::evaluate;

    use super::*;
    use crate::circuit_psi::OpprfSizes;

    /// A value that many points have in common would tell how many points are no item's.
    #[test]
    fn what_fills_up_a_polynomial_has_random_keys_and_values() {
        let params = Params::derive(&OpprfSizes {
            receiver_keys: 9,
            sender_keys: 40,
            bins: 9,
            output_bits: 128,
            okvs: vesica_structures::okvs::Kind::Band,
            runs: 1,
        })
        .unwrap();
        let keys: Vec<u128> = (0..40).collect();
        let masked = PrfOutputs { values: (100..140).collect() };
        let (places, seed) = ([3, 7, 8], || SecretRng::insecure_from_seed(4));
        let mut hint = vec![0; params.capacity];
        program(&params, &keys, &masked, &places, seed(), &mut hint).unwrap();
        let at = |key: u128| evaluate(bytemuck::cast_slice(&hint), Gf128(key)).0;
        assert_eq!(places.map(|place| at(place.into())), [103, 107, 108]);
        // The keys are what is drawn first.
        let mut rng = seed();
        let random: Vec<u128> = (places.len()..params.capacity).map(|_| rng.block()).collect();
        let values: HashSet<u128> = random.iter().map(|&key| at(key)).collect();
        assert_eq!(random.iter().collect::<HashSet<_>>().len(), random.len());
        assert!(values.len() == random.len() && values.iter().all(|value| value >> 64 != 0));
    }
}
