//! All numbers of a run. Their derivation is in docs/parameters/rt21.md.

use std::ops::{Range, RangeInclusive};

use vesica_mpc::oprf::table;
use vesica_party::Protocol;
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::fields::{Bits256, Cell};
use vesica_structures::okvs::{Band, Okvs};

use super::Rt21;
use vesica_protocols::psi::finish;
use vesica_protocols::tags::TagCoding;
use vesica_protocols::tasks::IntersectRequest;

/// The share of the failure budget of the table's encoding.
pub(super) const ENCODING_BITS: u32 = FailureEvent::Encoding.bits();

/// Width of a tag, in bits: the simulator finds a corrupt sender's items by their tags.
pub const TAG_BITS: u32 = 128;

/// Arrows 1 to 4.
const SALT_AND_KEY_BYTES: u64 = 4 * 32;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The cells of each part of the table.
    pub parts: Vec<Range<usize>>,
    /// Arrows 6 to 8, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        Rt21::ENTRY.require(request.security)?;
        request.check_sizes()?;
        // The table's shape does not depend on its seed.
        let parts = Band::new(request.receiver_items, ENCODING_BITS, 0)?.parts();
        Ok(Self { parts, finish: finish::Params::new(request, TAG_BITS, TagCoding::SortedCoded) })
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let finish = &self.finish;
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 rt21 2026 parameters");
        hasher.update(&[u8::from(finish.both_learn)]);
        let cells = self.parts.last().map_or(0, |part| part.end);
        for size in [finish.sender_items, finish.receiver_items, cells, finish.payload_bytes] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt, the sender's key, 32 bytes a cell, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let fixed = SALT_AND_KEY_BYTES + table::predicted_bytes(&self.parts, Bits256::BITS);
        let finish = self.finish.predicted_bytes();
        fixed + finish.start()..=fixed + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;

    use super::*;

    fn request(security: Security) -> IntersectRequest {
        let items = 1 << 16;
        IntersectRequest {
            sender_items: items,
            receiver_items: items,
            security,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        }
    }

    /// 1.05 to 1.2 cells of 32 bytes an item, and tags of 128 bits without 15.
    #[test]
    fn traffic_is_that_of_the_table_and_the_tags() {
        let params = Params::derive(&request(Security::Malicious)).expect("served");
        let bytes = *params.predicted_bytes().end() >> 16;
        assert!((46..56).contains(&bytes), "{bytes} bytes an item");
    }

    #[test]
    fn only_the_malicious_mode_is_served() {
        assert!(Params::derive(&request(Security::SemiHonest)).is_err());
    }
}
