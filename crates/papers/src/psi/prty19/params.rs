//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_mpc::oprf;
use vesica_mpc::ot_extension::{OtExtension, OtParams};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Entry, Protocol, Security};
use vesica_structures::facts::{Unsupported, bitwise_and_width};
use vesica_structures::hashing::TwoChoiceShape;
use vesica_structures::okvs::Okvs;
use vesica_structures::ot_rows::COLUMNS;
use vesica_structures::polynomial::LANES;

use super::{Variant, table};
use vesica_protocols::psi::finish::{self, compare};
use vesica_protocols::psi::prty20::params::MALICIOUS_TAG_BITS;
use vesica_protocols::tags::{self, TagCoding};
use vesica_protocols::tasks::IntersectRequest;

/// Items of the receiver for each bin of the rows where its polynomial is one, or a table. With `b`
/// items in a bin a further row is in their span with probability `2^(b - 128)`, which is `2^-128
/// e^32 < 2^-81` on average.
const ITEMS_PER_BIN: usize = 32;

/// Most items of the receiver where its polynomial is one: two pairs of equal coordinates of 63
/// bits have probability `(n^2 / 2^64)^2 / 2`, 2^-45.
const MOST_LOW: usize = 1 << 21;

/// Most items of the receiver in bins, or in a table.
const MOST: usize = 1 << 26;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The row's id, for the derivation of keys.
    pub id: &'static str,
    /// Width of a row, in bits.
    pub width: u32,
    /// What `F` is: it gives the bits of a column from its key.
    pub oracle: Oracle,
    /// An OT for each column.
    pub transfers: OtParams,
    /// The layout of the polynomials.
    pub layout: Layout,
    /// Bytes of arrow 2.
    pub layout_bytes: u64,
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

/// What `F` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// As random as Theorem 1 asks, against parties that follow the protocol.
    Prf,
    /// A random oracle, as Theorem 2 asks, against a sender that does not.
    Random,
}

impl Oracle {
    /// The name of the choice.
    pub(super) const NAME: &'static str = "oracle";

    /// What was chosen; a row without the choice has what its paper's Theorem 1 asks.
    fn of(entry: &Entry) -> Self {
        if entry.chosen(Self::NAME) == "random" { Self::Random } else { Self::Prf }
    }
}

/// The layout of the polynomials, or what stands instead of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One, of as many coefficients as the receiver has items, and one more on the items' second
    /// coordinate; rows come from so many bins.
    Low {
        /// Bins of the rows.
        bins: usize,
    },
    /// No polynomial, but a table of an OKVS, of which a cell is a row; rows come from so many bins.
    Table {
        /// Bins of the rows.
        bins: usize,
    },
    /// A polynomial for each bin.
    Fast(TwoChoiceShape),
}

impl Layout {
    /// The layout of `spot-low` for a number of items.
    pub fn low(receiver_items: usize) -> Self {
        Self::Low { bins: bins_of_rows(receiver_items) }
    }

    /// The layout of `spot-low:okvs=clustered` for a number of items.
    pub fn table(receiver_items: usize) -> Self {
        Self::Table { bins: bins_of_rows(receiver_items) }
    }

    /// The layout of `spot-fast` for a number of items.
    pub fn fast(receiver_items: usize) -> Self {
        Self::Fast(TwoChoiceShape::new(receiver_items))
    }

    /// Bins that rows come from.
    pub fn bins(&self) -> usize {
        match self {
            Self::Low { bins } | Self::Table { bins } => *bins,
            Self::Fast(table) => table.bins,
        }
    }

    /// The number of places at which an item may be.
    pub fn choices(&self) -> usize {
        match self {
            Self::Low { .. } | Self::Table { .. } => 1,
            Self::Fast(_) => 2,
        }
    }

    /// The item and the choice of an evaluation: number `choices i + b` is of item `i` in its place
    /// `b`.
    pub(super) fn item_and_choice(&self, evaluation: u32) -> (usize, usize) {
        match self {
            Self::Low { .. } | Self::Table { .. } => (evaluation as usize, 0),
            Self::Fast(_) => (evaluation as usize / 2, evaluation as usize % 2),
        }
    }

    /// The most items of the receiver.
    fn most_items(&self) -> usize {
        match self {
            Self::Low { .. } => MOST_LOW,
            Self::Table { .. } | Self::Fast(_) => MOST,
        }
    }

    /// Bytes of arrow 2, with values of `width` bits.
    fn bytes(&self, receiver_items: usize, width: u32) -> Result<u64, Unsupported> {
        let of_values = |values: usize| (size_of::<u64>() * LANES * values) as u64;
        Ok(match self {
            Self::Low { .. } => of_values(receiver_items + 1),
            // The table's shape does not depend on its seed.
            Self::Table { .. } => oprf::table::predicted_bytes(&table::store(receiver_items, 0)?.parts(), width),
            Self::Fast(table) => of_values(table.bins * table.capacity),
        })
    }
}

/// Bins of the rows where these are not in bins anyway.
fn bins_of_rows(receiver_items: usize) -> usize {
    receiver_items.div_ceil(ITEMS_PER_BIN).max(1)
}

impl Params {
    /// Parameters of row `V`, or of the variant that `entry` describes, for a request; refused where the mode or a size is not served.
    pub fn derive<V: Variant>(request: &IntersectRequest, entry: &'static Entry) -> Result<Self, Unsupported> {
        entry.require(request.security)?;
        request.check_sizes()?;
        let layout = V::layout(entry, request.receiver_items);
        let most = layout.most_items();
        if request.receiver_items > most {
            return Err(Unsupported::new(
                format_args!("{} items of the receiver in {}", request.receiver_items, entry.id),
                format_args!("use at most {most}, or another protocol"),
            ));
        }
        if request.both_learn && layout.choices() > 1 {
            return Err(Unsupported::new(
                format_args!(
                    "{} for both to learn: which of two proofs came would tell the sender of the receiver's bins",
                    entry.id
                ),
                "choose another protocol, spot-low or vole-fast, or let only the receiver learn",
            ));
        }
        let evaluations = layout.choices() * request.sender_items;
        // Half of the budget, FailureEvent::ZeroDifference, is as the whole of it for twice as many.
        let width = bitwise_and_width(2 * evaluations)?;
        if width > COLUMNS {
            return Err(Unsupported::new(
                format_args!(
                    "{} items of the sender in {}, which take rows of {width} bits",
                    request.sender_items, entry.id
                ),
                format_args!("use fewer, for rows of {COLUMNS} bits, or another protocol"),
            ));
        }
        // Slices of polynomials have 64 bits.
        let width = if let Layout::Table { .. } = layout { width } else { COLUMNS };
        let (oracle, filter) = (Oracle::of(entry), compare::filter(entry));
        if oracle == Oracle::Random && filter.is_some() {
            return Err(Unsupported::new(
                format_args!("{}: a sender that cheats may put more items into a filter than it has tags", entry.id),
                "choose compare=list, or omit oracle=random against a sender that follows the protocol",
            ));
        }
        // Against a sender that cheats, tags tell which items it has, and the receiver of the OTs may be corrupt.
        let (tag_bits, security) = match oracle {
            Oracle::Prf => (tags::tag_bits(evaluations, request.receiver_items), Security::SemiHonest),
            Oracle::Random => (MALICIOUS_TAG_BITS, Security::Malicious),
        };
        let correlation = CorrelationRequest { len: width, security, width: None };
        Ok(Self {
            id: entry.id,
            width: width as u32,
            oracle,
            transfers: OtExtension::derive(&correlation)?,
            layout,
            layout_bytes: layout.bytes(request.receiver_items, width as u32)?,
            finish: finish::Params::new(request, tag_bits, TagCoding::SortedCoded)
                .with_tags_per_item(layout.choices())?
                .with_filter(filter)?,
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
        if let Layout::Table { .. } = self.layout {
            hasher.update(&u64::from(self.width).to_le_bytes()).update(&self.layout_bytes.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt, the OTs, 448 bits a coefficient or a row a cell, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let base = OtExtension::predicted_bytes(&self.transfers);
        let finish = self.finish.predicted_bytes();
        let fixed = 32 + self.layout_bytes;
        fixed + base.start() + finish.start()..=fixed + base.end() + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use vesica_structures::facts::FailureEvent;
    use vesica_structures::okvs::Clustered;

    use vesica_party::Row;

    use super::super::{Prty19, SpotFast, SpotLow};
    use super::*;

    fn derive<V: Variant>(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        params(&Row::<Prty19<V>>::new(), sender_items, receiver_items)
    }

    fn derive_table(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        params(Row::<Prty19<SpotLow>>::chosen("okvs=clustered").expect("a variant"), sender_items, receiver_items)
    }

    fn params<V: Variant>(
        row: &Row<Prty19<V>>,
        sender_items: usize,
        receiver_items: usize,
    ) -> Result<Params, Unsupported> {
        let security = Security::SemiHonest;
        row.params(&IntersectRequest {
            sender_items,
            receiver_items,
            security,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        })
    }

    /// Rows have 448 bits, which Figure 6 has for 2^26 evaluations: with half of the budget they
    /// serve half as many.
    #[test]
    fn more_items_than_rows_are_wide_enough_for_are_refused() {
        let serves =
            |derive: fn(usize, usize) -> Result<Params, Unsupported>, sender_items| derive(sender_items, 100).is_ok();
        assert!(serves(derive::<SpotLow>, 1 << 25) && !serves(derive::<SpotLow>, (1 << 25) + 1));
        assert!(serves(derive_table, 1 << 25) && !serves(derive_table, (1 << 25) + 1));
        assert!(serves(derive::<SpotFast>, 1 << 24) && !serves(derive::<SpotFast>, (1 << 24) + 1));
    }

    /// The table of docs/parameters/spot-light.md: a row of as many bits as its bound asks for, for each cell.
    #[test]
    fn a_table_has_a_row_for_each_cell() {
        for (items, cells, width, kilobytes) in [
            (1 << 10, 1294, 418, 68),
            (1 << 16, 80_672, 430, 4336),
            (1 << 20, 1_290_471, 438, 70_653),
            (1 << 21, 2_580_950, 440, 141_952),
        ] {
            let params = derive_table(items, items).expect("served");
            assert_eq!(params.width, width, "{items} items");
            assert_eq!(Clustered::table_len(items, FailureEvent::Encoding.bits()), Ok(cells), "{items} items");
            // Pieces of the table are filled up to whole bytes.
            assert!(params.layout_bytes.abs_diff(1000 * kilobytes) < 1000, "{items}: {} bytes", params.layout_bytes);
        }
        let polynomial = derive::<SpotLow>(1 << 20, 1 << 20).expect("served");
        assert_eq!((polynomial.width, polynomial.layout_bytes), (448, 56 * ((1 << 20) + 1)));
    }

    /// There are no coordinates that could be equal: the limit is the table's own.
    #[test]
    fn a_table_serves_more_items_than_a_polynomial() {
        assert!(derive::<SpotLow>(1, (1 << 21) + 1).is_err() && derive_table(1, 1 << 26).is_ok());
        let refusal = derive_table(1, (1 << 26) + 1).expect_err("refused");
        assert!(refusal.what.contains("spot-low:okvs=clustered"), "{refusal}");
    }
}
