//! What the descriptions of rows have in common.

use vesica_party::{Mode, Resistance, Security};

use crate::tasks::SIZES;

/// What both sides learn.
/// How tables of items deviate from the papers'.
pub(super) const BINS: &str = "1.30 n_r bins (more below 2^14 items) with three distinct positions an item, by a bound and not from evidence; sigma has a share of the failure budget.";

/// How circuits of AND gates do.
pub(super) const AND_TREES: &str =
    "Trees of ANDs whose random inputs come from 1-of-4 OTs of silent VOLE, in the place of GMW with multiplication triples.";

/// The one mode that there is.
pub(super) const fn mode(assumptions: &'static [&'static str]) -> Mode {
    Mode {
        security: Security::SemiHonest,
        corrupt_sender: Resistance::SemiHonest,
        corrupt_receiver: Resistance::SemiHonest,
        assumptions,
        leakage: &[SIZES],
    }
}

/// What OPRFs from OT extension and the tests rest on.
pub(super) const OT_MODES: &[Mode] = &[mode(&[
    "gap-CDH on Ristretto",
    "random oracles (SHA-512, BLAKE3)",
    "AES-128 as a PRF, and as a random permutation whose MMO hash is correlation robust for 15 multiples of one offset",
    "LPN over GF(2)^k with k = 1 to 4, with regular noise of uniform values for the expand-convolute code (weight by length), relative distance 0.11",
])];
