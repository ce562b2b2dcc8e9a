//! Ling, Tang, Shan, Xiang, Qiu, "Faster Than Ever: A New Lightweight Private Set Intersection and
//! Its Variants" (2026), Figures 14 (semi-honest) and 15 (malicious); generic over the oracles and
//! the OKVS. **Broken**: see below, and docs/ltsxq26.md.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. tau_1 = H^k(w_1), tau              Figure 15
//!      ------------------------------------------------------------------------>
//!      s, c_i = a_i or b_i by s_i   [ l random base OTs ]              a_i, b_i
//!
//!                                                                     A(y) = H^b(a_1, y) .. H^b(a_l, y)
//!                                                                     D(y) = A(y) + (the same of the b_i)
//!                                                                     P = Encode({y, D(y)}, r)
//!                                2. r                                  Figure 15: and w_2
//!      <------------------------------------------------------------------------
//!                                3. P, l bits a cell
//!      <------------------------------------------------------------------------
//!   C(x) = H^b(c_1, x) .. H^b(c_l, x)
//!   v(x) = C(x) + (s & Decode(P, x, r))
//!                                4. w                                  Figure 15: w_1, and w = w_1 + w_2
//!      ------------------------------------------------------------------------>
//!                                                                     Figure 15: tau_1 = H^k(w_1)?
//!                                5. X' = H^o(v(x), x, w), permuted     Figure 15: H^o(v(x) + w, x)
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if H^o(A(y), y, w), or
//!                                                                     H^o(A(y) + w, y), is among them
//! ```
//!
//! Why it works: `C(x) = A(x) + (s & D(x))`, so that `v(x) = A(x) + (s & delta(x))` with `delta(x) =
//! D(x) + Decode(P, x)`, which is zero for `x` in `Y`.
//!
//! Why it is broken: the receiver knows `A(x)` and `delta(x)` of *every* `x`, and of `s` only the
//! bits matter at which `delta(x)` is one: about half of 80, and far fewer for the lightest of many
//! candidates. It tries them, sees by `X'` when they are right, and so gets `s` bit by bit; with
//! `s` it computes all tags that the sender can. A receiver that flips a bit of each `D(y)` gets
//! there with a few queries, whatever `l` is. [`View`] is what it needs.
//!
//! | paper | here | what |
//! |---|---|---|
//! | `l`, `out` | `width`, `tag_bits` | base OTs; bits of a tag |
//! | `s`, `c_i`; `a_i`, `b_i` | `transfers` | the base OTs |
//! | `A`, `D`; `C` | `Own`; `c` | strings of `l` bits an item |
//! | `P`, `r`, `m` | `Table`, `r`, `table_len` | the OKVS, its seed, its cells |
//! | `w`; `w_1`, `w_2`, `tau_1`, `tau` | `omega`; `Omega`, `offset`, `Commitment` | the tags' randomness; its toss, the salt of `H^b` |
//! | `H^b`, `H^o`, `H^k` | [`oracle`] | the oracles |
//! | `X'` | `Tags` | the tags |

pub(crate) mod messages;
pub mod oracle;
pub mod params;
mod receiver;
mod rows;
mod sender;
mod view;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Entry, Protocol};
use vesica_structures::facts::Unsupported;
use vesica_structures::okvs::Kind;

pub use params::Params;
pub use receiver::{Own, Receiver};
pub use rows::{Aes, AesBand, Sha, ShaBand, Wide};
pub use sender::Sender;
pub use view::View;

use oracle::Oracle;
use vesica_protocols::tags::TagCoding;
use vesica_protocols::tasks::{Intersect, IntersectRequest};

/// A row of the registry.
pub trait Variant: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// `H^b`, `H^o`, `H^k`.
    type Oracle: Oracle;
    /// The OKVS.
    const OKVS: Kind;
    /// The coding of the tags.
    const CODING: TagCoding;

    /// `l` and `out` of the semi-honest mode.
    ///
    /// # Errors
    /// For sizes beyond what they are derived for.
    fn widths(sender_items: usize, receiver_items: usize) -> Result<(usize, u32), Unsupported>;
}

/// The strings of row `V`.
pub type Bits<V> = <<V as Variant>::Oracle as Oracle>::Bits;

/// The protocol of row `V`.
pub struct Ltsxq26<V>(PhantomData<fn() -> V>);

impl<V: Variant> Protocol for Ltsxq26<V> {
    const ENTRY: Entry = V::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender<V>;
    type Receiver = Receiver<V>;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive::<V>(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

#[cfg(test)]
mod tests;
