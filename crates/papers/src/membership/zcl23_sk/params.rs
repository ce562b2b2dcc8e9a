//! All numbers of the test, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_mpc::lowmc;
use vesica_mpc::oprf::table;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::fields::{Cell, Gf128};
use vesica_structures::okvs::{Band, Okvs};

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `w`: one of the sender's new items is taken for a common one with probability at most
    /// `2^-ZeroDifference`.
    pub indicator_bits: u32,
    /// Bytes of arrow 3.
    pub table_bytes: u64,
    /// Step 5.
    pub(super) matching: lowmc::Params,
}

/// The rows of a store are as wide as for this many items, if there are fewer: a new item with the
/// row of one of the receiver's decodes to that one's ciphertext, and counts as common. A row has 107
/// random bits or more, so that this happens with probability `n_s n_r 2^-107`, below `2^-74` for sets
/// that have such narrow rows.
const ROWS_FOR: usize = 64;

/// The store of this many items of the receiver.
pub(super) fn store(receiver_items: usize, seed: u128) -> Result<Band, Unsupported> {
    Band::new(receiver_items.max(ROWS_FOR), FailureEvent::Encoding.bits(), seed)
}

impl Params {
    /// Parameters for sets of these sizes.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(sender_items: usize, receiver_items: usize) -> Result<Self, Unsupported> {
        let indicator_bits = FailureEvent::ZeroDifference.bits() + ceil_log2(sender_items);
        if indicator_bits > lowmc::MAX_INDICATOR_BITS {
            return Err(Unsupported::new(
                format_args!("a test of {sender_items} items against an encrypted indicator"),
                "use at most 2^23 items of the sender, or another protocol",
            ));
        }
        let store = store(receiver_items, 0)?;
        Ok(Self {
            sender_items,
            receiver_items,
            indicator_bits,
            table_bytes: table::predicted_bytes(&store.parts(), Gf128::BITS),
            matching: lowmc::Params::new(sender_items, indicator_bits)?,
        })
    }

    /// Bytes of all messages of the test: the salt, the table, step 5.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let (matching, sent) = (self.matching.predicted_bytes(), 32 + self.table_bytes);
        sent + matching.start()..=sent + matching.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_bit_is_within_its_budget_and_one_bit_less_is_not() {
        for n_s in [1, 2, 1000, 1 << 20, 1 << 23] {
            let w = Params::derive(n_s, 1).unwrap().indicator_bits;
            let chance = |w: u32| n_s as f64 * f64::exp2(-f64::from(w));
            let budget = f64::exp2(-f64::from(FailureEvent::ZeroDifference.bits()));
            assert!(chance(w) <= budget && chance(w - 1) > budget, "{n_s}: {w}");
        }
    }

    /// The items of a small set have one row each, as wide as the table.
    #[test]
    fn a_new_item_has_the_row_of_another_within_far_less_than_the_budget() {
        for n_r in [1, 5, 64, 65, 400] {
            let columns = Params::derive(1 << 23, n_r).unwrap().table_bytes as f64 / 16.0;
            assert!(f64::exp2(23.0 - columns) * n_r as f64 <= f64::exp2(-74.0), "{n_r}: {columns}");
        }
    }

    #[test]
    fn a_million_items_send_what_the_circuit_does_and_too_many_are_refused() {
        let params = Params::derive(1 << 20, 1 << 20).unwrap();
        assert_eq!((params.indicator_bits, params.matching.ands()), (61, 1202));
        let megabytes = *params.predicted_bytes().end() as f64 / 1e6;
        assert!((800.0..900.0).contains(&megabytes), "{megabytes}");
        assert!(Params::derive((1 << 23) + 1, 1).is_err());
    }
}
