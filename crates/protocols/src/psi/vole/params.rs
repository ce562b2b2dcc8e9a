//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_party::Security;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::Okvs;

use super::{Variant, VolePsi, correlation};
use crate::psi::{both_learn, masks};
use crate::registry::require_mode;
use crate::tasks::IntersectRequest;

/// Width of a mask in the malicious mode, in bits: the simulator finds a corrupt sender's items by their masks.
pub const MALICIOUS_MASK_BITS: u32 = 128;

/// The field `B` that the table's values lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueField {
    /// `GF(2^64)`.
    Gf64,
    /// `F = GF(2^128)`.
    Gf128,
}

impl ValueField {
    /// The narrowest `B` that is sound when the sender evaluates the OPRF `evaluations` times in all: in the semi-honest mode the bad event is
    /// `Decode(P, x) = H_B(x)` for an item outside of the intersection, of probability `1/|B|` an evaluation, so that `B` needs
    /// [`FailureEvent::ZeroDifference`] + `log2(evaluations)` bits; in the malicious mode a receiver may search for tables, and `B = F`.
    pub const fn for_evaluations(security: Security, evaluations: usize) -> Self {
        match security {
            Security::SemiHonest if FailureEvent::ZeroDifference.bits() + ceil_log2(evaluations) <= Gf64::BITS => Self::Gf64,
            _ => Self::Gf128,
        }
    }

    /// Bytes of a value.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Gf64 => size_of::<Gf64>(),
            Self::Gf128 => size_of::<Gf128>(),
        }
    }
}

/// How the sender's masks travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskCoding {
    /// Sorted on all bits and Golomb-Rice coded.
    SortedCoded,
    /// In a random order, each in whole bytes, as papers count them.
    Shuffled,
}

/// What both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The row's id, for the derivation of keys.
    pub id: &'static str,
    /// The mode.
    pub security: Security,
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `B`.
    pub field: ValueField,
    /// `m`, the cells of the table.
    pub table_len: usize,
    /// How masks travel.
    pub coding: MaskCoding,
    /// `l`, the width of a mask.
    pub mask_bits: u32,
    /// Width of a payload, in bytes.
    pub payload_bytes: usize,
    /// Whether arrow 10 is sent.
    pub both_learn: bool,
    /// Bytes of the VOLE, both sides together.
    pub vole_bytes: RangeInclusive<u64>,
}

impl Params {
    /// Parameters of row `V` for a request, refused where the mode or a size is not served.
    pub fn derive<V: Variant>(request: &IntersectRequest) -> Result<Self, Unsupported> {
        require_mode::<VolePsi<V>>(request.security)?;
        request.check_sizes()?;
        let narrowest = ValueField::for_evaluations(request.security, request.sender_items);
        let mask_bits = match request.security {
            Security::SemiHonest => masks::mask_bits(request.sender_items, request.receiver_items),
            Security::Malicious => MALICIOUS_MASK_BITS,
        };
        let mut params = Self {
            id: V::ENTRY.id,
            security: request.security,
            sender_items: request.sender_items,
            receiver_items: request.receiver_items,
            field: if V::ALWAYS_F { ValueField::Gf128 } else { narrowest },
            table_len: V::Okvs::table_len(request.receiver_items, FailureEvent::Encoding.bits())?,
            coding: V::CODING,
            mask_bits,
            payload_bytes: request.payload_bytes,
            both_learn: request.both_learn,
            vole_bytes: 0..=0,
        };
        if !params.is_empty() {
            params.vole_bytes = correlation::predicted_bytes(&params)?;
        }
        Ok(params)
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.sender_items == 0 || self.receiver_items == 0
    }

    /// The most matches there can be.
    pub fn most_matches(&self) -> usize {
        self.sender_items.min(self.receiver_items)
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 vole-psi 2026 parameters");
        hasher.update(self.id.as_bytes()).update(&[0, self.security as u8, self.field as u8, self.coding as u8, u8::from(self.both_learn)]);
        for size in [self.sender_items, self.receiver_items, self.table_len, self.mask_bits as usize, self.payload_bytes] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt, the VOLE, `m |B|` for the table, masks, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let vole = &self.vole_bytes;
        let tosses = match self.security {
            Security::SemiHonest => 32,
            Security::Malicious => 3 * 32 + 32 + 16 + 48,
        };
        let masks = match self.coding {
            MaskCoding::SortedCoded => masks::predicted_bytes(self.sender_items, self.mask_bits),
            MaskCoding::Shuffled => {
                let bytes = (self.sender_items * self.mask_bits.div_ceil(8) as usize) as u64;
                bytes..=bytes
            }
        };
        let proofs = if self.both_learn { both_learn::predicted_bytes(self.sender_items, self.receiver_items) } else { 0..=0 };
        let fixed = tosses + (self.table_len * self.field.bytes()) as u64 + (self.sender_items * self.payload_bytes) as u64;
        fixed + vole.start() + masks.start() + proofs.start()..=fixed + vole.end() + masks.end() + proofs.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_follows_the_number_of_evaluations() {
        assert_eq!(ValueField::for_evaluations(Security::SemiHonest, 1 << 22), ValueField::Gf64);
        assert_eq!(ValueField::for_evaluations(Security::SemiHonest, (1 << 22) + 1), ValueField::Gf128);
        assert_eq!(ValueField::for_evaluations(Security::Malicious, 1), ValueField::Gf128);
    }
}
