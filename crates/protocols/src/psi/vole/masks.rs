//! Arrow 8 in either coding.

use vesica_party::{Abort, Channel, Phase};
use vesica_structures::masks::{Found, MaskFinder, MaskSorter};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::Masks;
use super::params::Params;
use crate::masks::{self, MaskCoding};

/// The sender's masks, taken as they come and sent in an order that says nothing.
pub(super) enum SentMasks {
    /// The sort is the shuffle.
    Sorted(MaskSorter<()>),
    /// With the items' numbers, for payloads follow in the same order.
    Numbered(MaskSorter<u32>),
    /// By item.
    Shuffled(Secret<Vec<u128>>),
}

impl SentMasks {
    pub(super) fn new(params: &Params) -> Self {
        let (count, bits) = (params.sender_items, params.mask_bits);
        match params.coding {
            MaskCoding::SortedCoded if params.payload_bytes == 0 => Self::Sorted(MaskSorter::new(count, bits)),
            MaskCoding::SortedCoded => Self::Numbered(MaskSorter::new(count, bits)),
            MaskCoding::Shuffled => Self::Shuffled(Secret::new(vec![0; count])),
        }
    }

    /// Takes the outputs of some items, of which masks are the low bits; each item comes once.
    pub(super) fn add(&mut self, outputs: &[u128], items: impl IntoIterator<Item = u32>) {
        match self {
            Self::Sorted(masks) => masks.add(outputs, std::iter::repeat(())),
            Self::Numbered(masks) => masks.add(outputs, items),
            Self::Shuffled(masks) => {
                for (&output, item) in outputs.iter().zip(items) {
                    masks[item as usize] = output;
                }
            }
        }
    }

    /// Sends them, once all have come, and returns which item stands at which place, if a payload asks for it.
    pub(super) fn send(self, params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
        let (count, bits) = (params.sender_items, params.mask_bits);
        match self {
            Self::Sorted(masks) => masks::send::<Masks, _>(masks, count, bits, ch).map(|_| Vec::new()),
            Self::Numbered(masks) => masks::send::<Masks, _>(masks, count, bits, ch),
            Self::Shuffled(masks) => masks::send_shuffled::<Masks>(&masks, bits, ch, rng),
        }
    }
}

/// The receiver's masks, taken as they come, and then looked for in the sender's.
pub(super) struct OwnMasks(MaskFinder);

impl OwnMasks {
    pub(super) fn new(params: &Params) -> Self {
        Self(MaskFinder::new(params.receiver_items, params.mask_bits, params.payload_bytes > 0))
    }

    /// Takes the outputs of some items, of which masks are the low bits; each item comes once.
    pub(super) fn add(&mut self, outputs: &[u128], items: impl IntoIterator<Item = u32>) {
        self.0.add(outputs, items);
    }

    /// Receives exactly `n_s` masks, once all own ones have come. Which items match; with the places at which the sender's masks came, if a
    /// payload asks for them.
    pub(super) fn receive(mut self, params: &Params, ch: &mut Channel) -> Result<Found, Abort> {
        let phase = ch.phase(Phase::Match);
        self.0.prepare();
        drop(phase);
        let _phase = ch.phase(Phase::Masks);
        let (count, bits) = (params.sender_items, params.mask_bits);
        match params.coding {
            MaskCoding::SortedCoded => masks::receive::<Masks>(&mut self.0, count, bits, ch)?,
            MaskCoding::Shuffled => masks::receive_shuffled::<Masks>(count, bits, ch, |masks| self.0.find(masks))?,
        }
        Ok(self.0.found())
    }
}
