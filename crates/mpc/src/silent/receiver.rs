//! The right column: `c` and `a`.

use rand_core::Rng;
use subtle::ConstantTimeEq;
use vesica_party::{Abort, Channel, Message, Party, Phase};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{CheckAnswer, CheckRequest, CodeSeed, Flips, Trees};
use super::params::{Params, SilentParams};
use super::{TREES_AT_A_TIME, check, forest};
use crate::ot_extension::{self, CorrelationHash, ReceiverCorrelation, bit};
use crate::pprf::both_sides;
use crate::silent::code::Code;
use crate::tasks::VoleReceiver;
use crate::vole;

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver<B: Value>(VoleReceiver<B>);

impl<B: Value> Party for Receiver<B> {
    type Params = Params;
    type Input = ();
    type Output = VoleReceiver<B>;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let output = match params {
            Params::Direct(params) => vole::receive(params, ch, rng)?,
            Params::Silent(params) => receive(params, ch, rng)?,
        };
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<VoleReceiver<B>, Abort> {
        Ok(self.0)
    }
}

fn receive<B: Value>(params: &SilentParams, ch: &mut Channel, rng: &mut SecretRng) -> Result<VoleReceiver<B>, Abort> {
    let base = ot_extension::receiver(&params.correlation(), ch, rng)?;

    let _phase = ch.phase(Phase::Expand);
    let points: Secret<Vec<usize>> = Secret::new((0..params.trees).map(|_| below(params.block, rng)).collect());
    let values: Secret<Vec<B>> = Secret::new(bytemuck::cast_slice(&base.bits[params.value_blocks()])[..params.trees].to_vec());
    let seed = rng.block();

    // Step 1.
    ch.send(&Flips(flips(params, &base, &points)))?;
    if !params.checked() {
        // Step 5, which then need not wait for the trees.
        ch.send(&CodeSeed(seed))?;
    }

    // The noise is compressed while the sender expands its trees.
    let code = Code::new(params.len, params.positions(), seed);
    let c = code.compress_noise(noise_places(params, &points).zip(values.iter().copied()));

    // Step 2.
    let leaves = expand_trees::<B>(params, &base, &points, ch)?;

    if params.checked() {
        let _phase = ch.phase(Phase::Check);
        // Step 3.
        let chi = rng.block();
        let mut noise = Gf128(base.bits[params.mask_blocks().start]);
        for (place, &value) in noise_places(params, &points).zip(values.iter()) {
            noise += Gf128(check::power(chi, place + 1)) * value.embed();
        }
        ch.send(&CheckRequest { chi, noise: noise.0 })?;
        // Step 5, now that the sender's messages are fixed.
        ch.send(&CodeSeed(seed))?;
        // Step 4.
        let mask = base.columns.elements::<Gf128>(params.mask_blocks());
        let side = check::evaluate(chi, &leaves) ^ mask[0].0;
        let CheckAnswer(answer) = ch.recv(())?;
        if !bool::from(check::answer(base.binding, side).ct_eq(&answer)) {
            return Err(Abort::PeerMisbehaved(CheckAnswer::STEP, "the trees are not consistent"));
        }
    }

    let a = code.compress(leaves);
    Ok(VoleReceiver { c, a })
}

/// The noisy places among all positions.
fn noise_places(params: &SilentParams, points: &[usize]) -> impl Iterator<Item = usize> {
    points.iter().enumerate().map(|(tree, point)| tree * params.block + point)
}

/// Uniform below `bound`, by rejection.
fn below(bound: usize, rng: &mut SecretRng) -> usize {
    let mask = bound.next_power_of_two() as u64 - 1;
    loop {
        let draw = (rng.next_u64() & mask) as usize;
        if draw < bound {
            return draw;
        }
    }
}

/// The bit of a punctured tree's path at `level` (1 is the top), turned around: which pad the receiver needs.
fn away(point: usize, depth: usize, level: usize) -> bool {
    point >> (depth - level) & 1 == 0
}

/// Where the OTs' random choices are not what the paths need.
fn flips(params: &SilentParams, base: &ReceiverCorrelation, points: &[usize]) -> Vec<u8> {
    let depth = params.shape().depth();
    let mut flips = vec![0u8; params.transfers().div_ceil(8)];
    for i in 0..params.transfers() {
        let flip = bit(&base.bits, i) ^ away(points[i / depth], depth, i % depth + 1);
        flips[i / 8] |= u8::from(flip) << (i % 8);
    }
    flips
}

/// `w = v + delta e` at every position, from the sender's trees as they arrive.
fn expand_trees<B: Value>(
    params: &SilentParams,
    base: &ReceiverCorrelation,
    points: &[usize],
    ch: &mut Channel,
) -> Result<Vec<Gf128>, Abort> {
    let (depth, block, per_tree) = (params.shape().depth(), params.block, params.shape().sums());
    let rows = base.columns.rows(params.transfer_blocks());
    let pads = Secret::new(CorrelationHash::new(base.binding).hash(&rows[..params.transfers()]));
    let values = Secret::new(base.columns.elements::<B>(params.value_blocks()));
    let mut forest = forest(params, base.binding);
    let mut leaves = vec![Gf128::default(); params.positions()];
    let mut message = vec![0u128; TREES_AT_A_TIME * params.tree_message()];
    for (batch, leaves) in leaves.chunks_mut(TREES_AT_A_TIME * block).enumerate() {
        let trees = batch * TREES_AT_A_TIME..batch * TREES_AT_A_TIME + leaves.len() / block;
        let message = &mut message[..trees.len() * params.tree_message()];
        ch.recv_stream::<Trees>(message)?;
        let first: Secret<Vec<u128>> = Secret::new(trees.clone().map(|tree| pads[tree * depth]).collect());
        let mut sums = Secret::new(Vec::with_capacity(trees.len() * per_tree));
        for (tree, message) in trees.clone().zip(message.chunks_exact(params.tree_message())) {
            let (pairs, _) = message.as_chunks::<2>();
            for (level, pair) in (2..).zip(pairs) {
                let side = away(points[tree], depth, level);
                sums.push(pair[usize::from(side)] ^ pads[tree * depth + level - 1]);
            }
        }
        forest.expand_punctured(&points[trees.clone()], &first, &sums, bytemuck::cast_slice_mut(leaves));
        for ((tree, leaves), message) in trees.zip(leaves.chunks_exact_mut(block)).zip(message.chunks_exact(params.tree_message())) {
            let [left, right] = both_sides(bytemuck::cast_slice(leaves));
            leaves[points[tree]] = Gf128(message[message.len() - 1] ^ left ^ right) + values[tree];
        }
    }
    Ok(leaves)
}
