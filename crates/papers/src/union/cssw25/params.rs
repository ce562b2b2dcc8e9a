//! All numbers of the membership test, and the bounds that they follow from. docs/parameters/union.md
//! has them in one table.

use std::ops::RangeInclusive;

use vesica_mpc::peqt;
use vesica_mpc::tasks::{PermuteBitsRequest, PermuteShareBits};
use vesica_mpc::{opprf, permute_share};
use vesica_party::{Entry, Registered, Row, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::okvs;

use super::{CIRCUIT_PSI, COMBINE, SHUFFLE, oprf};
use vesica_protocols::circuit_psi::{self, Exchangeable, Matching};
use vesica_protocols::union::circuit::{self, Circuit, left_bits};

/// The parameters that both sides derive from the sizes.
pub struct Params {
    /// It fails with what circuit PSI leaves of the budget.
    pub(super) oprf: oprf::Params,
    pub(super) circuit: circuit_psi::Params<opprf::Params>,
    /// Permute and share of a bit for each bin.
    pub(super) shuffle: &'static dyn Registered<PermuteShareBits>,
    /// What is asked of it.
    pub(super) permuted: PermuteBitsRequest,
    shuffle_bytes: RangeInclusive<u64>,
    /// Whether shares go through the shuffle themselves, instead of random bits in the set-up.
    pub(super) is_direct: bool,
}

impl Params {
    /// Parameters for sets of these sizes, for the row or variant that is described.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(sender_items: usize, receiver_items: usize, entry: &Entry) -> Result<Self, Unsupported> {
        let circuit = circuit::derive_with(sender_items, receiver_items, 1, circuit_psi(entry))?;
        let permuted = PermuteBitsRequest { len: circuit.bins, kept: circuit.bins, security: Security::SemiHonest };
        let shuffle = shuffle(entry);
        Ok(Self {
            oprf: oprf::Params::derive(sender_items, receiver_items, left_bits(sender_items, 1)?, entry)?,
            shuffle,
            shuffle_bytes: shuffle.predicted_bytes(&permuted)?,
            permuted,
            circuit,
            is_direct: entry.chosen(COMBINE.name) == "direct",
        })
    }

    /// Bytes of all messages of the test: the building blocks, a bit for each place, and one for each bin where shares
    /// are translated.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let Self { oprf, circuit, shuffle_bytes: shuffle, is_direct, .. } = self;
        let bits = if *is_direct { 1 } else { 2 } * circuit.bins.div_ceil(8) as u64;
        let (oprf, circuit) = (oprf.predicted_bytes(), Circuit::predicted_bytes(circuit));
        bits + oprf.start() + circuit.start() + shuffle.start()..=bits + oprf.end() + circuit.end() + shuffle.end()
    }
}

/// Equality tests and OKVS of circuit PSI, as a row or variant has them.
fn circuit_psi(entry: &Entry) -> Exchangeable {
    match entry.chosen(CIRCUIT_PSI.name) {
        "rr22" => Exchangeable::new(peqt::Variant::AndTree).on(okvs::Kind::Clustered),
        _ => circuit::EXCHANGEABLE,
    }
}

/// Permute and share as a row or variant has it: its sender is the union's receiver.
fn shuffle(entry: &Entry) -> &'static dyn Registered<PermuteShareBits> {
    use permute_share::bits::circuit::SwitchCircuit;
    use permute_share::bits::opv::PuncturedVectors;
    use permute_share::bits::prf::WeakPrf;
    use permute_share::bits::{Benes, BitNetwork};

    match entry.chosen(SHUFFLE.name) {
        "benes" => const { &Row::<BitNetwork<Benes>>::new() },
        "opv" => const { &Row::<PuncturedVectors>::new() },
        "circuit" => const { &Row::<SwitchCircuit>::new() },
        "circuit-benes" => const { &Row::<SwitchCircuit<Benes>>::new() },
        "prf" => const { &Row::<WeakPrf>::new() },
        _ => const { &Row::<BitNetwork>::new() },
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
            let oprf::Params::Vole(oprf) = <Cssw25 as MembershipTest>::derive(n_s, n_r).unwrap().oprf else {
                panic!("the row's OPRF is from VOLE");
            };
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
