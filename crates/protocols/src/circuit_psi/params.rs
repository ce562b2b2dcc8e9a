//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_mpc::{inner_product, peqt};
use vesica_party::Security;
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::cuckoo_bins;

use super::{BinOpprf, MatchingRequest, OpprfSizes};

pub(super) use crate::bins::POSITIONS;

/// What both sides derive from the sizes; `P` is what the parts in which papers differ have of
/// their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<P> {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `m`: 1.30 `n_r`, more below 2^14 items.
    pub bins: usize,
    /// Width of the `r_i`, the papers' `log2 m + lambda`: see [`sigma`].
    pub sigma: u32,
    /// Bytes that go to the receiver for each item beside `r_i`.
    pub carried_bytes: usize,
    /// The paper's part, and step 8; `None` where a set is empty: then nothing is sent and nothing
    /// matches.
    pub(super) parts: Option<(P, peqt::Params)>,
}

/// The probability `2^-bits`, in units of `2^-128`.
pub(crate) const fn unit(bits: u32) -> u128 {
    1 << (128 - bits)
}

/// The least width of the `r_i` for which, in all bins together, two that should differ are equal
/// with a probability within the budget: the share of [`FailureEvent::TagCollision`], and what the
/// OPRF's own `failure` leaves of the share of [`FailureEvent::ZeroDifference`], without what inner
/// products may show.
pub fn sigma(bins: usize, failure: u128) -> u32 {
    let left = unit(FailureEvent::ZeroDifference.bits()).saturating_sub(failure);
    let allowed = unit(FailureEvent::TagCollision.bits()) + left - unit(inner_product::params::DISTANCE);
    least_width(bins, allowed)
}

/// The least width of random values such that `events` of them hit what they should not with
/// probability at most `allowed`, in units of `2^-128`.
pub(super) fn least_width(events: usize, allowed: u128) -> u32 {
    (1..128)
        .find(|&width| (events as u128).checked_mul(unit(width)).is_some_and(|probability| probability <= allowed))
        .unwrap_or(128)
}

/// Refuses malicious parties: cuckoo hashing on one side lets a cheating receiver learn from where
/// its items do not fit.
pub(super) fn check_semi_honest(security: Security) -> Result<(), Unsupported> {
    if security == Security::SemiHonest {
        return Ok(());
    }
    Err(Unsupported::new(
        "computing on the intersection against malicious parties",
        "allow --security semi-honest, if both parties are trusted to follow the protocol",
    ))
}

/// The width in bits of `bits` with so many bytes behind them.
pub(super) fn bits_with(bits: u32, bytes: usize) -> Result<u32, Unsupported> {
    let carried = u32::try_from(8 * bytes as u64).ok();
    let sum = carried.and_then(|carried| carried.checked_add(bits));
    sum.ok_or_else(|| Unsupported::new(format_args!("a payload of {bytes} bytes"), "send fewer columns"))
}

impl<P> Params<P> {
    /// Parameters of a matching on the OPPRF `O`.
    ///
    /// # Errors
    /// Against malicious parties, and for sizes beyond the bounds of the parts.
    pub fn derive<O: BinOpprf<Params = P>>(request: &MatchingRequest) -> Result<Self, Unsupported> {
        let &MatchingRequest { sender_items, receiver_items, security, carried_bytes, equality, ots } = request;
        check_semi_honest(security)?;
        let bins = cuckoo_bins(receiver_items, FailureEvent::HashTable.bits())?;
        let sender_keys = POSITIONS * sender_items;
        let sigma = sigma(bins, O::failure(sender_keys));
        let mut params = Self { sender_items, receiver_items, bins, sigma, carried_bytes, parts: None };
        if sender_items > 0 && receiver_items > 0 {
            let output_bits = bits_with(sigma, carried_bytes)?;
            let opprf = O::derive(&OpprfSizes { receiver_keys: receiver_items, sender_keys, bins, output_bits })?;
            params.parts = Some((opprf, peqt::Params::with(bins, sigma, equality)?.with_tables_from(ots)?));
        }
        Ok(params)
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.parts.is_none()
    }

    /// Bytes of all messages: the salt, the equality tests, and what `of_part` says of the rest.
    pub fn predicted_bytes(&self, of_part: impl FnOnce(&P) -> u64) -> RangeInclusive<u64> {
        let Some((part, peqt)) = &self.parts else { return 0..=0 };
        let (fixed, tests) = (32 + of_part(part), peqt.predicted_bytes());
        fixed + tests.start()..=fixed + tests.end()
    }
}

#[cfg(test)]
mod tests {
    use vesica_mpc::oprf::value_bits;
    use vesica_mpc::{OtSource, opprf};

    use super::*;
    use crate::circuit_psi::vole::BandOpprf;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Params<opprf::Params>, Unsupported> {
        let (security, equality) = (Security::SemiHonest, peqt::Variant::Cubic);
        Params::derive::<BandOpprf>(&MatchingRequest {
            sender_items,
            receiver_items,
            security,
            carried_bytes: 0,
            equality,
            ots: OtSource::Silent,
        })
    }

    #[test]
    fn widths_are_within_the_budget_and_one_bit_less_is_not() {
        let budget = f64::exp2(-41.0) + f64::exp2(-42.0) - f64::exp2(-46.0);
        for (n_s, n_r) in [(1, 1), (1 << 10, 1 << 12), (1 << 20, 1 << 20), (1_234_567, 7_654_321), (1 << 22, 1 << 22)] {
            let Ok(params) = derive(n_s, n_r) else {
                assert!(n_r > 1 << 22);
                continue;
            };
            let value_bits = value_bits(Security::SemiHonest, 3 * n_s);
            let probability = |sigma: u32| {
                params.bins as f64 * f64::exp2(-f64::from(sigma)) + 3.0 * n_s as f64 * f64::exp2(-f64::from(value_bits))
            };
            assert!(
                probability(params.sigma) <= budget && probability(params.sigma - 1) > budget,
                "{n_s} x {n_r}: {}",
                params.sigma
            );
        }
    }

    #[test]
    fn a_million_items_take_sixty_two_bits_and_four_million_are_served() {
        let derive = |log: u32| derive(1 << log, 1 << log).unwrap();
        assert_eq!((derive(20).sigma, derive(22).sigma), (62, 64));
        let bytes = *derive(20).predicted_bytes(opprf::Params::predicted_bytes).end();
        assert!(bytes < 80_000_000, "{bytes}");
    }
}
