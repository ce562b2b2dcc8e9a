//! All numbers of the membership test, and the bounds that they follow from. docs/parameters/union.md
//! has them in one table.

use std::ops::RangeInclusive;

use vesica_mpc::opprf;
use vesica_mpc::tasks::{PermuteBitsRequest, PermuteShareBits};
use vesica_party::{Registered, Security};
use vesica_structures::facts::Unsupported;

use vesica_protocols::circuit_psi::{self, Matching};
use vesica_protocols::union::circuit::{self, Circuit, left_bits};
use vesica_protocols::union::oprf;

/// The parameters that both sides derive from the sizes.
pub struct Params {
    /// Its value at a new item is the receiver's with half of what circuit PSI leaves of the budget,
    /// and its table cannot be encoded with the other half.
    pub(super) oprf: oprf::Params,
    pub(super) circuit: circuit_psi::Params<opprf::Params>,
    /// Share translation of a bit for each bin.
    pub(super) translation: &'static dyn Registered<PermuteShareBits>,
    /// What is asked of it.
    pub(super) permuted: PermuteBitsRequest,
    translation_bytes: RangeInclusive<u64>,
}

impl Params {
    /// Parameters for sets of these sizes.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(
        sender_items: usize,
        receiver_items: usize,
        translation: &'static dyn Registered<PermuteShareBits>,
    ) -> Result<Self, Unsupported> {
        let share = left_bits(sender_items, 1)? + 1;
        let circuit = circuit::derive(sender_items, receiver_items, 1)?;
        let permuted = PermuteBitsRequest { len: circuit.bins, kept: circuit.bins, security: Security::SemiHonest };
        Ok(Self {
            oprf: oprf::Params::derive(sender_items, receiver_items, share, share)?,
            translation,
            translation_bytes: translation.predicted_bytes(&permuted)?,
            permuted,
            circuit,
        })
    }

    /// Bytes of all messages of the test: the building blocks, and two bits for each bin.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let Self { oprf, circuit, translation_bytes: translation, .. } = self;
        let fixed = oprf.predicted_bytes() + 2 * circuit.bins.div_ceil(8) as u64;
        let circuit = Circuit::predicted_bytes(circuit);
        fixed + circuit.start() + translation.start()..=fixed + circuit.end() + translation.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_party::Protocol;

    use crate::union::cssw25::Cssw25;
    use vesica_protocols::membership::{Membership, MembershipTest};
    use vesica_protocols::tasks::{Union, UnionRequest};

    /// Circuit PSI's own share of the budget, and what is left of it, have a test in
    /// `vesica_union::params`.
    #[test]
    fn the_oprf_takes_what_circuit_psi_leaves_and_not_more() {
        for (n_s, n_r) in [(1, 1), (1 << 10, 7), (1 << 14, 1 << 14), (1 << 20, 1 << 20), (1_234_567, 54_321)] {
            let oprf = <Cssw25 as MembershipTest>::derive(n_s, n_r).unwrap().oprf;
            let power = |bits: u32| f64::exp2(-f64::from(bits));
            let left = power(left_bits(n_s, 1).unwrap());
            let failures = |value_bits| power(oprf.encoding_bits) + n_s as f64 * power(value_bits);
            assert!(failures(oprf.value_bits) <= left, "{n_s} x {n_r}");
            assert!(failures(oprf.value_bits - 1) > left / 1.01, "{n_s} x {n_r}");
        }
    }

    #[test]
    fn the_number_of_transfers_goes_by_the_senders_items_only() {
        for n_s in [1, 1000, 1 << 14] {
            let places = [1, 77, 1 << 16].map(|n_r| <Cssw25 as MembershipTest>::derive(n_s, n_r).unwrap().circuit.bins);
            assert!(places[0] > n_s && places == [places[0]; 3], "{n_s}: {places:?}");
        }
    }

    #[test]
    fn a_million_items_send_less_than_the_paper_does() {
        let n = 1 << 20;
        let security = Security::SemiHonest;
        let request =
            UnionRequest { sender_items: n, receiver_items: n, security, record_bytes: 16, both_learn: false, runs: 1 };
        let params = Membership::<Cssw25, Union>::derive(&request).unwrap();
        assert_eq!(params.transferred(), 1_300_235);
        let bytes = params.predicted_bytes();
        // Table 2 of the paper.
        assert!(*bytes.end() <= 252_190_000, "{bytes:?}");
    }
}
