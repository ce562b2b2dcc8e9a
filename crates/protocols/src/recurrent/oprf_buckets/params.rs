//! All numbers of the service.

use std::ops::RangeInclusive;

use vesica_party::Security;
use vesica_party::service::Service;
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::max_load;

use crate::ecdh::POINT_BYTES;
use crate::recurrent::buckets::Shape;
use crate::recurrent::{QUERIES_AN_ENROLMENT, Sizes};
use crate::tags;
use crate::tasks::IntersectRequest;

/// Bits of a prefix where nobody says how many: the two bytes of Thomas et al.
pub const PREFIX_BITS: u32 = 16;

/// Bits that a prefix may have. The version without a function that the public asks most ("Have I
/// Been Pwned") shows 20; more would leave little to hide.
pub const SERVED_PREFIX_BITS: RangeInclusive<u32> = 1..=20;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 7;

/// Rises when the hash of prefixes, keystreams or the layout of buckets change.
const VERSION: u64 = 1;

/// All buckets together may take so many bytes,
const BUCKET_BYTES_ANYWAY: usize = 1 << 30;
/// or so many times what the set takes in buckets that are just full.
const MOST_FILLING: usize = 8;

/// Bytes of a prefix in arrow 1.
const SENT_PREFIX_BYTES: usize = size_of::<u32>();

/// Separates the keystreams of payloads from those of other protocols.
const PAYLOAD_DOMAIN: &[u8; 16] = b"OPRFBKT payloads";

/// The parameters that both sides derive from the request and the bits of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Sizes of the set, of queries and of payloads.
    pub sizes: Sizes,
    /// Bits of the hash of an item that the server sees.
    pub prefix_bits: u32,
    /// Slots of each bucket.
    pub slots: usize,
}

impl Params {
    /// Parameters for a request and prefixes of so many bits, refused where the mode, a size or the
    /// number of bits is not served.
    pub fn derive(request: &IntersectRequest, prefix_bits: u32) -> Result<Self, Unsupported> {
        super::OprfBuckets::ENTRY.require(request.security)?;
        let sizes = Sizes::of(request)?;
        if !SERVED_PREFIX_BITS.contains(&prefix_bits) {
            let (least, most) = (SERVED_PREFIX_BITS.start(), SERVED_PREFIX_BITS.end());
            return Err(Unsupported::new(
                format_args!("a prefix of {prefix_bits} bits"),
                format_args!("choose {least} to {most}"),
            ));
        }
        let buckets = 1 << prefix_bits;
        // An empty set has one slot, too, and is no case of its own.
        let slots = max_load(sizes.set_items, 1, buckets, FailureEvent::HashTable.bits()).max(1);
        let params = Self { sizes, prefix_bits, slots };
        let just_full = params.bucket_bytes().checked_mul(sizes.set_items.div_ceil(slots).max(1));
        let most = just_full.map_or(usize::MAX, |bytes| bytes.saturating_mul(MOST_FILLING)).max(BUCKET_BYTES_ANYWAY);
        match params.bucket_bytes().checked_mul(buckets) {
            Some(bytes) if bytes <= most => Ok(params),
            _ => Err(Unsupported::new(
                format_args!(
                    "{buckets} buckets of {slots} items each, most of them random ones, with payloads of {} bytes",
                    sizes.payload_bytes
                ),
                "choose a shorter prefix, or send fewer or narrower columns",
            )),
        }
    }

    /// Width of a tag, in bits. Over all queries of a client, `slots n_r` [`QUERIES_AN_ENROLMENT`]
    /// pairs of tags must not collide.
    pub fn tag_bits(&self) -> u32 {
        tags::tag_bits(self.slots, self.sizes.query_items) + QUERIES_AN_ENROLMENT.ilog2()
    }

    /// The sizes of a bucket.
    pub(super) fn shape(&self) -> Shape {
        Shape {
            slots: self.slots,
            tag_bits: self.tag_bits(),
            payload_bytes: self.sizes.payload_bytes,
            domain: PAYLOAD_DOMAIN,
        }
    }

    /// Buckets of a set.
    pub(super) fn buckets(&self) -> usize {
        1 << self.prefix_bits
    }

    /// Bytes of a bucket.
    pub fn bucket_bytes(&self) -> usize {
        self.shape().bytes()
    }

    /// Bytes of all buckets, which the server keeps.
    pub fn table_bytes(&self) -> usize {
        self.buckets() * self.bucket_bytes()
    }

    /// For each item a prefix, two elements and a bucket.
    pub fn query_bytes(&self) -> u64 {
        let item = SENT_PREFIX_BYTES + 2 * POINT_BYTES + self.bucket_bytes();
        self.sizes.query_items as u64 * item as u64
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let [set_items, query_items, payload_bytes] = self.sizes.to_words();
        let (prefix_bits, tag_bits) = (self.prefix_bits.into(), self.tag_bits().into());
        [set_items, query_items, payload_bytes, prefix_bits, self.slots as u64, tag_bits, VERSION]
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [set_items, query_items, payload_bytes, prefix_bits, ..] = words;
        let request = Sizes::request([set_items, query_items, payload_bytes], Security::SemiHonest)?;
        let derived = Self::derive(&request, u32::try_from(prefix_bits).ok()?);
        derived.ok().filter(|params| params.to_words() == words)
    }
}
