//! The right column of the figure.

use vesica_party::{Abort, Channel, Phase};
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagFinder;

use super::compare::Filter;
use super::{Arrows, Outputs, OwnProofs, Params, payload};
use crate::tags;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput, SealedPayloads};

/// The receiver, which collects its tags as its OPRF gives them.
pub struct Receiver {
    params: Params,
    tags: OwnTags,
}

/// The receiver's tags.
enum OwnTags {
    /// To be found among the sender's as these come.
    Finder(Box<TagFinder>),
    /// To be looked up in the sender's filter, in the order of their numbers.
    Filtered(Filter, Secret<Vec<u128>>),
}

impl Receiver {
    /// A receiver without tags yet.
    pub fn new(params: &Params) -> Self {
        let tags = match params.filter {
            Some(filter) => OwnTags::Filtered(filter, Secret::new(vec![0; params.receiver_items])),
            // Where payloads follow, the places of the sender's tags say which payload belongs to which
            // match.
            None => OwnTags::Finder(Box::new(TagFinder::new(
                params.receiver_items,
                params.tag_bits,
                params.payload_bytes > 0,
            ))),
        };
        Self { params: params.clone(), tags }
    }

    /// Takes some outputs, of which tags are the low bits, with their items' numbers. Each number
    /// comes once.
    pub fn add(&mut self, outputs: &[u128], numbers: impl IntoIterator<Item = u32>) {
        match &mut self.tags {
            OwnTags::Finder(tags) => tags.add(outputs, numbers),
            OwnTags::Filtered(_, tags) => {
                for (&output, number) in outputs.iter().zip(numbers) {
                    tags[number as usize] = output;
                }
            }
        }
    }

    /// Steps 1 to 3, once all tags have come. The payloads stay sealed until the caller opens them;
    /// the proofs go last, when the own result is complete.
    pub fn finish<A: Arrows>(
        self,
        input: IntersectReceiverInput,
        outputs: impl Outputs,
        ch: &mut Channel,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let (output, proofs) = self.receive::<A>(input, outputs, ch)?;
        proofs.tell::<A>(&output.matches, ch)?;
        Ok(output)
    }

    /// Steps 1 and 2, once all tags have come. Gives the own output and what step 3 takes. The work is the same
    /// whatever matches.
    pub fn receive<A: Arrows>(
        self,
        input: IntersectReceiverInput,
        mut outputs: impl Outputs,
        ch: &mut Channel,
    ) -> Result<(IntersectReceiverOutput, OwnProofs), Abort> {
        let Self { params, tags } = self;
        // Step 1.
        let mut tags = match tags {
            OwnTags::Finder(tags) => tags,
            OwnTags::Filtered(filter, tags) => {
                let matches = filter.receive::<A::Tags>(&tags, ch)?;
                // There are no steps 2 and 3: `Params::with_filter` sees to it.
                let output = IntersectReceiverOutput { matches, ..IntersectReceiverOutput::default() };
                return Ok((output, OwnProofs::new(&params, &mut outputs, &input.items, ch)));
            }
        };
        let phase = ch.phase(Phase::Match);
        tags.prepare();
        drop(phase);
        let phase = ch.phase(Phase::Masks);
        tags::receive_each::<A::Tags>(params.coding, params.tags(), params.tag_bits, ch, |theirs| tags.find(theirs))?;
        let found = tags.found();
        let matches = found.list();
        drop(phase);

        let proofs = OwnProofs::new(&params, &mut outputs, &input.items, ch);

        // Step 2.
        let payloads = if params.payload_bytes > 0 {
            let _phase = ch.phase(Phase::Payload);
            let (keystream, items) = (outputs.into_keystream(&input.items), input.items);
            let keystream = move |item: usize, out: &mut [u8]| keystream(item, items[item], out);
            payload::receive::<A::Payloads>(params.tags(), params.payload_bytes, found, keystream, ch)?
        } else {
            SealedPayloads::default()
        };
        Ok((IntersectReceiverOutput { matches, payloads, unread: 0 }, proofs))
    }
}
