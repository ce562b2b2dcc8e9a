//! All numbers of the service.

use vesica_party::Security;
use vesica_party::service::Service;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::max_load;
use vesica_structures::packing::packed_len;
use vesica_structures::pir::{DEGREE, Seed, Shape};

use crate::ecdh::POINT_BYTES;
use crate::recurrent::{ANSWER_BYTES_IN_FLIGHT, Sizes};
use crate::tags;
use crate::tasks::IntersectRequest;

/// Queries of a client from one enrolment, at most: they share one budget of wrong matches.
pub const QUERIES_AN_ENROLMENT: u64 = 1 << 16;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 9;

/// Rises when keystreams, the layout of records or the look-up change.
const VERSION: u64 = 3;

/// Bytes at the end of a record by which a client sees that it was read rightly.
pub(super) const CHECK_BYTES: usize = 8;

/// What a byte that travels for an item is worth in bytes that the server reads for it: a link of some
/// 300 MB/s beside a memory of 10 GB/s, of which eight items share a reading.
const READ_BYTES_A_SENT_BYTE: usize = 256;

/// Most bytes of queries that a client has sent, or queued to send, before it awaits the first answer:
/// enough for a link of 1 Gbit/s with a round trip of 100 ms.
const QUERY_BYTES_IN_FLIGHT: usize = 12 << 20;

/// Numbers of parts that are tried beside the powers of two.
const PARTS_BETWEEN: [usize; 5] = [3, 6, 12, 24, 48];

/// What a client keeps of a query until its answer comes.
const KEPT_BYTES_A_QUERY: usize = DEGREE + 128;

/// The parameters that both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Items of the server's set, `n_s`.
    pub set_items: usize,
    /// Items of each query, `n_r`.
    pub query_items: usize,
    /// Width of a payload, in bytes; 0 for none.
    pub payload_bytes: usize,
    /// The matrix of buckets: one a record.
    pub shape: Shape,
    /// Most items of a bucket.
    pub slots: usize,
    /// Width of a tag, in bits.
    pub tag_bits: u32,
}

impl Params {
    /// Parameters for a request, refused where the mode or a size is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::OprfPir::ENTRY.require(request.security)?;
        Sizes::of(request)?;
        let widths = Shape::widths().map(|columns| (columns, 1));
        let several = (1..=Shape::MOST_PARTS).filter(|parts| parts.is_power_of_two() || PARTS_BETWEEN.contains(parts));
        let several = several.skip(1).map(|parts| (Shape::widths().max().unwrap_or(0), parts));
        let best = widths.chain(several).filter_map(|(columns, parts)| Self::with(request, columns, parts));
        best.min_by_key(Self::cost).ok_or_else(|| {
            Unsupported::new(
                format_args!(
                    "{} items with payloads of {} bytes, from a protocol that hides the place of a look-up",
                    request.sender_items, request.payload_bytes
                ),
                "send fewer or narrower columns, split the table by a public column, or choose oprf-rfc9497",
            )
        })
    }

    /// Parameters with records of this many columns and parts; `None` if the set does not fit in any
    /// number of them.
    fn with(request: &IntersectRequest, columns: usize, parts: usize) -> Option<Self> {
        let &IntersectRequest { sender_items, receiver_items, payload_bytes, .. } = request;
        let record = Shape::new(1, columns, parts)?.record_bytes().checked_sub(CHECK_BYTES)?;
        // A query's tag is compared with each slot of one bucket.
        let queries = tags::tag_bits(0, receiver_items) + QUERIES_AN_ENROLMENT.ilog2();
        let most = 8 * record / (queries as usize + 8 * payload_bytes);
        let tag_bits = queries + ceil_log2(most);
        let slots = 8 * record / (tag_bits as usize + 8 * payload_bytes);
        let bytes = |slots: usize| packed_len(slots, tag_bits) + slots * payload_bytes;
        let slots = if bytes(slots) > record { slots.saturating_sub(1) } else { slots };
        if slots == 0 || tag_bits > u128::BITS {
            return None;
        }
        let fits = |rows: usize| max_load(sender_items, 1, rows, FailureEvent::HashTable.bits()) <= slots;
        let (mut below, mut enough) = (0, Shape::MOST_ROWS);
        if !fits(enough) {
            return None;
        }
        while enough - below > 1 {
            let middle = below + (enough - below) / 2;
            if fits(middle) {
                enough = middle;
            } else {
                below = middle;
            }
        }
        let shape = Shape::new(enough, columns, parts)?;
        Some(Self { set_items: sender_items, query_items: receiver_items, payload_bytes, shape, slots, tag_bits })
    }

    /// What an item of a query costs, in bytes that the server reads.
    fn cost(&self) -> usize {
        let sent = self.shape.query_bytes() + self.shape.answer_bytes();
        self.shape.matrix_bytes() + self.shape.packing_bytes() + READ_BYTES_A_SENT_BYTE * sent
    }

    /// The seed and the public part of the matrix.
    pub fn enrolment_bytes(&self) -> u64 {
        (size_of::<Seed>() + self.shape.public_bytes()) as u64
    }

    /// For each item two elements, a query and an answer.
    pub fn query_bytes(&self) -> u64 {
        let item = 2 * POINT_BYTES + self.shape.query_bytes() + self.shape.answer_bytes();
        self.query_items as u64 * item as u64
    }

    /// How many answers a client awaits at a time, at least as many as a server makes together.
    pub(super) fn items_in_flight(&self) -> usize {
        let answers = ANSWER_BYTES_IN_FLIGHT / self.shape.answer_bytes();
        let queries = QUERY_BYTES_IN_FLIGHT / self.shape.query_bytes();
        answers.min(queries).max(super::ITEMS_AT_A_TIME)
    }

    /// Most bytes that a client holds of look-ups under way: their queries may all be queued at once.
    pub fn bytes_in_flight(&self) -> u64 {
        // A queue that grows takes up to twice what it holds.
        let item = 2 * self.shape.query_bytes() + KEPT_BYTES_A_QUERY + self.shape.answer_bytes();
        (self.items_in_flight().min(self.query_items) * item) as u64
    }

    /// About what the matrix of a set takes while it is prepared, in bytes: the records twice, and what
    /// is computed for packing, with the three tables of elements that it is made of.
    pub fn preparation_bytes(&self) -> u64 {
        let tables = 3 * self.shape.columns() * DEGREE * size_of::<u64>();
        (2 * self.shape.matrix_bytes() + self.shape.packing_bytes() + tables) as u64
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let Self { set_items, query_items, payload_bytes, shape, slots, tag_bits } = self;
        let counts = [set_items, query_items, payload_bytes, shape.rows(), shape.columns(), shape.parts(), slots];
        let [a, b, c, d, e, f, g] = counts.map(|count| count as u64);
        [a, b, c, d, e, f, g, tag_bits.into(), VERSION]
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [set_items, query_items, payload_bytes, ..] = words;
        let request = Sizes::request([set_items, query_items, payload_bytes], Security::SemiHonest)?;
        Self::derive(&request).ok().filter(|params| params.to_words() == words)
    }
}
