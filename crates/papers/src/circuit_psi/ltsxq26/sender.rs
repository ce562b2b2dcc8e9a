//! The left column of the figure.

use vesica_mpc::opprf::params::block_widths;
use vesica_mpc::oprf::table;
use vesica_mpc::tasks::Programmed;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::Hint;
use super::{Params, low, masks};
use crate::psi::ltsxq26::{self, Sha};

/// The sender, set up.
pub struct Sender {
    params: Params,
    oprf: ltsxq26::Sender<Sha>,
}

impl Party for Sender {
    type Params = Params;
    type Input = Programmed;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), oprf: ltsxq26::Sender::setup(&params.oprf, ch, rng)? })
    }

    fn run(self, input: Programmed, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let Params { oprf, output_bits, .. } = &self.params;
        let count = oprf.sender_items;
        let widths = block_widths(*output_bits);
        if input.keys.len() != count || input.values.len() != count * self.params.blocks() {
            return Err(
                Unsupported::new("keys and values of another number than agreed", "program as many as agreed").into()
            );
        }
        // Step 4.
        let Some(evaluated) = self.oprf.evaluate(&input.keys, ch)? else { return Ok(()) };
        // Step 6.
        let phase = ch.phase(Phase::HashItems);
        let hint = self.params.hint(evaluated.omega)?;
        let pairs = hint.arrange(&input.keys);
        drop(phase);
        let _phase = ch.phase(Phase::Encode);
        for ((block, width), values) in widths.enumerate().zip(input.values.chunks(count)) {
            let masks = masks(evaluated.omega, block, evaluated.items.keys(), &evaluated.inputs);
            let mut masked = Secret::new(vec![Gf128::default(); count]);
            for (&mask, &place) in masks.iter().zip(evaluated.items.places()) {
                masked[place as usize] = Gf128::from_bits((mask ^ values[place as usize]) & low(width));
            }
            let masked = Secret::new(pairs.arranged(&masked));
            table::encode_and_send_vartime::<Hint, Gf128>(
                &hint,
                (&pairs, &masked),
                FreeCells::Random(rng),
                |_, _| (),
                width,
                ch,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Sender {
    /// `s`.
    pub(super) fn choices(&self) -> Vec<bool> {
        self.oprf.choices()
    }
}
