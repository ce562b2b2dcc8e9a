//! All numbers of the service.

use std::ops::RangeInclusive;

use vesica_mpc::rfc9497;
use vesica_party::Security;
use vesica_party::service::Service;
use vesica_structures::facts::Unsupported;

use crate::ecdh::{POINT_BYTES, POINTS_PER_CHUNK};
use crate::tags;
use crate::tasks::IntersectRequest;

/// Queries of a client from one enrolment, at most: their tags share one budget of collisions.
pub const QUERIES_AN_ENROLMENT: u64 = 1 << 18;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 7;

/// Rises when weights of proofs, keystreams or the coding change.
const VERSION: u64 = 1;

/// Bytes of a proof.
const PROOF_BYTES: usize = 64;

/// The parameters that both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Items of the server's set, `n_s`.
    pub set_items: usize,
    /// Items of each query, `n_r`.
    pub query_items: usize,
    /// Width of a payload, in bytes; 0 for none.
    pub payload_bytes: usize,
    /// Whether the server proves that it used its key.
    pub is_verifiable: bool,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::OprfRfc9497::ENTRY.require(request.security)?;
        request.check_sizes()?;
        if request.both_learn {
            return Err(Unsupported::new(
                "a sender that learns its matches, from a protocol for many queries of one set",
                "choose another protocol, or let only the receiver learn",
            ));
        }
        let &IntersectRequest { sender_items, receiver_items, payload_bytes, security, .. } = request;
        let is_verifiable = security == Security::Malicious;
        Ok(Self { set_items: sender_items, query_items: receiver_items, payload_bytes, is_verifiable })
    }

    /// Width of a tag, in bits. Over all queries, `n_s n_r` [`QUERIES_AN_ENROLMENT`] pairs of tags
    /// must not collide. A server that does not follow the protocol can look for items whose tags
    /// collide, so that verifiable tags are as wide as the security parameter.
    pub fn tag_bits(&self) -> u32 {
        let bits = tags::tag_bits(self.set_items, self.query_items) + QUERIES_AN_ENROLMENT.ilog2();
        if self.is_verifiable { u128::BITS } else { bits }
    }

    /// The mode of the function.
    pub(super) fn mode(&self) -> rfc9497::Mode {
        if self.is_verifiable { rfc9497::Mode::Voprf } else { rfc9497::Mode::Oprf }
    }

    /// The public key, tags and payloads.
    pub fn enrolment_bytes(&self) -> RangeInclusive<u64> {
        let tags = tags::predicted_bytes(self.set_items, self.tag_bits());
        let key = if self.is_verifiable { POINT_BYTES } else { 0 };
        let others = (key + self.set_items * self.payload_bytes) as u64;
        others + tags.start()..=others + tags.end()
    }

    /// Two elements an item, and a proof for each chunk.
    pub fn query_bytes(&self) -> u64 {
        let proofs = if self.is_verifiable { PROOF_BYTES * self.query_items.div_ceil(POINTS_PER_CHUNK) } else { 0 };
        (2 * POINT_BYTES * self.query_items + proofs) as u64
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let Self { set_items, query_items, payload_bytes, is_verifiable } = self;
        let [set_items, query_items, payload_bytes] = [set_items, query_items, payload_bytes].map(|count| count as u64);
        let (tag_bits, chunk) = (u64::from(self.tag_bits()), POINTS_PER_CHUNK as u64);
        [set_items, query_items, payload_bytes, u64::from(is_verifiable), tag_bits, chunk, VERSION]
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [sender_items, receiver_items, payload_bytes, verifiable, ..] = words;
        let count = |word: u64| usize::try_from(word).ok();
        let security = match verifiable {
            0 => Security::SemiHonest,
            1 => Security::Malicious,
            _ => return None,
        };
        let request = IntersectRequest {
            sender_items: count(sender_items)?,
            receiver_items: count(receiver_items)?,
            payload_bytes: count(payload_bytes)?,
            security,
            both_learn: false,
        };
        Self::derive(&request).ok().filter(|params| params.to_words() == words)
    }
}
