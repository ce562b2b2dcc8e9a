//! The left column of the figure: the side that has the bits.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;

use super::Params;
use super::messages::Masked;
use super::switch_all;
use crate::gmw::Evaluator;
use crate::permute_share::bits::words::Words;
use crate::random_one_of_n_ot;
use crate::tasks::{BitsToPermute, Tables};

/// The sender, set up.
pub struct Sender {
    params: Params,
    layers: Vec<Evaluator>,
}

impl Party for Sender {
    type Params = Params;
    type Input = BitsToPermute;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let dealt = random_one_of_n_ot::Sender::setup(&params.tables, ch, rng)?.run((), ch, rng)?;
        let (mut layers, mut rest) = (Vec::new(), &dealt.tables[..]);
        for layer in params.evaluations() {
            let layer = layer?;
            let (own, others) = rest.split_at(layer.tables());
            layers.push(Evaluator::from_tables(&layer, &Tables { tables: own.to_vec(), width: dealt.width })?);
            rest = others;
        }
        Ok(Self { params: *params, layers })
    }

    fn run(self, input: BitsToPermute, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let Self { params, layers } = self;
        input.check(params.len, params.kept)?;
        let _phase = ch.phase(Phase::Permute);
        let mut wires = Words::of(&input.values);
        switch_all(&params, layers, None, &mut wires, ch, rng)?;
        wires.add_all(&input.shares);
        wires.send::<Masked>(params.kept, ch)
    }
}
