//! PSI from a probe-and-XOR table: Pinkas, Rosulek, Trieu, Yanai, "PSI from PaXoS: Fast, Malicious
//! Private Set Intersection" (EUROCRYPT 2020), section 3, against semi-honest parties.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!      s, w bits                 [ w random OTs by s: of the keys k_j[0], k_j[1] the sender gets k_j[s_j] ]
//!                                                                     T, U: rows of columns G(k_j[0]), G(k_j[1])
//!                                                                     D with Decode(D, y) = H_1(y) for all y in Y
//!                                2. D_i + T_i + U_i for each of m cells
//!      <------------------------------------------------------------------------
//!   Q_i = (row of the columns G(k_j[s_j])) + s (D_i + T_i + U_i)
//!       = T_i + s D_i
//!   H_2(x, Decode(Q, x) + s H_1(x)) = tag, proof, key                 H_2(y, Decode(T, y)) = tag, proof, key
//!                                3. the sorted tags of X, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                4. (labelled) payload_x + G(key_x), in the order of 3
//!      ------------------------------------------------------------------------>
//!                                5. (both learn) the sorted proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! `s` and a row are multiplied bit by bit. Decoding adds cells up, so that `Decode(Q, x) = Decode(T,
//! x) + s Decode(D, x)`: the sender's row is `Decode(T, x) + s (Decode(D, x) + H_1(x))`. For `x` in
//! `Y` that is the receiver's row. For any other `x` the string in brackets is random, and as many
//! bits of `s` are unknown to the receiver as it has ones: 128 at least, except with the probability
//! that sets the width `w`.
//!
//! The paper has the code words `C(D_i)` and `C(H_1(x))` of a linear code instead of `D_i` and
//! `H_1(x)`. Against a malicious receiver, which chooses `D`, the code's distance is what leaves 128
//! bits unknown. Here `C` is the identity and `H_1` has as many bits as a row: against a receiver
//! that follows the protocol, random bits are as good, and rows are shorter.
//!
//! | paper | here | what |
//! |---|---|---|
//! | receiver; sender | [`Receiver`], `Y`; [`Sender`], `X` | who encodes its set, and learns; who evaluates |
//! | PaXoS, `M` | [`Paxos`](vesica_structures::okvs::Paxos), or another OKVS | the table |
//! | `m` | `okvs.len()` | cells of a table |
//! | `l_2`, `s` | `Params::width`, `SenderColumns` | width of a row, the sender's choices |
//! | `T`, `Q` | `columns::rows` of either side | rows of the OT extension |
//! | `H_1` | `Keys::values` | the values of the table |
//! | `H_2` | [`hash_rows`](vesica_structures::ot_rows::hash_rows) | the hash of a row |

mod columns;
mod keys;
mod messages;
pub mod params;
mod receiver;
mod sender;
mod variants;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Entry, Protocol};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Bits512;
use vesica_structures::okvs::Okvs;

pub(crate) use messages::MESSAGES;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;
pub use variants::{Band, Clustered, Paxos};

use crate::tasks::{Intersect, IntersectRequest};

/// A cell of the table, and a row: of its 512 bits as many are used as the width says.
pub(crate) type Row = Bits512;

/// A row of the registry: an OKVS whose rows are sums of cells.
pub trait Variant: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// The table.
    type Okvs: Okvs;
}

/// The protocol of row `V`.
pub struct Prty20<V>(PhantomData<fn() -> V>);

impl<V: Variant> Protocol for Prty20<V> {
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
