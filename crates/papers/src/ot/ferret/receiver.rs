//! The right column of the figure: gets a choice and one block of each OT.

use rayon::prelude::*;
use vesica_mpc::ot_parts::{
    Binding, CorrelationHash, Hashes, base_receiver, batch_binding, below, bit, flips, receive_trees,
};
use vesica_mpc::silent::messages::Flips;
use vesica_mpc::tasks::OtChosen;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::code::Code;
use super::messages::CodeSeed;
use super::params::{Instance, Params};
use super::{OTS_PER_BATCH, OTS_PER_TASK};

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(OtChosen);

impl Party for Receiver {
    type Params = Params;
    type Input = ();
    type Output = OtChosen;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = OtChosen { choices: Vec::new(), chosen: Vec::new() };
        each_batch(params, ch, rng, |batch| {
            // Not before: until here the peer has shown nothing. With all its space from the start, no copy is left behind.
            output.choices.reserve_exact(params.len - output.choices.len());
            output.chosen.reserve_exact(params.len - output.chosen.len());
            output.choices.extend_from_slice(&batch.choices);
            output.chosen.extend_from_slice(&batch.chosen);
        })?;
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtChosen, Abort> {
        Ok(self.0)
    }
}

/// What the receiver has of an instance before its trees come.
struct Noise {
    instance: Instance,
    /// Correlated OTs for the next instance, the first of those that this one makes.
    handed: usize,
    code: Code,
    /// The noisy place of each block.
    points: Secret<Vec<usize>>,
    /// `x`, a byte each: of the correlated OTs that the instance takes.
    bits: Secret<Vec<u8>>,
}

impl Noise {
    /// Draws the noisy places.
    fn new((instance, handed): (Instance, usize), code: Code, bits: Secret<Vec<u8>>, rng: &mut SecretRng) -> Self {
        let points = (0..instance.blocks).map(|_| below(instance.shape().leaves, rng)).collect();
        Self { instance, handed, code, points: Secret::new(points), bits }
    }

    /// Where the choices of its last OTs are not those that the trees need.
    fn flips(&self) -> Flips {
        Flips(flips(self.instance.shape(), &self.points, |i| self.bits[self.instance.secrets + i] == 1))
    }

    /// `x'` of some positions from number `first` on.
    fn choices(&self, first: usize, count: usize) -> Secret<Vec<u8>> {
        let mut bits = Secret::new(vec![0; count]);
        let leaves = self.instance.shape().leaves;
        let blocks = first / leaves..(first + count).div_ceil(leaves);
        for (block, point) in blocks.clone().zip(&self.points[blocks]) {
            if let Some(bit) = (block * leaves + point).checked_sub(first).and_then(|place| bits.get_mut(place)) {
                *bit = 1;
            }
        }
        self.code.add(&self.bits[..self.instance.secrets], first, &mut bits);
        bits
    }

    /// `z'`: from the trees, as they arrive, and from `z`.
    fn expand(&self, binding: Binding, rows: &[u128], ch: &mut Channel) -> Result<Secret<Vec<Gf128>>, Abort> {
        let (secrets, transfers) = rows.split_at(self.instance.secrets);
        let pads = Secret::new(CorrelationHash::new(binding).hash(&transfers[..self.instance.transfers()]));
        let values = vec![Gf128::default(); self.instance.blocks];
        let mut leaves = Secret::new(vec![Gf128::default(); self.instance.positions()]);
        receive_trees(self.instance.shape(), binding, (&self.points, &pads, &values), &mut leaves, ch, |_| ())?;
        self.code.add(secrets, 0, bytemuck::cast_slice_mut::<Gf128, u128>(&mut leaves));
        Ok(leaves)
    }
}

/// The OTs, batch by batch.
pub(super) fn each_batch(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
    mut keep: impl FnMut(OtChosen),
) -> Result<(), Abort> {
    if params.len == 0 {
        return Ok(());
    }
    let base = base_receiver(&params.base(), ch, rng)?;
    if params.instances.is_empty() {
        let choices = (0..params.len).map(|i| bit(&base.bits, i)).collect();
        keep(OtChosen { choices, chosen: base.chosen(params.len).clone() });
        return Ok(());
    }

    let _phase = ch.phase(Phase::Expand);
    // Step 3.
    let seed = rng.block();
    ch.send(&CodeSeed(seed))?;
    // Step 1, of all instances.
    let mut bits = Secret::new((0..128 * params.base().blocks).map(|i| u8::from(bit(&base.bits, i))).collect());
    let mut noises: Vec<Noise> = Vec::new();
    for (number, chained) in params.chain().enumerate() {
        let code = Code::new(batch_binding(base.binding, number), seed);
        let noise = Noise::new(chained, code, bits, rng);
        ch.send(&noise.flips())?;
        bits = noise.choices(0, noise.handed);
        noises.push(noise);
    }

    let mut rows = base.columns.rows(0..params.base().blocks);
    let mut left = params.len;
    for (number, noise) in noises.into_iter().enumerate() {
        let binding = batch_binding(base.binding, number);
        // Step 2.
        let leaves = noise.expand(binding, &rows, ch)?;
        let (next, own) = bytemuck::cast_slice::<Gf128, u128>(&leaves).split_at(noise.handed);
        let own = &own[..own.len().min(left)];
        left -= own.len();
        let hashes = Hashes::new(binding);
        for (batch, own) in own.chunks(OTS_PER_BATCH).enumerate() {
            let first = batch * OTS_PER_BATCH;
            let bits = noise.choices(noise.handed + first, own.len());
            keep(OtChosen { choices: bits.iter().map(|&bit| bit == 1).collect(), chosen: chosen(&hashes, first, own) });
        }
        rows = Secret::new(next.to_vec());
    }
    Ok(())
}

/// The chosen block of each OT; `first` is the number of the first in its instance.
fn chosen(hashes: &Hashes, first: usize, own: &[u128]) -> Vec<u128> {
    let mut chosen = vec![0; own.len()];
    let tasks = own.par_chunks(OTS_PER_TASK).zip(chosen.par_chunks_mut(OTS_PER_TASK)).enumerate();
    tasks.for_each(|(task, (own, chosen))| {
        hashes.each(first + task * OTS_PER_TASK, own, chosen, |pi, own, chosen| pi.mmo(own, chosen));
    });
    chosen
}
