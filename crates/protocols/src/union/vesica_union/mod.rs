//! One-sided union from circuit PSI: Chandran, Schneider, Stillger, Weinert, "Concretely Efficient
//! Private Set Union via Circuit-based PSI" (ASIACCS 2025), on this project's circuit PSI, with bits
//! that are never opened.
//!
//! ```text
//!   Sender: X, records w_x                                            Receiver: Y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!   delta, b                        [ VOLE: a = b + delta c ]         c, a
//!                                                                     P = Encode(Y, H_B(y))
//!                                2. A = P + c
//!      <------------------------------------------------------------------------
//!   K = b + delta A
//!   F(x) = H(Decode(K, x) + delta H_B(x), x)                          F(y) = H(Decode(a, y), y)
//!   cuckoo table of the F(x)        [ circuit PSI, roles swapped ]    F(y) in each of its 3 bins
//!   a_j of each bin j                                                 b_j:  a_j + b_j = 1 if bin j holds a common item
//!   pi: full bins in a random order,
//!       then the empty ones         [ permute-share-1, roles swapped ]
//!   a_i of the first n_s places                                       b_i
//!   k_i[0], k_i[1]                  [ random OTs ]                    r_i, k_i[r_i]
//!                                3. d_i = b_i + r_i
//!      <------------------------------------------------------------------------
//!                                4. c_i = (w_i, 0^t) + G(k_i[a_i + d_i], i)
//!      ------------------------------------------------------------------------>
//!                                                                     c_i + G(k_i[r_i], i) is a new record if
//!                                                                     it ends in 0^t
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `S`, `R` | sender, receiver | `R` learns the union |
//! | `F_k(x)`, `F_k(y)` | steps 1 and 2, `union::oprf` | the OPRF before the hashing, whose key the sender has |
//! | circuit PSI, `T_X` | [`crate::circuit_psi`], `Matched::items` | the table is the sender's |
//! | Combine and Permute | [`vesica_mpc::permute_share::bits`] | the receiver has the bits, the sender the order |
//! | `Z` | nobody has it | the permuted bits |
//! | one-message OT, section 6.4 | steps 3 and 4 | one string a place |
//!
//! # Correctness
//!
//! `a_i + d_i = r_i + (a_i + b_i)`, so that the pad of `c_i` is the receiver's exactly where the
//! item at place `i` is not in `Y`; where it is a dummy, the sender turns `a_i`, and the pad is not the receiver's. Where it is, the `t` bits are zero by chance with probability
//! `2^-t`: `params` has the bound.
//!
//! # What either side sees
//!
//! The parts are those of semi-honest protocols whose outputs are a PRF's values, fresh shares and
//! random OTs; what follows is about the messages besides them.
//!
//! **A corrupt sender** sees arrow 2, which is uniform under `c`, and arrow 3. The `r_i` are uniform
//! given all that the sender has, and each pads one bit: the `d_i` are `n_s` uniform bits. A
//! simulator draws them. The sender has no output, and learns no more than `n_r`.
//!
//! **A corrupt receiver** is simulated from `Y` and the new records, hence from `n_s` and their number.
//! A dummy of the sender, which buckets and `--pad-to` add, is made to look like a common item: so this number does not
//! tell `|X n Y|` where there are dummies, and below `|X n Y|` stands for both.
//!
//! - *The bits.* The receiver's `b_j` are a share that circuit PSI makes fresh, and its `b_i` are
//!   drawn by itself: it chooses its own share in the permutation. The sender's shares never leave.
//! - *Arrow 4 at a new item* is the record and zeros under a pad that the receiver has. The
//!   simulator puts the new records there.
//! - *Arrow 4 at a common item* is under `G(k_i[1 + r_i], i)`. To the receiver the block that it
//!   lacks is uniform, it makes one pad in the whole run, that of this place, and `G` is
//!   pseudo-random: the simulator sends uniform strings.
//! - *Places.* Which of the `n_s` places hold new items is all that is left. `pi` puts the full bins
//!   in a uniform order that the sender alone knows, and empty bins come last, whose bits do not
//!   leave: whatever bins the items have, the new ones are a uniformly random choice of
//!   `n_s - |X n Y|` places, in a uniform order. The simulator draws one.
//! - *Failures.* An item's bins, and so whether the table can be built, depend on `F(X)`. Both sets
//!   are fixed before the salt, and a table that cannot be built ends the run, with the probability
//!   that the parameters say for every set. The protocol does not try again; a user may, and each
//!   run has that probability of its own. A *corrupt* receiver could look for a salt of circuit PSI
//!   under which some items of `Y` compete for bins, since it has `F` of its items before it draws
//!   that salt: the protocol is for semi-honest parties.
//! - *Runs that are broken off.* Before arrow 4 the receiver has no bit in the clear. Arrow 4 comes in
//!   pieces, and a receiver that has read some of them has the new records among these, unnoticed: a
//!   run that has come to arrow 3 counts as a whole one.
//! - *Dummies.* An item that the sender adds to hide its number is in nobody's set. At its place the sender turns its
//!   share: arrow 4 is under `G(k_i[1 + r_i], i)` there, as at a common item, and the receiver cannot tell one from the
//!   other. It learns how many items are new, but not how many of the others are common. (It does where its own set is
//!   empty: then it gets all records.) So several runs, one for each bucket, show it nothing of a bucket but the
//!   new records and the sizes: a bucket's dummies hide how many of its items are common.
//!
//! **The OPRF** answers section 4.5 of the paper. Bins that everyone can compute from items tell the
//! receiver something wherever bins show: no item of `Y` that shares its bin with a new item is
//! common. So the sender has the key, and the receiver knows `F` at its own items only. At a new item
//! `F` is pseudo-random to it, but for the bad event that `params` counts, and so are the item's bins.
//! By the argument on places nothing shows a bin anyhow, failures of the table apart: the OPRF is a
//! second line of defence. That argument is ours, and nobody outside of this project has reviewed it.
//!
//! # Where the receiver's set is empty
//!
//! All items are new. The sender sends the records in a random order, without pads.
//!
//! # Time
//!
//! The receiver takes pads off and looks for tags at all places alike; new records are picked out
//! when the conversation is over. How long the sender takes to fill its cuckoo table depends on `F(X)`,
//! as in circuit PSI.

mod messages;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
pub mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::opprf::Opprf;
use vesica_mpc::permute_share::bits::BitNetwork;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{CostClass, Entry, Mode, Protocol, Resistance, Rounds, Security, Status, Task, assumptions};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Band;

use crate::styles;
use crate::tasks::{SIZES, Union, UnionRequest};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// Domain of `G`.
const PAD_CONTEXT: &str = "vesica v1 vesica-union 2026 pads of records";

/// `vesica-union`.
#[derive(Clone, Copy, Debug)]
pub enum VesicaUnion {}

impl Protocol for VesicaUnion {
    const ENTRY: Entry = Entry {
        id: "vesica-union",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: Paper {
            key: "this work",
            title: "One-sided union from circuit PSI whose bits are never opened",
            reference: "after Chandran, Schneider, Stillger, Weinert (ASIACCS 2025)",
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_UNION),
        deviations: &[
            "The OPRF, circuit PSI, permutation and OTs are this project's, on silent VOLE.",
            "The permuted bits stay shared. The receiver's share turns an OT, the sender's picks the pad, and a \
             record ends in zeros by which the receiver knows a new one.",
            "Full bins come first and in a uniform order, so that only n_s bits leave the permutation, and there are \
             as many OTs.",
        ],
        modes: &[Mode {
            security: Security::SemiHonest,
            corrupt_sender: Resistance::SemiHonest,
            corrupt_receiver: Resistance::SemiHonest,
            rounds: Rounds::between(21, 35),
            assumptions: assumptions![
                <Opprf<Band> as Protocol>::ENTRY.modes[0].assumptions,
                <SilentVole<Gf128> as Protocol>::ENTRY.modes[0].assumptions,
                <OneOfN as Protocol>::ENTRY.modes[0].assumptions,
                <BitNetwork as Protocol>::ENTRY.modes[0].assumptions,
                <SilentOt as Protocol>::ENTRY.modes[0].assumptions,
                crate::union::PADS,
            ],
            leakage: &[SIZES],
        }],
    };
    type Task = Union;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &UnionRequest) -> Result<Params, Unsupported> {
        Self::ENTRY.require(request.security)?;
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}
