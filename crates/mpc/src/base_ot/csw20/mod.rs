//! Random oblivious transfer on Ristretto: *Blazing Fast OT for Three-Round UC OT Extension* [CSW20,
//! the protocol for selective-failure OT], secure against active parties under CDH alone.
//!
//! ```text
//!        sender                                                receiver, bits s_1 .. s_n
//!                       <----- 1: seed, B_i of each i -------   seed random, T = H(seed);
//!                                                              for each i: b_i random, B_i = b_i G + s_i T
//!   a random, A = a G;  T = H(seed)
//!   k_i[0] = K(i, 0, a B_i),  k_i[1] = K(i, 1, a B_i - a T)
//!   r_i[0] = F(i, 0, a B_i),  r_i[1] = F(i, 1, a B_i - a T),  answer = D(r_1[0], .. r_n[0])
//!                       ------ 2: A, r_i[0] + r_i[1] of each i, D'(answer) -->
//!                                                              k_i[s_i] = K(i, s_i, b_i A)
//!                                                              r_i[0] = F(i, s_i, b_i A) + s_i (r_i[0] + r_i[1]);
//!                                                              D'(D(r_1[0], .. r_n[0])) as it came, or stop
//!                       <----- 3: D(r_1[0], .. r_n[0]) -------
//!   the answer, or stop
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `T`, `RO_1` | `T`, `shift_of`: [`crate::group::hash_to_group`] of session and seed |
//! | `z`, `r` | `A`, `a` |
//! | `p_(i, j)`, `RO_2` | `k_i[j]`, `K` |
//! | `chall`, `Ans`, `gamma` | [`messages::Challenges`], [`messages::Answer`], [`messages::Proof`] |
//! | `RO_3`, `RO_4` | `response`, `answer`, `proof` |
//!
//! `B_i` is uniform whatever the bit, so the bits are hidden until the receiver answers. The proof shows that
//! the sender knows what the receiver will answer, so a right answer says nothing: but a sender that spoils the
//! challenge of one transfer guesses its bit, and a wrong guess stops the run. The answer shows the sender that
//! the receiver has computed one point of *each* transfer, by hash queries from which its bits can be read:
//! that is what [`super::Co15`] lacks. The receiver knows no logarithm of `T`, so it computes at most one point
//! a transfer.
//!
//! **Responses are no hashes of keys.** As published, `F` hashes the key. From the challenge the receiver then
//! has the hash of the key that it must know nothing of, and can test guesses: if the sender masks `m` by that
//! key, it tests guesses of `m`. So here keys and responses are two hashes of the point, with labels of their own.

mod hashes;
pub mod messages;
mod receiver;
mod sender;

use subtle::Choice;
use vesica_party::{Abort, Channel, CostClass, Entry, Leak, Learner, Mode, Resistance, Security, Status, Task};
use vesica_structures::facts::Paper;
use vesica_structures::rng::SecretRng;

use self::messages::ID;
use super::{CDH, ChosenKeys, KeyPairs, Scheme, mode};
use crate::binding::Binding;
use crate::tasks::RandomOt;

/// Canetti, Sarkar and Wang's OT.
#[derive(Debug)]
pub enum Csw20 {}

impl Scheme for Csw20 {
    const ENTRY: Entry = Entry {
        id: ID,
        aliases: &[],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "CSW20",
            title: "Blazing Fast OT for Three-Round UC OT Extension",
            reference: "R. Canetti, P. Sarkar, X. Wang, PKC 2020, ePrint 2020/110",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: None,
        deviations: &[
            "responses to the challenge are hashes of the shared point and not of the key, whose hash would let the \
             receiver test guesses of the key that it lacks",
            super::DOUBLED,
        ],
        modes: &[
            Mode { leakage: LEAKAGE, ..mode(Security::SemiHonest, Resistance::Malicious, 3, CDH) },
            Mode { leakage: LEAKAGE, ..mode(Security::Malicious, Resistance::Malicious, 3, CDH) },
        ],
    };

    /// Seed, point, proof and answer of 32 bytes each, and a point and a challenge a transfer.
    fn predicted_bytes(transfers: usize) -> u64 {
        4 * 32 + 64 * transfers as u64
    }

    fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort> {
        sender::send(transfers, ch, rng)
    }

    fn receive(
        choices: impl ExactSizeIterator<Item = Choice>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(ChosenKeys, Binding), Abort> {
        receiver::receive(choices, ch, rng)
    }
}

/// What a corrupt sender can try.
const LEAKAGE: &[Leak] = &[Leak {
    to: Learner::Sender,
    what: "guesses at choices by a corrupt sender, right ones unnoticed; a wrong one stops the run",
    extra: None,
}];
