//! Random oblivious transfer on Ristretto: *Efficient Oblivious Transfer Protocols* (NP01), in the random oracle model and with one power of the sender for all transfers.
//!
//! ```text
//!        sender                                             receiver, bits s_1 .. s_n
//!   C a random point; r random, R = r G
//!                       ------ 1: R, C ------------------>
//!                                                           for each i: k_i random, PK[s_i] = k_i G,
//!                                                           PK[1 - s_i] = C - PK[s_i]
//!                       <----- 2: PK[0] of each i --------
//!   k_i[0] = K(i, 0, r PK[0])                               k_i[s_i] = K(i, s_i, k_i R)
//!   k_i[1] = K(i, 1, r C - r PK[0])
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `C`, `g^r` | [`messages::SenderPoints`] |
//! | `PK_0` | [`messages::ReceiverPoints`] |
//! | `H` | `K`: BLAKE3 keyed with the hash of both messages |
//!
//! `PK[0]` is uniform whatever the bit, so the bits are hidden from any sender. A receiver that knew both
//! `r PK[0]` and `r PK[1]` would know their sum `r C`, which is the Diffie-Hellman value of `C` and `R`.
//!
//! **Why only semi-honest.** That argument is about one receiver that outputs both keys. Nobody can read the
//! bit of a corrupt receiver from its message (`PK[0]` alone says nothing), so the protocol is not known to be
//! an OT that other protocols may build on.

pub mod messages;
mod receiver;
mod sender;

use subtle::Choice;
use vesica_party::{Abort, Channel, CostClass, Entry, Resistance, Security, Status, Task};
use vesica_structures::facts::Paper;
use vesica_structures::rng::SecretRng;

use self::messages::ID;
use super::{CDH, ChosenKeys, KeyPairs, Scheme, mode};
use crate::binding::Binding;
use crate::tasks::RandomOt;

/// Naor and Pinkas's OT.
#[derive(Debug)]
pub enum Np01 {}

impl Scheme for Np01 {
    const ENTRY: Entry = Entry {
        id: ID,
        aliases: &[],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "NP01",
            title: "Efficient Oblivious Transfer Protocols",
            reference: "M. Naor, B. Pinkas, SODA 2001",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: None,
        deviations: &[
            "keys are outputs: the paper masks chosen messages with them",
            "beside the slot, keys are bound to the run's messages and the transfer's index, instead of to a random \
             string of the sender",
            super::DOUBLED,
        ],
        modes: &[mode(Security::SemiHonest, Resistance::SemiHonest, 2, CDH)],
    };

    /// 64 bytes, and 32 a transfer.
    fn predicted_bytes(transfers: usize) -> u64 {
        64 + 32 * transfers as u64
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
