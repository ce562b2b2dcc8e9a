//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel};
use vesica_structures::rng::SecretRng;

use super::{Params, combine, oprf};
use vesica_protocols::circuit_psi::{self, Matching};
use vesica_protocols::union::circuit::Circuit;

/// The receiver, set up.
pub struct Receiver {
    pub(super) oprf: oprf::Receiver,
    pub(super) rest: AfterOprf,
}

/// What is set up for the steps behind the OPRF.
pub(super) struct AfterOprf {
    combine: combine::Receiver,
    pub(super) circuit: <Circuit as Matching>::Sender,
}

impl Receiver {
    /// Step 1, the shuffle's set-up, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            oprf: oprf::Receiver::setup(&params.oprf, ch, rng)?,
            rest: AfterOprf {
                combine: combine::Receiver::setup(params, ch, rng)?,
                circuit: ch.reversed(|ch| Circuit::sender(&params.circuit, ch, rng))?,
            },
        })
    }

    /// Steps 2 to 4; for each place whether its item is common.
    pub(super) fn test(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { oprf, rest } = self;
        let values = oprf.ask(items, ch)?;
        rest.test(&values, ch, rng)
    }
}

impl AfterOprf {
    /// Circuit PSI on the OPRF's values, and the permutation.
    pub(super) fn test(self, values: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { combine, circuit } = self;
        let shares = ch.reversed(|ch| Circuit::send(circuit, values, &circuit_psi::nothing, ch, rng))?;
        combine.permute(&shares, ch, rng)
    }
}
