//! What follows from the salt: the table's seed, the functions of items, and the keys of outputs.

use vesica_structures::facts::Unsupported;
use vesica_structures::okvs::AnyOkvs;

use super::Params;
use super::params::ENCODING_BITS;
use crate::psi::row_outputs::{Collected, OutputKeys, Tags};

/// Separates the keystreams of payloads from those of other protocols.
const DOMAIN: &[u8; 16] = b"PRTY20  payloads";

/// The public functions of a run; `F` has `H_1` and `H_2`.
#[derive(Debug)]
pub(super) struct Keys<F> {
    pub(super) okvs_seed: u128,
    pub(super) functions: F,
    pub(super) outputs: OutputKeys,
}

impl<F> Keys<F> {
    /// The table of a run.
    pub(super) fn okvs(&self, params: &Params) -> Result<AnyOkvs, Unsupported> {
        params.okvs.store(params.finish.receiver_items, ENCODING_BITS, self.okvs_seed)
    }

    /// A collection of outputs.
    pub(super) fn collect<T: Tags>(&self, params: &Params, tags: T, count: usize) -> Collected<T> {
        Collected::new(&params.finish, tags, self.outputs, count, DOMAIN)
    }
}
