//! The right column of the figure: the side that has the order.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;

use super::Params;
use super::messages::Masked;
use super::switch_all;
use crate::bits::Bits;
use crate::gmw::Evaluator;
use crate::permute_share::bits::words::Words;
use crate::permute_share::settings;
use crate::random_one_of_n_ot;
use crate::tasks::Lookups;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    layers: Vec<Evaluator>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u32>;
    type Output = Bits;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let dealt = random_one_of_n_ot::Receiver::setup(&params.tables, ch, rng)?.run((), ch, rng)?;
        let (mut layers, mut rest) = (Vec::new(), &dealt.entries[..]);
        for layer in params.evaluations() {
            let layer = layer?;
            let (own, others) = rest.split_at(layer.tables());
            layers.push(Evaluator::from_lookups(&layer, &Lookups { entries: own.to_vec(), width: dealt.width })?);
            rest = others;
        }
        Ok(Self { params: *params, layers })
    }

    fn run(self, order: Vec<u32>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { params, layers } = self;
        let _phase = ch.phase(Phase::Permute);
        let settings = Words::from_lowest(&settings(params.network, order, params.len)?, u64::from);
        let mut wires = Words::zeros(params.len);
        switch_all(&params, layers, Some(&settings), &mut wires, ch, rng)?;
        let masked = Words::receive::<Masked>(params.kept, ch)?;
        wires.add_all(&masked.first(params.kept));
        Ok(wires.first(params.kept))
    }
}
