//! The right column of the figure.

use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagFinder;

use super::ReceiverReady;
use crate::psi::rr17::Params;
use crate::psi::rr17::bins::{Hashed, Slots};
use crate::psi::rr17::messages::Tags;
use crate::psi::rr17::transfers::{choose, evaluate};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput, SealedPayloads};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// Unless a set is empty.
    ready: Option<ReceiverReady>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() { None } else { Some(ReceiverReady::setup(params, ch, rng)?) };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, ready } = self;
        input.check(params.receiver_items)?;
        let Some(ReceiverReady { keys, chosen, evaluated }) = ready else {
            return Ok(IntersectReceiverOutput::default());
        };

        let phase = ch.phase(Phase::HashItems);
        let hashed = Hashed::new(&keys, params.bins, &input.items);
        let slots = Slots::fill(&hashed, params.bins, params.receiver_slots, rng)?;
        drop(phase);

        // [[y]]^A of the slots that items are in, and [[.]]^B.
        let own = choose(chosen, &slots, params.receiver_items, 1, ch, rng)?;
        drop(slots);
        let functions = ch.reversed(|ch| evaluated.functions(ch, rng))?;

        let phase = ch.phase(Phase::Masks);
        let slots = params.sender_slots;
        let mut finder = TagFinder::new(params.receiver_encodings(), params.tag_bits, false);
        let order: Vec<u32> = (0..params.receiver_items as u32).collect();
        evaluate(&functions, &hashed, slots, &order, |items, mut encodings: PrfOutputs| {
            for (of_item, &item) in encodings.values.chunks_exact_mut(slots).zip(items) {
                of_item.iter_mut().for_each(|encoding| *encoding ^= own[item as usize]);
            }
            let numbers = items.iter().flat_map(|&item| item * slots as u32..(item + 1) * slots as u32);
            finder.add(&encodings.values, numbers);
            Ok(())
        })?;
        drop((functions, own, hashed));
        finder.prepare();
        drop(phase);

        // Step 4.
        let _phase = ch.phase(Phase::Match);
        tags::receive::<Tags>(&mut finder, params.sender_encodings(), params.tag_bits, ch)?;
        let found = finder.found();
        // An item may be found by several of its encodings, if the sender has put it into several slots. One
        // pass over all of them, with the same work whatever was found, into a list that was written before.
        let (mut matches, mut count) = (vec![u32::MAX; params.receiver_items + 1], 0);
        for item in 0..params.receiver_items {
            let is_match = (item * slots..(item + 1) * slots).fold(false, |any, number| any | found.get(number));
            matches[count] = item as u32;
            count += usize::from(is_match);
        }
        matches.truncate(count);
        Ok(IntersectReceiverOutput { matches, payloads: SealedPayloads::default(), unread: 0 })
    }
}
