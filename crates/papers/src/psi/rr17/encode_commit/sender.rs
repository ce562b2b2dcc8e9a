//! The left column of the figure.

use vesica_mpc::code_oprf::{self, Bch};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::groups::commit;
use crate::psi::rr17::Params;
use crate::psi::rr17::bins::Hashed;
use crate::psi::rr17::messages::Groups;
use crate::psi::rr17::salt::{Keys, toss_as_sender};
use crate::psi::rr17::transfers::evaluate;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, code_oprf::Sender<Bch>)>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Steps 1 to 3, and the transfers.
            let keys = toss_as_sender(params, ch, rng)?;
            Some((keys, code_oprf::Sender::setup(&params.chosen_by_receiver, ch, rng)?))
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
        input.check(params.sender_items, 0)?;
        let Some((keys, oprf)) = ready else { return Ok(IntersectSenderOutput::default()) };

        let phase = ch.phase(Phase::HashItems);
        let hashed = Hashed::new(&keys, params.bins, &input.items);
        drop(phase);
        let functions = oprf.functions(ch, rng)?;

        // Step 4.
        let _phase = ch.phase(Phase::Masks);
        let layout = params.layout();
        let order = random_order(params.sender_items, rng);
        let mut sent = Vec::new();
        evaluate(&functions, &hashed, layout.slots, &order, |items, encodings| {
            let (masks, tags) = encodings.values.split_at(items.len() * layout.slots);
            let openings: Secret<Vec<u128>> = Secret::new(items.iter().map(|_| rng.block()).collect());
            sent.resize(items.len() * layout.group_bytes(), 0);
            let groups = sent.chunks_exact_mut(layout.group_bytes());
            let encodings = masks.chunks_exact(layout.slots).zip(tags.chunks_exact(layout.slots));
            for (((group, (masks, tags)), &item), &opening) in groups.zip(encodings).zip(items).zip(openings.iter()) {
                let commitment = commit(&keys.commitments, input.items[item as usize], opening);
                let cells = masks.iter().zip(tags).map(|(mask, &tag)| (layout.tag_of(tag), mask ^ opening));
                layout.write(&commitment, cells, group);
            }
            ch.send_stream::<Groups>(&sent)
        })?;
        Ok(IntersectSenderOutput::default())
    }
}
