//! The right column of the figure.

use vesica_party::{Abort, Channel, Phase};
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagFinder;

use super::compare::Filter;
use super::{Arrows, Outputs, Params, payload, proofs};
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

/// The receiver once the sender's tags and payloads have come: what the sender learns is left.
pub struct Received {
    output: IntersectReceiverOutput,
    most_matches: usize,
    /// The proof of each item, if the sender learns its matches.
    proofs: Option<Secret<Vec<u128>>>,
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
        self.receive::<A>(input, outputs, ch)?.tell::<A>(ch)
    }

    /// Steps 1 and 2, once all tags have come. The work is the same whatever matches.
    pub fn receive<A: Arrows>(
        self,
        input: IntersectReceiverInput,
        mut outputs: impl Outputs,
        ch: &mut Channel,
    ) -> Result<Received, Abort> {
        let Self { params, tags } = self;
        let most_matches = params.most_matches();
        // Step 1.
        let mut tags = match tags {
            OwnTags::Finder(tags) => tags,
            OwnTags::Filtered(filter, tags) => {
                let matches = filter.receive::<A::Tags>(&tags, ch)?;
                // There are no steps 2 and 3: `Params::with_filter` sees to it.
                let output = IntersectReceiverOutput { matches, ..IntersectReceiverOutput::default() };
                return Ok(Received { output, most_matches, proofs: None });
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

        let phase = ch.phase(Phase::Match);
        let proofs = params.both_learn.then(|| outputs.proofs(&input.items));
        drop(phase);

        // Step 2.
        let payloads = if params.payload_bytes > 0 {
            let _phase = ch.phase(Phase::Payload);
            let (keystream, items) = (outputs.into_keystream(&input.items), input.items);
            let keystream = move |item: usize, out: &mut [u8]| keystream(item, items[item], out);
            payload::receive::<A::Payloads>(params.tags(), params.payload_bytes, found, keystream, ch)?
        } else {
            SealedPayloads::default()
        };
        Ok(Received { output: IntersectReceiverOutput { matches, payloads, unread: 0 }, most_matches, proofs })
    }
}

impl Received {
    /// Whether the sender learns something.
    pub fn tells(&self) -> bool {
        self.proofs.is_some()
    }

    /// The own output, where the sender learns nothing.
    pub fn into_output(self) -> IntersectReceiverOutput {
        self.output
    }

    /// Step 3.
    pub fn tell<A: Arrows>(self, ch: &mut Channel) -> Result<IntersectReceiverOutput, Abort> {
        let Self { output, most_matches, proofs } = self;
        if let Some(proofs) = proofs {
            let _phase = ch.phase(Phase::Match);
            let of_matches = output.matches.iter().map(|&item| proofs[item as usize]).collect();
            proofs::send::<A::Proofs>(most_matches, of_matches, ch)?;
        }
        Ok(output)
    }
}
