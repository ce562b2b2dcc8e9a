//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

pub use vesica_mpc::oprf::value_bits;
use vesica_mpc::oprf::{ValueField, table};
use vesica_party::{Entry, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::fields::{Cell, Gf64, Gf128};
use vesica_structures::okvs::{self, Okvs};

use super::{VoleRow, correlation};
use crate::okvs_choice::chosen_okvs;
use crate::psi::finish::{self, compare};
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
    /// The table does not encode but with probability at most `2^-encoding_bits`.
    pub encoding_bits: u32,
    /// The table.
    pub okvs: okvs::Kind,
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
    /// Parameters of row `V`, or of the variant of it that `entry` describes, for a request; refused where the mode or a
    /// size is not served.
    ///
    /// Each of the request's runs has an equal part of every share of the failure budget, by a union bound
    /// over the runs. No bound is derived for filters in several runs.
    pub fn derive<V: VoleRow>(request: &IntersectRequest, entry: &'static Entry) -> Result<Self, Unsupported> {
        entry.require(request.security)?;
        let (coding, filter) = (coding(entry), compare::filter(entry));
        match filter {
            None => request.check_sizes_of_runs()?,
            Some(_) if coding == TagCoding::SortedCoded => {
                return Err(Unsupported::new(
                    format_args!("{}: a filter of tags, and an order of their list, which does not travel", entry.id),
                    "choose one of compare and tags",
                ));
            }
            Some(_) => request.check_sizes()?,
        }
        let run_bits = ceil_log2(request.runs);
        let narrowest = value_bits(request.security, request.sender_items.saturating_mul(request.runs));
        let (field, value_bits) = match V::VALUES {
            Values::Narrow if narrowest <= Gf64::BITS => (ValueField::Gf64, narrowest),
            Values::Narrow => (ValueField::Gf128, narrowest),
            Values::Field if narrowest <= Gf64::BITS => (ValueField::Gf64, Gf64::BITS),
            Values::Field | Values::F => (ValueField::Gf128, Gf128::BITS),
        };
        let encoding_bits = FailureEvent::Encoding.bits() + run_bits;
        let kind = chosen_okvs(entry, V::OKVS);
        let okvs = kind.store(request.receiver_items, encoding_bits, 0)?;
        let tag_bits = match request.security {
            Security::SemiHonest => tags::tag_bits(request.sender_items, request.receiver_items) + run_bits,
            Security::Malicious => MALICIOUS_TAG_BITS,
        };
        let mut params = Self {
            id: entry.id,
            security: request.security,
            field,
            value_bits,
            encoding_bits,
            okvs: kind,
            table_len: okvs.len(),
            finish: finish::Params::new(request, tag_bits, coding).with_filter(filter)?,
            table_bytes: table::predicted_bytes(&okvs.parts(), value_bits),
            vole_bytes: 0..=0,
        };
        if !params.finish.is_empty() {
            // Only the garbled Bloom filter can be longer than a VOLE.
            params.vole_bytes = correlation::predicted_bytes(&params).map_err(|_| {
                Unsupported::new(
                    format_args!("{} items of the receiver in a table of {} cells", request.receiver_items, okvs.len()),
                    format_args!("choose another value of okvs for {}, or split the set", entry.row_id()),
                )
            })?;
        }
        Ok(params)
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub fn fingerprint(&self) -> [u8; 32] {
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

/// The coding of tags in a row or variant of this description.
fn coding(entry: &Entry) -> TagCoding {
    match entry.chosen("tags") {
        "shuffled" => TagCoding::Shuffled,
        _ => TagCoding::SortedCoded,
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Protocol;

    use super::*;
    use crate::psi::vole::{VoleFast, VolePsi};

    fn request(sender_items: usize, receiver_items: usize, security: Security) -> IntersectRequest {
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    fn derived(request: &IntersectRequest) -> Result<Params, Unsupported> {
        VolePsi::<VoleFast>::derive(request)
    }

    #[test]
    fn the_field_of_values_follows_their_width() {
        let derive = |log: u32| {
            let params = derived(&request(1 << log, 2, Security::SemiHonest));
            params.map(|params| (params.field, params.value_bits)).unwrap()
        };
        assert_eq!(derive(23), (ValueField::Gf64, 64));
        assert_eq!(derive(24), (ValueField::Gf128, 65));
    }

    /// All failure events of `runs` runs together are as unlikely as those of one: values are as wide as for all
    /// evaluations in one run, tags and tables have `log2(runs)` bits more than in one run of a bucket.
    #[test]
    fn several_runs_share_one_failure_budget() {
        let derive = |items: usize, runs| {
            let request = IntersectRequest { runs, ..request(items, items, Security::SemiHonest) };
            derived(&request)
                .map(|params| (params.value_bits, params.finish.tag_bits, params.encoding_bits, params.table_len))
        };
        let [whole, alone, shared] =
            [(1 << 20, 1), (1 << 14, 1), (1 << 14, 64)].map(|(n, runs)| derive(n, runs).unwrap());
        assert_eq!((whole.0, alone.0, shared.0), (61, 55, 61));
        assert_eq!((whole.1, alone.1, shared.1), (82, 70, 76));
        assert_eq!((whole.2, alone.2, shared.2), (43, 43, 49));
        assert!(shared.3 > alone.3);
        assert_eq!(derive(1 << 14, 33).unwrap(), shared, "rounded up to a power of two");
        // The field of values follows all evaluations, too.
        assert_eq!((derive(1 << 17, 64).unwrap().0, derive(1 << 17, 65).unwrap().0), (64, 65));
        // In the malicious mode values and tags are as wide as they get; the table is as in the semi-honest one.
        let malicious = IntersectRequest { runs: 64, ..request(1 << 14, 1 << 14, Security::Malicious) };
        let params = derived(&malicious).expect("served");
        assert_eq!((params.value_bits, params.finish.tag_bits, params.encoding_bits), (128, 128, 49));
        assert_eq!(params.table_len, shared.3);
    }
}
