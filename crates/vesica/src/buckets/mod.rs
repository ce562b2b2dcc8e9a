//! A task in buckets: each side divides its keys by a hash that the session keys, fills every bucket up to
//! one size, and both run the protocol bucket by bucket. A protocol then takes memory for a bucket
//! and not for a table.
//!
//! - [`bound()`] is the size of a bucket: a public function of the number of keys and of buckets, so that how
//!   many keys a bucket really has stays hidden (docs/parameters/buckets.md).
//! - [`extent()`] is what a run of one bucket is asked for. All runs keep to one failure budget.
//! - [`Buckets`] are a side's items, divided and filled up before the first run.
//! - [`session()`] is the session of one run.
//! - [`Masks`] hide what single buckets give, where the result is a total over all of them.
//!
//! In the semi-honest mode one bucket is run after the other. Against a malicious partner all buckets go through a
//! protocol [pass by pass](vesica_protocols::passes), so that nothing is shown before everything is fixed.
//!
//! docs/buckets.md says what a user gets from it, and what it reveals.

mod bound;
mod masks;
#[cfg(test)]
mod order;
mod partition;
mod work_folder;

use vesica_party::{Role, Security};
use vesica_protocols::tasks::{Extent, IntersectRequest};
use vesica_structures::facts::{FailureEvent, Unsupported};

pub use bound::bound;
pub use masks::Masks;
pub(crate) use partition::numbers;
pub(crate) use partition::NO_PLACE;
pub use partition::{Bucket, Buckets, MemoryBuckets, Overflow};

/// The most buckets of a task.
pub const MOST_BUCKETS: u32 = 1 << 16;

/// A side's buckets overflow with probability at most `2^-OVERFLOW_BITS`: both sides' together, with that of
/// [`FailureEvent::HashTable`]: a protocol with hash tables that runs in buckets takes the share of its tables from
/// elsewhere.
const OVERFLOW_BITS: u32 = FailureEvent::HashTable.bits() + 1;

/// The most bytes that a side holds for each item of all buckets while they are run: the item, its place, and
/// its match; in the malicious mode also what a run keeps of it from one pass to the next.
pub(crate) const fn bytes_per_item(security: Security) -> u64 {
    let between_passes = match security {
        Security::SemiHonest => 0,
        Security::Malicious => 16,
    };
    16 + 4 + 4 + between_passes
}

/// The same of a side that has a work folder: its match.
pub(crate) const BYTES_PER_ITEM_WITH_WORK: u64 = 4;

/// Memory of a work folder's buffers, whatever the sizes.
pub(crate) const WORK_MEMORY: u64 = 128 << 20;

/// The most bytes that a side with a work folder has there, for a table of so many rows whose payload has so many bytes a
/// key: rows with their digests, those without repeated keys, buckets, what a run keeps of them from one pass to the
/// next, and matches with `received` bytes of the partner's payload each.
pub fn bytes_on_disk(rows: u64, (own, received): (usize, usize), run: &Extent, role: Role) -> u64 {
    let (own, received) = (own as u64, received as u64);
    let payload = if own > 0 { 4 + own } else { 0 };
    let keys = rows.saturating_mul(36 + payload);
    let items = (size(run, role) as u64).saturating_mul(run.runs as u64);
    let between_passes = if run.security == Security::Malicious { 16 } else { 0 };
    let in_buckets = items.saturating_mul(16 + 4 + own + between_passes);
    let matches = rows.saturating_mul(4 + received);
    // Keys are there twice where rows repeat some, and go when the buckets are there.
    let most = keys.saturating_mul(2).max(keys.saturating_add(in_buckets)).max(in_buckets.saturating_add(matches));
    // Each 64 KiB are sealed.
    most.saturating_add(most / 1000).saturating_add(1 << 20)
}

/// What a run of one of these buckets is asked for, where the two sides bring the keys of `whole`; for one
/// bucket `whole` itself.
///
/// # Errors
/// If there are no buckets or more than [`MOST_BUCKETS`], or if a side would have more items in all buckets
/// together than indices have numbers for.
pub fn extent(whole: &Extent, buckets: u32) -> Result<Extent, Unsupported> {
    if buckets == 1 {
        return Ok(*whole);
    }
    if !(1..=MOST_BUCKETS).contains(&buckets) {
        return Err(Unsupported::new(format_args!("{buckets} buckets"), format_args!("say 1 to {MOST_BUCKETS}")));
    }
    let size = |keys: usize| {
        let size = bound(keys, buckets, OVERFLOW_BITS);
        match size.checked_mul(buckets as usize) {
            Some(items) if keys.max(items) <= IntersectRequest::MOST_ITEMS => Ok(size),
            _ => Err(Unsupported::new(
                format_args!("{keys} keys in {buckets} buckets of {size} items"),
                "say fewer buckets, or split the table by a public column",
            )),
        }
    };
    let Extent { sender_items, receiver_items, security, .. } = *whole;
    Ok(Extent::new(size(sender_items)?, size(receiver_items)?, security).in_runs(buckets as usize))
}

/// What a run of one of these buckets is asked for, where a bucket may be run again and there are at most as many
/// reruns as buckets.
///
/// # Errors
/// As of [`extent()`], and for one bucket.
pub fn extent_with_reruns(whole: &Extent, buckets: u32) -> Result<Extent, Unsupported> {
    if buckets == 1 {
        return Err(Unsupported::new("one bucket on a cluster", "say at least 2 buckets"));
    }
    Ok(extent(whole, buckets)?.in_runs(2 * buckets as usize))
}

/// How many items each bucket of the side in this role has, dummies included, where `run` is [`extent()`].
pub(crate) fn size(run: &Extent, role: Role) -> usize {
    match role {
        Role::Sender => run.sender_items,
        Role::Receiver => run.receiver_items,
    }
}

/// The session of an attempt at a bucket, within the session `whole` of the conversation. Every hash of the
/// attempt is bound to it.
pub fn session(whole: &[u8; 32], bucket: u32, attempt: u32) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-28 session of an attempt at a bucket v1");
    hasher.update(whole).update(&bucket.to_le_bytes()).update(&attempt.to_le_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::task;

    #[test]
    fn every_attempt_at_every_bucket_of_every_session_has_a_session_of_its_own() {
        let mut seen = HashSet::new();
        for whole in [[0; 32], [1; 32]] {
            assert!(seen.insert(whole));
            for bucket in 0..20 {
                for attempt in 0..20 {
                    assert!(seen.insert(session(&whole, bucket, attempt)), "{bucket}, {attempt}");
                }
            }
        }
    }

    /// The widths are those for all buckets together.
    #[test]
    fn runs_of_buckets_take_more_bytes_than_as_many_runs_alone() {
        let task = task::find("intersect").expect("the task");
        let one = Extent::new(1000, 1000, Security::SemiHonest);
        for entry in task.entries() {
            let bytes = |extent: &Extent| {
                let workload = task.workload(extent, &task.least_amounts()).expect("the least");
                workload.predicted_bytes(entry)
            };
            if let (Ok(alone), Ok(all)) = (bytes(&one), bytes(&one.in_runs(64))) {
                assert!(*all.end() > 64 * alone.end(), "{} {alone:?} {all:?}", entry.id);
            }
        }
    }

    #[test]
    fn a_run_of_a_bucket_has_the_bound_for_each_side_and_knows_how_many_runs_there_are() {
        let whole = Extent::new(1 << 20, 1 << 22, Security::SemiHonest);
        assert_eq!(extent(&whole, 1), Ok(whole));
        let run = extent(&whole, 64).expect("served");
        assert_eq!((run.sender_items, run.receiver_items, run.runs), (17_404, 67_567, 64));
        for (keys, buckets) in [(1, 0), (1, MOST_BUCKETS + 1), (usize::MAX, 2), (u32::MAX as usize - 1, MOST_BUCKETS)] {
            let whole = Extent::new(1, keys, Security::SemiHonest);
            assert!(extent(&whole, buckets).is_err(), "{keys} {buckets}");
        }
    }
}
