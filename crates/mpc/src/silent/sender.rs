//! The left column of the figure: gets `delta` and `b`.

use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{CheckAnswer, CheckRequest, CodeSeed, Flips};
use super::params::{Params, SilentParams};
use super::{check, trees};
use crate::ot_extension;
use crate::silent::code::Code;
use crate::small_field_vole;
use crate::tasks::VoleSender;

/// The sender, set up: all that the receiver waits for is sent, and what is left of `b` is made by
/// [`run`](Party::run).
#[derive(Debug)]
pub struct Sender<B>(State, PhantomData<fn() -> B>);

#[derive(Debug)]
enum State {
    /// The direct protocol is done at once.
    Done(VoleSender),
    /// The leaves wait for the seed of the code.
    Leaves { params: SilentParams, delta: Secret<Gf128>, leaves: Secret<Vec<Gf128>> },
}

impl<B: Value> From<VoleSender> for Sender<B> {
    /// The sender of a VOLE that exists already.
    fn from(output: VoleSender) -> Self {
        Self(State::Done(output), PhantomData)
    }
}

impl<B: Value> Party for Sender<B> {
    type Params = Params;
    type Input = ();
    type Output = VoleSender;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let state = match params {
            Params::Direct(params) => State::Done(small_field_vole::send::<B>(params, ch, rng)?),
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

/// The part of the set-up that the receiver waits for.
fn start<B: Value>(params: &SilentParams, ch: &mut Channel, rng: &mut SecretRng) -> Result<State, Abort> {
    let base = ot_extension::sender(&params.correlation(), ch, rng)?;
    let delta = Secret::new(Gf128(*base.delta));

    let _phase = ch.phase(Phase::Expand);
    // Step 1.
    let Flips(flips) = ch.recv(params.transfers())?;
    let mut rows = base.columns.rows(params.transfer_blocks());
    rows.truncate(params.transfers());
    let pads = trees::sender_pads(base.binding, *base.delta, rows, &flips);

    // Step 2.
    let values = Secret::new(base.columns.elements::<B>(params.value_blocks(), params.width));
    let mut leaves = Secret::new(vec![Gf128::default(); params.positions()]);
    trees::send(params.shape(), base.binding, (&pads, &values), &mut leaves, ch, |_| ())?;

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
