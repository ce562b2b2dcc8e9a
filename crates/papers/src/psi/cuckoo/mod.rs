//! PSI from OTs of a cuckoo table's bins: one figure for four papers.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. salt of h_1, h_2, h_3 and of strings
//!      ------------------------------------------------------------------------>
//!                                                                     each y in one of its bins h_b(y)
//!   F_(j,k)                 [ 1-of-N OT, for each bin j and chunk k ]  F_(j,k)(chunk k of s_b(y)) for the y of bin j = h_b(y)
//!
//!   H(j, sum over k of F_(j,k)(chunk k of s_b(x))), j = h_b(x), for b = 1, 2, 3: tag, key     the same: tag, key
//!                                2. the tags of X, three an item, in an order that says nothing
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                3. (labelled) payload_x + G(key), in the order of 2
//!      ------------------------------------------------------------------------>
//! ```
//!
//! Both sides turn an item into a *string* for each of its three bins, and compare strings bin by bin: a
//! transfer for each *chunk* of a string, of which the receiver gets the value at its own chunk, and the
//! sender makes the values that it needs. Papers differ in strings and transfers:
//!
//! | row | paper | a string | transfers a bin |
//! |---|---|---|---|
//! | [`Psz14`] | Pinkas, Schneider, Zohner, USENIX Security 2014 | a hash of the item, as long as all pairs of items ask | one of 2^8 for each 8 bits (KK13) |
//! | [`Pssz15`] | Pinkas, Schneider, Segev, Zohner, USENIX Security 2015 | the part of that hash that the bin does not tell | one of 2^8 for each 8 bits (KK13) |
//! | [`Kkrt16`] | Kolesnikov, Kumaresan, Rosulek, Trieu, CCS 2016, section 5 | a hash of 128 bits | a batched OPRF |
//! | [`Oos17`] | Orrù, Orsini, Scholl, CT-RSA 2017 | a hash, as long as the pairs in a bin ask | one of 2^k |
//!
//! | papers | here | what |
//! |---|---|---|
//! | `P_1`, `X`; `P_2`, `Y` | receiver, `Y`; sender, `X` | |
//! | `h_1`, `h_2`, `h_3`; `x_R` | `Places` | the bins of an item; its strings |
//! | 1.2 n bins and a stash | [`bins`](Params::bins) | a table without a stash |
//! | `sigma`, `mu`; `t`, `eta` | `string_bits`; [`Chunks`] | |
//! | BaRK-OPRF; 1-of-N OT | [`vesica_mpc::code_oprf`] | |
//! | `H_1`, `H_2`, `H_3`; masks | arrow 2 | the sender's values |
//! | `v` | `tag_bits` | their width |
//!
//! # Sums of chunks
//!
//! For `x` outside of `Y` some chunk of its string differs from the receiver's in that bin, and the value
//! at it is pseudo-random to the receiver. So is the sum, but several sums of one bin depend on each other:
//! four strings that mix the chunks of two, and in any case more than `255 t` strings of `t` chunks, which a
//! bin has where the receiver's set is much smaller than the sender's. Therefore tags and keys are hashes `H`
//! of bin and sum, a random oracle: whoever does not know a sum knows nothing of its hash, whatever it knows of
//! other hashes. Sums of different strings are equal with probability `2^-128` a pair. Strings are hashes
//! under a salt, and sets must be fixed before the set-up, in which it comes. Where a string is one chunk
//! (`kkrt16`, `oos17`) the transfer's value is the tag itself.
//!
//! # Compared by a filter
//!
//! Arrow 2 may carry a filter of the tags instead of their list
//! ([`finish::compare`](vesica_protocols::psi::finish::compare)), as in PsiBench (section 5.2). It holds all three
//! tags of each item, and the receiver looks up one an item, without regard to its bin, as it
//! searches the list. A tag is 128 bits of a random oracle at an input that has the bin in it: to a
//! look-up, tags of other bins are random.

mod kkrt16;
mod messages;
mod oos17;
pub mod params;
mod places;
mod pssz15;
mod psz14;
mod receiver;
mod sender;
mod sums;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_mpc::code_oprf::Code;
use vesica_party::{ChoiceValue, Entry, Protocol, Role};
use vesica_structures::facts::Unsupported;

pub use kkrt16::Kkrt16;
pub(crate) use messages::MESSAGES;
pub use oos17::Oos17;
pub use params::Params;
pub use pssz15::Pssz15;
pub use psz14::Psz14;
pub use receiver::Receiver;
pub use sender::Sender;

use vesica_protocols::psi::finish::compare;
use vesica_protocols::tasks::{Intersect, IntersectRequest};

/// What a paper of this folder says of its own.
pub trait Paper: 'static {
    /// The code of its transfers.
    type Code: Code;
    /// The protocol's description.
    const ENTRY: Entry;
    /// Separates the functions of items from those of other protocols.
    const CONTEXT: &'static str;
    /// Separates the keystreams of payloads from those of other protocols.
    const PAYLOAD_DOMAIN: &'static [u8; 16];

    /// What is compared in a bin, for a table of so many bins.
    ///
    /// # Errors
    /// If strings for sets of these sizes are too long.
    fn strings(request: &IntersectRequest, bins: usize) -> Result<Strings, Unsupported>;
}

/// The strings of items in bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strings {
    /// How they come from items.
    pub kind: StringKind,
    /// How they are compared.
    pub chunks: Chunks,
}

/// How an item becomes bins and strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// A hash of the item for each of its positions, which are functions of their own.
    Hash,
    /// Permutation-based hashing: the right part of the item, and which position it is.
    RightPart,
}

/// The parts of a string, each of which is chosen by one transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// Transfers a bin.
    pub count: usize,
    /// Bits of a choice.
    pub bits: u32,
}

impl Chunks {
    /// Chunks of 8 bits of a string of at least `string_bits` bits; the last chunk is filled up.
    fn of_bytes(string_bits: u32) -> Result<Self, Unsupported> {
        if string_bits > u128::BITS {
            return Err(Unsupported::new(
                format_args!("strings of {string_bits} bits in the bins of a table"),
                "use smaller sets",
            ));
        }
        Ok(Self { count: string_bits.div_ceil(8) as usize, bits: 8 })
    }

    /// One chunk.
    fn one(string_bits: u32) -> Self {
        Self { count: 1, bits: string_bits }
    }

    /// Bits of a string.
    fn string_bits(&self) -> u32 {
        self.count as u32 * self.bits
    }

    /// Chunk number `number` of a string.
    fn chunk(&self, string: u128, number: usize) -> u128 {
        string >> (number as u32 * self.bits) & (u128::MAX >> (u128::BITS - self.bits))
    }
}

/// PSI by the paper `P`.
#[derive(Debug)]
pub struct CuckooPsi<P>(PhantomData<fn() -> P>);

impl<P: Paper> Protocol for CuckooPsi<P> {
    const ENTRY: Entry = P::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender<P>;
    type Receiver = Receiver<P>;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::derive::<P>(request, entry)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn further_memory(params: &Params, role: Role) -> u64 {
        params.finish.further_memory(role)
    }
}

/// What all papers of this folder differ in here.
const NO_STASH: &str = "A table of 1.24 n bins, and more for small sets, by a bound from Hall's theorem, \
                                   instead of 1.2 n bins and a stash: the probability that no table exists is at most \
                                   2^-43. The sender so has three values an item, and none for a stash. An item's \
                                   three bins are distinct, and items are placed along augmenting paths.";
const SORTED_TAGS: &str = "The three lists of values are sorted together and Golomb-Rice coded, and a \
                                      value is wide enough for all pairs.";
const HASHED_SUMS: &str = "A tag is a hash of a bin and the sum of its chunks' values, instead of the sum: sums of many \
                           strings in a bin depend on each other, which leaves the papers' argument a gap where the \
                           sender's set is much the larger one.";
/// What makes way for a filter.
const LIST: ChoiceValue = compare::list(&[SORTED_TAGS, PAYLOADS, ONE_LEARNS]);
const PAYLOADS: &str = "A payload travels three times, once under each tag of its item.";
const ONE_LEARNS: &str = "Both do not learn: which of an item's tags came back would say where the \
                                     receiver put the item.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_make_up_a_string() {
        let chunks = Chunks::of_bytes(81).unwrap();
        assert_eq!((chunks.count, chunks.string_bits()), (11, 88));
        let string = 0x0123_4567_89ab_cdef_0011_2233;
        let again = (0..11).rev().fold(0, |again, number| again << 8 | chunks.chunk(string, number));
        assert_eq!(again, string & (u128::MAX >> 40));
        assert_eq!(Chunks::one(128).chunk(u128::MAX, 0), u128::MAX);
        assert!(Chunks::of_bytes(129).is_err());
    }
}
