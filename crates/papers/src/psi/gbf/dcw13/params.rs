//! All numbers of a run. Their derivation is in docs/parameters/gbf.md.

use std::ops::RangeInclusive;

use vesica_mpc::ot_extension::OtParams;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::okvs::gbf::{Shape, half_full};

use super::Dcw13;
use crate::psi::gbf::{Groups, transfer_bytes, transfers};
use vesica_protocols::psi::finish;
use vesica_protocols::tags::{self, TagCoding};
use vesica_protocols::tasks::IntersectRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The receiver's filter.
    pub shape: Shape,
    /// The cells whose transfers are made together.
    pub groups: Groups,
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    ///
    /// # Errors
    /// Without a semi-honest mode in the request, or beyond the sizes of the task.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        Dcw13::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, .. } = request;
        let shape = shape(sender_items, receiver_items);
        let finish = finish::Params::new(request, tags::tag_bits(sender_items, receiver_items), TagCoding::SortedCoded);
        Ok(Self { shape, groups: Groups::new(shape.len()), finish })
    }

    /// The transfers of a group of so many cells.
    pub(super) fn transfers(&self, cells: usize) -> Result<OtParams, Unsupported> {
        transfers(cells, Security::SemiHonest)
    }

    /// Bytes of the corrections of so many cells.
    pub(super) fn correction_bytes(cells: usize) -> usize {
        cells.div_ceil(8)
    }

    /// The salt, the transfers and a bit for each cell, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.finish.is_empty() {
            return 0..=0;
        }
        let group = |cells: usize| {
            let transfers = self.transfers(cells).map_or(0, |params| transfer_bytes(&params));
            transfers + Self::correction_bytes(cells) as u64
        };
        let groups: u64 = self.groups.ranges().map(|cells| group(cells.len())).sum();
        let finish = self.finish.predicted_bytes();
        32 + groups + finish.start()..=32 + groups + finish.end()
    }
}

/// A filter of the receiver's items in which one of the sender's other items is a false positive with
/// probability at most [`FailureEvent::ZeroDifference`], all of them together.
fn shape(sender_items: usize, receiver_items: usize) -> Shape {
    // Half full or less, so that each segment is worth a bit or more.
    let segments = (FailureEvent::ZeroDifference.bits() + ceil_log2(sender_items)) as usize;
    Shape { segments, cells: half_full(receiver_items) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
        let security = Security::SemiHonest;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    #[test]
    fn false_positives_stay_within_their_share() {
        for (sender_items, receiver_items) in [(1, 1), (1, 1 << 20), (1 << 20, 1), (1000, 3000), (1 << 26, 1 << 24)] {
            let shape = shape(sender_items, receiver_items);
            let bits = shape.log2_false_positive(receiver_items) + (sender_items as f64).log2();
            assert!(bits <= -41.0, "{shape:?}: 2^{bits}");
            let fewer = Shape { segments: shape.segments - 1, ..shape };
            assert!(fewer.log2_false_positive(receiver_items) + (sender_items as f64).log2() > -43.0, "{shape:?}");
        }
    }

    /// Two bytes a cell, one and seven eighths for its transfer and an eighth for its correction.
    #[test]
    fn sixty_four_thousand_items_take_what_their_cells_take() {
        let params = Params::derive(&request(1 << 16, 1 << 16)).expect("served");
        assert_eq!(params.shape, Shape { segments: 57, cells: 94_549 });
        let bytes = *params.predicted_bytes().end() as f64;
        let cells = 2.0 * params.shape.len() as f64;
        assert!(bytes > cells && bytes < cells + 800_000.0, "{bytes}");
    }

    #[test]
    fn what_is_not_served_is_refused() {
        let malicious = IntersectRequest { security: Security::Malicious, ..request(1, 1) };
        assert!(Params::derive(&malicious).expect_err("refused").to_string().contains("malicious"));
        assert!(Params::derive(&request(usize::MAX / 2, 1)).is_err());
    }
}
