//! The numbers of silent VOLE: noise weight, block length, and the length below which the direct
//! protocol sends less.
//!
//! **Linear tests.** The code has rate 1/2 or slightly less, `N >= 2 m`. A linear test of weight
//! `d` meets each noisy block in a share `d / N` on average; by concavity regular noise is hit at
//! least as often as noise of random places. For noise of value 1 a hit flips the test (bias `(1 -
//! 2 d / N)^t`); for uniform values in `B` or `F` it makes the test uniform (bias `(1 - d / N)^t`).
//! [`noise_weight`] makes the bias at most `2^-kappa`. Values uniform in a subspace of `B` over
//! GF(2) do as well: the code is binary, so that a test stays within it.
//!
//! **Distance.** [`DISTANCE`] = 0.11 is the Gilbert-Varshamov distance of rate 1/2. Nobody has
//! proven it for this code at our lengths; `code` says what it rests on. [`expander_weight`] keeps
//! the box words, the lightest known, above it; under regular noise such a word touches a share `f`
//! of the blocks only, each costing a whole bit: `f t >= kappa` holds as well (0.24 * 762 = 182).
//!
//! **Rank tests.** `c` is `l = width` binary vectors with common noisy places. A box that holds `k -
//! 1` rows more carries `k` independent words on one support of share `f`; the rank of their `k x
//! l` products tests all `2^k` sums of them at once, and drops with probability `2^(k - f t)`
//! (measured by an auditor on small codes). No more than `l` words are of use, so that boxes with
//! `24 floor(w / 2) + l` rows must have `f t >= kappa + l`, by a factor for lucky sets of groups
//! (`LUCK`, from the count in [`super::lucky`]).
//!
//! **Twin groups.** Two groups that draw the same line in every stratum have equal sums: a word of
//! weight 0. [`expander_weight`] keeps the expected number of such pairs below `2^-80`.
//!
//! (0.15, used for expand-convolute 7x24 elsewhere, is a heuristic pseudo-distance and not used
//! here.)
//!
//! **Information-set decoding.** Prange's algorithm on regular noise guesses `m` places without
//! noise; at rate 1/2 the best choice is half of each block, and one guess succeeds with `2^-t`:
//! 762 bits for VOLE, 358 for OT, before the cost of linear algebra. Values of few bits are zero at
//! times, which helps a guess: for uniform single bits (`ot-silent`) it succeeds with `(3/4)^t`,
//! 316 bits. Using the `l` slices of a value together, a guess may miss errors that a random
//! functional misses too: 2^-253 at `l` = 64 and 2^-189 at 128. Birthday and representation
//! refinements gain a constant factor of the exponent.
//!
//! **Algebraic attacks** (BO23). Blocks of length `beta` give `t C(beta, 2)` quadrics `e_i e_j = 0`
//! beside the parity checks; the Hilbert series is `(1 - z)^(N/2 - t) (1 + (beta - 1) z)^t`, whose
//! first non-positive coefficient is at degree `0.0858 t` for long blocks (65 for `t = 762`, 30 for
//! `t = 358`). A Macaulay matrix of degree 30 in at least `t beta / 2` unknowns is far beyond
//! `2^128`. Hybrid guessing gains some bits for short vectors (2^735 at `m` = 3048) and comes
//! nowhere near 2^128: docs/expander.md has the table.

use std::ops::Range;

use vesica_kernels::accumulate::WINDOW;
use vesica_kernels::gather::LINE;
use vesica_party::Security;
use vesica_structures::facts::KAPPA;

use crate::pprf::TreeShape;
use crate::tasks::CorrelationRequest;
use crate::{ot_extension, small_field_vole};

/// Relative minimum distance that the noise weight relies on.
pub const DISTANCE: f64 = 0.11;

/// The least share `f` of a box word, as a fraction: words of weight 0.16 of the average box. The
/// luckiest of all sets of groups weighs 0.75 of that or more (example `code_evidence`), which is
/// [`DISTANCE`] and a margin.
pub(super) const BOX_SHARE: (u128, u128) = (8, 25);

/// The region of the luckiest set of groups over that of the average box, in hundredths: 0.82 or
/// more where the rule for rank tests decides, by the count over all sets of groups in
/// [`super::lucky`], which a test holds against this.
pub(super) const LUCK: u128 = 80;

/// What the share of a box is rounded up to in [`expander_weight`].
const SHARE_UNIT: u128 = 64;

/// Twin groups are expected at most `2^-TWINS` times a code.
const TWINS: u32 = 80;

/// The least weight of the expander.
const MIN_WEIGHT: u32 = 8;

/// The greatest. What the shortest vectors take; the longest take 16.
const MAX_WEIGHT: u32 = 18;

/// A block of noise is at least this long; shorter vectors take the direct protocol.
pub(super) const MIN_BLOCK: usize = 8;

/// The values that the noise takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Always 1, as for OT.
    Binary,
    /// Uniform in a large field, as for VOLE.
    Uniform,
}

/// The least number of noisy places for which every linear test has a bias of at most `2^-kappa`,
/// at relative distance `distance`.
pub fn noise_weight(kappa: u32, distance: f64, noise: Noise) -> usize {
    let missed = match noise {
        Noise::Binary => 1.0 - 2.0 * distance,
        Noise::Uniform => 1.0 - distance,
    };
    (-f64::from(kappa) / missed.log2()).ceil() as usize
}

/// The share `f` of each stratum that holds one row more than there are conditions for a box word
/// (see `code`): `len f^weight = 24 floor(weight / 2)`. The word weighs about `f / 2` of all
/// positions.
pub fn box_share(len: usize, weight: usize) -> f64 {
    let conditions = WINDOW * (weight / 2);
    (conditions as f64 / len as f64).powf(1.0 / weight as f64).min(1.0)
}

/// Places that the expander reads for each of `len` outputs of `width` bits: the fewest for which
/// box words are heavy enough (`box_share` at least `BOX_SHARE`), rank tests see too many errors,
/// and there are no twin groups. In integers, since both sides must come to the same.
pub fn expander_weight(len: usize, width: u32) -> usize {
    let m = len as u128;
    let conditions = |weight: u32| u128::from(WINDOW as u32 * (weight / 2));
    let heavy = |weight: u32| {
        let (numerator, denominator) = BOX_SHARE;
        m * numerator.pow(weight) <= conditions(weight) * denominator.pow(weight)
    };
    let full_rank = |weight: u32| {
        let trees = noise_weight(KAPPA, DISTANCE, Noise::Uniform) as u128;
        let share = (100 * SHARE_UNIT * u128::from(KAPPA + width)).div_ceil(LUCK * trees);
        m * share.pow(weight) <= (conditions(weight) + u128::from(width)) * SHARE_UNIT.pow(weight)
    };
    let no_twins = |weight: u32| {
        let (groups, lines) = (m.div_ceil(LINE as u128), 2 * m / (LINE as u128 * u128::from(weight)));
        // A power that overflows is large enough.
        lines.checked_pow(weight).is_none_or(|choices| groups * groups <= choices >> (TWINS - 1))
    };
    let weights = MIN_WEIGHT..=MAX_WEIGHT;
    let fits = |&weight: &u32| heavy(weight) && full_rank(weight) && no_twins(weight);
    weights.clone().find(fits).unwrap_or(*weights.end()) as usize
}

/// What both sides agree on: which protocol serves the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Params {
    /// Trees and a code.
    Silent(SilentParams),
    /// Small-field VOLE alone.
    Direct(small_field_vole::Params),
}

impl Params {
    /// The route that sends fewer bytes for elements of `bits` bits; the direct one where blocks
    /// would be too short.
    pub fn new(request: &CorrelationRequest, bits: u32) -> Self {
        let direct = small_field_vole::Params::new(request, bits);
        let silent = SilentParams::new(request, bits);
        if silent.block < MIN_BLOCK || direct.predicted_bytes() <= silent.predicted_bytes() {
            Self::Direct(direct)
        } else {
            Self::Silent(silent)
        }
    }

    /// Bytes of all messages of both sides.
    pub(crate) fn predicted_bytes(&self) -> u64 {
        match self {
            Self::Silent(params) => params.predicted_bytes(),
            Self::Direct(params) => params.predicted_bytes(),
        }
    }
}

/// The numbers of the silent route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SilentParams {
    /// Elements that come out (`m`).
    pub len: usize,
    /// Width of an element of `B` in bits.
    pub bits: u32,
    /// Width of a value of the noise, and so of `c`, in bits: elements of `B` below `2^width`.
    pub width: u32,
    /// Noisy blocks, each with a tree (`t`).
    pub trees: usize,
    /// Positions of a block; `N = trees * block >= 2 len`.
    pub block: usize,
    /// Against which parties.
    pub security: Security,
}

impl SilentParams {
    pub(super) fn new(request: &CorrelationRequest, bits: u32) -> Self {
        let &CorrelationRequest { len, security, width } = request;
        let trees = noise_weight(KAPPA, DISTANCE, Noise::Uniform);
        let block = (2 * len).div_ceil(trees).max(2);
        // Few significant bits, so that only the top levels of a tree are cut off; and whole lines of the
        // code.
        let unit = LINE << block.ilog2().saturating_sub(5 + LINE.ilog2());
        Self { len, bits, width: width.unwrap_or(bits), trees, block: block.next_multiple_of(unit), security }
    }

    /// `N`, the positions before compression.
    pub fn positions(&self) -> usize {
        self.trees * self.block
    }

    pub(crate) fn shape(&self) -> TreeShape {
        TreeShape { leaves: self.block }
    }

    /// OTs for all trees, `depth` a tree.
    pub(crate) fn transfers(&self) -> usize {
        self.trees * self.shape().depth()
    }

    /// Blocks of the correlation's columns that serve the OTs.
    pub(crate) fn transfer_blocks(&self) -> Range<usize> {
        0..self.transfers().div_ceil(128)
    }

    /// Blocks that serve the noise values.
    pub(crate) fn value_blocks(&self) -> Range<usize> {
        let start = self.transfer_blocks().end;
        start..start + self.trees.div_ceil(128 / self.bits as usize)
    }

    /// The block that serves the mask of the check, one element of `F`; none without a check.
    pub(crate) fn mask_blocks(&self) -> Range<usize> {
        let start = self.value_blocks().end;
        start..start + usize::from(self.checked())
    }

    pub(crate) fn checked(&self) -> bool {
        self.security == Security::Malicious
    }

    /// The base correlation.
    pub(crate) fn correlation(&self) -> ot_extension::Params {
        ot_extension::Params { blocks: self.mask_blocks().end, security: self.security }
    }

    /// Blocks of a correlation for many batches of this shape that belong to number `batch`.
    pub(super) fn batch_blocks(&self, batch: usize) -> BatchBlocks {
        let start = batch * self.correlation().blocks;
        let of = |blocks: Range<usize>| start + blocks.start..start + blocks.end;
        BatchBlocks { transfers: of(self.transfer_blocks()), values: of(self.value_blocks()) }
    }

    /// Bytes of flips, trees and the seed of the code.
    pub(super) fn batch_bytes(&self) -> u64 {
        (self.transfers().div_ceil(8) + self.trees * self.shape().message_blocks() * 16 + 16) as u64
    }

    fn predicted_bytes(&self) -> u64 {
        let checks = if self.checked() { 32 + 32 } else { 0 };
        self.correlation().predicted_bytes() + self.batch_bytes() + checks
    }
}

/// A batch's part of a base correlation.
pub(super) struct BatchBlocks {
    /// The blocks for the OTs.
    pub transfers: Range<usize>,
    /// The blocks for the values of the noise.
    pub values: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(len: usize, security: Security) -> CorrelationRequest {
        CorrelationRequest { len, security, width: None }
    }

    #[test]
    fn the_noise_weights_are_those_of_the_design() {
        assert_eq!(noise_weight(128, 0.11, Noise::Uniform), 762);
        assert_eq!(noise_weight(128, 0.11, Noise::Binary), 358);
        // The shortcut that the design warns of: a weight for OT from a heuristic distance.
        assert_eq!(noise_weight(128, 0.15, Noise::Binary), 249);
    }

    #[test]
    fn the_expander_is_as_wide_as_its_three_rules_ask_for() {
        let trees = noise_weight(KAPPA, DISTANCE, Noise::Uniform) as f64;
        // Lengths at which one more output would take one more place are among these; the last column is
        // for 128 bits.
        for (log, narrow, wide) in [
            (10.6, 18, 18),
            (11.6, 15, 15),
            (13.0, 13, 13),
            (14.0, 11, 11),
            (16.0, 10, 10),
            (17.0, 9, 9),
            (18.1, 8, 9),
            (19.0, 8, 9),
            (19.1, 8, 10),
            (19.7, 8, 10),
            (19.8, 9, 10),
            (20.3, 9, 10),
            (21.3, 9, 11),
            (22.3, 10, 12),
            (23.3, 10, 13),
            (24.9, 11, 14),
            (25.0, 12, 14),
            (26.8, 12, 15),
            (28.0, 13, 16),
        ] {
            let len = f64::exp2(log) as usize;
            for (width, weight) in [(61, narrow), (128, wide)] {
                assert_eq!(expander_weight(len, width), weight, "2^{log}, {width} bits");
                let w = weight as f64;
                let share = box_share(len, weight);
                assert!(share >= BOX_SHARE.0 as f64 / BOX_SHARE.1 as f64);
                assert!(share / 2.0 * 0.74 > 1.05 * DISTANCE && 0.74 * share * trees >= f64::from(KAPPA), "2^{log}");
                let rows = (WINDOW * (weight / 2)) as f64 + f64::from(width);
                let share = (rows / len as f64).powf(1.0 / w).min(1.0);
                assert!(
                    LUCK as f64 / 100.0 * share * trees >= f64::from(KAPPA + width),
                    "2^{log}, {width} bits: {share}"
                );
                let twins = (len as f64 / 4.0).powi(2) / 2.0 * (len as f64 / (2.0 * w)).powf(-w);
                assert!(twins.log2() < -79.0, "2^{log}: {} twins", twins.log2());
            }
        }
        assert_eq!(box_share(1, 7), 1.0);
    }

    /// The last weight is not a way out: all rules hold wherever trees are used.
    #[test]
    fn the_greatest_weight_is_never_short() {
        for bits in [64, 128] {
            let first = (1..)
                .find(|&len| matches!(Params::new(&request(len, Security::SemiHonest), bits), Params::Silent(_)))
                .unwrap();
            assert!(
                expander_weight(first, bits) <= MAX_WEIGHT as usize && first < 2000,
                "{first} elements of {bits} bits"
            );
            let lines = (2 * first / LINE / MAX_WEIGHT as usize) as f64;
            assert!(
                (first as f64 / 4.0).powi(2) / 2.0 * lines.powi(-(MAX_WEIGHT as i32)) < f64::exp2(-80.0),
                "{first}"
            );
            assert!(expander_weight(crate::silent::MAX_LEN, bits) < MAX_WEIGHT as usize);
        }
    }

    #[test]
    fn every_position_is_in_a_block_and_little_is_wasted() {
        for len in (1..20_000).step_by(37).chain([1 << 17, 1_426_063, 1 << 24]) {
            let params = SilentParams::new(&request(len, Security::SemiHonest), 64);
            assert!(params.positions() >= 2 * len);
            assert!(
                params.positions() <= 2 * len + 2 * len / 32 + LINE * params.trees,
                "{len}: {}",
                params.positions()
            );
        }
    }

    /// In the semi-honest mode the receiver may send a table on the same fork before it reads the
    /// trees: they must fit into what a fork holds for a reader that has not come yet.
    #[test]
    fn the_trees_wait_for_their_reader_at_every_length() {
        let params = SilentParams::new(&request(crate::silent::MAX_LEN, Security::SemiHonest), 128);
        assert!(params.trees * params.shape().message_blocks() * 16 <= 1 << 20);
    }

    #[test]
    fn short_vectors_go_the_direct_way_and_a_million_costs_under_420_kilobytes() {
        for bits in [64, 128] {
            for security in [Security::SemiHonest, Security::Malicious] {
                assert!(matches!(Params::new(&request(1, security), bits), Params::Direct(_)));
                assert!(matches!(Params::new(&request(1 << 14, security), bits), Params::Silent(_)));
            }
        }
        assert!(Params::new(&request(1_426_063, Security::SemiHonest), 64).predicted_bytes() <= 420_000);
    }
}
