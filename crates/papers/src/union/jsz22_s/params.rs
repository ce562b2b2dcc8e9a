//! All numbers of a run, and the bounds that they follow from.

use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::{cuckoo_bins, simple_capacity};
use vesica_structures::packing::packed_len;

use crate::union::jsz22::Parts;
use vesica_protocols::bins::POSITIONS;
use vesica_protocols::tasks::UnionRequest;

/// Values that travel at a time, about.
const VALUES_PER_PIECE: usize = 1 << 14;

/// Runs of the network: the table and the keys in the receiver's order, then the receiver's shares of
/// the keys in the sender's.
const NETWORKS: u64 = 3;

/// Half of an event's share, as `-log2`: there are two hash tables, and two kinds of short strings
/// that are compared.
const fn half(event: FailureEvent) -> u32 {
    event.bits() + 1
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`, `n_r`, and the width of a record.
    pub request: UnionRequest,
    /// `b`: 1.24 `n_s`, more below 2^13 items.
    pub bins: usize,
    /// Values of arrow 3 a bin: more items of the receiver fall into some bin with half of
    /// [`FailureEvent::HashTable`]'s share.
    pub capacity: usize,
    /// Width of a value of arrow 3: the sender's value of some bin is equal to one of another point
    /// with half of [`FailureEvent::TagCollision`]'s share.
    pub digest_bits: u32,
    /// Width of a tag: one of the `n_s` is that of a key of another bin, or of no key, with the other
    /// half.
    pub tag_bits: u32,
    /// The building blocks; none where a set is empty.
    pub(super) parts: Option<Parts>,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(request: &UnionRequest) -> Result<Self, Unsupported> {
        request.check_sizes()?;
        let &UnionRequest { sender_items, receiver_items, security, .. } = request;
        let bins = cuckoo_bins(sender_items, half(FailureEvent::HashTable))?;
        let capacity = simple_capacity(receiver_items, bins, half(FailureEvent::HashTable));
        let digest_bits = half(FailureEvent::TagCollision) + ceil_log2(bins.saturating_mul(capacity));
        let tag_bits = half(FailureEvent::TagCollision) + ceil_log2(sender_items) + ceil_log2(bins);
        let mut params = Self { request: *request, bins, capacity, digest_bits, tag_bits, parts: None };
        if sender_items > 0 && receiver_items > 0 {
            params.parts = Some(Parts::derive(POSITIONS * receiver_items, bins, security)?);
        }
        Ok(params)
    }

    /// Bins of which the values travel at a time: whole bytes, however wide they are.
    pub(super) fn bins_per_piece(&self) -> usize {
        VALUES_PER_PIECE.div_ceil(self.capacity.max(1)).next_multiple_of(8)
    }

    /// Bytes of all messages: the building blocks, the values, a share for each bin, a tag and a record
    /// for each item. Where the receiver has no items, the records.
    pub fn predicted_bytes(&self) -> u64 {
        let items = self.request.sender_items;
        let records = (items * self.request.record_bytes) as u64;
        let Some(Parts { oprf, permutation }) = &self.parts else { return records };
        let values = packed_len(self.bins * self.capacity, self.digest_bits);
        let further = values + 16 * self.bins + packed_len(items, self.tag_bits);
        oprf.predicted_bytes() + NETWORKS * permutation.predicted_bytes() + further as u64 + records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_mpc::oprf::value_bits;
    use vesica_party::Security;
    use vesica_structures::facts::LAMBDA;
    use vesica_structures::hashing::hall_bound;

    fn derive(sender_items: usize, receiver_items: usize) -> Params {
        let security = Security::SemiHonest;
        Params::derive(&UnionRequest {
            sender_items,
            receiver_items,
            security,
            record_bytes: 16,
            both_learn: false,
            runs: 1,
        })
        .unwrap()
    }

    #[test]
    fn all_failures_are_within_the_budget() {
        let power = |bits: u32| f64::exp2(-f64::from(bits));
        for (n_s, n_r) in [(1, 1), (5, 1 << 12), (1 << 10, 7), (1 << 14, 1 << 14), (1 << 18, 54_321)] {
            let params = derive(n_s, n_r);
            let evaluations = 3 * n_r;
            let oprf = evaluations as f64 * power(value_bits(Security::SemiHonest, evaluations));
            let values = (params.bins * params.capacity) as f64 * power(params.digest_bits);
            let tags = (params.bins * n_s) as f64 * power(params.tag_bits);
            let cuckoo = if n_s > 3 { hall_bound(n_s, params.bins).exp2() } else { 0.0 };
            // max_load keeps to it by its own tests.
            let overflow = power(half(FailureEvent::HashTable));
            let store = power(FailureEvent::Encoding.bits());
            let sum = oprf + values + tags + cuckoo + overflow + store;
            assert!(sum <= power(LAMBDA), "{n_s} x {n_r}: 2^{}", sum.log2());
        }
    }

    #[test]
    fn a_million_items_of_the_receiver_beside_a_thousand_of_the_sender_are_served() {
        let bytes = |n_s, n_r| derive(n_s, n_r).predicted_bytes() as f64 / 1e6;
        assert!((1500.0..1800.0).contains(&bytes(1 << 20, 1 << 20)), "{}", bytes(1 << 20, 1 << 20));
        assert!(bytes(1 << 10, 1 << 20) < 60.0, "{}", bytes(1 << 10, 1 << 20));
    }
}
