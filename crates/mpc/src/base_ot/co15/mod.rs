//! Random oblivious transfer on Ristretto: *The Simplest Protocol for Oblivious Transfer* [CO15,
//! Figure 1].
//!
//! ```text
//!        sender                                        receiver, bits s_1 .. s_n
//!   a random, A = a G
//!                       ------ 1: A ----------------->
//!                                                      for each i: b_i random, B_i = b_i G + s_i A
//!                       <----- 2: B_i of each i ------
//!   k_i[j] = K(i, j, a B_i - j a A)                    k_i[s_i] = K(i, s_i, b_i A)
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `S`, `y`, `T` | `A`, `a`, `a A` |
//! | `R`, `x` | `B_i`, `b_i` |
//! | `H_(S, R)` | `K`: BLAKE3 keyed with the hash of both messages |
//!
//! **Why only semi-honest.** The paper claims security against active parties, also as a part of other
//! protocols. Both were refuted later: a corrupt receiver's bit is not determined by its message but by the
//! hash queries that it makes when it likes, so no simulator can read it in time (Byali, Patra, Ravi, Sarkar,
//! ePrint 2017/1165; Li, Micciancio, PKC 2018). The proof against a corrupt sender needs an oracle that CDH does
//! not give (Genç, Iovino, Rial, ePrint 2017/370). [`super::Mr19`] costs
//! one multiplication and some hashes more a transfer, and has no such gap.

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

/// Chou and Orlandi's OT.
#[derive(Debug)]
pub enum Co15 {}

impl Scheme for Co15 {
    const ENTRY: Entry = Entry {
        id: ID,
        aliases: &["simplest-ot"],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "CO15",
            title: "The Simplest Protocol for Oblivious Transfer",
            reference: "T. Chou, C. Orlandi, LATINCRYPT 2015, ePrint 2015/267",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: None,
        deviations: &[
            "semi-honest only: the paper's claim against active parties has been refuted, as no simulator can read \
             a corrupt receiver's bit from its message",
            "keys are outputs: the paper encrypts chosen messages under them",
            super::DOUBLED,
        ],
        modes: &[mode(Security::SemiHonest, Resistance::SemiHonest, 2, CDH)],
    };

    /// 32 bytes, and 32 a transfer.
    fn predicted_bytes(transfers: usize) -> u64 {
        32 + 32 * transfers as u64
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
