//! PSI from a garbled Bloom filter against malicious parties: Rindal, Rosulek, "Improved Private Set
//! Intersection against Malicious Adversaries" (EUROCRYPT 2017), Figure 3.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!
//!                                1. Com(salt_s)
//!      ------------------------------------------------------------------------>
//!                                2. salt_r
//!      <------------------------------------------------------------------------
//!                                3. salt_s, opened
//!      ------------------------------------------------------------------------>
//!   for each group of cells:
//!      m_j[0], m_j[1]            [ N random OTs ]                     b_j random, m_j[b_j]
//!                                4. the seed of C, a random share p of the OTs
//!      ------------------------------------------------------------------------>
//!                                5. b_j for all j in C
//!      <------------------------------------------------------------------------
//!                                                                     BF: the Bloom filter of Y
//!                                6. pi, random, injective, out of C, with b_pi(i) = BF_i for each cell i
//!      <------------------------------------------------------------------------
//!   stops if pi is not an injection out of C,
//!   or if C had more than N_maxones ones so far
//!
//!                                7. sum of m_j[0] over all j in a C with b_j = 0
//!      <------------------------------------------------------------------------
//!   stops if the sum is wrong
//!   H(x, sum of m_pi(i)[1] over the cells i of x) = tag, proof, key   H(y, sum of m_pi(i)[b_pi(i)]), likewise
//!                                8. the sorted tags of X, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if its tag is among them
//!                                9. (labelled) payload_x + G(key_x), in the order of 8
//!      ------------------------------------------------------------------------>
//!                                10. (both learn) the sorted proofs of the matches
//!      <------------------------------------------------------------------------
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | Alice, `X`; Bob, `Y` | [`Sender`], `X`; [`Receiver`], `Y` | the parties |
//! | `N_ot` | `numbers.transfers` times groups | transfers |
//! | `N_bf`, `k` | `numbers.shape` | cells, hash functions |
//! | `alpha` | 1/2 | the share of ones among the choices |
//! | `p_chk`, `C` | `opened_in_65536`, `Opened` | the share and the set of opened transfers |
//! | `R`, `r*` | arrows 5 and 7 | the opened zeros, and the proof of them |
//! | `N_maxones` | `most_ones` | ones that are tolerated among opened transfers |
//! | `pi` | arrow 6 | the transfer of each cell |
//! | `K_x` | tag | the summary value |
//!
//! # Against a corrupt receiver
//!
//! It knows the strings of its own choices only. A zero that it claims in step 5 for a one needs the other
//! string of that transfer in step 7, which is 128 random bits to it. So it can claim but the truth, and
//! what it can do is choose more ones. Each one is opened with probability `p`, by a challenge that comes
//! after the choices of its group. With `w` ones in all it passes and keeps more than `N_1` of them if at most
//! `N_maxones` are opened and more than `N_1` are not: at the moment at which `N_1 + 1` are unopened, at most
//! `N_maxones` were opened, so that among its first `N_1 + 1 + N_maxones` ones at most `N_maxones` are opened.
//! This has the binomial probability that sets `N_1`, also if it chooses the ones of a group by what happened
//! in earlier groups: a coin is tossed for each one after it was chosen. That is why groups may go one after another
//! and the sender need not keep the strings of all transfers until it has seen all of `pi`.
//!
//! The filter is then any set of cells of which at most `N_1` have ones. An item that the receiver has not
//! hashed has ones at all of its cells with probability at most `(N_1 / N_bf)^k <= 2^-128`, for one cell in each
//! segment. The simulator sees the salt's hash queries, and takes those items for the receiver's set whose
//! cells are all ones. How many these can be, the entry says. The paper's proof chooses the hash functions in
//! its first step, before the choices, and bounds a filter by its number of ones alone; so does this one. The
//! toss is there for two other reasons: a sender that chose the salt could look for one under which a set
//! that it guesses takes more cells than there are ones, and learn from whether the run stops; and a receiver
//! that chose it could look for items with common cells off-line.
//!
//! # Against a corrupt sender
//!
//! Choices are uniform and independent, so that to the sender `pi` is a uniform injection, whatever the
//! filter is, and `b_j` for `j` in `C` says nothing of others. The receiver stops only if a list of unopened
//! transfers is short of what nearly every filter needs, which does not depend on its items; it checks
//! nothing that the sender says of strings, so that nothing can fail selectively. A wrong string gives a
//! wrong sum, and that is an item without a match. Tags have 128 bits: the simulator finds the item of each tag
//! among the queries to `H`.

#[cfg(test)]
mod cheating;
mod messages;
mod opened;
pub mod params;
mod receiver;
mod salt;
mod sender;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{
    CostClass, Entry, Leak, Learner, Mode, Protocol, Resistance, Role, Rounds, Security, Status, Task, assume,
    assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};

pub(crate) use messages::MESSAGES;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::psi::gbf::GROUPS_SEARCH;
use vesica_protocols::psi::OWN_COLLISIONS;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The protocol `rr16`.
#[derive(Clone, Copy, Debug)]
pub enum Rr16 {}

const LARGER_SET: Leak = Leak {
    to: Learner::Receiver,
    what: "a corrupt receiver may use more than the n_r items it declared: as many as it can find whose cells are all \
           among its ones. With Q hash queries these are n' at most, with n' (128 - log2(e Q / n')) <= N_bf, the \
           cells of the filter, by a union bound over all sets of ones. With 2^64 and 2^80 queries that is 4.0 and 5.1 n_r at \
           2^8 items, 2.5 and 3.1 n_r at 2^16; 218 and 281 items in all where up to 32 are declared. Without any \
           search a receiver that declares one item tests 49, and is found out in half of all runs",
    extra: None,
};

/// The mode of the transfers: what it leaks, the PSI does too.
const OT: Mode = <OtExtension as Protocol>::ENTRY.modes[1];
const LEAKAGE: &[Leak] = &[OT.leakage[0], SIZES, LARGER_SET];

impl Protocol for Rr16 {
    const ENTRY: Entry = Entry {
        id: "rr16",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Intersect::NAME,
        paper: Paper {
            key: "RR16",
            title: "Improved Private Set Intersection against Malicious Adversaries",
            reference: "Rindal, Rosulek. EUROCRYPT 2017, ePrint 2016/746",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::GBF),
        deviations: &[
            "Choices are uniform (alpha = 1/2), as random OTs give them, and filters are half full; so there are more \
             hash functions than in the paper (139 instead of 91 at 2^16 items), and fewer OTs from 64 items on. Bounds count the ones that \
             a filter is expected to have and a tail, instead of n k.",
            "The filter is partitioned: each hash function has a segment of cells of its own.",
            "The cut-and-choose and the injection are made for 10^6 cells at most at a time, and counted over all of \
             them. The bound on a receiver's ones also holds for one that goes by what was opened before. The sum of the \
             opened strings and all that depends on the sender's items come last.",
            "The challenge is a seed. The sender draws another where its set is larger than arrow 5 has room for \
             (probability 2^-43).",
            "Sets of fewer than 32 items are filled up with random ones.",
            "H is Davies-Meyer with the salted item as the key of an ideal cipher. Tags of 128 bits are sorted on all \
             bits and Golomb-Rice coded.",
            "Malicious OT extension is SoftSpokenOT with its consistency check, instead of KOS15.",
            "Both learn (on request): H gives 128 more bits, which the receiver returns for each match as a proof. No \
             fairness (the receiver knows first and may stop) and no completeness (it may keep matches back).",
        ],
        modes: &[Mode {
            security: Security::Malicious,
            corrupt_sender: Resistance::Malicious,
            corrupt_receiver: Resistance::Malicious,
            rounds: Rounds::between(10, 1222),
            assumptions: assumptions![
                OT.assumptions,
                assume![
                    "AES-128 is an ideal cipher (positions of items, H)",
                    "BLAKE3 is a random oracle (commitment, challenges, keys from the salt, keystreams of payloads)",
                    OWN_COLLISIONS,
                    GROUPS_SEARCH,
                ],
            ],
            leakage: LEAKAGE,
        }],
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

    fn further_memory(params: &Params, _: Role) -> u64 {
        super::BYTES_PER_TRANSFER * params.numbers.transfers as u64
    }
}
