//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_mpc::ot_extension::{OtExtension, OtParams};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{Unsupported, bitwise_and_width};
use vesica_structures::hashing::TwoChoiceShape;
use vesica_structures::ot_rows::COLUMNS;
use vesica_structures::polynomial::LANES;

use super::{Prty19, Variant};
use crate::psi::finish;
use crate::tags::{self, TagCoding};
use crate::tasks::IntersectRequest;

/// Items of the receiver for each bin of the rows where its polynomial is one. With `b` items in a
/// bin a further row is in their span with probability `2^(b - 128)`, which is `2^-128 e^32 <
/// 2^-81` on average.
const ITEMS_PER_BIN: usize = 32;

/// Most items of the receiver where its polynomial is one: two pairs of equal coordinates of 63
/// bits have probability `(n^2 / 2^64)^2 / 2`, 2^-45.
const MOST_LOW: usize = 1 << 21;

/// Most items of the receiver in bins.
const MOST_FAST: usize = 1 << 26;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The row's id, for the derivation of keys.
    pub id: &'static str,
    /// An OT for each column.
    pub transfers: OtParams,
    /// The layout of the polynomials.
    pub layout: Layout,
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

/// The layout of the polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One, of as many coefficients as the receiver has items, and one more on the items' second
    /// coordinate; rows come from so many bins.
    Low {
        /// Bins of the rows.
        bins: usize,
    },
    /// A polynomial for each bin.
    Fast(TwoChoiceShape),
}

impl Layout {
    /// The layout of `spot-low` for a number of items.
    pub const LOW: fn(usize) -> Self =
        |receiver_items| Self::Low { bins: receiver_items.div_ceil(ITEMS_PER_BIN).max(1) };
    /// The layout of `spot-fast` for a number of items.
    pub const FAST: fn(usize) -> Self = |receiver_items| Self::Fast(TwoChoiceShape::new(receiver_items));

    /// Bins that rows come from.
    pub fn bins(&self) -> usize {
        match self {
            Self::Low { bins } => *bins,
            Self::Fast(table) => table.bins,
        }
    }

    /// The number of places at which an item may be.
    pub fn choices(&self) -> usize {
        match self {
            Self::Low { .. } => 1,
            Self::Fast(_) => 2,
        }
    }

    /// The item and the choice of an evaluation: number `choices i + b` is of item `i` in its place
    /// `b`.
    pub(super) fn item_and_choice(&self, evaluation: u32) -> (usize, usize) {
        match self {
            Self::Low { .. } => (evaluation as usize, 0),
            Self::Fast(_) => (evaluation as usize / 2, evaluation as usize % 2),
        }
    }

    /// Words of arrow 2.
    fn words(&self, receiver_items: usize) -> usize {
        match self {
            Self::Low { .. } => LANES * (receiver_items + 1),
            Self::Fast(table) => LANES * table.bins * table.capacity,
        }
    }
}

impl Params {
    /// Parameters of row `V` for a request, refused where the mode or a size is not served.
    pub fn derive<V: Variant>(request: &IntersectRequest) -> Result<Self, Unsupported> {
        <Prty19<V>>::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let layout = (V::LAYOUT)(request.receiver_items);
        let most = if layout.choices() == 1 { MOST_LOW } else { MOST_FAST };
        if request.receiver_items > most {
            return Err(Unsupported::new(
                format_args!("{} items of the receiver in {}", request.receiver_items, V::ENTRY.id),
                format_args!("use at most {most}, or another protocol"),
            ));
        }
        if request.both_learn && layout.choices() > 1 {
            return Err(Unsupported::new(
                format_args!(
                    "{} for both to learn: which of two proofs came would tell the sender of the receiver's bins",
                    V::ENTRY.id
                ),
                "choose another protocol, spot-low or vole-fast",
            ));
        }
        let evaluations = layout.choices() * request.sender_items;
        // Half of the budget, FailureEvent::ZeroDifference, is as the whole of it for twice as many.
        let width = bitwise_and_width(2 * evaluations)?;
        if width > COLUMNS {
            return Err(Unsupported::new(
                format_args!(
                    "{} items of the sender in {}, which take rows of {width} bits",
                    request.sender_items,
                    V::ENTRY.id
                ),
                format_args!("use fewer, for rows of {COLUMNS} bits, or another protocol"),
            ));
        }
        let tag_bits = tags::tag_bits(evaluations, request.receiver_items);
        Ok(Self {
            id: V::ENTRY.id,
            transfers: OtExtension::derive(&CorrelationRequest {
                len: COLUMNS,
                security: Security::SemiHonest,
                width: None,
            })?,
            layout,
            finish: finish::Params::new(request, tag_bits, TagCoding::SortedCoded)
                .with_tags_per_item(layout.choices())?,
        })
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 spot-light 2026 parameters");
        let finish = &self.finish;
        hasher.update(self.id.as_bytes()).update(&[0, u8::from(finish.both_learn)]);
        for size in [
            finish.sender_items,
            finish.receiver_items,
            self.layout.bins(),
            finish.tag_bits as usize,
            finish.payload_bytes,
        ] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt, the OTs, 448 bits a coefficient, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let base = OtExtension::predicted_bytes(&self.transfers);
        let finish = self.finish.predicted_bytes();
        let fixed = 32 + 8 * self.layout.words(self.finish.receiver_items) as u64;
        fixed + base.start() + finish.start()..=fixed + base.end() + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SpotFast, SpotLow};
    use super::*;

    /// Rows have 448 bits, which Figure 6 has for 2^26 evaluations: with half of the budget they
    /// serve half as many.
    #[test]
    fn more_items_than_rows_are_wide_enough_for_are_refused() {
        let serves = |derive: fn(&IntersectRequest) -> Result<Params, Unsupported>, sender_items| {
            let security = Security::SemiHonest;
            derive(&IntersectRequest {
                sender_items,
                receiver_items: 100,
                security,
                payload_bytes: 0,
                both_learn: false,
            })
            .is_ok()
        };
        assert!(serves(Params::derive::<SpotLow>, 1 << 25) && !serves(Params::derive::<SpotLow>, (1 << 25) + 1));
        assert!(serves(Params::derive::<SpotFast>, 1 << 24) && !serves(Params::derive::<SpotFast>, (1 << 24) + 1));
    }
}
