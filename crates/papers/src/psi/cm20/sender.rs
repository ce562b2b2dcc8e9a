//! The left column of the figure.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;

use super::keys::{self, Keys};
use super::messages::FinishArrows;
use super::{Params, columns};
use vesica_protocols::psi::finish;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, columns::Sender)>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            let key = keys::receive(ch)?;
            let (keys, places) = Keys::derive(params, ch, &key);
            Some((keys, columns::Sender::setup(&params.columns, places, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, ready } = self;
        params.finish.check_sender(&input)?;
        let Some((keys, columns)) = ready else { return Ok(params.finish.no_matches()) };
        // Step 2.
        let bits = columns.bits(&input.items, ch)?;
        let finish = finish::Sender::new(&params.finish);
        let collected = keys.collect(&params, &input.items, &bits, finish, ch);
        drop(bits);
        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(&input, collected.stored, ch, rng)
    }
}
