//! All numbers of a run.

use std::ops::RangeInclusive;

use vesica_party::Protocol;
use vesica_structures::facts::Unsupported;

use crate::ecdh::POINT_BYTES;
use crate::tags;
use crate::tasks::AggregateRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`, `n_r`, and one group.
    pub request: AggregateRequest,
    /// Width of a digest of arrow 3.
    pub digest_bits: u32,
}

impl Params {
    /// Parameters for a request, refused where the mode or an option is not served.
    pub fn derive(request: &AggregateRequest) -> Result<Self, Unsupported> {
        super::EcdhCaCgt12::ENTRY.require(request.security)?;
        request.check_one_count()?;
        Ok(Self { request: *request, digest_bits: tags::tag_bits(request.sender_items, request.receiver_items) })
    }

    /// Points of arrows 1 and 2, and digests of arrow 3; none where either set is empty.
    pub fn counts(&self) -> (usize, usize) {
        let AggregateRequest { sender_items, receiver_items, .. } = self.request;
        if sender_items.min(receiver_items) == 0 { (0, 0) } else { (receiver_items, sender_items) }
    }

    /// `64 n_r` for the points, then digests.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let (points, digests) = self.counts();
        let points = (2 * POINT_BYTES * points) as u64;
        let digests = tags::predicted_bytes(digests, self.digest_bits);
        points + digests.start()..=points + digests.end()
    }
}
