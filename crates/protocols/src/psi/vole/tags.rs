//! Arrow 8 in either coding.

use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::{Found, TagFinder, TagSorter};

use super::messages::Tags;
use super::params::Params;
use crate::tags::{self, TagCoding};

/// The sender's tags, taken as they come and sent in an order that says nothing.
pub(super) enum SentMasks {
    /// The sort is the shuffle.
    Sorted(TagSorter<()>),
    /// Tags with the items' numbers, since payloads follow in the same order.
    Numbered(TagSorter<u32>),
    /// Tags in the order of the items.
    Shuffled(Secret<Vec<u128>>),
}

impl SentMasks {
    pub(super) fn new(params: &Params) -> Self {
        let (count, bits) = (params.sender_items, params.tag_bits);
        match params.coding {
            TagCoding::SortedCoded if params.payload_bytes == 0 => Self::Sorted(TagSorter::new(count, bits)),
            TagCoding::SortedCoded => Self::Numbered(TagSorter::new(count, bits)),
            TagCoding::Shuffled => Self::Shuffled(Secret::new(vec![0; count])),
        }
    }

    /// Takes the outputs of some items, of which tags are the low bits; each item comes once.
    pub(super) fn add(&mut self, outputs: &[u128], items: impl IntoIterator<Item = u32>) {
        match self {
            Self::Sorted(tags) => tags.add(outputs, std::iter::repeat(())),
            Self::Numbered(tags) => tags.add(outputs, items),
            Self::Shuffled(tags) => {
                for (&output, item) in outputs.iter().zip(items) {
                    tags[item as usize] = output;
                }
            }
        }
    }

    /// Sends them, once all have come, and returns which item stands at which place, if a payload asks for it.
    pub(super) fn send(self, params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
        let (count, bits) = (params.sender_items, params.tag_bits);
        match self {
            Self::Sorted(tags) => tags::send::<Tags, _>(tags, count, bits, ch).map(|_| Vec::new()),
            Self::Numbered(tags) => tags::send::<Tags, _>(tags, count, bits, ch),
            Self::Shuffled(tags) => tags::send_shuffled::<Tags>(&tags, bits, ch, rng),
        }
    }
}

/// The receiver's tags, taken as they come, and then looked for in the sender's.
pub(super) struct OwnMasks(TagFinder);

impl OwnMasks {
    pub(super) fn new(params: &Params) -> Self {
        Self(TagFinder::new(params.receiver_items, params.tag_bits, params.payload_bytes > 0))
    }

    /// Takes the outputs of some items, of which tags are the low bits; each item comes once.
    pub(super) fn add(&mut self, outputs: &[u128], items: impl IntoIterator<Item = u32>) {
        self.0.add(outputs, items);
    }

    /// Receives exactly `n_s` tags, once all own ones have come. Which items match; with the places at which the sender's tags came, if a
    /// payload asks for them.
    pub(super) fn receive(mut self, params: &Params, ch: &mut Channel) -> Result<Found, Abort> {
        let phase = ch.phase(Phase::Match);
        self.0.prepare();
        drop(phase);
        let _phase = ch.phase(Phase::Masks);
        let (count, bits) = (params.sender_items, params.tag_bits);
        match params.coding {
            TagCoding::SortedCoded => tags::receive::<Tags>(&mut self.0, count, bits, ch)?,
            TagCoding::Shuffled => tags::receive_shuffled::<Tags>(count, bits, ch, |tags| self.0.find(tags))?,
        }
        Ok(self.0.found())
    }
}
