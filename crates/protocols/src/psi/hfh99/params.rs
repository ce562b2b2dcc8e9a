//! All numbers of a run.

use std::ops::RangeInclusive;

use vesica_party::Entry;
use vesica_structures::facts::{Unsupported, ceil_log2};

use super::{PointOf, Variant};
use crate::psi::finish::{self, compare};
use crate::tags::{self, TagCoding};
use crate::tasks::IntersectRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Bytes of an encoded point.
    pub point_bytes: usize,
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters of row `V`, or of the variant that `entry` describes, for a request; refused where the mode or a size
    /// is not served.
    pub fn derive<V: Variant>(request: &IntersectRequest, entry: &Entry) -> Result<Self, Unsupported> {
        entry.require(request.security)?;
        let filter = compare::filter(entry);
        match filter {
            None => request.check_sizes_of_runs()?,
            Some(_) => request.check_sizes()?,
        }
        // Each run has an equal part of the budget.
        let tag_bits = tags::tag_bits(request.sender_items, request.receiver_items) + ceil_log2(request.runs);
        let finish = finish::Params::new(request, tag_bits, TagCoding::SortedCoded).with_filter(filter)?;
        Ok(Self { point_bytes: size_of::<PointOf<V>>(), finish })
    }

    /// Two points for each of the receiver's items, then tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let points = (2 * self.point_bytes * self.finish.receiver_items) as u64;
        let finish = self.finish.predicted_bytes();
        points + finish.start()..=points + finish.end()
    }
}
