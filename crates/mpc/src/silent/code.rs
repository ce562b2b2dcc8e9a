//! The expand-convolute code with weight 7 and window 24 [RRT23], systematic and of rate 1/2 or below.
//!
//! From `x` of length `N = m + m'` it makes `out[i] = x[i] + sum over seven places p of y[p]`, where `y` is the convolution of the last `m'`
//! elements of `x`: `y[i]` is `x[m + i]` plus those of the 24 elements of `y` before `i` whose random tap for `i` is 1. Everything is linear
//! over GF(2) with public coefficients, so the same map applies to the parties' vectors over `F` and to the noise over `B`.
//!
//! Three choices, and why:
//! - **One place in each seventh of `y`** (a regular expander). With seven free places, about `m s^7` of the `m` rows of the generator have all
//!   their places within the share `s` of `y` that influences least, so at `m = 2^20` some rows weigh under `0.04 N`, which breaks the
//!   linear-test bound for distance 0.11. With one place in each seventh a row weighs at least `6/14 m` less deviations, and sums of two rows
//!   cancel in two sevenths at most (in three with probability about 2^-13). By first moments, sums of `w` rows that cancel in `s` sevenths
//!   weigh about `(7 - s)/14 m + w`, with `s <= 3` until `w` is about `0.008 m`; and for every `s` the Gilbert-Varshamov distance of the part
//!   that does not cancel lies between 0.11 and 0.17 of `N`.
//! - **The farthest of the 24 taps is always 1**, the other 23 are fresh random bits for each element: without it the state of the
//!   convolution dies with probability `2^-24` an element, which happens to some rows at our lengths.
//! - **The seed is the receiver's.** The code protects the receiver's noise from the sender and nothing else, and the receiver chooses it
//!   fresh for each run, in the malicious mode after the sender's tree messages (with which a corrupt sender guesses at the noise).
//!
//! Distance 0.11 is an assumption supported by these counts and by a test of all sums of up to two rows at a small length; there is no
//! proof at our lengths.

use vesica_kernels::accumulate::{WINDOW, convolve, convolve_u64};
use vesica_kernels::aes::Aes128;
use vesica_structures::fields::{Gf128, Value};
use zeroize::Zeroize;

/// Places that the expander reads for each output.
const WEIGHT: usize = 7;

/// Outputs whose places are drawn at a time.
const BATCH: usize = 4096;

/// Where in the seed's stream the places of the first seventh start, and how far apart the sevenths are; taps lie below.
const PLACES_COUNTER: u128 = 1 << 64;

/// A code: `outputs` elements from `positions`.
pub(crate) struct Code {
    outputs: usize,
    positions: usize,
    stream: Aes128,
    /// One word for each element of `y`.
    taps: Vec<u32>,
}

impl Code {
    /// The code of a public seed.
    pub fn new(outputs: usize, positions: usize, seed: u128) -> Self {
        assert!(positions >= 2 * outputs && outputs >= WEIGHT, "the systematic code has rate at most 1/2");
        let stream = Aes128::new(seed);
        let taps = taps(&stream, positions - outputs);
        Self { outputs, positions, stream, taps }
    }

    /// Compresses a vector over `F`.
    pub fn compress(&self, mut x: Vec<Gf128>) -> Vec<Gf128> {
        assert_eq!(x.len(), self.positions, "one element a position");
        let (out, y) = x.split_at_mut(self.outputs);
        convolve(bytemuck::cast_slice_mut(y), &self.taps);
        self.expand(y, out);
        y.iter_mut().zeroize();
        x.truncate(self.outputs);
        x.shrink_to_fit();
        x
    }

    /// Compresses sparse noise over `B`, given as places and values.
    pub fn compress_noise<B: Value>(&self, noise: impl Iterator<Item = (usize, B)>) -> Vec<B> {
        let mut out = vec![B::default(); self.outputs];
        let mut y = vec![B::default(); self.positions - self.outputs];
        for (place, value) in noise {
            match place.checked_sub(self.outputs) {
                None => out[place] += value,
                Some(place) => y[place] += value,
            }
        }
        match B::BITS {
            64 => convolve_u64(bytemuck::cast_slice_mut(&mut y), &self.taps),
            _ => convolve(bytemuck::cast_slice_mut(&mut y), &self.taps),
        }
        self.expand(&y, &mut out);
        y.zeroize();
        out
    }

    /// Adds to each output the element of `y` at its place in every seventh. A pass for each seventh, so that it stays in cache.
    fn expand<B: Value>(&self, y: &[B], out: &mut [B]) {
        let mut words = vec![0u128; BATCH / 4];
        for s in 0..WEIGHT {
            let seventh = &y[s * y.len() / WEIGHT..(s + 1) * y.len() / WEIGHT];
            let mut counter = PLACES_COUNTER * (s as u128 + 1);
            for out in out.chunks_mut(BATCH) {
                self.stream.ctr(counter, &mut words);
                counter += words.len() as u128;
                for (out, &draw) in out.iter_mut().zip(bytemuck::cast_slice::<u128, u32>(&words)) {
                    *out += seventh[((u64::from(draw) * seventh.len() as u64) >> 32) as usize];
                }
            }
        }
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
        for (outputs, positions) in [(7, 14), (100, 217), (1000, 2001), (5000, 10_016)] {
            let (x, y) = (random(&mut rng, positions), random(&mut rng, positions));
            let sum: Vec<Gf128> = x.iter().zip(&y).map(|(&x, &y)| x + y).collect();
            let expected = Code::new(outputs, positions, 5).compress(sum.clone());
            let parts = [x, y].map(|part| Code::new(outputs, positions, 5).compress(part));
            assert!((0..outputs).all(|i| expected[i] == parts[0][i] + parts[1][i]));
            for backend in Backend::available() {
                with_backend(backend, || assert!(Code::new(outputs, positions, 5).compress(sum.clone()) == expected, "{}", backend.name()));
            }
            assert_ne!(Code::new(outputs, positions, 6).compress(sum), expected);
        }
    }

    #[test]
    fn noise_is_compressed_as_the_vector_that_it_stands_for() {
        let mut rng = SecretRng::insecure_from_seed(4);
        let (outputs, positions) = (900, 1811);
        let noise: Vec<(usize, Gf128)> = (0..positions).step_by(57).map(|place| (place, Gf128(rng.block()))).collect();
        let mut dense = vec![Gf128::default(); positions];
        noise.iter().for_each(|&(place, value)| dense[place] = value);
        let expected = Code::new(outputs, positions, 5).compress(dense);
        for backend in Backend::available() {
            with_backend(backend, || {
                let code = Code::new(outputs, positions, 5);
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
            let units = (0..positions).map(|p| Gf128(if p / 128 == block { 1 << (p % 128) } else { 0 })).collect();
            for (row, bits) in rows.iter_mut().zip(Code::new(outputs, positions, seed).compress(units)) {
                row[block] = bits.0;
            }
        }
        rows
    }

    #[test]
    fn every_row_and_every_sum_of_two_rows_weighs_more_than_the_distance() {
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
    }
}
