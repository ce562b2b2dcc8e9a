//! All numbers of a run.

use std::ops::RangeInclusive;

use vesica_party::Protocol;
use vesica_structures::facts::Unsupported;

use crate::ecdh::POINT_BYTES;
use crate::psi::finish;
use crate::tags::{self, TagCoding};
use crate::tasks::IntersectRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::EcdhHfh99::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let tag_bits = tags::tag_bits(request.sender_items, request.receiver_items);
        Ok(Self { finish: finish::Params::new(request, tag_bits, TagCoding::SortedCoded) })
    }

    /// `2 * 32 n_r` for the points, then tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let points = (2 * POINT_BYTES * self.finish.receiver_items) as u64;
        let finish = self.finish.predicted_bytes();
        points + finish.start()..=points + finish.end()
    }
}
