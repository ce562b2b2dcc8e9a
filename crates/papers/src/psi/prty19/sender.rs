//! The left column of the figure.

use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;

use super::keys::{Collected, Keys};
use super::messages::FinishArrows;
use super::params::{Layout, Params};
use super::rows::{SenderColumns, SenderRows};
use super::{fast, low, table};
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, Alice, set up.
pub struct Sender<V> {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, SenderColumns)>,
    variant: PhantomData<fn() -> V>,
}

impl<V> Party for Sender<V> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            Some((Keys::of_sender(params, ch, rng)?, SenderColumns::setup(params, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready, variant: PhantomData })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let params = &self.params;
        params.finish.check_sender(&input)?;
        let Some((keys, columns)) = &self.ready else { return Ok(params.finish.no_matches()) };
        let rows = SenderRows { params, keys, own: columns };
        let mut collected = Collected::of_sender(params);

        // Step 2.
        match params.layout {
            Layout::Low { bins } => low::evaluate_polynomial(&rows, bins, &input.items, &mut collected, ch)?,
            Layout::Table { bins } => table::evaluate_table(&rows, bins, &input.items, &mut collected, ch)?,
            Layout::Fast(table) => {
                let _phase = ch.phase(Phase::Decode);
                fast::evaluate_polynomials(&rows, table, &input.items, &mut collected, ch)?;
            }
        }

        // Steps 3 to 5; an item's payload travels under each of its tags.
        collected.tags.finish::<FinishArrows>(&input, collected.stored, ch, rng)
    }
}
