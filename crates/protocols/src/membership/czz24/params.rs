//! All numbers of the test.

use std::ops::RangeInclusive;

use crate::ecdh::exchange;
use crate::tags;

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// Width of a digest of arrow 3.
    pub digest_bits: u32,
}

impl Params {
    /// Parameters for sets of these sizes.
    pub(super) fn new(sender_items: usize, receiver_items: usize) -> Self {
        Self { sender_items, receiver_items, digest_bits: tags::tag_bits(sender_items, receiver_items) }
    }

    /// `32 (n_s + n_r)` for the points, then a digest for each item of the receiver.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let points = exchange::predicted_bytes(self.sender_items, self.receiver_items);
        let digests = tags::predicted_bytes(self.receiver_items, self.digest_bits);
        points + digests.start()..=points + digests.end()
    }
}
