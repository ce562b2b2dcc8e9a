//! The parts of an oblivious PRF from VOLE and an OKVS (RS21, RR22) that several protocols share:
//! the width of the values, the local hashes, and the transfer of the table.
//!
//! `K = b + delta A` with `A = P + c` and `Decode(P, y) = H_B(y)` gives the sender `F(x) =
//! H(Decode(K, x) + delta H_B(x), x)` for every `x`, and the receiver `F(y) = H(Decode(a, y), y)`
//! for its own `y`. [`crate::opprf`] is built on it, and so is VOLE-PSI, part by part.

mod hash;
pub mod table;

use vesica_party::Security;
use vesica_structures::facts::{FailureEvent, ceil_log2};
use vesica_structures::fields::{Cell, Gf128};

pub use hash::{correct, outer_hash, values};

/// The field that the table's values lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueField {
    /// `GF(2^64)`.
    Gf64,
    /// `F = GF(2^128)`.
    Gf128,
}

/// Width of `B`, in bits, that is sound when the sender evaluates the OPRF `evaluations` times in
/// all: in the semi-honest mode the bad event is `Decode(P, x) = H_B(x)` for an item outside of the
/// receiver's set, of probability `1/|B|` an evaluation, so that `B` needs
/// [`FailureEvent::ZeroDifference`] + `log2(evaluations)` bits; in the malicious mode a receiver
/// may search for tables, and `B = F`. The rows of the OKVS, the code of the VOLE and the packing
/// are all linear over GF(2), so that a subspace of a field will do.
pub const fn value_bits(security: Security, evaluations: usize) -> u32 {
    match security {
        Security::SemiHonest => FailureEvent::ZeroDifference.bits() + ceil_log2(evaluations),
        Security::Malicious => Gf128::BITS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_values_follows_the_number_of_evaluations() {
        assert_eq!(value_bits(Security::SemiHonest, 1 << 20), 61);
        assert_eq!(value_bits(Security::SemiHonest, (1 << 20) + 1), 62);
        assert_eq!(value_bits(Security::Malicious, 1), 128);
    }
}
