//! The right column of the figure.

use vesica_party::{Abort, Channel, Party, Phase, Security};
use vesica_structures::fields::Cell;
use vesica_structures::okvs::Okvs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::keys::Keys;
use super::messages::FinishArrows;
use super::mode::{Functions, ReceiverRows};
use super::{Params, coded, identity};
use crate::psi::finish;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    ready: Ready,
}

enum Ready {
    /// A set is empty.
    Nothing,
    SemiHonest(Box<SetUp<identity::ReceiverColumns>>),
    Malicious(Box<SetUp<coded::ReceiverColumns>>),
}

/// What the set-up gives.
pub(super) struct SetUp<R: ReceiverRows> {
    pub(super) keys: Keys<R::Functions>,
    pub(super) rows: R,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = match params.security {
            _ if params.is_empty() => Ready::Nothing,
            Security::SemiHonest => Ready::SemiHonest(Box::new(SetUp::new(params, ch, rng)?)),
            Security::Malicious => Ready::Malicious(Box::new(SetUp::new(params, ch, rng)?)),
        };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, ready } = self;
        params.finish.check_receiver(&input)?;
        match ready {
            Ready::Nothing => Ok(IntersectReceiverOutput::default()),
            Ready::SemiHonest(set_up) => set_up.run(&params, input, ch, rng),
            Ready::Malicious(set_up) => set_up.run(&params, input, ch, rng),
        }
    }
}

impl<R: ReceiverRows> SetUp<R> {
    /// The salt, and the OTs.
    pub(super) fn new(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { keys: R::Functions::receive_salt(params, ch, rng)?, rows: R::setup(params, ch, rng)? })
    }

    fn run(
        self,
        params: &Params,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { keys, rows } = self;

        let phase = ch.phase(Phase::HashItems);
        let okvs = keys.okvs(params)?;
        let items = okvs.arrange(&input.items);
        let values = keys.functions.values(items.keys());
        drop(phase);

        // Step 2; in the malicious mode 8 and 9.
        let phase = ch.phase(Phase::Encode);
        let masks = rows.send_table(params, &okvs, (&items, &values), ch, rng)?;
        drop((phase, values));

        let phase = ch.phase(Phase::Match);
        let finish = &params.finish;
        let mut collected = keys.collect(params, finish::Receiver::new(finish), finish.receiver_items);
        for part in 0..params.parts.len() {
            let own = items.part(part);
            let mut decoded = zero_rows(own.len());
            okvs.decode_part(&masks, &items, part, &mut decoded);
            keys.functions.add(&items.keys()[own.clone()], &mut decoded, &items.places()[own], &mut collected);
        }
        drop((phase, masks));

        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(input, collected.stored, ch)
    }
}

/// Space for rows.
fn zero_rows<R: Cell>(count: usize) -> Secret<Vec<R>> {
    Secret::new(vec![R::default(); count])
}
