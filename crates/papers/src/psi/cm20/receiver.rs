//! The right column of the figure.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;

use super::keys::{self, Keys};
use super::messages::FinishArrows;
use super::{Params, columns};
use vesica_protocols::psi::finish;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
#[derive(Debug)]
pub struct Receiver {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, columns::Receiver)>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            let key = keys::send(ch, rng)?;
            let (keys, places) = Keys::derive(params, ch, &key);
            Some((keys, columns::Receiver::setup(&params.columns, places, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, ready } = self;
        params.finish.check_receiver(&input)?;
        let Some((keys, columns)) = ready else { return Ok(IntersectReceiverOutput::default()) };
        // Step 2.
        let bits = columns.bits(&input.items, ch)?;
        let finish = finish::Receiver::new(&params.finish);
        let collected = keys.collect(&params, &input.items, &bits, finish, ch);
        drop(bits);
        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(input, collected.stored, ch)
    }
}
