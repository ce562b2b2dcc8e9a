//! Arrow 8 in either coding.

use rand_core::Rng;
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::masks::{Match, match_sorted, sort_masks};
use vesica_structures::rng::SecretRng;

use super::messages::Masks;
use super::params::{MaskCoding, Params};
use crate::psi::masks::{self, truncate};

/// About how many bytes are packed, sent and received at a time.
const PART_BYTES: usize = 1 << 18;

/// Truncates masks to `bits` bits.
pub(super) fn truncate_all(masks: &mut [u128], bits: u32) {
    for mask in masks {
        *mask = truncate(*mask, bits);
    }
}

/// The sender's masks in the order in which they are sent.
pub(super) struct SentMasks {
    masks: Vec<u128>,
    /// The item at each place; left empty where no payload asks for it.
    order: Vec<u32>,
}

impl SentMasks {
    /// Truncates one output an item, and sorts or shuffles them.
    pub(super) fn new(mut outputs: Vec<u128>, params: &Params, rng: &mut SecretRng) -> Self {
        let bits = params.mask_bits;
        truncate_all(&mut outputs, bits);
        match params.coding {
            MaskCoding::SortedCoded if params.payload_bytes == 0 => {
                sort_masks(&mut outputs, bits);
                Self { masks: outputs, order: Vec::new() }
            }
            MaskCoding::SortedCoded => {
                let mut masks = outputs.clone();
                sort_masks(&mut masks, bits);
                let order = masks::order_of(&masks, &outputs, bits);
                Self { masks, order }
            }
            MaskCoding::Shuffled => {
                let order = random_permutation(outputs.len(), rng);
                Self { masks: order.iter().map(|&item| outputs[item as usize]).collect(), order }
            }
        }
    }

    /// Sends them, and returns which item stands at which place.
    pub(super) fn send(self, params: &Params, ch: &mut Channel) -> Result<Vec<u32>, Abort> {
        match params.coding {
            MaskCoding::SortedCoded => masks::send::<Masks>(&self.masks, params.mask_bits, ch)?,
            MaskCoding::Shuffled => {
                let width = params.mask_bits.div_ceil(8) as usize;
                let mut part = Vec::with_capacity(PART_BYTES);
                for masks in self.masks.chunks(PART_BYTES / width) {
                    part.clear();
                    for mask in masks {
                        part.extend_from_slice(&mask.to_le_bytes()[..width]);
                    }
                    ch.send_stream::<Masks>(&part)?;
                }
            }
        }
        Ok(self.order)
    }
}

/// The sender's masks, ascending.
pub(super) struct ReceivedMasks {
    sorted: Vec<u128>,
    /// Where each came; left empty where they came ascending, or where no payload asks for it.
    order: Vec<u32>,
}

impl ReceivedMasks {
    /// Receives exactly `n_s` masks.
    pub(super) fn receive(params: &Params, ch: &mut Channel) -> Result<Self, Abort> {
        let bits = params.mask_bits;
        if params.coding == MaskCoding::SortedCoded {
            return Ok(Self { sorted: masks::receive::<Masks>(params.sender_items, bits, ch)?, order: Vec::new() });
        }
        let masks = receive_plain(params.sender_items, bits, ch)?;
        let mut sorted = masks.clone();
        sort_masks(&mut sorted, bits);
        let order = if params.payload_bytes == 0 { Vec::new() } else { masks::order_of(&sorted, &masks, bits) };
        Ok(Self { sorted, order })
    }

    /// The own masks that are among them, by ascending own item; `theirs` is the place at which the sender's mask came.
    pub(super) fn find(&self, own: &[u128], params: &Params) -> Vec<Match> {
        let mut found = match_sorted(&self.sorted, own, params.mask_bits);
        if !self.order.is_empty() {
            for found in &mut found {
                found.theirs = self.order[found.theirs as usize];
            }
        }
        found
    }
}

/// Receives `count` masks of whole bytes.
fn receive_plain(count: usize, bits: u32, ch: &mut Channel) -> Result<Vec<u128>, Abort> {
    let width = bits.div_ceil(8) as usize;
    let part_items = PART_BYTES / width;
    let mut part = vec![0; part_items.min(count) * width];
    let mut masks = Vec::with_capacity(count);
    while masks.len() < count {
        let part = &mut part[..part_items.min(count - masks.len()) * width];
        ch.recv_stream::<Masks>(part)?;
        for bytes in part.chunks_exact(width) {
            let mut mask = [0; 16];
            mask[..width].copy_from_slice(bytes);
            masks.push(u128::from_le_bytes(mask));
        }
    }
    if masks.iter().any(|&mask| mask != truncate(mask, bits)) {
        return Err(Abort::PeerMisbehaved(Masks::STEP, "a mask is wider than agreed"));
    }
    Ok(masks)
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
