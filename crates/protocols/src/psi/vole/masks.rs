//! Arrow 8 in either coding.

use rand_core::Rng;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::masks::{MaskFinder, MaskSorter, Match};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

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
                let order = random_permutation(count, rng);
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

/// A uniform permutation of `0..count` (Fisher and Yates; `count < 2^32`).
fn random_permutation(count: usize, rng: &mut SecretRng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    for last in (1..order.len()).rev() {
        // Lemire: a draw scaled to `0..=last`, rejected where the scaling would favour some results.
        let span = last as u64 + 1;
        let chosen = loop {
            let wide = u128::from(rng.next_u64()) * u128::from(span);
            if wide as u64 >= span.wrapping_neg() % span {
                break (wide >> 64) as usize;
            }
        };
        order.swap(last, chosen);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_permutations_and_uniform_on_three() {
        let mut rng = SecretRng::insecure_from_seed(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            *seen.entry(random_permutation(3, &mut rng)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (800..1200).contains(&count)), "{seen:?}");
        let mut large = random_permutation(1000, &mut rng);
        large.sort_unstable();
        assert!(large.iter().enumerate().all(|(place, &item)| place == item as usize));
    }
}
