//! All numbers of a run.

use vesica_mpc::code_oprf::{self, FAILURE_BITS, Kkrt16};
use vesica_mpc::opprf::params::block_widths;
use vesica_mpc::oprf::table;
use vesica_mpc::peqt;
use vesica_mpc::tasks::BatchPrfRequest;
use vesica_party::Protocol;
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::cuckoo_bins;

use super::quads;
use vesica_protocols::circuit_psi::params::{
    POSITIONS, Params, bits_with, check_semi_honest, least_width, one_run, unit,
};
use vesica_protocols::circuit_psi::{Exchangeable, MatchingRequest};

/// The parts in which this protocol differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Step 4.
    pub(super) first: code_oprf::Params,
    /// Step 8.
    pub(super) second: code_oprf::Params,
    /// Width of the `r_i` and `w_ib`.
    pub target_bits: u32,
    /// Width of a cell of the hint.
    pub hint_bits: u32,
    /// Cells of the hint.
    pub cells: usize,
    /// Width of a cell of a table of four.
    pub quad_bits: u32,
}

/// Parameters for a request. `sigma` is the width of the `s_i`.
pub(super) fn derive(request: &MatchingRequest) -> Result<Params<Parts>, Unsupported> {
    let &MatchingRequest { sender_items, receiver_items, security, carried_bytes, exchangeable, runs } = request;
    let Exchangeable { equality, ots, .. } = exchangeable;
    one_run(runs)?;
    check_semi_honest(security)?;
    let bins = cuckoo_bins(receiver_items, FailureEvent::HashTable.bits())?;
    // In a bin with no common item s'_i is random.
    let sigma = least_width(bins, unit(FailureEvent::ZeroDifference.bits()) - unit(FAILURE_BITS));
    if sigma > u64::BITS {
        return Err(Unsupported::new(
            format_args!("{receiver_items} items in {bins} bins, whose values have more than 64 bits"),
            "use a smaller set, or name another protocol",
        ));
    }
    let mut params = Params { sender_items, receiver_items, bins, sigma, carried_bytes, parts: None };
    if sender_items == 0 || receiver_items == 0 {
        return Ok(params);
    }
    let (pairs, candidates) = (POSITIONS * sender_items, POSITIONS * bins);
    // Any two of the three candidates of a bin may be equal, or one that should not the target.
    let target_bits = least_width(2 * candidates, unit(FailureEvent::TagCollision.bits()));
    let (hint_bits, quad_bits) = (bits_with(target_bits, carried_bytes)?, bits_with(sigma, carried_bytes)?);
    let oprf = |evaluations: usize, blocks: usize| {
        Kkrt16::derive(&BatchPrfRequest {
            instances: bins,
            key_bits: u128::BITS,
            evaluations,
            evaluations_in_all: pairs + candidates,
            blocks,
            security,
        })
    };
    let parts = Parts {
        first: oprf(pairs, block_widths(hint_bits).count())?,
        second: oprf(candidates, block_widths(quad_bits).count() + quads::PLACE_BLOCKS)?,
        target_bits,
        hint_bits,
        cells: cuckoo_bins(pairs, FailureEvent::Encoding.bits())?,
        quad_bits,
    };
    params.parts = Some((parts, peqt::Params::with(bins, sigma, equality)?.with_tables_from(ots)?));
    Ok(params)
}

impl Parts {
    /// Bytes of all messages of steps 4 to 9.
    pub(super) fn predicted_bytes(&self, bins: usize) -> u64 {
        let oprfs = [&self.first, &self.second].map(|oprf| *Kkrt16::predicted_bytes(oprf).end());
        let cells = 0..self.cells;
        let hint: u64 =
            block_widths(self.hint_bits).map(|width| table::predicted_bytes(std::slice::from_ref(&cells), width)).sum();
        oprfs.iter().sum::<u64>() + hint + quads::bytes(bins, self.quad_bits)
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;

    use super::*;

    #[test]
    fn four_million_items_are_served_and_widths_are_within_the_budget() {
        for log in [0, 10, 20, 22] {
            let request = MatchingRequest {
                sender_items: 1 << log,
                receiver_items: 1 << log,
                security: Security::SemiHonest,
                carried_bytes: 0,
                exchangeable: Exchangeable::new(peqt::Variant::Leaves),
                runs: 1,
            };
            let params = derive(&request).unwrap();
            let parts = &params.parts.as_ref().unwrap().0;
            let probability = |bins: f64, bits: u32| params.bins as f64 * bins * f64::exp2(-f64::from(bits));
            assert!(params.sigma <= 64);
            let sum = |less: u32| {
                probability(1.0, params.sigma - less) + probability(6.0, parts.target_bits - less) + f64::exp2(-43.0)
            };
            assert!(
                sum(0) <= f64::exp2(-41.0) + f64::exp2(-42.0) && sum(1) > f64::exp2(-41.0) + f64::exp2(-42.0),
                "2^{log}"
            );
        }
    }
}
