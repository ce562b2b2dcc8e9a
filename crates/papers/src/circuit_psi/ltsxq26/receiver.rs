//! The right column of the figure.

use vesica_mpc::opprf::params::block_widths;
use vesica_mpc::oprf::table;
use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Okvs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::Hint;
use super::view::View;
use super::{Params, low, masks};
use crate::psi::ltsxq26::{self, Sha};
use vesica_protocols::tasks::IntersectReceiverInput;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    oprf: ltsxq26::Receiver<Sha>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u128>;
    type Output = PrfOutputs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), oprf: ltsxq26::Receiver::setup(&params.oprf, ch, rng)? })
    }

    fn run(self, asked: Vec<u128>, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        Ok(self.run_observed(asked, ch, rng)?.0)
    }
}

impl Receiver {
    /// The number of keys that the receiver asks for.
    pub(super) fn keys(&self) -> usize {
        self.params.oprf.receiver_items
    }

    /// Steps 4 and 7, and the view.
    ///
    /// # Errors
    /// Fails as [`Party::run`] does.
    pub fn run_observed(
        self,
        asked: Vec<u128>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(PrfOutputs, View), Abort> {
        let mut view = View { oprf: ltsxq26::View::empty(&self.params.oprf), params: self.params, hint: Vec::new() };
        let params = &view.params;
        let widths = block_widths(params.output_bits);
        // Step 4.
        let own = self.oprf.hash(IntersectReceiverInput { items: asked })?;
        let mut out = PrfOutputs { values: Vec::with_capacity(own.items.len() * params.blocks()) };
        let Some(omega) = self.oprf.encode(&own, Some(&mut view.oprf), ch, rng)? else {
            // Nothing is programmed: any random function is as good.
            widths.for_each(|width| out.values.extend((0..own.items.len()).map(|_| rng.block() & low(width))));
            return Ok((out, view));
        };
        // Step 7.
        let _phase = ch.phase(Phase::Decode);
        let hint = params.hint(omega)?;
        let mut decoded = Secret::new(vec![Gf128::default(); own.items.len()]);
        for (block, width) in widths.enumerate() {
            let mut cells = vec![Gf128::default(); hint.len()];
            for part in hint.parts() {
                let part = &mut cells[part];
                table::receive::<Hint, Gf128>(part.len(), width, ch, |place, values| {
                    part[place].copy_from_slice(values)
                })?;
            }
            hint.decode(&cells, &own.items, &mut decoded);
            let masks = masks(omega, block, &own.items, &own.a);
            out.values.extend(decoded.iter().zip(masks.iter()).map(|(decoded, mask)| (decoded.0 ^ mask) & low(width)));
            view.hint.push(cells);
        }
        Ok((out, view))
    }
}
