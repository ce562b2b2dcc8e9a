//! The left column: `delta` and `b`.

use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{CheckAnswer, CheckRequest, CodeSeed, Flips, Trees};
use super::params::{Params, SilentParams};
use super::{TREES_AT_A_TIME, TREES_LABEL, check};
use crate::ot_extension::{self, CorrelationHash, SenderCorrelation};
use crate::pprf::{Tree, generators};
use crate::silent::code::Code;
use crate::tasks::VoleSender;
use crate::vole;

/// The sender, set up: all that the receiver waits for is sent, and what is left of `b` is made by [`run`](Party::run).
#[derive(Debug)]
pub struct Sender<B>(State, PhantomData<fn() -> B>);

#[derive(Debug)]
enum State {
    /// The direct protocol is done at once.
    Done(VoleSender),
    /// The leaves wait for the seed of the code.
    Leaves { params: SilentParams, delta: Secret<Gf128>, leaves: Secret<Vec<Gf128>> },
}

impl<B: Value> Party for Sender<B> {
    type Params = Params;
    type Input = ();
    type Output = VoleSender;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let state = match params {
            Params::Direct(params) => State::Done(vole::send::<B>(params, ch, rng)?),
            Params::Silent(params) => start::<B>(params, ch, rng)?,
        };
        Ok(Self(state, PhantomData))
    }

    fn run(self, (): (), ch: &mut Channel, _: &mut SecretRng) -> Result<VoleSender, Abort> {
        match self.0 {
            State::Done(output) => Ok(output),
            State::Leaves { params, delta, mut leaves } => {
                let _phase = ch.phase(Phase::Expand);
                // Step 5.
                let CodeSeed(seed) = ch.recv(())?;
                let b = Code::new(params.len, params.positions(), params.width, seed).compress(&mut leaves);
                Ok(VoleSender { delta: *delta, b })
            }
        }
    }
}

/// All that the receiver waits for.
fn start<B: Value>(params: &SilentParams, ch: &mut Channel, rng: &mut SecretRng) -> Result<State, Abort> {
    let base = ot_extension::sender(&params.correlation(), ch, rng)?;
    let delta = Secret::new(Gf128(*base.delta));

    let _phase = ch.phase(Phase::Expand);
    // Step 1.
    let Flips(flips) = ch.recv(params.transfers())?;
    let pads = pads(params, &base, &flips);

    // Step 2.
    let values = Secret::new(base.columns.elements::<B>(params.value_blocks(), params.width));
    let leaves = expand_trees(params, &base, &pads, &values, ch)?;

    if params.checked() {
        let _phase = ch.phase(Phase::Check);
        // Step 3.
        let request: CheckRequest = ch.recv(())?;
        // Step 4.
        let mask = Secret::new(base.columns.elements::<Gf128>(params.mask_blocks(), 128));
        let side = Gf128(check::evaluate(request.chi, &leaves)) + mask[0] + *delta * Gf128(request.noise);
        ch.send(&CheckAnswer(check::answer(base.binding, side.0)))?;
    }
    Ok(State::Leaves { params: *params, delta, leaves })
}

/// The two pads of each tree and level, tree after tree.
fn pads(params: &SilentParams, base: &SenderCorrelation, flips: &[u8]) -> Secret<Vec<[u128; 2]>> {
    let mut rows = base.columns.rows(params.transfer_blocks());
    rows.truncate(params.transfers());
    for (i, row) in rows.iter_mut().enumerate() {
        *row ^= *base.delta & u128::from(flips[i / 8] >> (i % 8) & 1).wrapping_neg();
    }
    let hash = CorrelationHash::new(base.binding);
    let zeros = Secret::new(hash.hash(&rows));
    rows.iter_mut().for_each(|row| *row ^= *base.delta);
    let ones = Secret::new(hash.hash(&rows));
    Secret::new(zeros.iter().zip(ones.iter()).map(|(&zero, &one)| [zero, one]).collect())
}

/// All leaves; sends each tree's message as soon as it is expanded.
fn expand_trees(
    params: &SilentParams,
    base: &SenderCorrelation,
    pads: &[[u128; 2]],
    values: &[Gf128],
    ch: &mut Channel,
) -> Result<Secret<Vec<Gf128>>, Abort> {
    let depth = params.shape().depth();
    let mut tree = Tree::new(params.shape());
    let mut generators = generators(base.binding, TREES_LABEL);
    let mut leaves = Secret::new(vec![Gf128::default(); params.positions()]);
    let mut sums = Secret::new(vec![[0; 2]; params.shape().sums()]);
    let mut message = Vec::with_capacity(TREES_AT_A_TIME * params.tree_message());
    let mut each = pads.chunks_exact(depth).zip(values);
    for leaves in leaves.chunks_mut(TREES_AT_A_TIME * params.block) {
        message.clear();
        for ((leaves, (pads, value)), prg) in leaves.chunks_exact_mut(params.block).zip(&mut each).zip(&mut generators) {
            let total = tree.expand(&prg, pads[0], bytemuck::cast_slice_mut(leaves), &mut sums);
            for (sum, pad) in sums.iter().zip(&pads[1..]) {
                message.extend([sum[0] ^ pad[0], sum[1] ^ pad[1]]);
            }
            message.push(total ^ value.0);
        }
        ch.send_stream::<Trees>(&message)?;
    }
    Ok(leaves)
}
