//! All numbers of the service.

use std::ops::RangeInclusive;

use vesica_mpc::rfc9497;
use vesica_party::Security;
use vesica_party::service::Service;
use vesica_structures::facts::Unsupported;

use crate::ecdh::{POINT_BYTES, POINTS_PER_CHUNK};
use crate::recurrent::Sizes;
use crate::recurrent::filter::Shape;
use crate::tasks::IntersectRequest;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 7;

/// Rises when weights of proofs, keystreams or the coding change.
const VERSION: u64 = 2;

/// Bytes of a proof.
const PROOF_BYTES: usize = 64;

/// Bytes of arrow 2.
pub(super) const EDITION_BYTES: usize = 32 + 8;

/// Bytes of a payload's nonce. Of `2^q` payloads that one item has had under a key, two have the same
/// nonce with a probability below `2^(2q - 97)`.
const NONCE_BYTES: usize = 12;

/// Separates the keystreams of payloads from those of other protocols.
const PAYLOAD_DOMAIN: &[u8; 16] = b"RFC9497 payloads";

/// The parameters that both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Sizes of the set, of queries and of payloads.
    pub sizes: Sizes,
    /// Whether the server proves that it used its key.
    pub is_verifiable: bool,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::OprfRfc9497::ENTRY.require(request.security)?;
        Ok(Self { sizes: Sizes::of(request)?, is_verifiable: request.security == Security::Malicious })
    }

    /// Width of a tag, in bits. A server that does not follow the protocol can look for items whose
    /// tags collide, so that verifiable tags are as wide as the security parameter.
    pub fn tag_bits(&self) -> u32 {
        if self.is_verifiable { u128::BITS } else { self.sizes.tag_bits() }
    }

    /// The sizes of the list of tags.
    pub(super) fn shape(&self) -> Shape {
        let Sizes { set_items, payload_bytes, .. } = self.sizes;
        Shape {
            items: set_items,
            tag_bits: self.tag_bits(),
            payload_bytes,
            nonce_bytes: NONCE_BYTES,
            domain: PAYLOAD_DOMAIN,
        }
    }

    /// The mode of the function.
    pub(super) fn mode(&self) -> rfc9497::Mode {
        if self.is_verifiable { rfc9497::Mode::Voprf } else { rfc9497::Mode::Oprf }
    }

    /// The public key, the key of updates with the version's number, tags and payloads.
    pub fn enrolment_bytes(&self) -> RangeInclusive<u64> {
        let key = EDITION_BYTES as u64 + if self.is_verifiable { POINT_BYTES as u64 } else { 0 };
        let list = self.shape().predicted_bytes();
        key + list.start()..=key + list.end()
    }

    /// Two elements an item, and a proof for each chunk.
    pub fn query_bytes(&self) -> u64 {
        let items = self.sizes.query_items;
        let proofs = if self.is_verifiable { PROOF_BYTES * items.div_ceil(POINTS_PER_CHUNK) } else { 0 };
        (2 * POINT_BYTES * items + proofs) as u64
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let [set_items, query_items, payload_bytes] = self.sizes.to_words();
        let (tag_bits, chunk) = (u64::from(self.tag_bits()), POINTS_PER_CHUNK as u64);
        [set_items, query_items, payload_bytes, u64::from(self.is_verifiable), tag_bits, chunk, VERSION]
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [set_items, query_items, payload_bytes, verifiable, ..] = words;
        let security = match verifiable {
            0 => Security::SemiHonest,
            1 => Security::Malicious,
            _ => return None,
        };
        let request = Sizes::request([set_items, query_items, payload_bytes], security)?;
        Self::derive(&request).ok().filter(|params| params.to_words() == words)
    }
}
