//! The right column of the figure.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;

use super::Params;
use crate::tasks::{UnionReceiverInput, UnionReceiverOutput, UnionSenderInput};
use crate::union::vesica_union;

/// The receiver, set up for the direction in which it receives.
pub struct Receiver {
    params: Params,
    forward: vesica_union::Receiver,
}

impl Party for Receiver {
    type Params = Params;
    type Input = UnionReceiverInput;
    type Output = UnionReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), forward: vesica_union::Receiver::setup(&params.forward, ch, rng)? })
    }

    fn run(
        self,
        input: UnionReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<UnionReceiverOutput, Abort> {
        let Self { params, forward } = self;
        input.check_mutual(params.backward.request.sender_items, params.backward.request.record_bytes)?;
        let UnionReceiverInput { items, records, dummies } = input;
        let asked = UnionReceiverInput { items: items.clone(), ..Default::default() };
        let output = forward.run(asked, ch, rng)?;
        ch.reversed(|ch| {
            let sender = vesica_union::Sender::setup(&params.backward, ch, rng)?;
            sender.run(UnionSenderInput { items, records, dummies }, ch, rng)
        })?;
        Ok(output)
    }
}
