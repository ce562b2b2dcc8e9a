//! The last arrow of a PSI: the sender's masks, sorted on all their bits and Golomb-Rice coded, and the receiver's search in them.
//!
//! The sort is the sender's shuffle: a sorted list of masks says nothing of the order of its items.

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::facts::{FailureEvent, ceil_log2};
use vesica_structures::golomb;
use vesica_structures::masks::{Match, match_sorted};

/// Width of a mask, in bits, such that a mask of the receiver equals one of a different item of the sender with probability at most
/// [`FailureEvent::MaskCollision`]: one of `n_s n_r` pairs of `l`-bit masks is equal with probability at most `n_s n_r 2^-l`.
pub(crate) fn mask_bits(sender_items: usize, receiver_items: usize) -> u32 {
    FailureEvent::MaskCollision.bits() + ceil_log2(sender_items) + ceil_log2(receiver_items)
}

/// The low `bits` bits of `mask`, for `bits` of 1 to 128.
pub(crate) fn truncate(mask: u128, bits: u32) -> u128 {
    mask & (u128::MAX >> (128 - bits))
}

/// Bytes of the arrow that carries `count` masks: a length of 8 bytes and the coded masks, nothing at all for no masks.
pub(crate) fn predicted_bytes(count: usize, bits: u32) -> std::ops::RangeInclusive<u64> {
    if count == 0 {
        return 0..=0;
    }
    let coded = golomb::len_range(count, bits);
    8 + *coded.start() as u64..=8 + *coded.end() as u64
}

/// Which mask stands at which place: `order[p]` is the item whose mask is `sorted[p]`, where `sorted` are the `bits`-bit `masks` in order.
pub(crate) fn order_of(sorted: &[u128], masks: &[u128], bits: u32) -> Vec<u32> {
    let mut order = vec![0; masks.len()];
    // How many items have come to the group of equal masks that begins at a place: a peer may have made all masks equal.
    let mut come = vec![0; masks.len()];
    for Match { own, theirs } in match_sorted(sorted, masks, bits) {
        let first = theirs as usize;
        order[first + come[first]] = own;
        come[first] += 1;
    }
    order
}

/// Sends ascending masks of `bits` bits as arrow `S`.
pub(crate) fn send<S: Stream<Element = u8>>(masks: &[u128], bits: u32, ch: &mut Channel) -> Result<(), Abort> {
    if masks.is_empty() {
        return Ok(());
    }
    let coded = golomb::encode_sorted(masks, bits);
    ch.send_stream::<S>(&(coded.len() as u64).to_le_bytes())?;
    ch.send_stream::<S>(&coded)
}

/// Receives exactly `count` ascending masks of `bits` bits from arrow `S`.
pub(crate) fn receive<S: Stream<Element = u8>>(count: usize, bits: u32, ch: &mut Channel) -> Result<Vec<u128>, Abort> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut length = [0; 8];
    ch.recv_stream::<S>(&mut length)?;
    let length = u64::from_le_bytes(length);
    let valid = golomb::len_range(count, bits);
    if length < *valid.start() as u64 || length > *valid.end() as u64 {
        return Err(Abort::PeerMisbehaved(S::STEP, "the coded masks have an impossible length"));
    }
    let mut coded = vec![0; length as usize];
    ch.recv_stream::<S>(&mut coded)?;
    golomb::decode_sorted(&coded, count, bits).map_err(|_| Abort::PeerMisbehaved(S::STEP, "the coded masks are malformed"))
}

#[cfg(test)]
mod tests {
    use vesica_structures::masks::sort_masks;
    use vesica_structures::rng::SecretRng;

    use super::*;

    #[test]
    fn the_order_keeps_every_mask_with_its_item_equal_ones_too() {
        let mut rng = SecretRng::insecure_from_seed(1);
        // At 1 bit two groups of a hundred thousand equal masks each, which a quadratic search would not end on.
        for (count, bits) in [(0, 42), (1, 42), (2, 43), (1000, 6), (5000, 128), (200_000, 1)] {
            let masks: Vec<u128> = (0..count).map(|_| truncate(rng.block(), bits)).collect();
            let mut sorted = masks.clone();
            sort_masks(&mut sorted, bits);
            let mut order = order_of(&sorted, &masks, bits);
            assert!(sorted.iter().zip(&order).all(|(&mask, &item)| mask == masks[item as usize]));
            order.sort_unstable();
            assert!(order.iter().enumerate().all(|(place, &item)| place == item as usize));
        }
    }

    #[test]
    fn the_width_is_the_share_of_the_budget_plus_both_sizes() {
        assert_eq!(mask_bits(1 << 20, 1 << 20), 82);
        assert_eq!(mask_bits(0, 1), 42);
        assert_eq!(mask_bits(3, 1000), 42 + 2 + 10);
    }
}
