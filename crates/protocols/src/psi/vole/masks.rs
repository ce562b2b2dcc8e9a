//! Arrow 8 in either coding.

use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::masks::{MaskFinder, MaskSorter, Match};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::messages::Masks;
use super::params::{MaskCoding, Params};
use crate::masks::{self, truncate};

/// About how many bytes are packed, sent and received at a time.
const PART_BYTES: usize = 1 << 18;

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
            Self::Shuffled(masks) => {
                let order = random_order(count, rng);
                let width = bits.div_ceil(8) as usize;
                let mut part = Vec::with_capacity(PART_BYTES);
                for items in order.chunks(PART_BYTES / width) {
                    part.clear();
                    for &item in items {
                        part.extend_from_slice(&truncate(masks[item as usize], bits).to_le_bytes()[..width]);
                    }
                    ch.send_stream::<Masks>(&part)?;
                }
                Ok(order)
            }
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

    /// Receives exactly `n_s` masks, once all own ones have come. The matches, by ascending own item; `theirs` is the place at which the
    /// sender's mask came, if a payload asks for it.
    pub(super) fn receive(mut self, params: &Params, ch: &mut Channel) -> Result<Vec<Match>, Abort> {
        let phase = ch.phase(Phase::Match);
        self.0.prepare();
        drop(phase);
        let _phase = ch.phase(Phase::Masks);
        let (count, bits) = (params.sender_items, params.mask_bits);
        match params.coding {
            MaskCoding::SortedCoded => masks::receive::<Masks>(&mut self.0, count, bits, ch)?,
            MaskCoding::Shuffled => receive_plain(&mut self.0, count, bits, ch)?,
        }
        Ok(self.0.matches())
    }
}

/// Receives `count` masks of whole bytes, and looks for them as they come.
fn receive_plain(own: &mut MaskFinder, count: usize, bits: u32, ch: &mut Channel) -> Result<(), Abort> {
    let width = bits.div_ceil(8) as usize;
    let part_items = PART_BYTES / width;
    let mut part = vec![0; part_items.min(count) * width];
    let mut masks = Vec::with_capacity(part_items.min(count));
    let mut left = count;
    while left > 0 {
        let part = &mut part[..part_items.min(left) * width];
        ch.recv_stream::<Masks>(part)?;
        masks.clear();
        masks.extend(part.chunks_exact(width).map(|bytes| {
            let mut mask = [0; 16];
            mask[..width].copy_from_slice(bytes);
            u128::from_le_bytes(mask)
        }));
        if masks.iter().any(|&mask| mask != truncate(mask, bits)) {
            return Err(Abort::PeerMisbehaved(Masks::STEP, "a mask is wider than agreed"));
        }
        own.find(&masks);
        left -= masks.len();
    }
    Ok(())
}
