//! The numbers that services share: sizes and widths of tags, and budgets of items.

use std::sync::atomic::{AtomicU64, Ordering};

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
    pub fn of(request: &IntersectRequest) -> Result<Self, Unsupported> {
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

    /// Those of a request to a service that gives membership and no payloads.
    pub fn of_membership(request: &IntersectRequest) -> Result<Self, Unsupported> {
        let sizes = Self::of(request)?;
        if sizes.payload_bytes > 0 {
            return Err(Unsupported::new(
                "payloads, from a protocol that gives membership alone",
                "choose oprf-pir, oprf-rfc9497 or cmdg21, or send no columns",
            ));
        }
        Ok(sizes)
    }

    /// Those of a request for membership, refused where a query has more items than a client may ask about at all,
    /// since each takes tens of milliseconds.
    pub fn of_slow_membership(request: &IntersectRequest, most: u64) -> Result<Self, Unsupported> {
        let sizes = Self::of_membership(request)?;
        if sizes.query_items as u64 > most {
            return Err(Unsupported::new(
                format_args!("a query of {} items, of which each takes tens of milliseconds", sizes.query_items),
                format_args!("ask about at most {most} items"),
            ));
        }
        Ok(sizes)
    }

    /// Width of a tag, in bits. Over all queries, `n_s n_r` [`QUERIES_AN_ENROLMENT`] pairs of tags
    /// must not collide.
    pub fn tag_bits(&self) -> u32 {
        tags::tag_bits(self.set_items, self.query_items) + QUERIES_AN_ENROLMENT.ilog2()
    }

    /// Refuses a query that is not of the agreed size, and one more than
    /// [`QUERIES_AN_ENROLMENT`].
    pub fn check_query(&self, query: &IntersectReceiverInput, asked: u64) -> Result<(), Abort> {
        query.check(self.query_items)?;
        check_asked(asked, QUERIES_AN_ENROLMENT)
    }

    /// The sizes as words of terms and states.
    pub fn to_words(self) -> [u64; 3] {
        [self.set_items, self.query_items, self.payload_bytes].map(|count| count as u64)
    }

    /// The request that has these words.
    pub fn request(words: [u64; 3], security: Security) -> Option<IntersectRequest> {
        let [sender_items, receiver_items, payload_bytes] = words.map(|word| usize::try_from(word).ok());
        Some(IntersectRequest {
            sender_items: sender_items?,
            receiver_items: receiver_items?,
            security,
            payload_bytes: payload_bytes?,
            both_learn: false,
            runs: 1,
        })
    }
}

/// Refuses one more query of a client that has asked `most` times.
pub fn check_asked(asked: u64, most: u64) -> Result<(), Abort> {
    if asked < most {
        return Ok(());
    }
    Err(Abort::Local {
        code: exit_code::REFUSED,
        fault: format!("this client has asked {most} times since it enrolled"),
        mend: "have the server prepare its set again, and enrol anew".into(),
    })
}

/// Refuses a query of so many items to a client that has asked about `asked` of at most `most`.
pub fn check_items_asked(asked: u64, items: usize, most: u64) -> Result<(), Abort> {
    if asked.saturating_add(items as u64) <= most {
        return Ok(());
    }
    Err(Abort::Local {
        code: exit_code::REFUSED,
        fault: format!("this client has asked about {asked} items of at most {most} since it enrolled"),
        mend: "enrol anew: delete the file that keeps what the server sent once".into(),
    })
}

/// Takes so many items from what a prepared set may still answer, at most `most` for all clients.
pub fn count_answered(answered: &AtomicU64, items: usize, most: u64) -> Result<(), Abort> {
    take_from_budget(answered, items as u64, most).map_err(|before| Abort::Local {
        code: exit_code::REFUSED,
        fault: format!("this prepared set has answered {before} items of at most {most}"),
        mend: "connect again if the server has another set by now; otherwise it has to prepare one".into(),
    })
}

/// Adds to a counter that may not exceed `most`, in one step: no other thread, and no state that is written
/// meanwhile, sees a count that was refused.
///
/// # Errors
/// The count so far, if there is less left.
pub fn take_from_budget(counter: &AtomicU64, count: u64, most: u64) -> Result<(), u64> {
    let taken = |before: u64| before.checked_add(count).filter(|&after| after <= most);
    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).map(drop)
}

/// The places of a client's items that match: without a branch, into memory that was written before.
pub fn matches_of(found: &[bool]) -> Vec<u32> {
    let (mut matches, mut count) = (vec![u32::MAX; found.len() + 1], 0);
    for (own, &is_match) in (0..).zip(found) {
        matches[count] = own;
        count += usize::from(is_match);
    }
    matches.truncate(count);
    matches
}
