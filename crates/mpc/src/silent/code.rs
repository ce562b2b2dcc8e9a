//! An expand-convolute code [RRT23], not systematic, with window 24, lines of four places, and a weight that grows with the length.
//!
//! From `x` of length `N >= 2 m` it makes `out[i] = sum over w places p of y[p]`, where `y` is the convolution of `x`: `y[i]` is `x[i]`
//! plus those of the 24 elements of `y` before `i` that reach `i`, each by a random tap. Everything is linear over GF(2) with
//! public coefficients, so the same map applies to the parties' vectors over `F` and to the noise over `B`.
//!
//! Its security rests on the weight of its words, the sums of rows of the generator: see [`DISTANCE`]. Choices, and why:
//! - **One place in each of `w` equal strata of `y`** (a regular expander). With free places, some rows have all of theirs where `y` has little influence.
//! - **Lines**: four outputs in a row are a *group*. In each stratum a group draws one random line, four adjacent places, and its outputs take these in a random
//!   order. So one line of the cache serves four outputs; block-accumulate codes permute blocks for the same reason. Two rows of a group never meet, and
//!   rows of two groups that draw the same line may cancel there in up to four places at once. First moments take both into account; they cost the box words
//!   below a part of their weight, and that is why `w` is greater than single places would need.
//! - **The farthest of the 24 taps is always 1**, the other 23 are fresh random bits for each element: without it the state of the
//!   convolution dies with probability `2^-24` an element, which happens to some rows at our lengths.
//! - **All of `x` is convolved.** The systematic variant (`out[i] = x[i] + ..`, which convolves half) has half the distance.
//! - **The weight `w` by the length.** Rows whose places lie in an interval of share `f` of each stratum are about `m f^w`. The intervals of neighbouring strata may
//!   touch, so that `24 floor(w / 2)` linear conditions end the state below each pair; one more row than that, and a sum of some of them has weight about
//!   `f / 2 * N`: the *box word*, found by linear algebra. A test finds such words. The luckiest of all sets of groups is up to a quarter lighter, by a first
//!   moment over all sets. [`expander_weight`] takes the least `w >= 8` for which even that weighs enough, and for which
//!   tests of many words at once, and groups that draw the same lines everywhere, are ruled out as well.
//! - **The seed is the receiver's.** The code protects the receiver's noise from the sender, and a corrupt receiver gains nothing from a weak one. The receiver
//!   chooses it fresh for each run, in the malicious mode after the sender's tree messages (with which a corrupt sender guesses at the noise) and before its answer to the check.
//!
//! By first moments over random codes of this shape (example `code_evidence`) words lighter than 0.11 N are not expected. There is no
//! proof at our lengths: distance 0.11 is an assumption.

use rayon::prelude::*;
use vesica_kernels::accumulate::{WINDOW, convolve, convolve_u64};
use vesica_kernels::aes::Aes128;
use vesica_kernels::gather::{LINE, gather, gather_u64};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::secret::Secret;

#[cfg(doc)]
use super::params::DISTANCE;
use super::params::expander_weight;

/// Groups whose lines are drawn at a time.
const BATCH: usize = 4096;

/// Where in the seed's stream the places of the first stratum start, and how far apart the strata are; taps lie below.
const PLACES_COUNTER: u128 = 1 << 64;

/// A code: `outputs` elements from `positions`.
#[derive(Debug)]
pub(crate) struct Code {
    outputs: usize,
    weight: usize,
    stream: Aes128,
    /// One word for each position.
    taps: Vec<u32>,
}

impl Code {
    /// The code of a public seed for values of `width` bits.
    pub fn new(outputs: usize, positions: usize, width: u32, seed: u128) -> Self {
        Self::with_weight(outputs, positions, expander_weight(outputs, width), seed)
    }

    fn with_weight(outputs: usize, positions: usize, weight: usize, seed: u128) -> Self {
        assert!(positions >= 2 * outputs, "the code has rate at most 1/2");
        assert!(positions.is_multiple_of(LINE) && positions >= weight * LINE, "whole lines, and one in each stratum");
        let stream = Aes128::new(seed);
        let taps = taps(&stream, positions);
        Self { outputs, weight, stream, taps }
    }

    /// Compresses a vector over `F`, which serves as work space.
    pub fn compress(&self, x: &mut [Gf128]) -> Vec<Gf128> {
        convolve(bytemuck::cast_slice_mut(x), &self.taps);
        self.expand(x)
    }

    /// Compresses sparse noise over `B`, given as places and values.
    pub fn compress_noise<B: Value>(&self, noise: impl Iterator<Item = (usize, B)>) -> Vec<B> {
        let mut y = Secret::new(vec![B::default(); self.taps.len()]);
        for (place, value) in noise {
            y[place] += value;
        }
        match B::BITS {
            64 => convolve_u64(bytemuck::cast_slice_mut(&mut y), &self.taps),
            _ => convolve(bytemuck::cast_slice_mut(&mut y), &self.taps),
        }
        self.expand(&y)
    }

    /// For each output the sum of the elements of `y` at its place in every stratum. A pass for each stratum, so that few pages are in use.
    fn expand<B: Value>(&self, y: &[B]) -> Vec<B> {
        let mut out = vec![B::default(); self.outputs.next_multiple_of(LINE)];
        for s in 0..self.weight {
            let stratum = &y[self.stratum(s)..self.stratum(s + 1)];
            out.par_chunks_mut(BATCH * LINE).enumerate().for_each_init(
                || vec![0u128; BATCH / 4],
                |words, (batch, out)| {
                    self.stream.ctr(self.draws_at(s) + (batch * words.len()) as u128, words);
                    let draws = &bytemuck::cast_slice(words)[..out.len() / LINE];
                    match B::BITS {
                        64 => gather_u64(bytemuck::cast_slice_mut(out), bytemuck::cast_slice(stratum), draws),
                        _ => gather(bytemuck::cast_slice_mut(out), bytemuck::cast_slice(stratum), draws),
                    }
                },
            );
        }
        out.truncate(self.outputs);
        out
    }

    /// Where stratum `s` starts: at a line.
    fn stratum(&self, s: usize) -> usize {
        s * (self.taps.len() / LINE) / self.weight * LINE
    }

    /// Where the draws of stratum `s` start in the seed's stream.
    fn draws_at(&self, s: usize) -> u128 {
        PLACES_COUNTER * (s as u128 + 1)
    }
}

/// `count` words of random taps, the farthest always set.
fn taps(stream: &Aes128, count: usize) -> Vec<u32> {
    let mut words = vec![0u128; count.div_ceil(4)];
    stream.ctr(0, &mut words);
    let farthest = 1 << (WINDOW - 1);
    bytemuck::cast_slice::<u128, u32>(&words)[..count].iter().map(|word| word | farthest).collect()
}

#[cfg(test)]
mod light_words;

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_kernels::{Backend, with_backend};
    use vesica_structures::fields::Gf64;
    use vesica_structures::rng::SecretRng;

    fn random(rng: &mut SecretRng, len: usize) -> Vec<Gf128> {
        (0..len).map(|_| Gf128(rng.block())).collect()
    }

    #[test]
    fn the_code_is_linear_and_the_same_on_all_backends() {
        let mut rng = SecretRng::insecure_from_seed(3);
        for (outputs, positions) in [(7, 80), (100, 220), (1001, 2004), (5000, 10_016), (70_003, 140_012)] {
            let (x, y) = (random(&mut rng, positions), random(&mut rng, positions));
            let sum: Vec<Gf128> = x.iter().zip(&y).map(|(&x, &y)| x + y).collect();
            let expected = Code::new(outputs, positions, 64, 5).compress(&mut sum.clone());
            let parts = [x, y].map(|mut part| Code::new(outputs, positions, 64, 5).compress(&mut part));
            assert!((0..outputs).all(|i| expected[i] == parts[0][i] + parts[1][i]));
            for backend in Backend::available() {
                with_backend(backend, || {
                    assert!(Code::new(outputs, positions, 64, 5).compress(&mut sum.clone()) == expected, "{}", backend.name())
                });
            }
            assert_ne!(Code::new(outputs, positions, 64, 6).compress(&mut sum.clone()), expected);
        }
    }

    #[test]
    fn noise_is_compressed_as_the_vector_that_it_stands_for() {
        let mut rng = SecretRng::insecure_from_seed(4);
        let (outputs, positions) = (902, 1812);
        let noise: Vec<(usize, Gf128)> = (0..positions).step_by(57).map(|place| (place, Gf128(rng.block()))).collect();
        let mut dense = vec![Gf128::default(); positions];
        noise.iter().for_each(|&(place, value)| dense[place] = value);
        let expected = Code::new(outputs, positions, 64, 5).compress(&mut dense);
        for backend in Backend::available() {
            with_backend(backend, || {
                let code = Code::new(outputs, positions, 64, 5);
                assert_eq!(code.compress_noise(noise.iter().copied()), expected, "{}", backend.name());
                let narrow = code.compress_noise(noise.iter().map(|&(place, value)| (place, Gf64(value.0 as u64))));
                assert!((0..outputs).all(|i| narrow[i].0 == expected[i].0 as u64), "{}", backend.name());
            });
        }
    }

    /// The generator's rows, bit `p % 128` of block `p / 128` being position `p`: unit vectors go through the map, 128 at a time.
    fn rows(outputs: usize, seed: u128) -> Vec<Vec<u128>> {
        let positions = 2 * outputs;
        let mut rows = vec![vec![0; positions / 128]; outputs];
        for block in 0..positions / 128 {
            let mut units: Vec<Gf128> = (0..positions).map(|p| Gf128(if p / 128 == block { 1 << (p % 128) } else { 0 })).collect();
            for (row, bits) in rows.iter_mut().zip(Code::new(outputs, positions, 64, seed).compress(&mut units)) {
                row[block] = bits.0;
            }
        }
        rows
    }

    #[test]
    fn rows_and_sums_of_two_rows_of_a_group_and_of_two_groups_weigh_more_than_the_distance() {
        let outputs = 1024;
        let rows = rows(outputs, 11);
        let weight = |words: &mut dyn Iterator<Item = u128>| words.map(u128::count_ones).sum::<u32>();
        let least = super::super::params::DISTANCE * 2.0 * outputs as f64;
        for (i, row) in rows.iter().enumerate() {
            assert!(f64::from(weight(&mut row.iter().copied())) > least, "row {i}");
            for (j, other) in rows[..i].iter().enumerate() {
                let sum = weight(&mut row.iter().zip(other).map(|(a, b)| a ^ b));
                assert!(f64::from(sum) > least, "rows {i} and {j} weigh {sum}");
            }
        }
        // The sums within a group, and those of two groups that are taken whole: rows of a group share their lines.
        let sum = |rows: &[&[u128]]| (0..rows[0].len()).map(|p| rows.iter().fold(0, |sum, row| sum ^ row[p])).collect::<Vec<u128>>();
        let mut wholes: Vec<Vec<u128>> = Vec::new();
        for (g, group) in rows.chunks_exact(LINE).enumerate() {
            for selected in 1..1 << LINE {
                let rows: Vec<&[u128]> = (0..LINE).filter(|j| selected >> j & 1 == 1).map(|j| &group[j][..]).collect();
                let word = sum(&rows);
                assert!(f64::from(weight(&mut word.iter().copied())) > least, "rows {selected:b} of group {g}");
                if rows.len() == LINE {
                    for (h, other) in wholes.iter().enumerate() {
                        assert!(f64::from(weight(&mut sum(&[&word, other]).into_iter())) > least, "groups {g} and {h}");
                    }
                    wholes.push(word);
                }
            }
        }
    }

    #[test]
    fn threads_change_nothing() {
        let mut rng = SecretRng::insecure_from_seed(6);
        let x = random(&mut rng, 200_000);
        let run = || Code::new(100_000, 200_000, 64, 5).compress(&mut x.clone());
        let [one, three] = [1, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run));
        assert!(one == three);
    }
}
