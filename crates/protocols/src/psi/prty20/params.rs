//! All numbers of a run. Their derivation is in docs/parameters/paxos.md.

use std::ops::{Range, RangeInclusive};

use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::{OtExtension, OtParams};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, bitwise_and_width};
use vesica_structures::okvs::Okvs;
use vesica_structures::ot_rows::COLUMNS;

use super::{Prty20, Variant};
use crate::psi::finish;
use crate::tags::{self, TagCoding};
use crate::tasks::IntersectRequest;

/// The share of the failure budget of the table's encoding.
pub(super) const ENCODING_BITS: u32 = FailureEvent::Encoding.bits();

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The row's id, for the derivation of keys.
    pub id: &'static str,
    /// Width of a row and of a cell, in bits.
    pub width: u32,
    /// An OT for each column.
    pub transfers: OtParams,
    /// The cells of each part of the table.
    pub parts: Vec<Range<usize>>,
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters of row `V` for a request, refused where the mode or a size is not served.
    pub fn derive<V: Variant>(request: &IntersectRequest) -> Result<Self, Unsupported> {
        <Prty20<V>>::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, .. } = request;
        // Half of the budget, FailureEvent::ZeroDifference, is as the whole of it for twice as many.
        let width = bitwise_and_width(sender_items.saturating_mul(2))?;
        if width > COLUMNS {
            return Err(Unsupported::new(
                format_args!("{sender_items} items of the sender, which take rows of {width} bits"),
                format_args!("use fewer, for rows of {COLUMNS} bits, or another protocol"),
            ));
        }
        let tag_bits = tags::tag_bits(sender_items, receiver_items);
        let correlation = CorrelationRequest { len: width, security: Security::SemiHonest, width: None };
        Ok(Self {
            id: V::ENTRY.id,
            width: width as u32,
            transfers: OtExtension::derive(&correlation)?,
            // The table's shape does not depend on its seed.
            parts: V::Okvs::new(receiver_items, ENCODING_BITS, 0)?.parts(),
            finish: finish::Params::new(request, tag_bits, TagCoding::SortedCoded),
        })
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 prty20 2026 parameters");
        let finish = &self.finish;
        hasher.update(self.id.as_bytes()).update(&[0, u8::from(finish.both_learn)]);
        for size in [
            finish.sender_items,
            finish.receiver_items,
            self.width as usize,
            finish.tag_bits as usize,
            finish.payload_bytes,
        ] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt, the OTs, a row for each cell, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let base = OtExtension::predicted_bytes(&self.transfers);
        let finish = self.finish.predicted_bytes();
        let fixed = 32 + table::predicted_bytes(&self.parts, self.width);
        fixed + base.start() + finish.start()..=fixed + base.end() + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Clustered, Paxos};
    use super::*;

    fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
        let security = Security::SemiHonest;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false }
    }

    /// A row of 438 bits for each of 2.4 cells an item, and tags of some 8 bytes.
    #[test]
    fn a_million_items_take_what_their_cells_take() {
        let params = Params::derive::<Paxos>(&request(1 << 20, 1 << 20)).expect("served");
        assert_eq!(params.width, 438);
        let bytes = *params.predicted_bytes().end();
        assert!((140_000_000..150_000_000).contains(&bytes), "{bytes}");
        let fewer = *Params::derive::<Clustered>(&request(1 << 20, 1 << 20)).expect("served").predicted_bytes().end();
        assert!(fewer < 80_000_000, "{fewer}");
    }

    #[test]
    fn what_is_not_served_is_refused() {
        for (bad, said) in [
            (IntersectRequest { security: Security::Malicious, ..request(1, 1) }, "malicious"),
            (request((1 << 25) + 1, 1), "rows of"),
            (request(usize::MAX / 2, 1), ""),
            (request(1, (1 << 26) + 1), "two-hash table"),
        ] {
            let refusal = Params::derive::<Paxos>(&bad).expect_err("refused").to_string();
            assert!(refusal.contains(said), "{refusal}");
        }
        assert!(Params::derive::<Paxos>(&request(1 << 25, 1)).is_ok());
    }
}
