//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_mpc::opprf;
use vesica_mpc::permute_share::{self, SwitchingNetwork};
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::tasks::{CorrelationRequest, PermuteShareRequest};
use vesica_party::Protocol;
use vesica_structures::facts::{Unsupported, ceil_log2};
use vesica_structures::fields::{Cell, Gf128};
use vesica_structures::packing::packed_len;

use vesica_protocols::circuit_psi::{self, Matching};
use vesica_protocols::tasks::UnionRequest;
use vesica_protocols::union::circuit::{self, Circuit, left_bits};

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`, `n_r`, and the width of a record.
    pub request: UnionRequest,
    /// `b`: 1.24 `n_s`, more below 2^13 items.
    pub bins: usize,
    /// `t`, the zeros behind a record: noise at one of the `b` places ends in them, so that the receiver
    /// takes it for a record, with all that circuit PSI leaves of the budget.
    pub tag_bits: u32,
    /// The building blocks; none where a set is empty.
    pub(super) parts: Option<Parts>,
}

/// The parameters of the building blocks.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) circuit: circuit_psi::Params<opprf::Params>,
    pub(super) ots: <SilentOt as Protocol>::Params,
    pub(super) permutation: permute_share::Params<Gf128>,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(request: &UnionRequest) -> Result<Self, Unsupported> {
        request.check_sizes()?;
        let &UnionRequest { sender_items, receiver_items, security, .. } = request;
        let circuit = circuit::derive(sender_items, receiver_items, 1)?;
        let bins = circuit.bins;
        let tag_bits = left_bits(sender_items, 1)? + ceil_log2(bins);
        let mut params = Self { request: *request, bins, tag_bits, parts: None };
        if sender_items > 0 && receiver_items > 0 {
            params.parts = Some(Parts {
                circuit,
                ots: SilentOt::derive(&CorrelationRequest { len: bins, security, width: None })?,
                permutation: SwitchingNetwork::<Gf128>::derive(&PermuteShareRequest {
                    len: bins,
                    bits: Gf128::BITS,
                    security,
                })?,
            });
        }
        Ok(params)
    }

    /// Bytes of all messages: the building blocks, and a bit, a record and a tag for each bin. Where
    /// the receiver has no items, the records.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let Self { request, bins, tag_bits, .. } = *self;
        let Some(Parts { circuit, ots, permutation }) = &self.parts else {
            let records = (request.sender_items * request.record_bytes) as u64;
            return records..=records;
        };
        let circuit = Circuit::predicted_bytes(circuit);
        let strings = bins.div_ceil(8) + bins * request.record_bytes + packed_len(bins, tag_bits);
        let fixed = SilentOt::predicted_bytes(ots).end() + permutation.predicted_bytes() + strings as u64;
        fixed + circuit.start()..=fixed + circuit.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_mpc::oprf::value_bits;
    use vesica_party::Security;
    use vesica_structures::facts::{FailureEvent, LAMBDA};
    use vesica_structures::hashing::hall_bound;

    fn derive(sender_items: usize, receiver_items: usize) -> Params {
        let security = Security::SemiHonest;
        let request =
            UnionRequest { sender_items, receiver_items, security, record_bytes: 16, both_learn: false, runs: 1 };
        Params::derive(&request).unwrap()
    }

    /// All events of a run are within the budget of 2^-40, and a tag one bit shorter would be beyond
    /// what is left.
    #[test]
    fn all_failures_are_within_the_budget() {
        let power = |bits: u32| f64::exp2(-f64::from(bits));
        for (n_s, n_r) in
            [(1, 1), (5, 1 << 12), (1 << 10, 7), (1 << 14, 1 << 14), (1 << 20, 54_321), (1 << 22, 1 << 22)]
        {
            let params = derive(n_s, n_r);
            let evaluations = 3 * n_r;
            let oprf = evaluations as f64 * power(value_bits(Security::SemiHonest, evaluations));
            let tests = params.bins as f64 * power(params.parts.as_ref().unwrap().circuit.sigma);
            let cuckoo = if n_s > 3 { hall_bound(n_s, params.bins).exp2() } else { 0.0 };
            let stores = power(FailureEvent::Encoding.bits());
            let noise = |tag_bits| params.bins as f64 * power(tag_bits);
            let sum = oprf + tests + cuckoo + stores + noise(params.tag_bits);
            assert!(sum <= power(LAMBDA), "{n_s} x {n_r}: 2^{}", sum.log2());
            let left = power(left_bits(n_s, 1).unwrap());
            assert!(noise(params.tag_bits) <= left && noise(params.tag_bits - 1) > left, "{n_s} x {n_r}");
        }
    }

    #[test]
    fn a_million_items_send_a_quarter_of_what_the_paper_does() {
        let params = derive(1 << 20, 1 << 20);
        assert_eq!((params.bins, params.tag_bits), (1_300_235, 64));
        let megabytes = *params.predicted_bytes().end() as f64 / 1e6;
        assert!((500.0..610.0).contains(&megabytes), "{megabytes}");
    }
}
