//! The two arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use bytemuck::{Pod, Zeroable};
use vesica_party::{Role, Step, Stream};

use super::vector;

/// The row's id, which names its messages and its hashes.
pub(super) const ID: &str = "ot-mr19-ml-kem";

/// Transfers whose keys and ciphertexts travel at a time.
pub(super) const TRANSFERS_PER_BATCH: usize = 16;

/// Arrow 1, a transfer: the seed of the matrix and the vectors of both slots.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct PublicKeys {
    /// `rho`.
    pub rho: [u8; 32],
    /// `v_i[0]` and `v_i[1]`, encoded.
    pub vectors: [[u8; vector::BYTES]; 2],
}

impl Stream for PublicKeys {
    const STEP: Step =
        Step { protocol: ID, number: 1, from: Role::Receiver, carries: "a seed and two vectors a transfer" };
    type Element = Self;
}

/// Bytes of a ciphertext of ML-KEM-768.
pub const CIPHERTEXT_BYTES: usize = 1088;

/// Arrow 2, a transfer: the ciphertexts of both slots.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Ciphertexts(pub [[u8; CIPHERTEXT_BYTES]; 2]);

impl Stream for Ciphertexts {
    const STEP: Step = Step { protocol: ID, number: 2, from: Role::Sender, carries: "two ciphertexts a transfer" };
    type Element = Self;
}
