//! PSI from a batched OPRF: Kolesnikov, Kumaresan, Rosulek, Trieu, "Efficient Batched Oblivious PRF
//! with Applications to Private Set Intersection" (CCS 2016), section 5 and Figure 5.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. salt of h_1, h_2, h_3
//!      ------------------------------------------------------------------------>
//!                                                                     each y in one of its bins h_b(y)
//!      F_j                     [ batched OPRF, an instance a bin ]    F_j(y || b) for the item of bin j = h_b(y)
//!
//!   F_(h_b(x))(x || b), for b = 1, 2, 3: tag, key                      the same: tag, key
//!                                2. the tags of X, three an item, in an order that says nothing
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                3. (labelled) payload_x + G(key), in the order of 2
//!      ------------------------------------------------------------------------>
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `P_1`, `X`; `P_2`, `Y` | receiver, `Y`; sender, `X` | |
//! | `h_1`, `h_2`, `h_3` | `Hashes::positions` | the bins of an item |
//! | 1.2 n bins and a stash | [`bins`](Params::bins) | a table without a stash |
//! | BaRK-OPRF | [`vesica_mpc::code_oprf`] | an OPRF for each bin |
//! | `H_1`, `H_2`, `H_3` | arrow 2 | the sender's values |
//! | `v` | `tag_bits` | their width |

mod messages;
pub mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_mpc::code_oprf;
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task};
use vesica_structures::facts::Unsupported;

pub(crate) use messages::MESSAGES;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// Separates the functions of items from those of other protocols.
const CONTEXT: &str = "vesica v1 kkrt16 2016 salt to keys";
/// Separates the keystreams of payloads from those of other protocols.
const PAYLOAD_DOMAIN: &[u8; 16] = b"KKRT16  payloads";

/// The protocol `kkrt16`.
#[derive(Clone, Copy, Debug)]
pub enum Kkrt16 {}

impl Protocol for Kkrt16 {
    const ENTRY: Entry = Entry {
        id: "kkrt16",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: <code_oprf::Kkrt16 as Protocol>::ENTRY.paper,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        deviations: &[
            "A table of 1.3 n bins, and more for small sets, by a bound from Hall's theorem, instead of 1.2 n bins and \
             a stash: the probability that no table exists is at most 2^-43. The sender so has three values an item, \
             and none for a stash.",
            "An item's three bins are distinct, and items are placed along augmenting paths. The OPRF's input is a hash \
             of 128 bits, under a key of the run for each of the three functions, instead of the item and the number of \
             the function.",
            "The three lists of values are sorted together and Golomb-Rice coded, and a value is wide enough for all \
             pairs.",
            "A payload travels three times, once under each tag of its item.",
            "Both do not learn: which of an item's tags came back would say where the receiver put the item.",
            "The OPRF is oprf-kkrt16, with what it states.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(5),
            <code_oprf::Kkrt16 as Protocol>::ENTRY.modes[0].assumptions,
            &[SIZES],
        )],
    };
    type Task = Intersect;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}
