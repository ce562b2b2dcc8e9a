//! Circuit PSI from VOLE: Rindal and Schoppmann, "VOLE-PSI" (Eurocrypt 2021), Raghuraman and Rindal (CCS 2022), and Figures 16 to 19 of "Faster Than Ever" (LTSXQ26) on a
//! sound OPRF; generic over the OKVS, the field `B` and the equality test.
//!
//! ```text
//!   Sender: X, payloads                                               Receiver: Y, payloads
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!                                                                     2. cuckoo table: y in one of its 3 bins
//!   3. x in each of its 3 bins
//!   5. r_i, tau_i of each bin random, out of set-up
//!      keys H(x || j),           [ 4, 6, 7: OPPRF ]                   key H(y || j) of each full bin
//!      values r_i || (payload_x masked by tau_i)                      r'_i || tau'_i
//!                                [ 8: equality tests ]
//!      share of q_i = (r_i = r'_i)                                    share of q_i
//!                                [ 8: multiplexer ]
//!      share of q_i (payloads)                                        share of q_i (payloads)
//! ```
//!
//! A bin whose item is common gives `r'_i = r_i`, and `tau'_i` unmasks the payload with `tau_i`; any other gives something random, for the hint programs only the sender's own
//! keys. However many items of the sender share a bin, it takes one test.
//!
//! | LTSXQ26, Figure 16 | here | what |
//! |---|---|---|
//! | `r` | `messages::Salt` | keys bins, items' keys |
//! | `m`, `k`, `h_j` | `params.bins`, `POSITIONS`, `bins::Hashes` | bins, positions |
//! | `T_Y`, `T_X` | `CuckooTable`; not listed | the tables |
//! | `t'_x`, `P` | inside of `vesica_mpc::opprf` | OPRF, hint |
//! | `r_i`, `r'_i` | `peqt.values()`, `r` | what is compared, `sigma` bits |
//! | `tau_i`, `tau'_i` | `multiplexer.masks()`, `carried` | the payload's mask |
//! | `F_2PC` | `vesica_mpc::peqt`, `vesica_mpc::share_conversion` | tests and multiplexers |
//!
//! Semi-honest only: a cheating receiver may learn from where its items do not fit into bins, a cheating sender may program what it likes.

mod aggregate;
mod bins;
mod matching;
mod messages;
pub mod params;
mod shares;
mod variants;

use vesica_mpc::opprf::Store;
use vesica_mpc::peqt;
use vesica_party::Entry;

pub use aggregate::{Aggregate, AggregateRow};
pub use shares::CircuitPsi;
pub use variants::{Rr22Circuit, Rs21Circuit, VesicaCardinality, VesicaCircuit, VesicaJoinAndCompute, VesicaSum};

/// What distinguishes one circuit PSI from another.
pub trait Variant: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// The OKVS of the OPRF and of the hint.
    type Okvs: Store;
    /// Whether the OPRF's values fill `F`.
    const WIDE: bool;
    /// How bins are tested.
    const EQUALITY: peqt::Variant;
}
