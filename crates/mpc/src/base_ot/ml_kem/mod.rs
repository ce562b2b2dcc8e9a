//! Random oblivious transfer against which no attack by a quantum computer is known: *Endemic Oblivious Transfer*
//! [MR19, Figure 8] with ML-KEM-768 (FIPS 203) as the key agreement.
//!
//! ```text
//!        sender                                              receiver, bits s_1 .. s_n
//!                                                            for each i: (t, rho), secret key: a new key pair of ML-KEM,
//!                                                            v_i[1 - s_i] a random vector modulo q,
//!                                                            v_i[s_i] = t - H(i, s_i, rho, v_i[1 - s_i])
//!                       <----- 1: rho, v_i[0], v_i[1] of each i --
//!   for each i and j: c_i[j], shared_i[j] = Encapsulate(v_i[j] + H(i, j, rho, v_i[1 - j]), rho)
//!                       ------ 2: c_i[0], c_i[1] of each i ------->
//!   k_i[j] = K(i, j, shared_i[j])                            k_i[s_i] = K(i, s_i, Decapsulate(c_i[s_i]))
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `H_0, H_1` | `slot_hash`: a vector of 768 numbers modulo `q`, from BLAKE3 |
//! | `(r_0, r_1)` | [`messages::PublicKeys`] |
//! | `m_A` | [`messages::Ciphertexts`]: one a slot, as a KEM has no message of the sender for many keys |
//! | key derivation `K` | BLAKE3 keyed with the hash of both messages |
//!
//! A public key of ML-KEM is a vector `t` and the seed `rho` of a matrix. Under module-LWE `t` looks uniform, so
//! that both vectors of a transfer look alike: that hides the bits. Of the two public keys at most one is
//! chosen by a corrupt receiver; the other is uniform by the random oracle, and what is encapsulated under it
//! stays hidden, again under module-LWE. `H` covers `rho`, so that no matrix is chosen after the vector.
//!
//! Ciphertexts that were not made honestly give keys that only their maker may know (implicit rejection):
//! decapsulation does not fail, and so its end says nothing about bits.

mod hashes;
pub mod messages;
mod receiver;
mod sender;
mod vector;

use subtle::Choice;
use vesica_party::{Abort, Assumption, Channel, CostClass, Entry, Resistance, Security, Status, Task, assume};
use vesica_structures::rng::SecretRng;

use self::messages::{Ciphertexts, ID, PublicKeys};
use super::{ChosenKeys, KeyPairs, Scheme, mode};
use crate::binding::Binding;
use crate::tasks::RandomOt;

/// What it rests on.
pub(super) const ASSUMPTIONS: &[Assumption] =
    assume!["module-LWE with the parameters of ML-KEM-768", "random oracles (BLAKE3, SHA-3 and SHAKE)"];

/// Masny and Rindal's OT on ML-KEM-768.
#[derive(Debug)]
pub enum MlKem {}

impl Scheme for MlKem {
    const ENTRY: Entry = Entry {
        id: ID,
        aliases: &[],
        variants: &[],
        task: RandomOt::NAME,
        paper: super::mr19::PAPER,
        status: Status::Sound,
        cost: CostClass::Lattice,
        map_and_compare: None,
        deviations: &[
            "ML-KEM-768 instead of the paper's Kyber; the receiver's seed of the matrix is hashed with each vector",
            "that ML-KEM-768 fits the paper's theorem (public keys look uniform, what is encapsulated under a \
             uniform one stays hidden) is our reading, in the model of classical random oracles",
        ],
        modes: &[
            mode(Security::SemiHonest, Resistance::Malicious, 2, ASSUMPTIONS),
            mode(Security::Malicious, Resistance::Malicious, 2, ASSUMPTIONS),
        ],
    };

    /// Two vectors, a seed and two ciphertexts a transfer.
    fn predicted_bytes(transfers: usize) -> u64 {
        ((size_of::<PublicKeys>() + size_of::<Ciphertexts>()) * transfers) as u64
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
