//! Random OT of blocks in bulk, from silent VOLE of single bits.
//!
//! ```text
//!     sender                                                    receiver
//!     delta, b      [ silent VOLE of bits c in batches: a = b + delta c ]      c, a
//!   pair_i = H(b_i), H(b_i + delta)                             choice_i = c_i,  chosen_i = H(a_i)
//! ```
//!
//! `H` and what batches share: see `silent::bulk`. Against OT extension, which sends 1.9 bytes a
//! transfer, it sends about a tenth of one; below some thousands of transfers it is OT extension.

mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Protocol, Security, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use crate::silent::bulk;
use crate::tasks::{CorrelationRequest, RandomOt};

pub use receiver::Receiver;
pub use sender::Sender;

/// A bound on transfers a run: the sender holds 32 bytes of each.
const MAX_TRANSFERS: usize = 1 << 26;

/// Random OTs from silent VOLE.
#[derive(Debug)]
pub enum SilentOt {}

impl Protocol for SilentOt {
    const ENTRY: Entry = Entry {
        id: "ot-silent",
        aliases: &[],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "BCGIKRS19",
            title: "Efficient Two-Round OT Extension and Silent Non-Interactive Secure Computation",
            reference: "E. Boyle, G. Couteau, N. Gilboa, Y. Ishai, L. Kohl, P. Rindal, P. Scholl, CCS 2019, ePrint \
                        2019/1159",
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the code, its seed and the trees are those of vole-silent-64; values of the noise are uniform bits, with \
             the weight for uniform noise",
            "batches of at most 2^23 transfers share one delta and one set of base OTs, and nothing else",
            "OT messages are MMO hashes without tweaks [GKWY20], under a key for every 16 transfers: a search for \
             delta takes 2^124 calls of the cipher",
        ],
        modes: &[bulk::SEMI_HONEST],
    };
    type Task = RandomOt;
    type Params = bulk::Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &CorrelationRequest) -> Result<bulk::Params, Unsupported> {
        if request.security != Security::SemiHonest {
            return Err(Unsupported::new(
                "silent OT against malicious parties",
                "ask for the semi-honest mode, or use ot-softspoken",
            ));
        }
        bulk::Params::derive(request.len, 1, MAX_TRANSFERS)
    }

    fn predicted_bytes(params: &bulk::Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}
