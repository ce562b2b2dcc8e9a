//! The left column of the figure.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;

use super::Params;
use crate::tasks::{UnionReceiverInput, UnionSenderInput, UnionSenderOutput};
use crate::union::vesica_union;

/// The sender, set up for the direction in which it sends. The other direction is set up after it,
/// so that only one takes memory at a time.
pub struct Sender {
    params: Params,
    forward: vesica_union::Sender,
}

impl Party for Sender {
    type Params = Params;
    type Input = UnionSenderInput;
    type Output = UnionSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), forward: vesica_union::Sender::setup(&params.forward, ch, rng)? })
    }

    fn run(self, input: UnionSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<UnionSenderOutput, Abort> {
        let Self { params, forward } = self;
        let asked = UnionReceiverInput { items: input.items.clone(), ..Default::default() };
        forward.run(input, ch, rng)?;
        let records = ch.reversed(|ch| {
            vesica_union::Receiver::setup(&params.backward, ch, rng)?.run(asked, ch, rng).map(|output| output.records)
        })?;
        Ok(UnionSenderOutput { records: Some(records) })
    }
}
