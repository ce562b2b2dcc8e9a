//! The numbers of the OPRF.

use vesica_mpc::oprf::table;
use vesica_mpc::silent::{self, SilentVole};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{Unsupported, ceil_log2};
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Okvs;

use super::Store;

/// The parameters that both sides derive from the sizes; no set is empty.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `-log2` of the probability that the table of arrow 2 cannot be encoded.
    pub encoding_bits: u32,
    /// Width of `H_B` and of a cell of the table: where `Decode(P, x) = H_B(x)` for a new item, the
    /// receiver can compute `F(x)`.
    pub value_bits: u32,
    /// The VOLE.
    pub vole: silent::params::Params,
    table_bytes: u64,
}

impl Params {
    /// The parameters where the table cannot be encoded with probability `2^-encoding_bits` at most,
    /// and the receiver can compute the function at a new item with `2^-stranger_bits` at most.
    pub fn derive(
        sender_items: usize,
        receiver_items: usize,
        encoding_bits: u32,
        stranger_bits: u32,
    ) -> Result<Self, Unsupported> {
        let value_bits = stranger_bits + ceil_log2(sender_items);
        let store = Store::new(receiver_items, encoding_bits, 0)?;
        let correlation =
            CorrelationRequest { len: store.len(), security: Security::SemiHonest, width: Some(value_bits) };
        Ok(Self {
            sender_items,
            receiver_items,
            encoding_bits,
            value_bits,
            vole: SilentVole::<Gf128>::derive(&correlation)?,
            table_bytes: table::predicted_bytes(&store.parts(), value_bits),
        })
    }

    /// Bytes of all messages: the salt, the VOLE, the table.
    pub fn predicted_bytes(&self) -> u64 {
        32 + SilentVole::<Gf128>::predicted_bytes(&self.vole).end() + self.table_bytes
    }
}
