//! PSI from vector oblivious linear evaluation: Rindal and Schoppmann, "VOLE-PSI" (Eurocrypt 2021),
//! and Raghuraman and Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE" (CCS 2022);
//! generic over the OKVS, the field `B` and the coding of the tags.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. Com(salt_s)                        malicious
//!      ------------------------------------------------------------------------>
//!                                2. salt_r                             malicious
//!      <------------------------------------------------------------------------
//!                                3. salt_s
//!      ------------------------------------------------------------------------>
//!                                4. Com(w_s)                           malicious
//!      ------------------------------------------------------------------------>
//!      delta, b                     [ VOLE of length m: a = b + delta c ]      c, a
//!
//!                                                                     P = Encode(Y, H_B(y))
//!                                5. A = P + c, all of it
//!      <------------------------------------------------------------------------
//!                                6. w_r                                malicious
//!      <------------------------------------------------------------------------
//!                                7. w_s, opened                        malicious
//!      ------------------------------------------------------------------------>
//!   K = b + delta A                                                   w = w_s + w_r
//!   q_x = Decode(K, x) + delta H_B(x)                                 q_y = Decode(a, y)
//!   H(q_x + w, x) = tag, proof, key                                  H(q_y + w, y) = tag, proof, key
//!                                8. the tags of X
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                9. (labelled) payload_x + G(key_x), in the order of 8
//!      ------------------------------------------------------------------------>
//!                                10. (both learn) the proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! Why it works: `K = b + delta (P + c) = a + delta P`, so `q_x = Decode(a, x) + delta (Decode(P,
//! x) + H_B(x))`, which is `Decode(a, x)` for `x` in `Y` and carries all of the unknown `delta`
//! elsewhere. Addition and subtraction are the same in characteristic two.
//!
//! | RS21, Figure 6 | here | what |
//! |---|---|---|
//! | `X`, `Y` | sender's and receiver's `items` | (the paper's sender holds `Y`) |
//! | `Delta`, `B` | `delta`, `b` | the sender's half of the VOLE |
//! | `A'`, `C` | `c`, `a` | the receiver's half: `a = b + delta c` |
//! | `P` | `table` | the OKVS of `H_B` |
//! | `A = A' + P` | `messages::Table` | the masked table |
//! | `K` | `k` | `b + delta A` |
//! | `H^F`, `H^B` | `vesica_mpc::oprf`: `outer_hash`, `values` | outer hash; hash to `B` |
//! | `w_s`, `w_r` | `offset` | the toss that fixes the receiver's table before the outer hash |
//! | `r` | `salt` | the hashes' key |
//!
//! | RR22, Figure 4 | here | what |
//! |---|---|---|
//! | `Y`, `n_y`; `X`, `n_x` | the sender's and the receiver's `items` | (the paper's sender holds `Y`) |
//! | the fields `B` and `F` | [`VoleRow::VALUES`], [`Gf128`](vesica_structures::fields::Gf128) | a value of the table, and the field that `delta` multiplies in |
//! | `Delta`, `B`; `A`, `C` (step 2) | `delta`, `b`; `c`, `a` | the two halves of the subfield VOLE |
//! | `P = Encode(L, r)` (step 1) | `table` | the OKVS of `H^B` |
//! | `A' = A - P` (step 3) | `messages::Table`, arrow 5 | the masked table |
//! | `B' = B + A' Delta` (step 3) | `k` | the sender's share, corrected |
//! | `H^B`, `H^o` | `vesica_mpc::oprf`: `values`, `outer_hash` | hash to `B`; outer hash |
//! | `r`, `r'` | `salt` | one salt keys the rows of the OKVS and `H^B`; here the sender sends it, arrow 3 |
//! | `Y'` (step 4) | `messages::Tags`, arrow 8 | the sender's tags |
//!
//! A receiver may send a table that does not encode its items. It then gets wrong matches, or none;
//! the protocol need not notice.
//!
//! Several runs may go through the figure in [passes](crate::passes): arrows 1 to 7 of all of them, then 8 and 9, then
//! 10. Nothing in the first seven depends on `X`, and once they are over the receiver's set is fixed. Between the passes
//! a side keeps `q` of each of its items, and in the malicious mode nothing else but the three keys of `H` and `w`. From
//! these and its input follows all that it sends in the later passes, so that another process can take them.
//!
//! In the semi-honest mode of `rs21` and `rr22` arrow 8 may carry a filter of the tags instead of their list
//! ([`finish::compare`](crate::psi::finish::compare)). The malicious mode has none: there the simulator
//! takes an item of the sender for each tag of the list, and a filter may serve more.

#[cfg(test)]
mod cheating;
mod correlation;
pub mod entries;
pub(crate) mod messages;
mod oprf;
pub mod params;
mod receiver;
mod salt;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Entry, Protocol, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::okvs;

pub use entries::{VoleFast, VoleLean};
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::tasks::{Intersect, IntersectRequest};
use params::Values;

/// A row of the registry: what distinguishes one VOLE-PSI from another.
pub trait VoleRow: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// The OKVS, where the description has no choice of it.
    const OKVS: okvs::Kind;
    /// The width of values.
    const VALUES: Values;
}

/// The protocol of row `V`.
pub struct VolePsi<V>(PhantomData<fn() -> V>);

impl<V: VoleRow> Protocol for VolePsi<V> {
    const ENTRY: Entry = V::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::derive::<V>(request, entry)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn further_memory(params: &Params, role: Role) -> u64 {
        params.finish.further_memory(role)
    }
}
