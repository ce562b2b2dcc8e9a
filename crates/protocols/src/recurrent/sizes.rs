//! The numbers that services share in which a client compares tags.

use vesica_party::{Abort, Security, exit_code};
use vesica_structures::facts::Unsupported;

use crate::tags;
use crate::tasks::{IntersectReceiverInput, IntersectRequest};

/// Queries of a client from one enrolment, at most: their tags share one budget of collisions.
pub const QUERIES_AN_ENROLMENT: u64 = 1 << 18;

/// The sizes of a set and of the queries about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Items of the server's set, `n_s`.
    pub set_items: usize,
    /// Items of each query, `n_r`.
    pub query_items: usize,
    /// Width of a payload, in bytes; 0 for none.
    pub payload_bytes: usize,
}

impl Sizes {
    /// Those of a request. Refused where one is not served, or both sides are to learn.
    pub(super) fn of(request: &IntersectRequest) -> Result<Self, Unsupported> {
        request.check_sizes()?;
        if request.both_learn {
            return Err(Unsupported::new(
                "a sender that learns its matches, from a protocol for many queries of one set",
                "choose another protocol, or let only the receiver learn",
            ));
        }
        let &IntersectRequest { sender_items, receiver_items, payload_bytes, .. } = request;
        Ok(Self { set_items: sender_items, query_items: receiver_items, payload_bytes })
    }

    /// Width of a tag, in bits. Over all queries, `n_s n_r` [`QUERIES_AN_ENROLMENT`] pairs of tags
    /// must not collide.
    pub fn tag_bits(&self) -> u32 {
        tags::tag_bits(self.set_items, self.query_items) + QUERIES_AN_ENROLMENT.ilog2()
    }

    /// Refuses a query that is not of the agreed size, and one more than
    /// [`QUERIES_AN_ENROLMENT`].
    pub(super) fn check_query(&self, query: &IntersectReceiverInput, asked: u64) -> Result<(), Abort> {
        query.check(self.query_items)?;
        if asked < QUERIES_AN_ENROLMENT {
            return Ok(());
        }
        Err(Abort::Local {
            code: exit_code::REFUSED,
            fault: format!("this client has asked {QUERIES_AN_ENROLMENT} times since it enrolled"),
            mend: "have the server prepare its set again, and enrol anew".into(),
        })
    }

    /// The sizes as words of terms and states.
    pub(super) fn to_words(self) -> [u64; 3] {
        [self.set_items, self.query_items, self.payload_bytes].map(|count| count as u64)
    }

    /// The request that has these words.
    pub(super) fn request(words: [u64; 3], security: Security) -> Option<IntersectRequest> {
        let [sender_items, receiver_items, payload_bytes] = words.map(|word| usize::try_from(word).ok());
        Some(IntersectRequest {
            sender_items: sender_items?,
            receiver_items: receiver_items?,
            security,
            payload_bytes: payload_bytes?,
            both_learn: false,
        })
    }
}
