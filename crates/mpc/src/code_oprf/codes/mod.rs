//! Codes: what distinguishes the protocols of this folder.

mod bch;
mod cyclic;
mod linear;
mod long_bch;
mod pseudo_random;
mod walsh_hadamard;

use vesica_party::{Entry, Task};
use vesica_structures::facts::Unsupported;

use super::rows::MatrixRow;
use crate::tasks::{BatchPrfRequest, Evaluations, PrfOutputs};

pub use bch::Bch;
pub use long_bch::LongBch;
pub use pseudo_random::{FAILURE_BITS, PseudoRandom};
pub use walsh_hadamard::WalshHadamard;

/// Public keys of a run that a code may be drawn by. Nobody knows them before the set-up: keys that
/// parties ask for must not depend on it.
pub type CodeKeys = [u128; 4];

/// A binary code, and the protocol that its paper makes of it.
pub trait Code: Sized + Send + Sync + 'static {
    /// The space of a code word, and of a row of the protocol's matrices.
    type Row: MatrixRow;
    /// What the protocol computes: the tasks differ in the keys that they ask for.
    type Task: Task<
            Request = BatchPrfRequest,
            SenderInput = Evaluations,
            ReceiverInput = Vec<u128>,
            SenderOutput = PrfOutputs,
            ReceiverOutput = PrfOutputs,
        >;
    /// The protocol's description.
    const ENTRY: Entry;

    /// Bits of a code word, at most those of [`Row`](Self::Row): so many that the words of two keys of
    /// `request.key_bits` bits differ in [`KAPPA`](vesica_structures::facts::KAPPA) places, and in
    /// `LAMBDA` more against malicious parties.
    ///
    /// # Errors
    /// If the code does not serve the request.
    fn width(request: &BatchPrfRequest) -> Result<usize, Unsupported>;

    /// The code of a run, of the width for this request.
    fn new(keys: &CodeKeys, request: &BatchPrfRequest) -> Result<Self, Unsupported>;

    /// Calls `each` with the number and the code word of each key. No key has more bits than agreed.
    fn words(&self, keys: &[u128], each: impl FnMut(usize, Self::Row));
}
