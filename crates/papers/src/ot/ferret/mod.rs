//! *Ferret*: Yang, Weng, Lan, Zhang, Wang, "Ferret: Fast Extension for Correlated OT with Small Communication" (CCS 2020),
//! against parties that follow the protocol, with regular noise (Figures 4, 6, 7 and 8 without their checks).
//!
//! ```text
//!     sender: delta, y                                                  receiver: x, z = y + x delta
//!        |<============== OT extension: the correlated OTs that the first instance takes ==============>|
//!                       <----- 3: seed of the codes -----------------
//!   for each instance of LPN, on k + t h correlated OTs (x, y, z):
//!                                                                       in each of t blocks of 2^h positions one place alpha, e = 1 there
//!                       <----- 1: flips of the last t h OTs ---------
//!   t GGM trees, leaves v;
//!   per tree: padded sums, sum v + delta
//!                       ------ 2: trees, streamed ------------------>   all leaves but alpha;  w = v,  w[alpha] from the sums,
//!                                                                       so that w = v + e delta
//!   y' = v + A y[..k]                                                   x' = e + A x[..k],  z' = w + A z[..k] = y' + x' delta
//!   the first k' + t' h' of them serve the next instance, the rest are made OTs:
//!   H(y'_i), H(y'_i + delta)                                            choice x'_i, H(z'_i)
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `Delta`; `x, y, z` | `delta`; receiver's `bits`, sender's `rows`, receiver's `rows` |
//! | `n, k, t, h` | [`params::Instance`]: `positions`, `secrets`, `blocks`, `log_leaves` |
//! | SPCOT, MPCOT with regular noise | steps 1 and 2, which are those of [`vesica_mpc::silent`] |
//! | `A`, a 10-local linear code | [`code::Code`] |
//! | set-up, and main iterations | the first instance, and the others: [`params::Params`] |
//!
//! **The receiver's bits need no message of the sender**: `x'` follows from `x` and `e`. So it sends the flips of all
//! instances at once, and the number of rounds does not grow with theirs.
//!
//! **Security** (semi-honest). The sender sees flips, which are masked by bits of which it knows nothing but, in later
//! instances, that they are LPN samples: an instance is LPN with regular noise and the secret `x[..k]`, and the bits that serve
//! the next one are samples like all others. A hybrid argument over the instances adds their advantages. The receiver sees
//! trees whose sums are padded by hashes of `y_i + b delta` that it lacks, and `sum v + delta` masked by the leaf that it
//! lacks: as in [`vesica_mpc::silent`]. Keys of pads, trees, hashes and codes are those of the run and the instance.
//!
//! There is no malicious mode: the paper's checks of trees and of reserved OTs are left out, as the rows that take these OTs
//! are for parties that follow the protocol.
//!
//! **Time and addresses.** The receiver clears nodes, reads leaves and adds noise at addresses that depend on the noisy
//! places. Amount of work and messages do not depend on them; a program on the same machine that watches caches may learn
//! them.

pub mod code;
pub mod messages;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::OtSource;
use vesica_mpc::ot_parts::{self, CORRELATION_ROBUST, ELEMENTS_PER_KEY};
use vesica_mpc::tables_of_ots::{OtBatches, TablesOf};
use vesica_mpc::tasks::{CorrelationRequest, OtChosen, OtPairs, RandomOt};
use vesica_party::{
    Abort, Assumption, Channel, CostClass, Entry, Mode, Protocol, Rounds, Row, Status, Task, assume, assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The protocol's name.
const NAME: &str = "ot-ferret";

/// Tables and OTs from Ferret.
pub const SOURCE: OtSource = OtSource::new(&Row::<TablesOf<Ferret>>::new(), &Row::<Ferret>::new());

/// OTs that are hashed and handed over at a time.
const OTS_PER_BATCH: usize = 1 << 20;

/// OTs that a thread hashes at a time: no two tasks share a key.
const OTS_PER_TASK: usize = 1 << 13;
const _: () = assert!(OTS_PER_TASK.is_multiple_of(ELEMENTS_PER_KEY) && OTS_PER_BATCH.is_multiple_of(OTS_PER_TASK));

/// A bound on transfers a run: the sender holds 32 bytes of each.
const MAX_TRANSFERS: usize = 1 << 26;

/// What the instances rest on.
const LOCAL_LPN: Assumption = Assumption::new(
    "LPN with regular noise for random 10-local codes, at this project's parameters: no better attack than those counted in \
     docs/parameters/ferret.md, a count of our own for sets of secret bits, which nobody outside has reviewed; words of low weight \
     exist, and are taken to be hard to find",
);

/// Random OTs from Ferret.
#[derive(Clone, Copy, Debug)]
pub enum Ferret {}

impl Protocol for Ferret {
    const ENTRY: Entry = Entry {
        id: NAME,
        aliases: &[],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "YWLZW20",
            title: "Ferret: Fast Extension for Correlated OT with Small Communication",
            reference: "K. Yang, C. Weng, X. Lan, J. Zhang, X. Wang, CCS 2020, ePrint 2020/924",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "2,520 blocks, of which the paper has 1,269 and 1,319, and secrets of 150 bits for each leaf of a tree: within a set \
             of secret bits, positions that add bits of this set alone are a smaller LPN instance, which the paper's parameters \
             do not count",
            "the first OTs come from small-field OT extension [Roy22] instead of IKNP, so that a set-up instance pays for long \
             vectors alone; short ones are that extension alone",
            "a vector that one instance gives takes the shortest that does, and gives none back for a next one",
            "the receiver sends what all instances need of it at once, as its bits follow from its own",
            "trees have PRG keys of their own, and the first level is the pair of pads itself",
            "OT messages are MMO hashes without tweaks [GKWY20], under a key for every 16 transfers: a search for delta takes \
             2^124 calls of the cipher",
            "the ten bits of a position are drawn with replacement",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(2),
            assumptions![ot_parts::ASSUMPTIONS, assume![CORRELATION_ROBUST, LOCAL_LPN]],
            &[],
        )],
    };
    type Task = RandomOt;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &CorrelationRequest) -> Result<Params, Unsupported> {
        Self::ENTRY.require(request.security)?;
        if request.len > MAX_TRANSFERS {
            return Err(Unsupported::new(
                format_args!("{} OTs in one run", request.len),
                format_args!("ask for at most {MAX_TRANSFERS} at a time"),
            ));
        }
        Ok(Params::new(request.len))
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}

impl OtBatches for Ferret {
    const TABLES: &'static str = "ot-ferret-1-of-n";

    fn batches(len: usize) -> Result<Params, Unsupported> {
        Ok(Params::new(len))
    }

    fn send_batches(
        params: &Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
        keep: impl FnMut(OtPairs),
    ) -> Result<(), Abort> {
        sender::each_batch(params, ch, rng, keep)
    }

    fn receive_batches(
        params: &Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
        keep: impl FnMut(OtChosen),
    ) -> Result<(), Abort> {
        receiver::each_batch(params, ch, rng, keep)
    }
}
