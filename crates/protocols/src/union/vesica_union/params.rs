//! All numbers of a run, and the bounds that they follow from. docs/parameters/union.md has them in
//! one table.

use std::ops::RangeInclusive;

use vesica_mpc::opprf;
use vesica_mpc::permute_share::bits::{self, BitNetwork};
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::tasks::{CorrelationRequest, PermuteBitsRequest};
use vesica_party::Protocol;
use vesica_structures::facts::{Unsupported, ceil_log2};
use vesica_structures::packing::packed_len;

use crate::circuit_psi::{self, Matching};
use crate::tasks::UnionRequest;
use crate::union::circuit::{self, Circuit, left_bits};
use crate::union::oprf;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`, `n_r`, the width of a record, and how many runs share the failure budget.
    pub request: UnionRequest,
    /// `t`, the zeros behind a record: noise at a common item ends in them, so that the receiver takes
    /// it for a record, with a quarter of what is left.
    pub tag_bits: u32,
    /// The building blocks; none where a set is empty.
    pub(super) parts: Option<Parts>,
}

/// The parameters of the building blocks.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Its value at a new item is the receiver's with half of what is left, and its table cannot be
    /// encoded with a quarter of it.
    pub(super) oprf: oprf::Params,
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
        request.check_sizes_of_runs()?;
        let &UnionRequest { sender_items, receiver_items, security, runs, .. } = request;
        let left = left_bits(sender_items, runs)?;
        let mut params = Self { request: *request, tag_bits: left + 2 + ceil_log2(sender_items), parts: None };
        if sender_items == 0 || receiver_items == 0 {
            return Ok(params);
        }
        let circuit = circuit::derive(sender_items, receiver_items, runs)?;
        params.parts = Some(Parts {
            oprf: oprf::Params::derive(sender_items, receiver_items, left + 2, left + 1)?,
            permutation: <BitNetwork>::derive(&PermuteBitsRequest { len: circuit.bins, kept: sender_items, security })?,
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
    use crate::union::circuit::STEEP_BITS;
    use vesica_mpc::inner_product::params::DISTANCE;
    use vesica_mpc::oprf::value_bits;
    use vesica_party::Security;
    use vesica_structures::facts::{FailureEvent, LAMBDA};
    use vesica_structures::hashing::{cuckoo_bins, hall_bound};

    fn derive(sender_items: usize, receiver_items: usize, runs: usize) -> Params {
        let security = Security::SemiHonest;
        let request =
            UnionRequest { sender_items, receiver_items, security, record_bytes: 16, both_learn: false, runs };
        Params::derive(&request).unwrap()
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
            let params = derive(n_s, n_r, 1);
            let Parts { oprf: keyed, circuit, .. } = params.parts.as_ref().unwrap();
            let (evaluations, places) = (3 * n_r, n_s as f64);
            let oprf = evaluations as f64 * power(value_bits(Security::SemiHonest, evaluations));
            let is_steep = cuckoo_bins(n_s, STEEP_BITS).is_ok_and(|bins| bins == circuit.bins);
            let table = power(if is_steep { STEEP_BITS } else { FailureEvent::HashTable.bits() });
            let stores = power(FailureEvent::Encoding.bits());
            let further = power(keyed.encoding_bits) + places * (power(keyed.value_bits) + power(params.tag_bits));
            let sum = oprf + circuit.bins as f64 * power(circuit.sigma) + table + stores + further;
            assert!(sum <= power(LAMBDA), "{n_s} x {n_r}: 2^{}", sum.log2());
            let left = if is_steep { FailureEvent::HashTable.bits() } else { DISTANCE };
            assert!(keyed.encoding_bits == left + 2);
            for (bits, share) in [(keyed.value_bits, left + 1), (params.tag_bits, left + 2)] {
                assert!(
                    places * power(bits) <= power(share) && places * power(bits - 1) > power(share) / 1.01,
                    "{n_s}"
                );
            }
        }
    }

    /// The same of all runs together, where the overflows of buckets have the share of hash tables.
    #[test]
    fn several_runs_share_one_failure_budget() {
        let power = |bits: u32| f64::exp2(-f64::from(bits));
        for (items, runs) in [(1 << 10, 2), (1 << 14, 64), (70_000, 1 << 10), (1 << 18, 1 << 11)] {
            let params = derive(items, items, runs);
            let Parts { oprf: keyed, circuit, .. } = params.parts.as_ref().unwrap();
            let (all, places) = (runs as f64, items as f64);
            let evaluations = 3 * items * runs;
            let inner = evaluations as f64 * power(value_bits(Security::SemiHonest, evaluations));
            let tables = all * f64::exp2(hall_bound(items, circuit.bins));
            let compared = all * circuit.bins as f64 * power(circuit.sigma);
            let stores = power(FailureEvent::Encoding.bits());
            let further = power(keyed.encoding_bits) + places * (power(keyed.value_bits) + power(params.tag_bits));
            let overflows = power(FailureEvent::HashTable.bits());
            let sum = inner + tables + compared + stores + all * further + overflows;
            assert!(sum <= power(LAMBDA), "{items} x {runs}: 2^{}", sum.log2());
            assert!(all * further <= power(DISTANCE) && all * further > power(DISTANCE + 2), "{items} x {runs}");
        }
    }

    #[test]
    fn a_million_items_send_less_than_half_of_what_the_paper_does() {
        let params = derive(1 << 20, 1 << 20, 1);
        let oprf = &params.parts.as_ref().unwrap().oprf;
        assert_eq!((oprf.encoding_bits, oprf.value_bits, params.tag_bits), (45, 64, 65));
        let bytes = params.predicted_bytes();
        assert!(*bytes.end() <= 122_000_000, "{bytes:?}");
    }
}
