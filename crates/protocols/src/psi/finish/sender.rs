//! The left column of the figure.

use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagSorter;

use super::compare::Filter;
use super::{Arrows, Outputs, OwnProofs, Params, payload};
use crate::tags::{self, TagCoding};
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, which collects its tags as its OPRF gives them.
pub struct Sender {
    params: Params,
    tags: CollectedTags,
}

/// The sender's tags, to be sent in an order that says nothing of its items'.
enum CollectedTags {
    /// Tags alone. The sort is the shuffle.
    Sorted(TagSorter<()>),
    /// Tags with their numbers, since payloads follow in the same order. The sort is the shuffle.
    Numbered(TagSorter<u32>),
    /// Tags that go into a filter, sorted: then it does not depend on their order.
    Filtered(Filter, TagSorter<()>),
    /// Tags in the order of their numbers.
    Shuffled(Secret<Vec<u128>>),
}

impl Sender {
    /// A sender without tags yet.
    pub fn new(params: &Params) -> Self {
        let (count, bits) = (params.tags(), params.tag_bits);
        let tags = match (params.filter, params.coding) {
            (Some(filter), _) => CollectedTags::Filtered(filter, TagSorter::new(count, bits)),
            (None, TagCoding::SortedCoded) if params.payload_bytes == 0 => {
                CollectedTags::Sorted(TagSorter::new(count, bits))
            }
            (None, TagCoding::SortedCoded) => CollectedTags::Numbered(TagSorter::new(count, bits)),
            (None, TagCoding::Shuffled) => CollectedTags::Shuffled(Secret::new(vec![0; count])),
        };
        Self { params: params.clone(), tags }
    }

    /// Takes some outputs, of which tags are the low bits, with their numbers. Each number comes
    /// once.
    pub fn add(&mut self, outputs: &[u128], numbers: impl IntoIterator<Item = u32>) {
        match &mut self.tags {
            CollectedTags::Sorted(tags) | CollectedTags::Filtered(_, tags) => tags.add(outputs, std::iter::repeat(())),
            CollectedTags::Numbered(tags) => tags.add(outputs, numbers),
            CollectedTags::Shuffled(tags) => {
                for (&output, number) in outputs.iter().zip(numbers) {
                    tags[number as usize] = output;
                }
            }
        }
    }

    /// Steps 1 to 3, once all tags have come.
    pub fn finish<A: Arrows>(
        self,
        input: &IntersectSenderInput,
        outputs: impl Outputs,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        self.send::<A>(input, outputs, ch, rng)?.learn::<A>(ch)
    }

    /// Steps 1 and 2, once all tags have come. Gives what step 3 takes.
    pub fn send<A: Arrows>(
        self,
        input: &IntersectSenderInput,
        mut outputs: impl Outputs,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<OwnProofs, Abort> {
        let Self { params, tags } = self;
        // Step 1.
        let phase = ch.phase(Phase::Masks);
        let order = tags.send::<A::Tags>(&params, ch, rng)?;
        drop(phase);

        let proofs = OwnProofs::new(&params, &mut outputs, &input.items, ch);

        // Step 2.
        if params.payload_bytes > 0 {
            let _phase = ch.phase(Phase::Payload);
            let keystream = outputs.into_keystream(&input.items);
            let item = |number: usize| number / params.tags_per_item;
            let payload =
                |number: usize| &input.payloads[item(number) * params.payload_bytes..][..params.payload_bytes];
            let keystream = |number: usize, out: &mut [u8]| keystream(number, input.items[item(number)], out);
            payload::send::<A::Payloads>(payload, params.payload_bytes, &order, keystream, ch)?;
        }
        Ok(proofs)
    }
}

impl CollectedTags {
    /// Sends them, and returns which number stands at which place, if payloads follow.
    fn send<S: Stream<Element = u8>>(
        self,
        params: &Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Vec<u32>, Abort> {
        let (count, bits) = (params.tags(), params.tag_bits);
        match self {
            Self::Sorted(tags) => tags::send::<S, _>(tags, count, bits, ch).map(|_| Vec::new()),
            Self::Numbered(tags) => tags::send::<S, _>(tags, count, bits, ch),
            Self::Filtered(filter, tags) => filter.send::<S>(tags, ch).map(|()| Vec::new()),
            Self::Shuffled(tags) => tags::send_shuffled::<S>(&tags, bits, ch, rng),
        }
    }
}
