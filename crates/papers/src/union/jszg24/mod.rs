//! Enhanced private set union: Jia, Sun, Zhou, Gu, "Scalable Private Set Union, with Stronger
//! Security" (USENIX Security 2024), by a permutation of randomness that both sides share exactly
//! where an item is new.
//!
//! ```text
//!   Sender: X, records w_x                                            Receiver: Y
//!   1. cuckoo table X_C: x in one of its 3 bins                       Y_B: y in each of its 3 bins
//!   2.                                                                t'_j of each bin j random
//!   3. query X_C[j]                   [ OPPRF ]                       program t'_j for each item of Y_B[j]
//!      t_j
//!   4. t_j; a_j                       [ equality tests ]              t'_j; b_j:  a_j + b_j = 1 if t_j = t'_j
//!      k_j[0], k_j[1]                 [ random OTs ]                  c_j, r'_j = k_j[c_j]
//!                                1. d_j = b_j + c_j
//!      <------------------------------------------------------------------------
//!      r_j = k_j[a_j + d_j]
//!   5. pi: all bins in a random order
//!      s_i = r'_pi(i) + v_i           [ permute-share-128 ]           values r'_j, shares v_i random
//!      u_i = r_pi(i) + s_i
//!   6.                           2, 3. (w_x, 0^t) + G(u_i, i), x = X_C[pi(i)]
//!      ------------------------------------------------------------------------>
//!   7.                                                                what came + G(v_i, i) is a new record if it
//!                                                                     ends in 0^t
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `S`, `R` | sender, receiver | `R` learns the union |
//! | steps 1 to 3, `X_C`, `Y_B`, `t_i`, `t'_i` | [`vesica_protocols::circuit_psi`], roles swapped | the table is the sender's |
//! | equality-conditional randomness generation: PET, then eqOT | step 4 | `r_j = r'_j` if `t_j` and `t'_j` differ, else they are independent |
//! | Permute and Share | step 5 | the sender has the order, the receiver the values |
//! | `c_i` | arrows 2 and 3 | one string for each bin |
//!
//! The steps are those of Figures 16 and 17 of the paper's long version, as a public list of them
//! has them; we did not have the paper itself.
//!
//! # What is enhanced
//!
//! In the other unions of OTs (`czz24-union`, `gmr21-union`, `cssw25`, `jsz22-r`) the receiver learns
//! which places hold a common item, and then the new records. The paper calls this leakage during the
//! execution: whoever stops in between has `|X n Y|` alone, and the sender cannot tell that from an
//! unreliable network. Here everything that the receiver has before arrow 2 is random whatever the sets
//! are, but for a run that ends since a table does not fit. `vesica-union` has the same property. (Pu, Gao, Trieu, ePrint 2026/204, say that the
//! enhanced functionality is equivalent to the plain one.)
//!
//! # Correctness
//!
//! `a_j + d_j = c_j + (a_j + b_j)`, so that `r_j = r'_j` exactly where the item in bin `j` is new.
//! There `u_i = v_i`. Anywhere else the `t` bits are zero by chance with probability `2^-t`: `params`
//! has the bound.
//!
//! # What either side sees
//!
//! The parts are those of semi-honest protocols whose outputs are values of a PRF, fresh shares and
//! random OTs; what follows is about the messages besides them.
//!
//! **A corrupt sender** sees arrow 1, which is uniform under the `c_j`, and the `s_i`, which are
//! uniform under the `v_i`, drawn by the receiver. It has no output, and learns no more than `n_r`.
//!
//! **A corrupt receiver** is simulated from `Y` and the new records, hence from `n_s` and `|X n Y|`.
//!
//! - *Before arrow 2.* The `b_j` are a share that the equality tests make fresh, the `r'_j` and `c_j`
//!   come out of random OTs, and the `v_i` are its own. The simulator needs no output for them.
//! - *A place with a new record* is the record and zeros under a pad that the receiver has.
//! - *A place with a common item* is under a pad of `u_i = v_i + k_j[0] + k_j[1]`. To the receiver one
//!   of these blocks is uniform and used nowhere else: the simulator sends uniform strings.
//! - *A place of an empty bin* is under a pad of a block that the sender draws: it looks as a common
//!   item does.
//! - *Which places open.* `pi` is uniform over all orders of all bins, whatever bins the items
//!   have: the new records are at `n_s - |X n Y|` uniformly random places, in a uniform order.
//! - *Bins.* There is no OPRF before the hashing, so that the receiver can compute the bins of new
//!   items. It does not see which of its places these bins became. The salt is drawn when both sets
//!   are fixed, and there is no second try: given `X`, a salt is lost only with the probability that
//!   a table cannot be built. So what the receiver sees is within this probability of what it
//!   would see with any other intersection of this size. The argument is ours, and nobody outside of
//!   this project has reviewed it. Tests in `union/leakage.rs` hold the row against section 4.5 of
//!   CSSW25.
//! - *Runs that are broken off.* Arrows 2 and 3 come in pieces, and a receiver that has read some of
//!   them has the new records among these, unnoticed: a run that has come so far counts as a whole one.
//!
//! # Where the receiver's set is empty
//!
//! All items are new. The sender sends the records in a random order, without pads.
//!
//! # Time
//!
//! The receiver takes pads off and looks for zeros at all places alike; new records are picked out
//! when the conversation is over. How long the sender takes to fill its cuckoo table depends on `X` and
//! the salt, as in circuit PSI.

mod messages;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
pub(in crate::union) mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::opprf::Opprf;
use vesica_mpc::permute_share::SwitchingNetwork;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Status, Task, assumptions};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Band;

use crate::union::jsz22;
use vesica_protocols::styles;
use vesica_protocols::tasks::{SIZES, Union, UnionRequest};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// Domain of `G`.
const PAD_CONTEXT: &str = "vesica v1 jszg24 2026 pads of records";

/// `jszg24`.
#[derive(Clone, Copy, Debug)]
pub enum Jszg24 {}

impl Protocol for Jszg24 {
    const ENTRY: Entry = Entry {
        id: "jszg24",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: Paper {
            key: "JSZG24",
            title: "Scalable Private Set Union, with Stronger Security",
            reference: "Jia, Sun, Zhou, Gu. USENIX Security 2024, ePrint 2024/922",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_UNION),
        deviations: &[
            "OPPRF and equality tests are those of vesica-circuit, with 1.24 bins an item by a proven bound (more below \
             2^13 items) and no second try, instead of 1.27.",
            "Each string of the equality-conditional randomness is a block of a random OT that one bit turns, instead \
             of two strings sent under an OT.",
            jsz22::NETWORK,
            "The network carries 128 bits for each bin, of which both sides make a pad, so that a record may have any \
             width.",
            "A record ends in zeros, by which the receiver knows a new one.",
            "The string of an empty bin is noise like that of a common item, instead of a public dummy.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::between(19, 33),
            assumptions![
                <Opprf<Band> as Protocol>::ENTRY.modes[0].assumptions,
                <OneOfN as Protocol>::ENTRY.modes[0].assumptions,
                <SilentOt as Protocol>::ENTRY.modes[0].assumptions,
                <SwitchingNetwork<Gf128> as Protocol>::ENTRY.modes[0].assumptions,
                vesica_protocols::union::PADS,
            ],
            &[SIZES],
        )],
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
