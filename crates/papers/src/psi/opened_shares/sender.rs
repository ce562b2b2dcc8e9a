//! The left column of the figure.

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Party, Phase, Protocol};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Membership, Payloads};
use super::{Opened, Params};
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput, SharesInput};

/// The sender, set up.
pub struct Sender<O: Opened> {
    params: Params<O>,
    circuit: <O::Circuit as Protocol>::Sender,
}

impl<O: Opened> Party for Sender<O> {
    type Params = Params<O>;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params<O>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), circuit: Party::setup(&params.circuit, ch, rng)? })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, circuit } = self;
        input.check(params.sender_items, params.payload_bytes)?;
        let shares = circuit.run(SharesInput { items: input.items, payloads: input.payloads }, ch, rng)?;
        if params.bins() > 0 {
            // Steps 1 and 2.
            let _phase = ch.phase(Phase::Match);
            let payloads = Secret::new(shares.payloads);
            let membership: Bits = shares.membership.into_iter().collect();
            ch.send_stream::<Membership>(membership.words())?;
            ch.send_stream::<Payloads>(&payloads)?;
        }
        Ok(IntersectSenderOutput { matches: None })
    }
}
