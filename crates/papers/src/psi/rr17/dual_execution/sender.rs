//! The left column of the figure.

use std::iter::repeat;

use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagSorter;

use super::SenderReady;
use crate::psi::rr17::Params;
use crate::psi::rr17::bins::{Hashed, Slots};
use crate::psi::rr17::messages::Tags;
use crate::psi::rr17::transfers::{choose, evaluate};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// Unless a set is empty.
    ready: Option<SenderReady>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() { None } else { Some(SenderReady::setup(params, ch, rng)?) };
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
        let Some(SenderReady { keys, evaluated, chosen }) = ready else { return Ok(IntersectSenderOutput::default()) };

        let phase = ch.phase(Phase::HashItems);
        let hashed = Hashed::new(&keys, params.bins, &input.items);
        let slots = Slots::fill(&hashed, params.bins, params.sender_slots, rng)?;
        drop(phase);

        // [[.]]^A, and [[x]]^B of the slots that items are in.
        let functions = evaluated.functions(ch, rng)?;
        let own = ch.reversed(|ch| choose(chosen, &slots, params.sender_items, 1, ch, rng))?;
        drop(slots);

        // Step 4.
        let _phase = ch.phase(Phase::Masks);
        let (count, slots) = (params.sender_encodings(), params.receiver_slots);
        let mut sorter = TagSorter::new(count, params.tag_bits);
        let order: Vec<u32> = (0..params.sender_items as u32).collect();
        evaluate(&functions, &hashed, slots, &order, |items, mut encodings: PrfOutputs| {
            for (of_item, &item) in encodings.values.chunks_exact_mut(slots).zip(items) {
                of_item.iter_mut().for_each(|encoding| *encoding ^= own[item as usize]);
            }
            sorter.add(&encodings.values, repeat(()));
            Ok(())
        })?;
        drop(functions);
        tags::send::<Tags, ()>(sorter, count, params.tag_bits, ch)?;
        Ok(IntersectSenderOutput::default())
    }
}
