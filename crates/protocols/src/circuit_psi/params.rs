//! All numbers of a run, and the bounds that they follow from.

use std::ops::RangeInclusive;

use vesica_mpc::{inner_product, peqt};
use vesica_party::Security;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::cuckoo_bins;

use super::{BinOpprf, Exchangeable, MatchingRequest, OpprfSizes};

pub use crate::bins::POSITIONS;

/// What both sides derive from the sizes; `P` is what the parts in which papers differ have of
/// their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<P> {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `m`: 1.24 `n_r`, more below 2^13 items.
    pub bins: usize,
    /// Width of the `r_i`, the papers' `log2 m + lambda`: see [`sigma`].
    pub sigma: u32,
    /// Bytes that go to the receiver for each item beside `r_i`.
    pub carried_bytes: usize,
    /// The paper's part, and step 8; `None` where a set is empty: then nothing is sent and nothing
    /// matches.
    pub parts: Option<(P, peqt::Params)>,
}

/// The probability `2^-bits`, in units of `2^-128`.
pub const fn unit(bits: u32) -> u128 {
    1 << (128 - bits)
}

/// Tables of several runs do not exist with probability at most `2^-RUNS_TABLE_BITS`, all together. There the
/// buckets that the runs are for take the share of [`FailureEvent::HashTable`], so that the tables take theirs
/// from the `r_i`.
const RUNS_TABLE_BITS: u32 = FailureEvent::HashTable.bits();

/// The least width of the `r_i` for which, in all bins together, two that should differ are equal
/// with a probability within the budget: the share of [`FailureEvent::TagCollision`], and what the
/// OPRF's own `failure` leaves of the share of [`FailureEvent::ZeroDifference`], without what inner
/// products may show.
pub fn sigma(bins: usize, failure: u128) -> u32 {
    least_width(bins, allowed(failure))
}

fn allowed(failure: u128) -> u128 {
    let left = unit(FailureEvent::ZeroDifference.bits()).saturating_sub(failure);
    unit(FailureEvent::TagCollision.bits()) + left - unit(inner_product::params::DISTANCE)
}

/// For matchings whose failure bounds are derived for one run: refuses several.
pub fn one_run(runs: usize) -> Result<(), Unsupported> {
    match runs {
        1 => Ok(()),
        _ => Err(Unsupported::new(
            format_args!(
                "{runs} runs, one for each bucket, of a protocol whose failure bounds are derived for one run"
            ),
            "name another protocol, or omit --buckets",
        )),
    }
}

/// The least width of random values such that `events` of them hit what they should not with
/// probability at most `allowed`, in units of `2^-128`.
pub fn least_width(events: usize, allowed: u128) -> u32 {
    (1..128)
        .find(|&width| (events as u128).checked_mul(unit(width)).is_some_and(|probability| probability <= allowed))
        .unwrap_or(128)
}

/// Refuses malicious parties: cuckoo hashing on one side lets a cheating receiver learn from where
/// its items do not fit.
pub fn check_semi_honest(security: Security) -> Result<(), Unsupported> {
    if security == Security::SemiHonest {
        return Ok(());
    }
    Err(Unsupported::new(
        "computing on the intersection against malicious parties",
        "allow --security semi-honest, if both parties are trusted to follow the protocol",
    ))
}

/// The width in bits of `bits` with so many bytes behind them.
pub fn bits_with(bits: u32, bytes: usize) -> Result<u32, Unsupported> {
    let carried = u32::try_from(8 * bytes as u64).ok();
    let sum = carried.and_then(|carried| carried.checked_add(bits));
    sum.ok_or_else(|| Unsupported::new(format_args!("a payload of {bytes} bytes"), "send fewer columns"))
}

impl<P> Params<P> {
    /// Parameters of a matching on the OPPRF `O`. Each of the request's runs has an equal part of every share of the
    /// failure budget, by a union bound over the runs.
    ///
    /// # Errors
    /// Against malicious parties, and for sizes beyond the bounds of the parts.
    pub fn derive<O: BinOpprf<Params = P>>(request: &MatchingRequest) -> Result<Self, Unsupported> {
        let &MatchingRequest { sender_items, receiver_items, security, carried_bytes, exchangeable, runs } = request;
        let Exchangeable { equality, ots, okvs, .. } = exchangeable;
        check_semi_honest(security)?;
        let sender_keys = POSITIONS * sender_items;
        let (table_bits, taken) = match runs {
            1 => (FailureEvent::HashTable.bits(), 0),
            _ => (RUNS_TABLE_BITS + ceil_log2(runs), unit(RUNS_TABLE_BITS)),
        };
        let bins = cuckoo_bins(receiver_items, table_bits).map_err(|refused| match runs {
            1 => refused,
            _ => Unsupported::new(refused.what, "say fewer --buckets: such small ones take too large tables"),
        })?;
        let failure = O::failure(sender_keys.saturating_mul(runs));
        let sigma = least_width(bins.saturating_mul(runs), allowed(failure) - taken);
        let mut params = Self { sender_items, receiver_items, bins, sigma, carried_bytes, parts: None };
        if sender_items > 0 && receiver_items > 0 {
            let output_bits = bits_with(sigma, carried_bytes)?;
            let sizes = OpprfSizes { receiver_keys: receiver_items, sender_keys, bins, output_bits, okvs, runs };
            let opprf = O::derive(&sizes)?;
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
    use vesica_mpc::opprf;
    use vesica_mpc::oprf::value_bits;

    use super::*;
    use vesica_structures::hashing::hall_bound;

    use crate::circuit_psi::vole::NarrowOpprf;

    fn derive(sender_items: usize, receiver_items: usize, runs: usize) -> Result<Params<opprf::Params>, Unsupported> {
        let (security, exchangeable) = (Security::SemiHonest, Exchangeable::new(peqt::Variant::Cubic));
        Params::derive::<NarrowOpprf>(&MatchingRequest {
            sender_items,
            receiver_items,
            security,
            carried_bytes: 0,
            exchangeable,
            runs,
        })
    }

    #[test]
    fn widths_are_within_the_budget_and_one_bit_less_is_not() {
        let budget = f64::exp2(-41.0) + f64::exp2(-42.0) - f64::exp2(-46.0);
        for (n_s, n_r) in [(1, 1), (1 << 10, 1 << 12), (1 << 20, 1 << 20), (1_234_567, 7_654_321), (1 << 22, 1 << 25)] {
            let params = derive(n_s, n_r, 1).unwrap();
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

    /// The bad events of all runs together are within the budget of one: tables, stores, equal values and zero
    /// differences. Overflows of buckets have the share of the hash tables.
    #[test]
    fn several_runs_share_one_failure_budget() {
        for (items, runs) in [(1 << 10, 2), (1 << 14, 64), (70_000, 1 << 10), (1 << 20, 1 << 11)] {
            let params = derive(items, items, runs).unwrap();
            let all = runs as f64;
            let (bins, keys) = (all * params.bins as f64, all * 3.0 * items as f64);
            let tables = all * f64::exp2(hall_bound(items, params.bins));
            let differences = keys * f64::exp2(-f64::from(value_bits(Security::SemiHonest, 3 * items * runs)));
            let equal = |sigma: u32| bins * f64::exp2(-f64::from(sigma));
            let budget = f64::exp2(-41.0) + f64::exp2(-42.0);
            assert!(tables <= f64::exp2(-43.0), "{items} {runs}: {}", tables.log2());
            assert!(equal(params.sigma) + differences + f64::exp2(-43.0) + f64::exp2(-46.0) <= budget);
            assert!(equal(params.sigma - 1) + differences + f64::exp2(-43.0) + f64::exp2(-46.0) > budget);
        }
        // A billion items on either side.
        assert_eq!(derive(1 << 20, 1 << 20, 1 << 10).unwrap().sigma, 73);
    }

    #[test]
    fn a_million_items_take_sixty_two_bits_and_four_million_are_served() {
        let derive = |log: u32| derive(1 << log, 1 << log, 1).unwrap();
        assert_eq!((derive(20).sigma, derive(22).sigma), (62, 64));
        let bytes = *derive(20).predicted_bytes(opprf::Params::predicted_bytes).end();
        assert!(bytes < 80_000_000, "{bytes}");
    }
}
