//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

pub use vesica_mpc::oprf::value_bits;
use vesica_mpc::oprf::{ValueField, table};
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::fields::{Cell, Gf64, Gf128};
use vesica_structures::okvs::Okvs;

use super::{Variant, VolePsi, correlation};
use crate::psi::finish;
use crate::tags;
pub use crate::tags::TagCoding;
use crate::tasks::IntersectRequest;

/// Width of a tag in the malicious mode, in bits: the simulator finds a corrupt sender's items by
/// their tags.
pub const MALICIOUS_TAG_BITS: u32 = 128;

/// The width of a row's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// [`value_bits`], no bit more.
    Narrow,
    /// A whole field, `GF(2^64)` where that is wide enough.
    Field,
    /// Always `F`.
    F,
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The row's id, for the derivation of keys.
    pub id: &'static str,
    /// The mode.
    pub security: Security,
    /// The field of `B`.
    pub field: ValueField,
    /// Width of `B` in bits: all of the field, or the subspace over GF(2) of its elements below
    /// `2^value_bits`.
    pub value_bits: u32,
    /// `m`, the cells of the table.
    pub table_len: usize,
    /// Arrows 8 to 10, and the sizes of the sets.
    pub finish: finish::Params,
    /// Bytes of arrow 5.
    pub table_bytes: u64,
    /// Bytes of the VOLE, both sides together.
    pub vole_bytes: RangeInclusive<u64>,
}

impl Params {
    /// Parameters of row `V` for a request, refused where the mode or a size is not served.
    pub fn derive<V: Variant>(request: &IntersectRequest) -> Result<Self, Unsupported> {
        <VolePsi<V>>::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let narrowest = value_bits(request.security, request.sender_items);
        let (field, value_bits) = match V::VALUES {
            Values::Narrow if narrowest <= Gf64::BITS => (ValueField::Gf64, narrowest),
            Values::Narrow => (ValueField::Gf128, narrowest),
            Values::Field if narrowest <= Gf64::BITS => (ValueField::Gf64, Gf64::BITS),
            Values::Field | Values::F => (ValueField::Gf128, Gf128::BITS),
        };
        let okvs = V::Okvs::new(request.receiver_items, FailureEvent::Encoding.bits(), 0)?;
        let tag_bits = match request.security {
            Security::SemiHonest => tags::tag_bits(request.sender_items, request.receiver_items),
            Security::Malicious => MALICIOUS_TAG_BITS,
        };
        let mut params = Self {
            id: V::ENTRY.id,
            security: request.security,
            field,
            value_bits,
            table_len: okvs.len(),
            finish: finish::Params::new(request, tag_bits, V::CODING),
            table_bytes: table::predicted_bytes(&okvs.parts(), value_bits),
            vole_bytes: 0..=0,
        };
        if !params.finish.is_empty() {
            params.vole_bytes = correlation::predicted_bytes(&params)?;
        }
        Ok(params)
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let finish = &self.finish;
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 vole-psi 2026 parameters");
        hasher.update(self.id.as_bytes()).update(&[
            0,
            self.security as u8,
            self.value_bits as u8,
            finish.coding as u8,
            u8::from(finish.both_learn),
        ]);
        for size in
            [finish.sender_items, finish.receiver_items, self.table_len, finish.tag_bits as usize, finish.payload_bytes]
        {
            hasher.update(&(size as u64).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt, the VOLE, `m |B|` for the table, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let vole = &self.vole_bytes;
        let tosses = match self.security {
            Security::SemiHonest => 32,
            Security::Malicious => 3 * 32 + 32 + 16 + 48,
        };
        let (fixed, finish) = (tosses + self.table_bytes, self.finish.predicted_bytes());
        fixed + vole.start() + finish.start()..=fixed + vole.end() + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::psi::vole::{Rr22, Rs21, VoleFast};

    #[test]
    fn the_field_of_values_follows_their_width() {
        let derive = |id: &str, log: u32| {
            let request = IntersectRequest {
                sender_items: 1 << log,
                receiver_items: 2,
                security: Security::SemiHonest,
                payload_bytes: 0,
                both_learn: false,
            };
            let params = match id {
                "rs21" => Params::derive::<Rs21>(&request),
                "rr22" => Params::derive::<Rr22>(&request),
                _ => Params::derive::<VoleFast>(&request),
            };
            params.map(|params| (params.field, params.value_bits)).unwrap()
        };
        assert_eq!(derive("vole-fast", 23), (ValueField::Gf64, 64));
        assert_eq!(derive("vole-fast", 24), (ValueField::Gf128, 65));
        assert_eq!(derive("rr22", 20), (ValueField::Gf64, 64));
        assert_eq!(derive("rr22", 24), (ValueField::Gf128, 128));
        assert_eq!(derive("rs21", 2), (ValueField::Gf128, 128));
    }
}
