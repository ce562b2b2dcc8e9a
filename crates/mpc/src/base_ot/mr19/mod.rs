//! Random oblivious transfer on Ristretto: the Diffie-Hellman instance of *Endemic Oblivious
//! Transfer* [MR19, Figure 8].
//!
//! ```text
//!        sender                                                      receiver, bits s_1 .. s_n
//!   c random, A = c G
//!                       ------ 1: A ------------------------------->
//!                                                                    for each i: a_i random, R_i[1 - s_i] a random point,
//!                                                                    R_i[s_i] = a_i G - H(i, s_i, R_i[1 - s_i])
//!                       <----- 2: R_1[0], R_1[1], .. R_n[0], R_n[1] --   16 pairs a message
//!   k_i[j] = K(i, j, c (R_i[j] + H(i, j, R_i[1 - j])))                k_i[s_i] = K(i, s_i, a_i A)
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `H_0, H_1` | `slot_hash`: [`crate::group::hash_to_group`] of session, index, slot and the other slot's point |
//! | `m_A`, `(r_0, r_1)` | [`messages::SenderPoint`], [`messages::ReceiverPoints`] |
//! | key derivation `K` | BLAKE3 keyed with the hash of both messages |
//!
//! Both points of a slot pair are uniform whatever the bit, so the bits are hidden from any sender.
//! A corrupt receiver knows the discrete logarithm behind at most one slot (gap-CDH, random
//! oracle).

mod hashes;
pub mod messages;
mod receiver;
mod sender;

use subtle::Choice;
use vesica_party::{Abort, Channel, CostClass, Entry, Resistance, Security, Status, Task};
use vesica_structures::facts::Paper;
use vesica_structures::rng::SecretRng;

use super::{ASSUMPTIONS, ChosenKeys, KeyPairs, Scheme, mode};
use crate::binding::Binding;
use crate::tasks::RandomOt;

/// The paper, which [`super::ml_kem`] implements for another key agreement.
pub(super) const PAPER: Paper = Paper {
    key: "MR19",
    title: "Endemic Oblivious Transfer",
    reference: "D. Masny, P. Rindal, CCS 2019, ePrint 2019/706",
};

/// Random OT from Diffie-Hellman key agreement; secure against active parties in either mode.
#[derive(Debug)]
pub enum Mr19 {}

impl Scheme for Mr19 {
    const ENTRY: Entry = Entry {
        id: "ot-mr19",
        aliases: &["base-ot"],
        variants: &[],
        task: RandomOt::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::GroupOperations,
        map_and_compare: None,
        deviations: &[
            "one Diffie-Hellman message of the sender serves all transfers of a run: hashes are bound to the \
             transfer's index and slot",
            super::DOUBLED,
        ],
        modes: &[
            mode(Security::SemiHonest, Resistance::Malicious, 1, ASSUMPTIONS),
            mode(Security::Malicious, Resistance::Malicious, 1, ASSUMPTIONS),
        ],
    };

    /// 32 bytes, and 64 a transfer.
    fn predicted_bytes(transfers: usize) -> u64 {
        32 + 64 * transfers as u64
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
