//! All numbers of the test, and the bounds that they follow from.

use vesica_party::Security;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::cuckoo_bins;
use vesica_structures::packing::packed_len;

use crate::union::jsz22::Parts;
use vesica_protocols::bins::POSITIONS;

/// Items of which the values travel at a time: whole bytes, however wide they are.
pub(super) const ITEMS_PER_PIECE: usize = 1 << 13;

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `b`: 1.24 `n_r`, more below 2^13 items.
    pub bins: usize,
    /// Width of a value of arrow 3: one of `3 n_s` is equal to one of the receiver's `b`, other than
    /// that of its own point, within the share of [`FailureEvent::TagCollision`].
    pub digest_bits: u32,
    /// The building blocks.
    pub(super) parts: Parts,
}

impl Params {
    /// Parameters for sets of these sizes.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(sender_items: usize, receiver_items: usize) -> Result<Self, Unsupported> {
        let bins = cuckoo_bins(receiver_items, FailureEvent::HashTable.bits())?;
        let points = POSITIONS * sender_items;
        let digest_bits = FailureEvent::TagCollision.bits() + ceil_log2(points) + ceil_log2(bins);
        let parts = Parts::derive(points, bins, Security::SemiHonest)?;
        Ok(Self { sender_items, receiver_items, bins, digest_bits, parts })
    }

    /// Bytes of all messages of the test: the building blocks, and three values an item.
    pub fn predicted_bytes(&self) -> u64 {
        let values = packed_len(POSITIONS * self.sender_items, self.digest_bits) as u64;
        self.parts.oprf.predicted_bytes() + self.parts.permutation.predicted_bytes() + values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_false_match_is_within_the_budget_and_one_bit_less_is_not() {
        for (n_s, n_r) in [(1, 1), (1 << 10, 1 << 12), (1 << 20, 1 << 20), (1_234_567, 54_321), (1 << 22, 1 << 20)] {
            let params = Params::derive(n_s, n_r).unwrap();
            let pairs = (3 * n_s * params.bins) as f64;
            let chance = |bits: u32| pairs * f64::exp2(-f64::from(bits));
            let budget = f64::exp2(-f64::from(FailureEvent::TagCollision.bits()));
            // Two roundings up to a power of two.
            assert!(chance(params.digest_bits) <= budget && chance(params.digest_bits - 2) > budget, "{n_s} x {n_r}");
        }
    }

    #[test]
    fn a_million_items_send_what_the_parts_do() {
        let params = Params::derive(1 << 20, 1 << 20).unwrap();
        assert_eq!((params.bins, params.digest_bits), (1_300_235, 85));
        let megabytes = params.predicted_bytes() as f64 / 1e6;
        assert!((460.0..486.0).contains(&megabytes), "{megabytes}");
    }
}
