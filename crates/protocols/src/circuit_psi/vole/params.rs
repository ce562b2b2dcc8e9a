//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_mpc::opprf::Opprf;
use vesica_mpc::oprf::value_bits;
use vesica_mpc::tasks::OpprfRequest;
use vesica_mpc::{inner_product, opprf, peqt};
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::fields::{Cell, Gf128};
use vesica_structures::hashing::cuckoo_bins;

use super::Variant;

/// Positions of an item, the paper's `k`.
pub(super) const POSITIONS: usize = 3;

/// What both sides derive from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `m`: 1.30 `n_r`, more below 2^14 items.
    pub bins: usize,
    /// Width of the `r_i`, the paper's `log2 m + lambda`: see [`sigma`].
    pub sigma: u32,
    /// Bytes that the hint carries for each item beside `r_i`.
    pub carried_bytes: usize,
    /// Steps 1, 4, 6 and 7 of the figure; `None` where a set is empty: then nothing is sent and nothing matches.
    pub(super) opprf: Option<opprf::Params>,
    /// Step 8.
    pub(super) peqt: Option<peqt::Params>,
}

/// The least width of the `r_i` for which, in all bins together, two that should differ are equal with a probability within the budget: the share of
/// [`FailureEvent::MaskCollision`], and what `evaluations` of the OPRF with values of `value_bits` bits leave of the share of
/// [`FailureEvent::ZeroDifference`], without what inner products may show.
pub fn sigma(bins: usize, evaluations: usize, value_bits: u32) -> u32 {
    // Probabilities in units of 2^-128.
    let unit = |bits: u32| 1u128 << (128 - bits);
    let left = unit(FailureEvent::ZeroDifference.bits()).saturating_sub((evaluations as u128).saturating_mul(unit(value_bits)));
    let allowed = unit(FailureEvent::MaskCollision.bits()) + left - unit(inner_product::params::DISTANCE);
    (1..128).find(|&sigma| (bins as u128).checked_mul(unit(sigma)).is_some_and(|probability| probability <= allowed)).unwrap_or(128)
}

impl Params {
    /// Parameters of row `V` for sets of these sizes.
    ///
    /// # Errors
    /// Against malicious parties (cuckoo hashing on one side lets a cheating receiver learn from where its items do not fit), and for sizes beyond the bounds of the parts.
    pub fn derive<V: Variant>(
        sender_items: usize,
        receiver_items: usize,
        security: Security,
        carried_bytes: usize,
    ) -> Result<Self, Unsupported> {
        if security != Security::SemiHonest {
            return Err(Unsupported::new(
                "computing on the intersection against malicious parties",
                "allow --security semi-honest, if both parties are trusted to follow the protocol",
            ));
        }
        let bins = cuckoo_bins(receiver_items, FailureEvent::HashTable.bits())?;
        let value_bits = if V::WIDE { Gf128::BITS } else { value_bits(security, POSITIONS * sender_items) };
        let sigma = sigma(bins, POSITIONS * sender_items, value_bits);
        let mut params = Self { sender_items, receiver_items, bins, sigma, carried_bytes, opprf: None, peqt: None };
        if sender_items == 0 || receiver_items == 0 {
            return Ok(params);
        }
        let sender_keys = POSITIONS * sender_items;
        let output_bits = u32::try_from(8 * carried_bytes as u64).ok().and_then(|bits| bits.checked_add(sigma));
        let output_bits =
            output_bits.ok_or_else(|| Unsupported::new(format_args!("a payload of {carried_bytes} bytes"), "send fewer columns"))?;
        let request = OpprfRequest { receiver_keys: receiver_items, sender_keys, output_bits, security, wide: V::WIDE };
        params.opprf = Some(Opprf::<V::Okvs>::derive(&request)?);
        params.peqt = Some(peqt::Params::with(bins, sigma, V::EQUALITY)?);
        Ok(params)
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.opprf.is_none()
    }

    /// Bytes of all messages: the salt, the OPPRF and the equality tests.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let (Some(opprf), Some(peqt)) = (&self.opprf, &self.peqt) else { return 0..=0 };
        let (fixed, tests) = (32 + opprf.predicted_bytes(), peqt.predicted_bytes());
        fixed + tests.start()..=fixed + tests.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit_psi::vole::VesicaCircuit;

    #[test]
    fn widths_are_within_the_budget_and_one_bit_less_is_not() {
        let budget = f64::exp2(-41.0) + f64::exp2(-42.0) - f64::exp2(-46.0);
        for (n_s, n_r) in [(1, 1), (1 << 10, 1 << 12), (1 << 20, 1 << 20), (1_234_567, 7_654_321), (1 << 22, 1 << 22)] {
            let params = Params::derive::<VesicaCircuit>(n_s, n_r, Security::SemiHonest, 0);
            let Ok(params) = params else {
                assert!(n_r > 1 << 22);
                continue;
            };
            let value_bits = value_bits(Security::SemiHonest, 3 * n_s);
            let probability =
                |sigma: u32| params.bins as f64 * f64::exp2(-f64::from(sigma)) + 3.0 * n_s as f64 * f64::exp2(-f64::from(value_bits));
            assert!(probability(params.sigma) <= budget && probability(params.sigma - 1) > budget, "{n_s} x {n_r}: {}", params.sigma);
        }
    }

    #[test]
    fn a_million_items_take_sixty_two_bits_and_four_million_are_served() {
        let derive = |log: u32| Params::derive::<VesicaCircuit>(1 << log, 1 << log, Security::SemiHonest, 0).unwrap();
        assert_eq!((derive(20).sigma, derive(22).sigma), (62, 64));
        let bytes = *derive(20).predicted_bytes().end();
        assert!(bytes < 80_000_000, "{bytes}");
    }
}
