//! A task in buckets: each side divides its keys by a hash that the session keys, fills every bucket up to
//! one size, and both run the protocol bucket by bucket. A protocol then takes memory for a bucket
//! and not for a table.
//!
//! - [`bound()`] is the size of a bucket: a public function of the number of keys and of buckets, so that how
//!   many keys a bucket really has stays hidden (docs/parameters/buckets.md).
//! - [`extent()`] is what a run of one bucket is asked for. All runs keep to one failure budget.
//! - [`Buckets`] are a side's items, divided and filled up before the first run.
//! - [`session()`] is the session of one run.
//!
//! In the semi-honest mode one bucket is run after the other. Against a malicious partner all buckets go through a
//! protocol [pass by pass](vesica_protocols::passes), so that nothing is shown before everything is fixed.
//!
//! docs/buckets.md says what a user gets from it, and what it reveals.

mod bound;
#[cfg(test)]
mod order;
mod partition;
mod work_folder;

use vesica_party::{Role, Security};
use vesica_protocols::tasks::{Extent, IntersectRequest};
use vesica_structures::facts::{FailureEvent, Unsupported};

pub use bound::bound;
pub(crate) use partition::NO_PLACE;
pub(crate) use partition::numbers;
pub use partition::{Bucket, Buckets, Found, MemoryBuckets, Overflow};
pub use work_folder::{KeptMatches, ToKeep};

/// The most buckets of a task.
pub const MOST_BUCKETS: u32 = 1 << 16;

/// The most buckets of a task whose protocols are circuits: a connection has 65,535 forks, of which a circuit takes up to
/// four in a bucket.
pub(crate) const MOST_BUCKETS_OF_CIRCUITS: u32 = 1 << 13;

/// What stands for a number of buckets: as many as the sizes of both tables call for, see [`count()`].
pub const BY_SIZE: u32 = 0;

/// Keys of the larger table in a bucket, at most, where the number goes by the sizes. A protocol then takes some 100 MB.
const KEYS_OF_A_BUCKET: usize = 1 << 18;

/// A number of buckets in words.
pub fn said(buckets: u32) -> String {
    if buckets == BY_SIZE { "auto".to_owned() } else { buckets.to_string() }
}

/// In how many buckets tables of these sizes are divided, where both sides asked for `buckets`, which may be [`BY_SIZE`]:
/// then a power of 2, at least 2. It goes by public sizes alone, so that both sides come to it, and neither has to tell
/// how much memory it has.
pub fn count(whole: &Extent, buckets: u32) -> u32 {
    if buckets != BY_SIZE {
        return buckets;
    }
    let larger = whole.sender_items.max(whole.receiver_items);
    let least = larger.div_ceil(KEYS_OF_A_BUCKET).max(2).next_power_of_two();
    u32::try_from(least).unwrap_or(MOST_BUCKETS).min(MOST_BUCKETS)
}

/// Keys of the smaller table in a bucket, at least, where nobody asked for buckets. With few of them, a receiver may guess
/// at many more keys than it declares, and what can be timed tells of few matches (SECURITY.md, *Buckets*).
pub const LEAST_UNASKED: usize = 50_000;

/// Whether a run on whole tables of these sizes may become one in buckets unasked: the larger one may take more memory
/// than there is, and the smaller one has enough keys for its buckets.
pub fn may_be_needed(whole: &Extent) -> bool {
    let Extent { sender_items, receiver_items, .. } = *whole;
    let buckets = count(whole, BY_SIZE) as usize;
    sender_items.max(receiver_items) > KEYS_OF_A_BUCKET && sender_items.min(receiver_items) / buckets >= LEAST_UNASKED
}

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

/// The same of a side that has a work folder: its share of a partition, while repeated keys are dropped.
pub(crate) const BYTES_PER_ITEM_WITH_WORK: u64 = 1;

/// Memory of a work folder's buffers, whatever the sizes.
pub(crate) const WORK_MEMORY: u64 = 128 << 20;

/// What stands in a side's work folder in the course of a run, in bytes: of a table of so many rows, where its payload
/// has `own` bytes a key and the partner's `received`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// Rows with the hashes of their keys and, for a moment, the same without repeated keys.
    pub reading: u64,
    /// The keys, and buckets beside them.
    pub dividing: u64,
    /// Buckets, what a run keeps of them from one pass to the next, and matches.
    pub running: u64,
}

impl OnDisk {
    /// Of the side in this role.
    pub fn new(rows: u64, (own, received): (usize, usize), (run, buckets): (&Extent, u32), role: Role) -> Self {
        let (own, received) = (own as u64, received as u64);
        let items = (size(run, role) as u64).saturating_mul(buckets.into());
        let between_passes = if run.security == Security::Malicious { 16 } else { 0 };
        // Seals take at most as much as those of the shortest chunks.
        let sealed = |rows: u64, each: u64| {
            let bytes = rows.saturating_mul(each);
            bytes.saturating_add(bytes / 64)
        };
        let keys = sealed(rows, 4 + 32 + own);
        Self {
            reading: keys.saturating_mul(2),
            dividing: keys.saturating_add(sealed(items, 16 + 4 + own)),
            // Found in buckets, perhaps in a record with payloads; and a row of each repeated key is there twice.
            running: sealed(items, 16 + 4 + own + between_passes + 4 + received)
                .saturating_add(sealed(rows, 2 * (4 + received))),
        }
    }

    /// The most at a time.
    pub fn most(&self) -> u64 {
        self.reading.max(self.dividing).max(self.running)
    }
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
    fn the_number_of_buckets_goes_by_the_larger_table() {
        for (sender, receiver, expected) in [
            (1, 1, 2),
            (1 << 19, 5, 2),
            ((1 << 19) + 1, 5, 4),
            (7, 1 << 26, 256),
            (1 << 28, 1 << 20, 1 << 10),
            (1 << 31, 1, 1 << 13),
        ] {
            let whole = Extent::new(sender, receiver, Security::SemiHonest);
            assert_eq!((count(&whole, BY_SIZE), count(&whole, 3), count(&whole, 1)), (expected, 3, 1));
            assert!(extent(&whole, expected).is_ok(), "{sender} x {receiver}");
        }
    }

    #[test]
    fn nobody_gets_small_buckets_unasked() {
        for (sender, receiver, expected) in [
            (1 << 18, 1 << 18, false),
            ((1 << 18) + 1, (1 << 18) + 1, true),
            (1 << 20, 199_999, false),
            (1 << 20, 200_000, true),
            (10, 1 << 28, false),
            (1 << 28, 1 << 28, true),
        ] {
            let whole = Extent::new(sender, receiver, Security::SemiHonest);
            assert_eq!(may_be_needed(&whole), expected, "{sender} x {receiver}");
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
