//! PSI against malicious parties from OTs of bins: Rindal and Rosulek, "Malicious-Secure Private Set
//! Intersection via Dual Execution" (CCS 2017). Two protocols, of which [`EncodeCommit`] has OTs in one
//! direction and [`DualExecution`] in both.
//!
//! Dual execution (`rr17-de`):
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. Com(salt_s)
//!      ------------------------------------------------------------------------>
//!                                2. salt_r
//!      <------------------------------------------------------------------------
//!                                3. salt_s
//!      ------------------------------------------------------------------------>
//!   x in slot p of bin b = h(x)                                       y in slot j of bin b = h(y)
//!
//!   [[.]]^A_(b,j)        [ 1-of-N OT, for each slot (b, j) of Y ]     [[y]]^A_(b,j) for the y of slot (b, j)
//!   [[x]]^B_(b,p)        [ 1-of-N OT, for each slot (b, p) of X ]     [[.]]^B_(b,p)
//!
//!   for all slots j of b: [[x]]^A_(b,j) + [[x]]^B_(b,p)               for all slots p of b: [[y]]^A_(b,j) + [[y]]^B_(b,p)
//!                                4. these encodings, as sorted tags
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if one of its own is among them
//! ```
//!
//! Encode-commit (`rr17-ec`) is the same up to the transfers, of which it has the first alone:
//!
//! ```text
//!   [[.]]^A_(b,j)        [ 1-of-N OT, for each slot (b, j) of Y ]     [[y]]^A_(b,j) = (mask, tag) for the y of slot (b, j)
//!
//!   for each x: opening r; for all slots j of b = h(x): [[x]]^A_(b,j) = (mask_j, tag_j)
//!                                4. for each x, in a random order: Com(x, r), and tag_j, mask_j + r for all j
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if tag_j of some group is its own, and
//!                                                                     Com(y, r) is the commitment of the group
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | Alice, `X`; Bob, `Y` | sender, `X`; receiver, `Y` | |
//! | `h`, `m`, `mu` | `Hashed`, `Params::bins`, `sender_slots` and `receiver_slots` | the hash to bins, their number, slots of a bin |
//! | phasing | `Hashed::keys` | what stands for an item in its bin |
//! | `[[x]]_(b,j)` | [`code_oprf`](vesica_mpc::code_oprf), `transfers` | the oblivious encoding: a random 1-of-N OT |
//! | common encodings | arrow 4 of `rr17-de` | |
//! | `Comm(x; r)`, `[[x]] + r` | `encode_commit::groups` | a commitment and its wrapped opening |
//!
//! # Places
//!
//! An item is in one bin, and there in a random slot among all slots of the bin, as many as its side's items
//! need except with a probability in the budget. So a slot says nothing of other items, where the places in a
//! cuckoo table would. Slots without an item ask for random keys. Bin and key are parts of one hash of the
//! item, modelled as a random oracle, under a salt from both sides (arrows 1 to 3). It comes before anything is
//! asked for, when the sets are fixed.
//!
//! # Against a corrupt receiver
//!
//! The check of OOS17 makes each row of corrections one to a word of the code, up to at most 40 columns in
//! which the receiver has guessed the secret, so that a simulator has a key for each slot `(b, j)`; the items
//! of the key are those that were hashed to `(b, key)`. They are the receiver's set `Y*`. For an `x` outside of
//! it every `[[x]]^A_(b,j)` is the random oracle at a point of which 128 bits are unknown. So all encodings of
//! `x` look random: whatever the receiver has done to `[[.]]^B`, with which they are added; and so do the
//! group's tags and masks, of which the latter hide `r`, so that the commitment shows nothing. For `x` in `Y*`
//! the receiver learns `x`, and in which slot `p` it is: a random one.
//!
//! # Against a corrupt sender
//!
//! It may choose its secret `s` as zero, so that `[[y]]^A_(b,j)` is the same for all `y`. A protocol with the
//! first transfers alone would then find every `y` of the receiver in the intersection. Both proofs survive it,
//! for neither takes the sender's items from `[[.]]^A`:
//!
//! - *Dual execution* takes them from the keys of the sender's slots, by the same check, one of each slot. A
//!   tag of `y` is worth `[[y]]^B_(b,p)` for some `p`, of which the sender knows nothing if it has not asked for
//!   the key of `y` in slot `p`. So it has to guess, and the width of tags bounds that. For an item that it has
//!   asked for, it may send the encodings of some slots `j` only: the item then matches if the receiver
//!   has it in one of these. A simulator draws a slot for each of the items in a bin, all different, as the
//!   receiver does, and leaves out items whose encodings are missing there. For that the bin must have as many
//!   slots of the receiver as of the sender, which it has if the receiver's set is not the smaller one, and no
//!   two items of the sender may share bin and key: such a pair takes about `2^38.5 sqrt(bins)` hash queries.
//! - *Encode-commit* takes them from the commitments: whoever knows an opening of one to `x` has asked the random
//!   oracle for it. They are at most `n_s`, but any number of them may be in one bin.
//!
//! Where a corrupt sender so uses more items of a bin than the receiver has slots there, different slots for all of
//! them do not exist. If it sends the encodings of slot 1 alone for all of them, one common item of this bin
//! becomes a match, or none, and which one follows from the receiver's slots. So the result is a part of the
//! intersection, and the part depends on the intersection in this bin, and on nothing else of the receiver's set.
//! No set of the sender's choice does that in an ideal intersection. The entries state it; whether the paper does,
//! we could not look up.
//!
//! The receiver does not answer arrow 4. Its work for it does not depend on what it finds, but for
//! caches (in encode-commit: `search`).
//!
//! # Bounds on sets
//!
//! A corrupt receiver, and a corrupt sender of dual execution, may use as many items as they have slots. Two items
//! with the same bin and key share a slot: they are found by hash queries between arrow 3 and the corrections.
//! docs/parameters/rr17.md bounds both.

mod bins;
#[cfg(test)]
mod cheating;
mod dual_execution;
mod encode_commit;
mod entries;
mod messages;
pub mod params;
mod salt;
mod transfers;

use std::ops::RangeInclusive;

use vesica_party::{Entry, Protocol};
use vesica_structures::facts::Unsupported;

pub use bins::KEY_BITS;
pub use encode_commit::Layout;
pub(crate) use messages::MESSAGES;
pub use params::Params;

use vesica_protocols::tasks::{Intersect, IntersectRequest};

/// Dual execution.
#[derive(Debug)]
pub enum DualExecution {}

impl Protocol for DualExecution {
    const ENTRY: Entry = entries::DUAL_EXECUTION;
    type Task = Intersect;
    type Params = Params;
    type Sender = dual_execution::Sender;
    type Receiver = dual_execution::Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::of_dual_execution(entry, request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.dual_execution_bytes()
    }
}

/// Encode-commit.
#[derive(Debug)]
pub enum EncodeCommit {}

impl Protocol for EncodeCommit {
    const ENTRY: Entry = entries::ENCODE_COMMIT;
    type Task = Intersect;
    type Params = Params;
    type Sender = encode_commit::Sender;
    type Receiver = encode_commit::Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::of_encode_commit(entry, request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.encode_commit_bytes()
    }
}
