//! All numbers of a run, and the bounds that they follow from. docs/parameters/union.md has them in
//! one table.

use std::ops::RangeInclusive;

use vesica_mpc::inner_product::params::DISTANCE;
use vesica_mpc::permute_share::bits::{self, BitNetwork};
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::tasks::{CorrelationRequest, PermuteBitsRequest};
use vesica_mpc::{opprf, peqt};
use vesica_party::Protocol;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::cuckoo_bins;
use vesica_structures::packing::packed_len;

use super::Circuit;
use super::messages::Oprf;
use crate::circuit_psi::{self, Matching, MatchingRequest};
use crate::tasks::UnionRequest;
use crate::union::oprf;

/// A bound on failures of a cuckoo table, as `-log2`, that is far below its share of the budget.
const STEEP_BITS: u32 = 64;

/// What three further events have for themselves, as `-log2` of their probability in all: circuit PSI
/// takes the whole budget but `2^-DISTANCE`, which is for inner products, of which there are none
/// here. Where as many bins as there are do for next to nothing of the cuckoo table's share, as they
/// do from 2^14 items on, the events have that instead.
fn left_bits(sender_items: usize, bins: usize) -> u32 {
    let is_steep = cuckoo_bins(sender_items, STEEP_BITS).is_ok_and(|needed| needed == bins);
    if is_steep { FailureEvent::HashTable.bits() } else { DISTANCE }
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`, `n_r`, and the width of a record.
    pub request: UnionRequest,
    /// `-log2` of the probability that the table of step 2 cannot be encoded.
    pub encoding_bits: u32,
    /// Width of `H_B` and of a cell of the table of step 2: `Decode(P, x) = H_B(x)` for a new item,
    /// so that the receiver can compute `F(x)`, with half of what is left.
    pub value_bits: u32,
    /// `t`, the zeros behind a record: noise at a common item ends in them, so that the receiver takes
    /// it for a record, with a quarter of what is left.
    pub tag_bits: u32,
    /// The building blocks; none where a set is empty.
    pub(super) parts: Option<Parts>,
}

/// The parameters of the building blocks.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) oprf: oprf::Params<Oprf>,
    pub(super) circuit: circuit_psi::Params<opprf::Params>,
    pub(super) permutation: bits::Params,
    pub(super) ots: <SilentOt as Protocol>::Params,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(request: &UnionRequest) -> Result<Self, Unsupported> {
        request.check_sizes()?;
        let &UnionRequest { sender_items, receiver_items, security, .. } = request;
        let left = left_bits(sender_items, cuckoo_bins(sender_items, FailureEvent::HashTable.bits())?);
        let (value_bits, tag_bits) = (left + 1 + ceil_log2(sender_items), left + 2 + ceil_log2(sender_items));
        let mut params = Self { request: *request, encoding_bits: left + 2, value_bits, tag_bits, parts: None };
        if sender_items == 0 || receiver_items == 0 {
            return Ok(params);
        }
        let circuit = Circuit::derive(&MatchingRequest {
            sender_items: receiver_items,
            receiver_items: sender_items,
            security,
            carried_bytes: 0,
            equality: peqt::Variant::Cubic,
        })?;
        params.parts = Some(Parts {
            oprf: oprf::Params::derive(
                receiver_items,
                params.encoding_bits,
                value_bits,
                [sender_items, receiver_items, request.record_bytes, value_bits as usize],
            )?,
            permutation: BitNetwork::derive(&PermuteBitsRequest { len: circuit.bins, kept: sender_items, security })?,
            circuit,
            ots: SilentOt::derive(&CorrelationRequest { len: sender_items, security, width: None })?,
        });
        Ok(params)
    }

    /// Bytes of all messages: the building blocks, a bit, a record and a tag for each
    /// place. Where the receiver has no items, the records.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let places = self.request.sender_items;
        let records = (places * self.request.record_bytes) as u64;
        let Some(Parts { oprf, circuit, permutation, ots }) = &self.parts else {
            return records..=records;
        };
        let circuit = Circuit::predicted_bytes(circuit);
        let fixed = oprf.predicted_bytes()
            + permutation.predicted_bytes()
            + SilentOt::predicted_bytes(ots).end()
            + (places.div_ceil(8) + packed_len(places, self.tag_bits)) as u64
            + records;
        fixed + circuit.start()..=fixed + circuit.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_mpc::oprf::value_bits;
    use vesica_party::Security;
    use vesica_structures::facts::LAMBDA;

    fn derive(sender_items: usize, receiver_items: usize) -> Params {
        let security = Security::SemiHonest;
        Params::derive(&UnionRequest { sender_items, receiver_items, security, record_bytes: 16 }).unwrap()
    }

    /// All events of a run are within the budget of 2^-40, and what a union has besides circuit PSI
    /// takes no bit more than its share needs.
    #[test]
    fn all_failures_are_within_the_budget() {
        let power = |bits: u32| f64::exp2(-f64::from(bits));
        for (n_s, n_r) in [
            (1, 1),
            (1 << 10, 7),
            ((1 << 14) - 1, 1 << 14),
            (1 << 14, 1 << 14),
            (1 << 20, 1 << 20),
            (1_234_567, 54_321),
            (1 << 22, 1 << 22),
        ] {
            let params = derive(n_s, n_r);
            let circuit = &params.parts.as_ref().unwrap().circuit;
            let (evaluations, places) = (3 * n_r, n_s as f64);
            let oprf = evaluations as f64 * power(value_bits(Security::SemiHonest, evaluations));
            let is_steep = cuckoo_bins(n_s, STEEP_BITS).is_ok_and(|bins| bins == circuit.bins);
            let table = power(if is_steep { STEEP_BITS } else { FailureEvent::HashTable.bits() });
            let stores = power(FailureEvent::Encoding.bits());
            let further = power(params.encoding_bits) + places * (power(params.value_bits) + power(params.tag_bits));
            let sum = oprf + circuit.bins as f64 * power(circuit.sigma) + table + stores + further;
            assert!(sum <= power(LAMBDA), "{n_s} x {n_r}: 2^{}", sum.log2());
            let left = if is_steep { FailureEvent::HashTable.bits() } else { DISTANCE };
            assert!(params.encoding_bits == left + 2);
            for (bits, share) in [(params.value_bits, left + 1), (params.tag_bits, left + 2)] {
                assert!(
                    places * power(bits) <= power(share) && places * power(bits - 1) > power(share) / 1.01,
                    "{n_s}"
                );
            }
        }
    }

    #[test]
    fn a_million_items_send_less_than_half_of_what_the_paper_does() {
        let params = derive(1 << 20, 1 << 20);
        assert_eq!((params.encoding_bits, params.value_bits, params.tag_bits), (45, 64, 65));
        let bytes = params.predicted_bytes();
        assert!(*bytes.end() <= 122_000_000, "{bytes:?}");
    }
}
