//! PSI from a probe-and-XOR table: Pinkas, Rosulek, Trieu, Yanai, "PSI from PaXoS: Fast, Malicious
//! Private Set Intersection" (EUROCRYPT 2020), section 3. Both modes have one figure.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                6. Com(salt_s)                        malicious
//!      ------------------------------------------------------------------------>
//!                                7. salt_r                             malicious
//!      <------------------------------------------------------------------------
//!                                1. salt_s
//!      ------------------------------------------------------------------------>
//!      s, w bits                 [ w random OTs by s: of the keys k_j[0], k_j[1] the sender gets k_j[s_j] ]
//!                                                                     T, U: rows of columns G(k_j[0]), G(k_j[1])
//!                                                                     D with Decode(D, y) = H_1(y) for all y in Y
//!                                2. C(D_i) + T_i + U_i for each of m cells
//!                                   malicious: and for 128 to 255 more D_i, random ones
//!      <------------------------------------------------------------------------
//!   Q_i = (row of the columns G(k_j[s_j])) + s (C(D_i) + T_i + U_i)
//!       = T_i + s C(D_i)
//!                                8. chi                                malicious
//!      ------------------------------------------------------------------------>
//!                                9. R(D), R(T) under chi               malicious
//!      <------------------------------------------------------------------------
//!   R(Q) = R(T) + s C(R(D)), or stop
//!
//!   H_2(x, Decode(Q, x) + s C(H_1(x))) = tag, proof, key              H_2(y, Decode(T, y)) = tag, proof, key
//!                                3. the sorted tags of X, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                4. (labelled) payload_x + G(key_x), in the order of 3
//!      ------------------------------------------------------------------------>
//!                                5. (both learn) the sorted proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! `s` and a row are multiplied bit by bit. Decoding adds cells up, and `C` is linear, so that `Decode(Q, x) =
//! Decode(T, x) + s C(Decode(D, x))`: the sender's row is `Decode(T, x) + s C(Decode(D, x) + H_1(x))`. For `x` in
//! `Y` that is the receiver's row. For any other `x` as many bits of `s` are unknown to the receiver as the word of the
//! code has ones.
//!
//! The two modes differ in the folders `identity` and `coded`:
//!
//! | | semi-honest | malicious |
//! |---|---|---|
//! | `C` | the identity | a code of distance 168, [`LongBch`](vesica_mpc::code_oprf::LongBch) |
//! | bits of `H_1` | those of a row: random bits have 128 ones, except with the probability that sets `w` | 192 |
//! | salt | the sender's | tossed by both sides, arrows 6, 7 and 1 |
//! | corrections | taken as they come | checked to be words of the code, arrows 8 and 9 |
//! | `H_1`; `H_2` of the item | AES; 64 bits of a hash of it | BLAKE3; all of it |
//!
//! # Against a corrupt receiver
//!
//! The check makes the corrections those of one `D`, up to at most 40 columns in which the receiver has guessed `s`
//! (docs/parameters/prty20.md). A simulator reads `D` from them, for it has chosen the OTs' keys. The receiver's
//! set `Y*` has those `x` of which it asked `H_1`, and for which `Decode(D, x) = H_1(x)`. The salt is a toss, so that it
//! asks between the salt and arrow 2: the page bounds how many `x` any table serves. After arrow 2, another `x` fits
//! with probability `2^-192`. For `x` outside of `Y*`, `C(Decode(D, x) + H_1(x))` has 168 ones, of which at most 40 are
//! where the receiver knows `s`: `H_2` at the sender's row is a random oracle at a point of which 128 bits are unknown,
//! one point for each `x`, because the whole item is hashed. So tag, proof and key look random: nothing else of `X` is
//! seen, no proof can be made up, and payloads stay hidden.
//!
//! # Against a corrupt sender
//!
//! All that it gets before arrow 5 is the table, under the keys of the columns that it did not choose, and the
//! opened hashes, under the last block of rows: coefficient one, for any `chi`. A simulator plays the OTs, so that it
//! has `s` and `T`. The sender's items are those `x` of which it asked `H_2` with the row `Decode(Q, x) + s C(H_1(x))`, and
//! whose tag it sent; for `y` in `Y` that row is `Decode(T, y)`. A tag for which it did not ask matches an honest item with `n_s n_r 2^-128`; `k` tags with two items each take about
//! `2^64.5 sqrt(k)` queries. It may choose `s`, as zero even: then it knows `T`, and has one item a tag all the same. A table that
//! cannot be encoded stops the run: no party can choose the salt, so that the probability is that of the budget for
//! any set of the receiver's, and the sender learns nothing from it.
//!
//! # Compared by a filter
//!
//! In the semi-honest mode arrow 3 may carry a filter of the tags instead of their list
//! ([`finish::compare`](crate::psi::finish::compare)). The malicious mode has none: there the simulator
//! takes an item of the sender for each tag of the list, and a filter may serve more.
//!
//! | paper | here | what |
//! |---|---|---|
//! | receiver; sender | [`Receiver`], `Y`; [`Sender`], `X` | who encodes its set, and learns; who evaluates |
//! | PaXoS, `M` | [`Paxos`](vesica_structures::okvs::Paxos), or another OKVS | the table |
//! | `m` | `okvs.len()` | cells of a table |
//! | `l_1`; `l_2`, `s` | `LongBch::WORD_BITS`; `Params::width`, `SenderColumns` | bits of a cell; width of a row, the sender's choices |
//! | `T`, `Q` | `rows` of either side | rows of the OT extension |
//! | `H_1` | `Functions::values` | the values of the table |
//! | `H_2` | `Functions::add` | the hash of a row and its item |

#[cfg(test)]
mod cheating;
mod coded;
mod entry;
mod identity;
mod keys;
mod messages;
mod mode;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{Entry, Protocol, Role};
use vesica_structures::facts::Unsupported;

pub use entry::TWO_HASH_BINS;
pub(crate) use messages::MESSAGES;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::tasks::{Intersect, IntersectRequest};

/// The protocol `prty20`.
#[derive(Clone, Copy, Debug)]
pub enum Prty20 {}

impl Protocol for Prty20 {
    const ENTRY: Entry = entry::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::derive(request, entry)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn further_memory(params: &Params, role: Role) -> u64 {
        params.finish.further_memory(role)
    }
}
