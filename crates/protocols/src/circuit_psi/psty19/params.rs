//! All numbers of a run of the OPPRF.

use vesica_mpc::code_oprf::{self, FAILURE_BITS, Kkrt16};
use vesica_mpc::tasks::BatchPrfRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported};

use crate::bins::fewest_bins;
use crate::circuit_psi::OpprfSizes;
use crate::circuit_psi::params::{one_run, unit};

/// Points of a polynomial at most, a power of two. Twice as many take half as long again, and save
/// an eighth of the hint.
pub const CAPACITY: usize = 512;

/// The share of two keys that the OPRF of a bin does not tell apart.
pub(super) const FAILURE: u128 = unit(FAILURE_BITS);

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) oprf: code_oprf::Params,
    /// Bins.
    pub bins: usize,
    /// Keys of the sender.
    pub sender_keys: usize,
    /// Width of a value.
    pub output_bits: u32,
    /// Blocks of 128 bits of a value.
    pub blocks: usize,
    /// Polynomials.
    pub mega_bins: usize,
    /// Points of each.
    pub capacity: usize,
}

impl Params {
    pub(super) fn derive(sizes: &OpprfSizes) -> Result<Self, Unsupported> {
        let &OpprfSizes { sender_keys, bins, output_bits, runs, .. } = sizes;
        one_run(runs)?;
        let blocks = output_bits.div_ceil(128) as usize;
        let oprf = Kkrt16::derive(&BatchPrfRequest {
            instances: bins,
            key_bits: u128::BITS,
            evaluations: sender_keys,
            evaluations_in_all: sender_keys,
            blocks,
            security: Security::SemiHonest,
        })?;
        let capacity = CAPACITY.min(sender_keys.next_power_of_two());
        Ok(Self { oprf, bins, sender_keys, output_bits, blocks, mega_bins: mega_bins(sender_keys, capacity), capacity })
    }

    /// The mega-bin of a key.
    pub(super) fn mega_bin(&self, key: u128) -> usize {
        ((u128::from((key >> 64) as u64) * self.mega_bins as u128) >> 64) as usize
    }

    /// Coefficients that a mega-bin sends.
    pub(super) fn coefficients(&self) -> usize {
        self.capacity * self.blocks
    }

    /// Bytes of all messages.
    pub(super) fn predicted_bytes(&self) -> u64 {
        Kkrt16::predicted_bytes(&self.oprf).end() + (16 * self.mega_bins * self.coefficients()) as u64
    }
}

/// The least number of mega-bins such that one of them is hit by more than `capacity` of the keys
/// with a probability within the share of [`FailureEvent::Encoding`].
fn mega_bins(keys: usize, capacity: usize) -> usize {
    fewest_bins(keys, capacity, FailureEvent::Encoding.bits())
}

#[cfg(test)]
mod tests {
    use vesica_structures::hashing::max_load;

    use super::*;

    #[test]
    fn mega_bins_are_as_few_as_the_bound_allows() {
        for keys in [1, 2, 3, 511, 512, 513, 600, 5000, 3 << 14, 3 << 20] {
            let (capacity, bits) = (CAPACITY.min(usize::next_power_of_two(keys)), FailureEvent::Encoding.bits());
            let count = mega_bins(keys, capacity);
            assert!(max_load(keys, 1, count, bits) <= capacity, "{keys}");
            assert!(count == 1 || max_load(keys, 1, count - 1, bits) > capacity, "{keys}");
        }
        // 69 % full.
        assert!((9000..9500).contains(&mega_bins(3 << 20, CAPACITY)), "{}", mega_bins(3 << 20, CAPACITY));
    }
}
