//! All numbers of the service.

use std::ops::RangeInclusive;

use vesica_party::Security;
use vesica_party::service::Service;
use vesica_structures::facts::Unsupported;

use vesica_protocols::ecdh::{POINT_BYTES, POINTS_PER_CHUNK};
use vesica_protocols::recurrent::Sizes;
use vesica_protocols::recurrent::filter::Shape;
use vesica_protocols::tasks::IntersectRequest;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 6;

/// Rises when the hash to the group, outputs, keystreams or the coding change.
const VERSION: u64 = 1;

/// Separates the keystreams of payloads from those of other protocols.
const PAYLOAD_DOMAIN: &[u8; 16] = b"RA17    payloads";

/// The parameters that both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Sizes of the set, of queries and of payloads.
    pub sizes: Sizes,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::Ra17::ENTRY.require(request.security)?;
        Ok(Self { sizes: Sizes::of(request)? })
    }

    /// The sizes of the list of tags.
    pub(super) fn shape(&self) -> Shape {
        let Sizes { set_items, payload_bytes, .. } = self.sizes;
        Shape {
            items: set_items,
            tag_bits: self.sizes.tag_bits(),
            payload_bytes,
            nonce_bytes: 0,
            domain: PAYLOAD_DOMAIN,
        }
    }

    /// Tags and payloads.
    pub fn enrolment_bytes(&self) -> RangeInclusive<u64> {
        self.shape().predicted_bytes()
    }

    /// Two points an item.
    pub fn query_bytes(&self) -> u64 {
        (2 * POINT_BYTES * self.sizes.query_items) as u64
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let [set_items, query_items, payload_bytes] = self.sizes.to_words();
        let (tag_bits, chunk) = (u64::from(self.sizes.tag_bits()), POINTS_PER_CHUNK as u64);
        [set_items, query_items, payload_bytes, tag_bits, chunk, VERSION]
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [set_items, query_items, payload_bytes, ..] = words;
        let request = Sizes::request([set_items, query_items, payload_bytes], Security::SemiHonest)?;
        Self::derive(&request).ok().filter(|params| params.to_words() == words)
    }
}
