//! All numbers of a run. Their derivation is in docs/parameters/kkrt16.md.

use std::ops::RangeInclusive;

use vesica_mpc::code_oprf::{self, Kkrt16};
use vesica_mpc::tasks::BatchPrfRequest;
use vesica_party::{Channel, Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::cuckoo_bins;

use super::CONTEXT;
use crate::bins::{Hashes, POSITIONS};
use crate::psi::finish;
use crate::tags::{self, TagCoding};
use crate::tasks::IntersectRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// Bins of the receiver's table: instances of the OPRF.
    pub bins: usize,
    /// The OPRF: a block for the tag, and a second one for the payload's key if there are payloads.
    pub(super) oprf: code_oprf::Params,
    /// Arrows 2 and 3, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters for a request, refused where the mode, a size or an option is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::Kkrt16::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, payload_bytes, .. } = request;
        let bins = cuckoo_bins(receiver_items, FailureEvent::HashTable.bits())?;
        let evaluations = POSITIONS.saturating_mul(sender_items);
        let oprf = Kkrt16::derive(&BatchPrfRequest {
            instances: bins,
            key_bits: u128::BITS,
            evaluations,
            evaluations_in_all: evaluations,
            blocks: if payload_bytes > 0 { 2 } else { 1 },
            security: Security::SemiHonest,
        })?;
        let tag_bits = tags::tag_bits(evaluations, receiver_items);
        let finish = finish::Params::new(request, tag_bits, TagCoding::SortedCoded).with_tags_per_item(POSITIONS)?;
        Ok(Self { bins, oprf, finish })
    }

    /// The functions of items of a run.
    pub(super) fn hashes(&self, ch: &Channel, salt: &[u8; 32]) -> Hashes {
        let finish = &self.finish;
        let sizes =
            [finish.sender_items, finish.receiver_items, self.bins, finish.tag_bits as usize, finish.payload_bytes];
        Hashes::new(CONTEXT, ch, salt, &sizes, self.bins)
    }

    /// The salt, the OPRF, tags and payloads; nothing if a set is empty.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.finish.is_empty() {
            return 0..=0;
        }
        let (oprf, finish) = (Kkrt16::predicted_bytes(&self.oprf), self.finish.predicted_bytes());
        32 + oprf.start() + finish.start()..=32 + oprf.end() + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
        let security = Security::SemiHonest;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false }
    }

    /// The paper's Table 2 has 114 MB for 2^20 items a side.
    #[test]
    fn a_million_items_take_what_the_paper_says() {
        let params = Params::derive(&request(1 << 20, 1 << 20)).expect("served");
        assert_eq!((params.bins, params.finish.tag_bits), (1_363_149, 84));
        let bytes = *params.predicted_bytes().end();
        assert!((90_000_000..114_000_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_is_not_served_is_refused() {
        for (bad, said) in [
            (IntersectRequest { security: Security::Malicious, ..request(1, 1) }, "malicious"),
            (IntersectRequest { both_learn: true, ..request(1, 1) }, "several tags"),
            (request(1, (1 << 26) + 1), "cuckoo table"),
            (request(usize::MAX / 2, 1), ""),
        ] {
            let refusal = Params::derive(&bad).expect_err("refused").to_string();
            assert!(refusal.contains(said), "{refusal}");
        }
    }
}
