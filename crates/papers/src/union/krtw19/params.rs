//! All numbers of the test, and the bounds that they follow from.

use vesica_mpc::code_oprf::{self, Kkrt16};
use vesica_mpc::tasks::BatchPrfRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::max_load;
use vesica_structures::packing::packed_len;

use vesica_protocols::bins::fewest_bins;

/// Items of the larger set that fall into one bin at most, a power of two. The paper's table 2 has
/// 60 to 69.
const CAPACITY: usize = 64;

/// Coefficients that travel at a time, about.
const COEFFICIENTS_PER_PIECE: usize = 1 << 17;

/// Values of arrow 3 that travel at a time: whole bytes, however wide they are.
pub(super) const VALUES_PER_PIECE: usize = 1 << 14;

/// `-log2` of the probability that a bin overflows on one side: there are two.
const OVERFLOW_BITS: u32 = FailureEvent::HashTable.bits() + 1;

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Debug)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `beta`.
    pub bins: usize,
    /// Places of the sender in a bin.
    pub places_per_bin: usize,
    /// Coefficients of a polynomial: the receiver's items in a bin, up to a power of two.
    pub coefficients: usize,
    /// Width of a value of arrow 3: at one of the places two that should differ are equal within the
    /// share of [`FailureEvent::TagCollision`].
    pub digest_bits: u32,
    /// The OPRF of the membership test: the receiver has the keys.
    pub(super) membership: code_oprf::Params,
    /// The OPRF of the equality test: the sender has the keys.
    pub(super) equality: code_oprf::Params,
}

impl Params {
    /// Parameters for sets of these sizes.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub(super) fn derive(sender_items: usize, receiver_items: usize) -> Result<Self, Unsupported> {
        let larger = sender_items.max(receiver_items);
        let bins = fewest_bins(larger, CAPACITY.min(larger.next_power_of_two()), OVERFLOW_BITS);
        let load = |items| max_load(items, 1, bins, OVERFLOW_BITS);
        let (places_per_bin, coefficients) = (load(sender_items), load(receiver_items).next_power_of_two());
        let places = bins * places_per_bin;
        let tested = places_per_bin * receiver_items;
        let oprf = |evaluations| {
            Kkrt16::derive(&BatchPrfRequest {
                instances: places,
                key_bits: u128::BITS,
                evaluations,
                evaluations_in_all: tested + places,
                blocks: 1,
                security: Security::SemiHonest,
            })
        };
        Ok(Self {
            sender_items,
            receiver_items,
            bins,
            places_per_bin,
            coefficients,
            digest_bits: FailureEvent::TagCollision.bits() + ceil_log2(places),
            membership: oprf(tested)?,
            equality: oprf(places)?,
        })
    }

    /// Places of the sender.
    pub fn places(&self) -> usize {
        self.bins * self.places_per_bin
    }

    /// Bins of which the polynomials travel at a time.
    pub(super) fn bins_per_piece(&self) -> usize {
        COEFFICIENTS_PER_PIECE.div_ceil(self.places_per_bin * self.coefficients)
    }

    /// Bytes of all messages of the test: the salt, the OPRFs, a polynomial and a value for each place.
    pub fn predicted_bytes(&self) -> u64 {
        let of_places = 16 * self.places() * self.coefficients + packed_len(self.places(), self.digest_bits);
        let oprfs = Kkrt16::predicted_bytes(&self.membership).end() + Kkrt16::predicted_bytes(&self.equality).end();
        32 + oprfs + of_places as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bin_overflows_and_no_value_is_equal_by_chance_beyond_the_budget() {
        for (n_s, n_r) in [(1, 1), (5, 3000), (1 << 10, 7), (1 << 14, 1 << 14), (1 << 20, 1 << 20), (1 << 16, 1 << 20)]
        {
            let params = Params::derive(n_s, n_r).unwrap();
            for (items, room) in [(n_s, params.places_per_bin), (n_r, params.coefficients)] {
                assert!(max_load(items, 1, params.bins, OVERFLOW_BITS) <= room && room <= CAPACITY, "{n_s} x {n_r}");
            }
            let chance = params.places() as f64 * f64::exp2(-f64::from(params.digest_bits));
            assert!(chance <= f64::exp2(-f64::from(FailureEvent::TagCollision.bits())), "{n_s} x {n_r}");
        }
    }

    /// The paper's table 2 has 62,914 bins of 61 items, for a bound of 2^-40.
    #[test]
    fn a_million_items_have_bins_as_large_as_the_papers() {
        let params = Params::derive(1 << 20, 1 << 20).unwrap();
        assert_eq!((params.places_per_bin, params.coefficients), (64, 64));
        assert!((55_000..65_000).contains(&params.bins), "{}", params.bins);
    }
}
