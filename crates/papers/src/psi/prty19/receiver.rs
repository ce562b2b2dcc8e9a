//! The right column of the figure.

use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;

use super::keys::{Collected, Keys};
use super::messages::FinishArrows;
use super::params::{Layout, Params};
use super::rows::{ReceiverColumns, ReceiverRows};
use super::{fast, low, table};
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, Bob, set up.
pub struct Receiver<V> {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, ReceiverColumns)>,
    variant: PhantomData<fn() -> V>,
}

impl<V> Party for Receiver<V> {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            Some((Keys::of_receiver(params, ch, rng)?, ReceiverColumns::setup(params, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready, variant: PhantomData })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let params = &self.params;
        params.finish.check_receiver(&input)?;
        let Some((keys, columns)) = &self.ready else { return Ok(IntersectReceiverOutput::default()) };
        let rows = ReceiverRows { params, keys, own: columns };
        let mut collected = Collected::of_receiver(params);

        // Step 2.
        match params.layout {
            Layout::Low { bins } => low::send_polynomial(&rows, bins, &input.items, &mut collected, ch, rng)?,
            Layout::Table { bins } => table::send_table(&rows, bins, &input.items, &mut collected, ch, rng)?,
            Layout::Fast(table) => {
                let _phase = ch.phase(Phase::Encode);
                fast::send_polynomials(&rows, table, &input.items, &mut collected, ch, rng)?;
            }
        }

        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(input, collected.stored, ch)
    }
}
