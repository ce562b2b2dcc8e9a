//! The public keys of a run's functions, all derived from the salt.

use vesica_party::Channel;

use super::Params;
use crate::binding::Binding;

/// Keys of the rows of either store, of `H_B`, and of the outer hashes.
pub(super) struct Keys {
    binding: Binding,
    pub(super) table: u128,
    pub(super) hint: u128,
    pub(super) values: u128,
}

impl Keys {
    pub(super) fn derive(ch: &Channel, params: &Params, salt: &[u8; 32]) -> Self {
        let binding = Binding::new(ch, "opprf").extend("parameters", &params.fingerprint()).extend("salt", salt);
        let [table, hint, values] =
            ["rows of the table", "rows of the hint", "values"].map(|label| binding.key(label, &[]));
        Self { binding, table, hint, values }
    }

    /// The key of the outer hash that gives block number `block` of the outputs.
    pub(super) fn output(&self, block: usize) -> u128 {
        self.binding.key("output", &[&(block as u64).to_le_bytes()])
    }
}
