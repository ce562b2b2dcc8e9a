//! The left column of the figure.

use vesica_party::{Abort, Channel};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::{Params, combine, oprf};
use vesica_protocols::circuit_psi::Matching;
use vesica_protocols::membership::NO_ITEM;
use vesica_protocols::union::circuit::Circuit;

/// The sender, set up.
pub struct Sender {
    oprf: oprf::Sender,
    combine: combine::Sender,
    circuit: <Circuit as Matching>::Receiver,
}

impl Sender {
    /// Step 1, the shuffle's set-up, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let order = Secret::new(random_order(params.circuit.bins, rng));
        Self::setup_in_order(params, order, ch, rng)
    }

    /// The set-up with a given order of all bins. Circuit PSI comes last: its receiver leaves some of
    /// the set-up to its run.
    pub(super) fn setup_in_order(
        params: &Params,
        order: Secret<Vec<u32>>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        Ok(Self {
            oprf: oprf::Sender::setup(&params.oprf, ch, rng)?,
            combine: combine::Sender::setup(params, order, ch, rng)?,
            circuit: ch.reversed(|ch| Circuit::receiver(&params.circuit, ch, rng))?,
        })
    }

    /// Steps 2 to 4; which item each place holds.
    pub(super) fn ask(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        let Self { oprf, combine, circuit } = self;
        let values = oprf.evaluate(items, ch)?;
        let matched = ch.reversed(|ch| Circuit::receive(circuit, &values, ch, rng))?;
        let mut places = combine.permute(&matched.membership, ch, rng)?;
        places.iter_mut().for_each(|place| *place = matched.items[*place as usize].unwrap_or(NO_ITEM));
        Ok(places)
    }
}
