//! All numbers of a run.

use std::ops::RangeInclusive;

use vesica_party::Protocol;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::rlwe::{BLOCK, Element, SUM_ELEMENTS, flood_bits};

use vesica_protocols::ecdh::exchange;
use vesica_protocols::tags;
use vesica_protocols::tasks::AggregateRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`, `n_r`, the columns, and one group.
    pub request: AggregateRequest,
    /// Width of a digest of arrow 4.
    pub digest_bits: u32,
    /// Width of the flood of arrow 6. What it does not drown takes the share of the zero
    /// difference, larger noise than allowed for that of encoding: neither event can happen here.
    pub flood_bits: u32,
}

impl Params {
    /// Parameters for a request, refused where the mode or an option is not served.
    pub fn derive(request: &AggregateRequest) -> Result<Self, Unsupported> {
        super::Ikn20::ENTRY.require(request.security)?;
        request.check_one_total()?;
        let AggregateRequest { sender_items, receiver_items, columns, .. } = *request;
        if columns == 0 {
            return Err(Unsupported::new("a sum of no columns", "ask for the task cardinality, or give values"));
        }
        let distance_bits = FailureEvent::ZeroDifference.bits() + ceil_log2(columns);
        let flood_bits = flood_bits(sender_items.min(receiver_items), distance_bits).ok_or_else(|| {
            Unsupported::new(
                format_args!(
                    "{columns} columns over {sender_items} and {receiver_items} items leave no room for noise in \
                     protocol ikn20"
                ),
                "sum fewer columns at a time, or choose another protocol, for example czz24-sum",
            )
        })?;
        Ok(Self { request: *request, digest_bits: tags::tag_bits(sender_items, receiver_items), flood_bits })
    }

    /// Whether there is nothing to compute; then only arrow 7 is sent.
    pub fn is_empty(&self) -> bool {
        self.request.sender_items.min(self.request.receiver_items) == 0
    }

    /// Blocks of a column.
    pub fn blocks(&self) -> usize {
        self.request.sender_items.div_ceil(BLOCK)
    }

    /// The number of a block, from 1; 0 is the encryption of zeros.
    pub fn block_number(&self, column: usize, block: usize) -> u64 {
        (1 + column * self.blocks() + block) as u64
    }

    /// `32 (n_s + n_r)` for the points, digests, then 16 a value, and the key's and the sums'
    /// polynomials.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let AggregateRequest { sender_items, receiver_items, columns, .. } = self.request;
        let results = (size_of::<u64>() * columns) as u64;
        if self.is_empty() {
            return results..=results;
        }
        let elements = BLOCK + columns * (sender_items + SUM_ELEMENTS);
        let others = exchange::predicted_bytes(sender_items, receiver_items)
            + (size_of::<Element>() * elements) as u64
            + results;
        let digests = tags::predicted_bytes(receiver_items, self.digest_bits);
        others + digests.start()..=others + digests.end()
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;

    use super::*;

    #[test]
    fn more_columns_than_the_modulus_has_room_for_are_refused() {
        let derive = |n, columns| {
            let security = Security::SemiHonest;
            Params::derive(&AggregateRequest {
                sender_items: n,
                receiver_items: n,
                security,
                columns,
                groups: 1,
                at_least: 0,
                noisy: false,
                runs: 1,
            })
        };
        assert_eq!(derive(1 << 20, 1).unwrap().flood_bits, 56);
        assert!(derive(1 << 20, 8).is_ok());
        assert!(derive(1 << 20, 9).unwrap_err().what.contains("9 columns"));
        assert!(derive(1 << 10, 64).is_ok());
        assert!(derive(1, 0).is_err());
    }
}
