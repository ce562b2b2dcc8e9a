//! The parameters of a run. docs/parameters/permutations.md derives those of the weak PRF.

use vesica_party::Security;
use vesica_structures::facts::Unsupported;

use super::batch::{Batch, STRIPES, UNIT};
use crate::ot_extension;
use crate::permute_share::bits::params::check;
use crate::silent::bulk;
use crate::tasks::PermuteBitsRequest;

/// Bits of a key, and of an input.
pub(super) const KEY_BITS: usize = 512;

/// Trits whose parities an output bit adds up: the ones of a row of the paper's matrix B.
pub(super) const MIDDLE: usize = 64;

/// Bits of a table's choice: a trit.
pub(super) const WIDTH: u32 = 2;

/// A bound on the inputs of a key, and so on the bits. With a random table for each trit, these are
/// the 2^28 of other networks. It also keeps the outputs of a key fewer than those in which a form
/// of degree two would show (a test below). 2^21 items have 2,726,298 bins.
const MAX_LEN: usize = (1 << 22) - 64;

/// Random OTs whose choices are the key.
pub(super) const KEY: ot_extension::Params =
    ot_extension::Params { blocks: KEY_BITS / 128, security: Security::SemiHonest };

/// What both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Bits that are permuted.
    pub len: usize,
    /// How many come out.
    pub kept: usize,
    /// The random tables, one for each trit of each lane.
    pub(super) tables: bulk::Params,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// Against malicious parties (nothing proves that the products are those of one key and one
    /// input), if more bits are to come out than there are, and for 2^22 bits or more.
    pub fn derive(request: &PermuteBitsRequest) -> Result<Self, Unsupported> {
        check(request)?;
        let &PermuteBitsRequest { len, kept, .. } = request;
        if len > MAX_LEN {
            return Err(Unsupported::new(
                format_args!("{len} inputs of a weak PRF under one key"),
                format_args!("permute at most {MAX_LEN} bits, or use another permutation"),
            ));
        }
        let most = MIDDLE * MAX_LEN.next_multiple_of(UNIT);
        Ok(Self { len, kept, tables: bulk::Params::derive(MIDDLE * kept.next_multiple_of(UNIT), WIDTH, most)? })
    }

    /// Bytes of all messages: none if nothing comes out. For each evaluation, filled up to 320, a
    /// trit for each key bit, and a table and four bits for each trit of the middle.
    pub fn predicted_bytes(&self) -> u64 {
        if self.kept == 0 {
            return 0;
        }
        let lanes = self.kept.next_multiple_of(UNIT);
        let bytes = [KEY_BITS * lanes / STRIPES, 4 * MIDDLE * lanes / 8, (self.len + self.kept).div_ceil(8)];
        KEY.predicted_bytes() + self.tables.predicted_bytes() + bytes.iter().sum::<usize>() as u64
    }

    /// The word of tables that serves a row, a stripe and a word of a batch.
    pub(super) fn tables_of(batch: &Batch, row: usize, stripe: usize, word: usize) -> usize {
        MIDDLE * batch.first / 64 + row * batch.all_words() + stripe * batch.words + word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trit_of_each_lane_has_a_table() {
        for kept in [1, 320, 321, 2560, 6000] {
            let request = PermuteBitsRequest { len: kept, kept, security: Security::SemiHonest };
            let mut words = Vec::new();
            for batch in Batch::all(kept) {
                for (row, stripe) in (0..MIDDLE).flat_map(|row| (0..STRIPES).map(move |stripe| (row, stripe))) {
                    words.extend((0..batch.words).map(|word| Params::tables_of(&batch, row, stripe, word)));
                }
            }
            assert!(words.iter().copied().eq(0..Params::derive(&request).unwrap().tables.len / 64), "{kept}");
        }
    }

    /// The bits of an output bit that docs/parameters/permutations.md counts: how far it is from
    /// uniform, and how well a linear function over F_3 predicts it.
    #[test]
    fn no_linear_function_says_much_of_an_output() {
        // Of (-1)^[u = 1] w^(c u), with w a third root of unity, over uniform u: (1 + w^(2 c) -
        // w^c) / 3.
        let mean = |c: u32| {
            let turns = |steps: u32| {
                let angle = f64::from(steps % 3) * std::f64::consts::TAU / 3.0;
                [angle.cos(), angle.sin()]
            };
            let [[a, b], [c, d]] = [turns(2 * c), turns(c)];
            (1.0 + a - c).hypot(b - d) / 3.0
        };
        let bits = |correlation: f64| -(MIDDLE as f64) * correlation.log2();
        assert!((bits(mean(0)) - 101.4).abs() < 0.1, "{}", bits(mean(0)));
        for c in [1, 2] {
            assert!((bits(mean(c)) - 37.4).abs() < 0.1, "{}", bits(mean(c)));
        }
    }

    /// Whether a trit is one is a form of degree two over F_3, `2 u^2 + 2 u`. The sum of these forms,
    /// modulo three, says more of an output than linear ones do: but a run has fewer outputs than it
    /// takes to tell a single such form from a random one.
    #[test]
    fn a_run_has_too_few_outputs_for_forms_of_degree_two() {
        // Of (-1)^[u = 1] w^[u = 1] over uniform u: (2 - w) / 3.
        let mean = 2.5f64.hypot(0.75f64.sqrt()) / 3.0;
        let correlation = mean.powi(MIDDLE as i32);
        assert!((correlation.log2() + 11.6).abs() < 0.05, "{}", correlation.log2());
        assert!(MAX_LEN as f64 * correlation.powi(2) < 1.0);
    }

    /// In systematic form, a row of a uniform matrix of 128 rows and 256 columns has a one and 128
    /// uniform bits: at least one of the rows has as many ones as the middle has trits, but for one
    /// matrix of ten thousand.
    #[test]
    fn a_row_of_the_papers_matrix_has_as_many_ones() {
        let chosen = (1..MIDDLE).fold(1.0, |binomial, i| binomial * (129 - i) as f64 / i as f64);
        let chance = chosen / 2f64.powi(128);
        assert!((0.06..0.08).contains(&chance) && (1.0 - chance).powi(128) < 1.1e-4, "{chance}");
    }
}
