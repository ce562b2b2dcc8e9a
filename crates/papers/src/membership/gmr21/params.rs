//! All numbers of the test, and the bounds that they follow from.

use vesica_mpc::inner_product::params::DISTANCE;
use vesica_mpc::oprf::value_bits;
use vesica_mpc::permute_share::SwitchingNetwork;
use vesica_mpc::silent::{self, SilentVole};
use vesica_mpc::tasks::{CorrelationRequest, OpprfRequest, PermuteShareRequest};
use vesica_mpc::{opprf, permute_share};
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::fields::{Cell, Gf64};
use vesica_structures::hashing::cuckoo_bins;
use vesica_structures::packing::packed_len;

use super::Programmable;
use vesica_protocols::bins::POSITIONS;
use vesica_protocols::circuit_psi::params::{sigma, unit};

/// Digests that travel at a time: whole bytes, however wide they are.
pub(super) const DIGESTS_PER_PIECE: usize = 1 << 14;

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `m`: 1.24 `n_s`, more below 2^13 items.
    pub bins: usize,
    /// Width of `s_j` and `t_j`: in some bin they are equal by chance within the budget that
    /// [`sigma`] counts.
    pub sigma: u32,
    /// Width of a digest of arrow 6. Two that should differ are equal in some bin with a
    /// probability of at most `2^-DISTANCE`: what `sigma` leaves to inner products, which are not
    /// used here.
    pub digest_bits: u32,
    pub(super) opprf: opprf::Params,
    pub(super) permutation: permute_share::Params<Gf64>,
    pub(super) vole: silent::params::Params,
}

impl Params {
    /// Parameters for sets of these sizes.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(sender_items: usize, receiver_items: usize) -> Result<Self, Unsupported> {
        let security = Security::SemiHonest;
        let bins = cuckoo_bins(sender_items, FailureEvent::HashTable.bits())?;
        let programmed = POSITIONS * receiver_items;
        let sigma = sigma(bins, (programmed as u128).saturating_mul(unit(value_bits(security, programmed))));
        if sigma > Gf64::BITS {
            return Err(Unsupported::new(
                format_args!("permuting values of {sigma} bits, as these sizes take"),
                "use at most 2^22 items a side, or another protocol",
            ));
        }
        let opprf = OpprfRequest {
            receiver_keys: sender_items,
            sender_keys: programmed,
            output_bits: sigma,
            security,
            wide: false,
            runs: 1,
        };
        let permutation = PermuteShareRequest { len: bins, bits: sigma, security };
        let vole = CorrelationRequest { len: bins, security, width: Some(sigma) };
        Ok(Self {
            sender_items,
            receiver_items,
            bins,
            sigma,
            digest_bits: DISTANCE + ceil_log2(bins),
            opprf: Programmable::derive(&opprf)?,
            permutation: SwitchingNetwork::<Gf64>::derive(&permutation)?,
            vole: SilentVole::<Gf64>::derive(&vole)?,
        })
    }

    /// Bytes of all messages of the test: the salt, the building blocks, the digests.
    pub fn predicted_bytes(&self) -> u64 {
        let digests = packed_len(self.bins, self.digest_bits) as u64;
        32 + self.opprf.predicted_bytes()
            + self.permutation.predicted_bytes()
            + SilentVole::<Gf64>::predicted_bytes(&self.vole).end()
            + digests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_false_match_is_within_the_budget_and_one_bit_less_is_not() {
        let budget = f64::exp2(-41.0) + f64::exp2(-42.0);
        for (n_s, n_r) in [(1, 1), (1 << 10, 1 << 12), (1 << 20, 1 << 20), (1_234_567, 54_321), (1 << 22, 1 << 20)] {
            let params = Params::derive(n_s, n_r).unwrap();
            let programmed = 3.0 * n_r as f64 * f64::exp2(-f64::from(value_bits(Security::SemiHonest, 3 * n_r)));
            let chance = |sigma: u32, digest_bits: u32| {
                params.bins as f64 * (f64::exp2(-f64::from(sigma)) + f64::exp2(-f64::from(digest_bits))) + programmed
            };
            assert!(chance(params.sigma, params.digest_bits) <= budget, "{n_s} x {n_r}: {params:?}");
            assert!(
                chance(params.sigma - 1, params.digest_bits) > budget - f64::exp2(-46.0),
                "{n_s} x {n_r}: {params:?}"
            );
        }
    }

    #[test]
    fn a_million_items_send_what_the_parts_do_and_too_many_are_refused() {
        let params = Params::derive(1 << 20, 1 << 20).unwrap();
        assert_eq!((params.bins, params.sigma, params.digest_bits), (1_300_235, 62, 67));
        let megabytes = params.predicted_bytes() as f64 / 1e6;
        assert!((250.0..262.0).contains(&megabytes), "{megabytes}");
        assert!(Params::derive(1 << 24, 1).is_err());
    }
}
