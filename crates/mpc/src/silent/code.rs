//! An expand-convolute code [RRT23], not systematic, with window 24, lines of four places, and a
//! weight that grows with the length.
//!
//! From `x` of length `N >= 2 m` it makes `out[i] = sum over w places p of y[p]`, where `y` is the
//! convolution of `x`: `y[i]` is `x[i]` plus those of the 24 elements of `y` before `i` that reach
//! `i`, each by a random tap. Everything is linear over GF(2) with public coefficients, so the same
//! map applies to the parties' vectors over `F` and to the noise over `B`.
//!
//! Its security rests on the weight of its words, the sums of rows of the generator: see
//! [`DISTANCE`]. Choices, and why:
//! - **One place in each of `w` equal strata of `y`** (a regular expander). With free places, some
//!   rows have all of theirs where `y` has little influence.
//! - **Lines**: four outputs in a row are a *group*. In each stratum a group draws one random line,
//!   four adjacent places, and its outputs take these in a random order. So one line of the cache
//!   serves four outputs; block-accumulate codes permute blocks for the same reason. Two rows of a
//!   group never meet, and rows of two groups that draw the same line may cancel there in up to
//!   four places at once. First moments take both into account; they cost the box words below a
//!   part of their weight, and that is why `w` is greater than single places would need.
//! - **The farthest of the 24 taps is always 1**, the other 23 are fresh random bits for each
//!   element: without it the state of the convolution dies with probability `2^-24` an element,
//!   which happens to some rows at our lengths.
//! - **All of `x` is convolved.** The systematic variant (`out[i] = x[i] + ..`, which convolves
//!   half) has half the distance.
//! - **The weight `w` by the length.** Rows whose places lie in an interval of share `f` of each
//!   stratum are about `m f^w`. The intervals of neighbouring strata may touch, so that `24 floor(w
//!   / 2)` linear conditions end the state below each pair; one more row than that, and a sum of
//!   some of them has weight about `f / 2 * N`: the *box word*, found by linear algebra. A test
//!   finds such words. The luckiest of all sets of groups is up to a quarter lighter, by a first
//!   moment over all sets. [`expander_weight`] takes the least `w >= 8` for which even that weighs
//!   enough, and for which tests of many words at once, and groups that draw the same lines
//!   everywhere, are ruled out as well.
//! - **The seed is the receiver's.** The code protects the receiver's noise from the sender, and a
//!   corrupt receiver gains nothing from a weak one. The receiver chooses it fresh for each run, in
//!   the malicious mode after the sender's tree messages (with which a corrupt sender guesses at
//!   the noise) and before its answer to the check.
//!
//! By first moments over random codes of this shape (example `code_evidence`) words lighter than
//! 0.11 N are not expected. There is no proof at our lengths: distance 0.11 is an assumption.

use std::ops::{BitXorAssign, Range};

use rayon::prelude::*;
use vesica_kernels::accumulate::{WINDOW, convolve, convolve_u4, convolve_u64};
use vesica_kernels::aes::Aes128;
use vesica_kernels::gather::{LINE, gather, gather_u8, gather_u64};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

#[cfg(doc)]
use super::params::DISTANCE;
use super::params::expander_weight;

/// Groups whose lines are drawn at a time.
const GROUPS_PER_BATCH: usize = 4096;

/// Positions that are convolved at a time: whole words of the taps' stream, which stay in the
/// first-level cache.
const POSITIONS_PER_PIECE: usize = 2048;

/// Where in the seed's stream the places of the first stratum start, and how far apart the strata
/// are; taps lie below.
const PLACES_COUNTER: u128 = 1 << 64;

/// What the kernels work on: blocks, halves of them, and values of up to four bits.
pub(crate) trait Lane: Copy + Default + BitXorAssign + Zeroize + Send + Sync {
    /// See [`vesica_kernels::accumulate`].
    fn convolve(x: &mut [Self], taps: &[u32]);
    /// See [`vesica_kernels::gather`].
    fn gather(out: &mut [Self], table: &[Self], draws: &[u32]);
}

macro_rules! lane {
    ($lane:ty, $convolve:ident, $gather:ident) => {
        impl Lane for $lane {
            fn convolve(x: &mut [Self], taps: &[u32]) {
                $convolve(x, taps);
            }

            fn gather(out: &mut [Self], table: &[Self], draws: &[u32]) {
                $gather(out, table, draws);
            }
        }
    };
}
lane!(u128, convolve, gather);
lane!(u64, convolve_u64, gather_u64);
lane!(u8, convolve_u4, gather_u8);

/// A code: `outputs` elements from `positions`.
#[derive(Debug)]
pub(crate) struct Code {
    outputs: usize,
    positions: usize,
    weight: usize,
    stream: Aes128,
}

impl Code {
    /// The code of a public seed for values of `width` bits.
    pub fn new(outputs: usize, positions: usize, width: u32, seed: u128) -> Self {
        Self::with_weight(outputs, positions, expander_weight(outputs, width), seed)
    }

    fn with_weight(outputs: usize, positions: usize, weight: usize, seed: u128) -> Self {
        assert!(positions >= 2 * outputs, "the code has rate at most 1/2");
        assert!(positions.is_multiple_of(LINE) && positions >= weight * LINE, "whole lines, and one in each stratum");
        Self { outputs, positions, weight, stream: Aes128::new(seed) }
    }

    /// Compresses a vector over `F`, which serves as work space.
    pub fn compress(&self, x: &mut [Gf128]) -> Vec<Gf128> {
        let x: &mut [u128] = bytemuck::cast_slice_mut(x);
        self.convolution().next(x);
        bytemuck::cast_vec(self.expand(x))
    }

    /// Compresses sparse noise over `B`, given as places and values.
    pub fn compress_noise<B: Value>(&self, noise: impl Iterator<Item = (usize, B)>) -> Vec<B> {
        match B::BITS {
            64 => bytemuck::cast_vec(self.compress_sparse(noise.map(|(place, value)| (place, value.embed().0 as u64)))),
            _ => bytemuck::cast_vec(self.compress_sparse(noise.map(|(place, value)| (place, value.embed().0)))),
        }
    }

    /// Compresses sparse noise.
    pub fn compress_sparse<T: Lane>(&self, noise: impl Iterator<Item = (usize, T)>) -> Vec<T> {
        let mut y = Secret::new(vec![T::default(); self.positions]);
        for (place, value) in noise {
            y[place] ^= value;
        }
        self.convolution().next(&mut y);
        self.expand(&y)
    }

    /// The convolution of a vector that comes in parts.
    pub fn convolution<T: Lane>(&self) -> Convolution<'_, T> {
        Convolution {
            code: self,
            place: 0,
            carry: [T::default(); WINDOW],
            words: vec![0; POSITIONS_PER_PIECE / 4],
            taps: vec![0; POSITIONS_PER_PIECE],
        }
    }

    /// For each output the sum of the elements of the convolved `y` at its place in every stratum.
    /// A pass for each stratum, so that few pages are in use.
    fn expand<T: Lane>(&self, y: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); self.outputs.next_multiple_of(LINE)];
        for s in 0..self.weight {
            out.par_chunks_mut(GROUPS_PER_BATCH * LINE)
                .enumerate()
                .for_each_init(draw_space, |words, (batch, out)| self.add_stratum(s, y, batch, words, out));
        }
        out.truncate(self.outputs);
        out
    }

    /// The same over parts of the outputs, all strata of a part at once: `consume` gets each part
    /// while it is in cache, the number of its first output, and as many elements of `out`,
    /// which may be shorter than all outputs.
    pub fn expand_into<T: Lane, O: Send>(
        &self,
        y: &[T],
        out: &mut [O],
        consume: impl Fn(usize, &[T], &mut [O]) + Sync,
    ) {
        assert!(out.len() <= self.outputs, "no more than all outputs");
        let space = || (draw_space(), Secret::new(vec![T::default(); GROUPS_PER_BATCH * LINE]));
        out.par_chunks_mut(GROUPS_PER_BATCH * LINE).enumerate().for_each_init(space, |(words, sums), (batch, out)| {
            sums.fill(T::default());
            let whole = out.len().next_multiple_of(LINE);
            (0..self.weight).for_each(|s| self.add_stratum(s, y, batch, words, &mut sums[..whole]));
            consume(batch * GROUPS_PER_BATCH * LINE, &sums[..out.len()], out);
        });
    }

    /// Adds the elements of stratum `s` for the groups of `batch`.
    fn add_stratum<T: Lane>(&self, s: usize, y: &[T], batch: usize, words: &mut [u128], out: &mut [T]) {
        self.stream.ctr(self.draws_at(s) + (batch * words.len()) as u128, words);
        let draws = &bytemuck::cast_slice(words)[..out.len() / LINE];
        T::gather(out, &y[self.stratum(s)], draws);
    }

    /// The positions of stratum `s`: whole lines.
    fn stratum(&self, s: usize) -> Range<usize> {
        let start = |s: usize| s * (self.positions / LINE) / self.weight * LINE;
        start(s)..start(s + 1)
    }

    /// Where the draws of stratum `s` start in the seed's stream.
    fn draws_at(&self, s: usize) -> u128 {
        PLACES_COUNTER * (s as u128 + 1)
    }

    /// Random taps of the positions from `place` on, the farthest always set.
    fn taps(&self, place: usize, words: &mut [u128], taps: &mut [u32]) {
        self.stream.ctr((place / 4) as u128, words);
        let farthest = 1 << (WINDOW - 1);
        for (taps, word) in taps.iter_mut().zip(bytemuck::cast_slice::<u128, u32>(words)) {
            *taps = word | farthest;
        }
    }
}

/// Space for the draws of a batch.
fn draw_space() -> Vec<u128> {
    vec![0; GROUPS_PER_BATCH / 4]
}

/// A convolution under way, from the first position to the last.
pub(crate) struct Convolution<'a, T: Lane> {
    code: &'a Code,
    /// The next position.
    place: usize,
    /// What is to be added to the elements from there on.
    carry: [T; WINDOW],
    words: Vec<u128>,
    taps: Vec<u32>,
}

impl<T: Lane> Convolution<'_, T> {
    /// Convolves the next elements in place: any number, but a multiple of [`LINE`] unless they are
    /// the last.
    pub fn next(&mut self, x: &mut [T]) {
        for x in x.chunks_mut(POSITIONS_PER_PIECE) {
            assert!(self.place.is_multiple_of(LINE), "taps come four at a time");
            let taps = &mut self.taps[..x.len()];
            self.code.taps(self.place, &mut self.words[..x.len().div_ceil(4)], taps);
            x.iter_mut().zip(&self.carry).for_each(|(x, &carry)| *x ^= carry);
            T::convolve(x, taps);

            let len = x.len();
            self.carry.rotate_left(len.min(WINDOW));
            self.carry[WINDOW - len.min(WINDOW)..].fill(T::default());
            for i in len.saturating_sub(WINDOW)..len {
                // Taps are public.
                for d in (len - i..=WINDOW).filter(|d| taps[i] >> (d - 1) & 1 == 1) {
                    self.carry[i + d - len] ^= x[i];
                }
            }
            self.place += len;
        }
    }
}

impl<T: Lane> Drop for Convolution<'_, T> {
    fn drop(&mut self) {
        self.carry.zeroize();
    }
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
                    assert!(
                        Code::new(outputs, positions, 64, 5).compress(&mut sum.clone()) == expected,
                        "{}",
                        backend.name()
                    )
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
                let narrowest = code.compress_sparse(noise.iter().map(|&(place, value)| (place, value.0 as u8 & 15)));
                assert!((0..outputs).all(|i| narrowest[i] == expected[i].0 as u8 & 15), "{}", backend.name());
            });
        }
    }

    #[test]
    fn a_vector_in_parts_is_convolved_and_expanded_as_in_one() {
        let mut rng = SecretRng::insecure_from_seed(8);
        let (outputs, positions) = (40_001, 80_040);
        let x = random(&mut rng, positions);
        let code = Code::new(outputs, positions, 3, 5);
        let expected = code.compress(&mut x.clone());
        for part in [4, 8, 24, 28, 1000, POSITIONS_PER_PIECE, 3 * POSITIONS_PER_PIECE + 4] {
            let mut parts: Vec<u128> = bytemuck::cast_vec(x.clone());
            let mut convolution = code.convolution::<u128>();
            parts.chunks_mut(part).for_each(|part| convolution.next(part));
            for len in [0, 1, 4, outputs - 1, outputs] {
                let mut out = vec![(0, 0); len];
                code.expand_into(&parts, &mut out, |first, sums, out| {
                    out.iter_mut().zip(first..).zip(sums).for_each(|((out, i), &sum)| *out = (i, sum));
                });
                assert!(
                    out.iter().enumerate().all(|(i, &out)| out == (i, expected[i].0)),
                    "{len} outputs of parts of {part}"
                );
            }
        }
    }

    /// The generator's rows, bit `p % 128` of block `p / 128` being position `p`: unit vectors go
    /// through the map, 128 at a time.
    fn rows(outputs: usize, seed: u128) -> Vec<Vec<u128>> {
        let positions = 2 * outputs;
        let mut rows = vec![vec![0; positions / 128]; outputs];
        for block in 0..positions / 128 {
            let mut units: Vec<Gf128> =
                (0..positions).map(|p| Gf128(if p / 128 == block { 1 << (p % 128) } else { 0 })).collect();
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
        // The sums within a group, and those of two groups that are taken whole: rows of a group share
        // their lines.
        let sum = |rows: &[&[u128]]| {
            (0..rows[0].len()).map(|p| rows.iter().fold(0, |sum, row| sum ^ row[p])).collect::<Vec<u128>>()
        };
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

    /// The vectors of docs/expander.md, which another program made (docs/expander.py).
    #[test]
    fn the_code_is_the_one_that_is_specified() {
        let vectors = [
            (
                40,
                80,
                18,
                5,
                [
                    0x199bf66d0fec7efdffa6834fcd7bc24a,
                    0xbff143567dfeceb65eea4f394c4dd4fb,
                    0x3be23c6f3086241230ded26ccf8ad548,
                ],
            ),
            (
                1001,
                2004,
                11,
                1 << 127 | 6,
                [
                    0xe3516d38cd83075d7a3534008c57aedb,
                    0x1e7ebc3ee966dd2d8511722f738e0696,
                    0x72c7325b7ace7a5362a195dee3713706,
                ],
            ),
        ];
        for (outputs, positions, weight, seed, expected) in vectors {
            let mut x: Vec<Gf128> =
                (1..=positions as u128).map(|p| Gf128(p.wrapping_mul(0x9e3779b97f4a7c15f39cc0605cedc835))).collect();
            let out = Code::with_weight(outputs, positions, weight, seed).compress(&mut x);
            let folded = out.iter().fold(0u128, |folded, element| folded.rotate_left(1) ^ element.0);
            assert_eq!([out[0].0, out[outputs - 1].0, folded], expected, "{outputs} outputs");
        }
    }

    #[test]
    fn threads_change_nothing() {
        let mut rng = SecretRng::insecure_from_seed(6);
        let x = random(&mut rng, 200_000);
        let run = || Code::new(100_000, 200_000, 64, 5).compress(&mut x.clone());
        let [one, three] =
            [1, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run));
        assert!(one == three);
    }
}
