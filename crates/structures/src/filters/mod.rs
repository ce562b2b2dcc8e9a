//! Filters: short stand-ins for a set of tags, of which the other side asks "is this tag among
//! them?". A filter never says no to a tag of its set, and seldom says yes to another.
//!
//! | filter | source | tests a look-up | bits a tag |
//! |---|---|---|---|
//! | [`BloomFilter`] | Bloom, CACM 1970 | `e` bits | `1.44 e` |
//! | [`CuckooFilter`] | Fan, Andersen, Kaminsky, Mitzenmacher, CoNEXT 2014 | 8 fingerprints | `(e + 3) / load`, load 0.47 to 0.95 |
//! | [`VacuumFilter`] | Wang, Zhou, Shi, Qian, VLDB 2019 | 8 fingerprints | `(e + 3) / 0.95` |
//! | [`BinaryFuseFilter`] | Graf, Lemire, JEA 2022 | 1 sum of three cells | `1.125 e` |
//!
//! `e` is [`Demand::bits_per_look_up`]: one wrong yes has probability at most `2^-e`, so that all
//! look-ups together have one with probability at most `2^-error_bits`. docs/parameters/filters.md
//! derives the numbers.
//!
//! **Tags are uniform.** They are 128-bit outputs of a pseudo-random function, so no filter hashes
//! its keys: positions and fingerprints are bits of the tag itself (file `mix.rs`), and, in a second
//! attempt, of a fixed permutation of it. Only the Bloom filter needs more positions than a tag has
//! bits, and expands it.
//!
//! **What a filter says.** Its length follows from the [`Demand`] alone. Its bytes are a function of
//! the *set* of tags: tags are sorted before they are inserted, evictions follow a fixed rule, and
//! the attempt that succeeded is the first that does. So a filter says no more than the sorted list
//! of the tags: whoever has the list can make the filter.
//!
//! **What a look-up's time says.** Each look-up takes the same number of steps, whatever the filter
//! holds and whether the tag is found. Which places in memory it reads depends on the tag asked for
//! and on nothing else.
//!
//! **A filter from a dishonest builder** may say yes to more tags than it declares: whoever knows how
//! tags are made can choose cells that serve several guesses at once. Parsing refuses what an honest
//! builder cannot have made (too many ones, too many fingerprints), which bounds the wrong yeses for
//! random tags, but not for chosen ones.

mod bloom;
mod buckets;
mod cells;
mod cuckoo;
mod fuse;
mod kind;
mod mix;
#[cfg(test)]
mod tests;
mod vacuum;

use rayon::prelude::*;

pub use bloom::BloomFilter;
pub use cuckoo::CuckooFilter;
pub use fuse::BinaryFuseFilter;
pub use kind::{AnyFilter, Kind, KindError};
pub use vacuum::VacuumFilter;

use crate::facts::{Unsupported, ceil_log2};

/// Attempts to build a filter, each under another permutation of the tags. An attempt fails with
/// probability at most 1/4 (a bound for the Bloom filter; measured for the others up to `3 2^20` tags, and argued beyond:
/// docs/parameters/filters.md), so that all of them do with probability at most `2^-128`.
pub const ATTEMPTS: u8 = 64;

/// Most tags of a filter: three a sender's item for 2^26 items, and some more.
const MOST_TAGS: usize = 1 << 28;

/// Most bits that a look-up may ask for. A fingerprint has three more at most, and leaves a position
/// 45 of the tag's 128 bits.
const MOST_BITS: u32 = 80;

/// Tags that are worth a task of a thread.
const TAGS_PER_PIECE: usize = 1 << 10;

/// What is asked of a filter, which both sides know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Tags in the filter.
    pub tags: usize,
    /// Look-ups of tags that may be outside of it.
    pub look_ups: usize,
    /// `-log2` of the probability, at most, that any of these look-ups says yes wrongly.
    pub error_bits: u32,
}

impl Demand {
    /// `-log2` of the probability, at most, that one look-up says yes wrongly: a union bound over all
    /// of them.
    pub fn bits_per_look_up(&self) -> u32 {
        self.error_bits + ceil_log2(self.look_ups)
    }

    /// A filter for no tags is one for a tag that is not there.
    fn least_tags(&self) -> usize {
        self.tags.max(1)
    }

    /// # Errors
    /// If it is outside of what the parameters are derived for.
    fn check(&self) -> Result<(), Unsupported> {
        if self.tags > MOST_TAGS {
            return Err(Unsupported::new(
                format_args!("a filter of {} tags", self.tags),
                format_args!("use at most {MOST_TAGS} tags, or compare lists of tags"),
            ));
        }
        let bits = self.bits_per_look_up();
        if bits > MOST_BITS {
            return Err(Unsupported::new(
                format_args!("a filter with an error of 2^-{bits} a look-up"),
                format_args!("ask for 2^-{MOST_BITS} at most, with fewer look-ups, or compare lists of tags"),
            ));
        }
        Ok(())
    }
}

/// No attempt built the filter: see [`ATTEMPTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no attempt built the filter")]
pub struct BuildFailure;

/// Why bytes are no filter of the agreed shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Another number of bytes than the shape has.
    #[error("the filter has another length than was agreed")]
    Length,
    /// A number of an attempt that is never made.
    #[error("the filter names an attempt that is never made")]
    Attempt,
    /// Bits behind the last cell.
    #[error("the filter's last byte has bits behind its last cell")]
    Trailing,
    /// More ones or fingerprints than the tags can make.
    #[error("the filter holds more than was agreed")]
    TooFull,
}

/// A filter of tags.
pub trait Filter: Sized + Send + Sync {
    /// Its parameters, a function of the [`Demand`] alone.
    type Shape: Copy + Send + Sync;

    /// The parameters for a demand.
    ///
    /// # Errors
    /// If the demand is outside of what the parameters are derived for.
    fn shape(demand: &Demand) -> Result<Self::Shape, Unsupported>;

    /// The exact length of a filter, in bytes.
    fn bytes(shape: &Self::Shape) -> usize;

    /// One attempt to build a filter of tags that ascend strictly; `None` if it fails.
    fn attempt(shape: &Self::Shape, tags: &[u128], attempt: u8) -> Option<Self>;

    /// The filter's bytes, as many as [`bytes`](Self::bytes) says.
    fn into_bytes(self) -> Vec<u8>;

    /// The filter of these bytes.
    ///
    /// # Errors
    /// If no filter of this shape has them.
    fn parse(shape: &Self::Shape, bytes: Vec<u8>) -> Result<Self, Malformed>;

    /// Sets `found[i]` to whether `tags[i]` seems to be in the set, on the caller's thread; both of one
    /// length.
    fn look_up_here(&self, tags: &[u128], found: &mut [bool]);

    /// The filter of these tags, whatever their order, of which equal ones count once. They are
    /// sorted in place.
    ///
    /// # Errors
    /// If all attempts fail.
    ///
    /// # Panics
    /// If there are more tags than the shape is for.
    fn build(shape: &Self::Shape, tags: &mut Vec<u128>) -> Result<Self, BuildFailure> {
        tags.sort_unstable();
        tags.dedup();
        (0..ATTEMPTS).find_map(|attempt| Self::attempt(shape, tags, attempt)).ok_or(BuildFailure)
    }

    /// The same as [`look_up_here`](Self::look_up_here) on all threads.
    ///
    /// # Panics
    /// If `tags` and `found` have different lengths.
    fn look_up(&self, tags: &[u128], found: &mut [bool]) {
        assert_eq!(tags.len(), found.len(), "an answer for each tag");
        let pieces = tags.par_chunks(TAGS_PER_PIECE).zip(found.par_chunks_mut(TAGS_PER_PIECE));
        pieces.for_each(|(tags, found)| self.look_up_here(tags, found));
    }
}
