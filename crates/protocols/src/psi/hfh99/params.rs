//! All numbers of a run.

use std::ops::RangeInclusive;

use vesica_party::Protocol;
use vesica_structures::facts::Unsupported;

use crate::ecdh::POINT_BYTES;
use crate::psi::both_learn;
use crate::tags;
use crate::tasks::IntersectRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// Width of a tag of arrow 3.
    pub tag_bits: u32,
    /// Width of a payload, in bytes.
    pub payload_bytes: usize,
    /// Whether arrow 5 is sent.
    pub both_learn: bool,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::EcdhHfh99::ENTRY.require(request.security)?;
        request.check_sizes()?;
        Ok(Self {
            sender_items: request.sender_items,
            receiver_items: request.receiver_items,
            tag_bits: tags::tag_bits(request.sender_items, request.receiver_items),
            payload_bytes: request.payload_bytes,
            both_learn: request.both_learn,
        })
    }

    /// `2 * 32 n_r` for the points, then tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let points = (2 * POINT_BYTES * self.receiver_items) as u64;
        let tags = tags::predicted_bytes(self.sender_items, self.tag_bits);
        let payloads = (self.sender_items * self.payload_bytes) as u64;
        let proofs = if self.both_learn { both_learn::predicted_bytes(self.sender_items, self.receiver_items) } else { 0..=0 };
        points + tags.start() + payloads + proofs.start()..=points + tags.end() + payloads + proofs.end()
    }
}
