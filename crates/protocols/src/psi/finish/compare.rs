//! What arrow 1 carries: the list of the sender's tags, or a filter of them, after section 5.2 of
//! "PsiBench".
//!
//! With a filter the receiver looks up each of its tags. That a tag of an item which only the
//! receiver has seems to be in it, in any of `n_r` look-ups, takes the share of
//! [`FailureEvent::TagCollision`]. Tags have 128 bits and count for nothing beside it: the filter's
//! error is that for a random tag, which includes the case that this is one of the sender's. That no
//! attempt builds the filter has probability `2^-128` (docs/parameters/filters.md says how far that is proven).
//!
//! A filter is a function of the set of the sender's tags, so that the receiver learns no more from it
//! than from their list, the attempt that succeeded included. Against a corrupt sender it is not as
//! good: whoever evaluates the function can put cells together that serve more items than it declared.
//! So only semi-honest modes have the choice.
//!
//! A row that offers it has [`choice`] among its choices, with the values that it offers, and gives what [`filter`]
//! says of its description to [`Params::with_filter`](super::Params).
//!
//! docs/parameters/filters.md says which rows offer it, and why others do not.

use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Choice, ChoiceValue, Entry, Phase, Resistance, Stream};
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::filters::{Demand, Kind, KindError};
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagSorter;

/// Bytes that memory is taken for before they have come.
const BYTES_AT_A_TIME: usize = 1 << 18;

/// The name of the choice.
const NAME: &str = "compare";

/// The filter that a row or variant of this description has in place of the list of tags.
pub fn filter(entry: &Entry) -> Option<Kind> {
    match entry.chosen(NAME) {
        "vacuum" => Some(Kind::Vacuum),
        "fuse" => Some(Kind::Fuse),
        "bloom" => Some(Kind::Bloom),
        "cuckoo" => Some(Kind::Cuckoo),
        _ => None,
    }
}

/// The choice; its first value is the row's, with what the row says of its list of tags.
pub const fn choice(values: &'static [ChoiceValue]) -> Choice {
    Choice { name: NAME, what: "What the receiver compares its tags with.", values }
}

/// The first value, for a row that says `deviations` of its list of tags.
pub const fn list(deviations: &'static [&'static str]) -> ChoiceValue {
    ChoiceValue::new("list", "The list of the sender's tags, sorted and Golomb-Rice coded.").deviating(deviations)
}

const SEMI_HONEST_SENDER: &str = "With a filter the sender must be semi-honest: a corrupt one can make a filter that \
                                  serves more items than it declared. No payloads travel, and both do not learn: a \
                                  filter has no places that they could follow.";

macro_rules! filter_value {
    ($name:ident, $value:literal, $what:literal, $filter:literal) => {
        /// A value of the choice `compare`.
        pub const $name: ChoiceValue = ChoiceValue {
            sender_at_most: Resistance::SemiHonest,
            ..ChoiceValue::new($value, $what).deviating(&[
                concat!(
                    "The sender sends ",
                    $filter,
                    " of its 128-bit tags, sorted first, instead of their list; all look-ups together are wrong with \
                     probability at most 2^-42."
                ),
                SEMI_HONEST_SENDER,
            ])
        };
    };
}

filter_value!(
    VACUUM,
    "vacuum",
    "A vacuum filter: about 70 bits a tag at 2^20 look-ups.",
    "a vacuum filter (Wang et al., VLDB 2019)"
);
filter_value!(
    FUSE,
    "fuse",
    "A binary fuse filter: about 70 bits a tag at 2^20 look-ups.",
    "a binary fuse filter (Graf, Lemire, JEA 2022)"
);
filter_value!(BLOOM, "bloom", "A Bloom filter: about 90 bits a tag at 2^20 look-ups.", "a Bloom filter");
filter_value!(
    CUCKOO,
    "cuckoo",
    "A cuckoo filter: about 69 to 137 bits a tag at 2^20 look-ups, for its length is a power of two.",
    "a cuckoo filter (Fan et al., CoNEXT 2014)"
);

/// A filter on arrow 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    kind: Kind,
    demand: Demand,
    bytes: usize,
}

impl Filter {
    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// The filter of so many tags of the sender, which the receiver asks `look_ups` times.
    ///
    /// # Errors
    /// If no filter is derived for these sizes.
    pub fn new(kind: Kind, tags: usize, look_ups: usize) -> Result<Self, Unsupported> {
        let demand = Demand { tags, look_ups, error_bits: FailureEvent::TagCollision.bits() };
        Ok(Self { kind, demand, bytes: kind.bytes(&demand)? })
    }

    /// Bytes of arrow 1.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        self.bytes as u64..=self.bytes as u64
    }

    /// Step 1 of the sender.
    pub fn send<S: Stream<Element = u8>>(&self, tags: TagSorter<()>, ch: &mut Channel) -> Result<(), Abort> {
        let count = self.demand.tags;
        let mut sorted = Secret::new(Vec::with_capacity(count));
        let mut labels = Vec::with_capacity(count);
        tags.finish().fill(&mut sorted, &mut labels, count);
        let filter = self.kind.build(&self.demand, &mut sorted).map_err(|error| match error {
            KindError::Unsupported(refusal) => refusal.into(),
            KindError::Build(_) | KindError::Malformed(_) => {
                Abort::StatisticalFailure("no attempt builds the filter; run again, or with compare=list")
            }
        })?;
        drop(sorted);
        ch.send_stream::<S>(&filter)
    }

    /// Step 1 of the receiver: the numbers of its tags that are in the filter, ascending.
    pub fn receive<S: Stream<Element = u8>>(&self, tags: &[u128], ch: &mut Channel) -> Result<Vec<u32>, Abort> {
        let phase = ch.phase(Phase::Masks);
        let mut bytes: Vec<u8> = Vec::new();
        while bytes.len() < self.bytes {
            let arrived = bytes.len();
            let due = self.bytes.min(arrived + BYTES_AT_A_TIME);
            if due > bytes.capacity() {
                // Twice as many as have come, and no more than there will be.
                bytes.reserve_exact(self.bytes.min(due.max(2 * arrived)) - arrived);
            }
            bytes.resize(due, 0);
            ch.recv_stream::<S>(bytes.get_mut(arrived..).unwrap_or_default())?;
        }
        drop(phase);
        let _phase = ch.phase(Phase::Match);
        let filter = self.kind.parse(&self.demand, bytes).map_err(|error| match error {
            KindError::Unsupported(refusal) => refusal.into(),
            KindError::Build(_) | KindError::Malformed(_) => {
                Abort::PeerMisbehaved(S::STEP, "the filter of tags is malformed")
            }
        })?;
        let mut found = vec![false; tags.len()];
        filter.look_up(tags, &mut found);
        // As much work whatever was found.
        let mut matches = vec![u32::MAX; tags.len() + 1];
        let mut length = 0;
        for (number, &found) in found.iter().enumerate() {
            matches[length] = number as u32;
            length += usize::from(found);
        }
        matches.truncate(length);
        Ok(matches)
    }
}
