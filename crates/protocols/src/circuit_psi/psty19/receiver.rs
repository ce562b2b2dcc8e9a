//! The right column: asks for keys.

use rayon::prelude::*;
use vesica_mpc::code_oprf::{self, PseudoRandom};
use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::polynomial::evaluate;
use vesica_structures::rng::SecretRng;

use super::Params;
use super::messages::Hint;
use crate::circuit_psi::Asked;

/// Polynomials that arrive at a time.
const POLYS_PER_MESSAGE: usize = 16;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    oprf: code_oprf::Receiver<PseudoRandom>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = Asked;
    type Output = PrfOutputs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), oprf: code_oprf::Receiver::setup(&params.oprf, ch, rng)? })
    }

    fn run(self, asked: Asked, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        let Self { params, oprf } = self;
        // Step 4.
        let of_bins = oprf.run(asked.in_all_bins(params.bins, rng), ch, rng)?;
        let mut outputs = PrfOutputs { values: Vec::with_capacity(asked.keys.len() * params.blocks) };
        for values in of_bins.values.chunks_exact(params.bins) {
            outputs.values.extend(asked.bins.iter().map(|&bin| values[bin as usize]));
        }

        // Step 7: the keys in the order of their mega-bins.
        let _phase = ch.phase(Phase::Decode);
        let mut order: Vec<(u32, u32)> =
            asked.keys.iter().enumerate().map(|(place, &key)| (params.mega_bin(key) as u32, place as u32)).collect();
        order.sort_unstable();
        let mut order = &order[..];
        let mut hint = vec![0u128; POLYS_PER_MESSAGE.min(params.mega_bins) * params.coefficients()];
        for first in (0..params.mega_bins).step_by(POLYS_PER_MESSAGE) {
            let count = POLYS_PER_MESSAGE.min(params.mega_bins - first);
            let hint = &mut hint[..count * params.coefficients()];
            ch.recv_stream::<Hint>(hint)?;
            let (here, rest) =
                order.split_at(order.partition_point(|&(mega_bin, _)| (mega_bin as usize) < first + count));
            order = rest;
            for block in 0..params.blocks {
                let polynomial = |mega_bin: u32| {
                    let start = (mega_bin as usize - first) * params.coefficients() + block * params.capacity;
                    bytemuck::cast_slice::<u128, Gf128>(&hint[start..start + params.capacity])
                };
                let values: Vec<u128> = here
                    .par_iter()
                    .map(|&(mega_bin, place)| evaluate(polynomial(mega_bin), Gf128(asked.keys[place as usize])).0)
                    .collect();
                let out = &mut outputs.values[block * asked.keys.len()..];
                here.iter().zip(values).for_each(|(&(_, place), value)| out[place as usize] ^= value);
            }
        }
        Ok(outputs)
    }
}
