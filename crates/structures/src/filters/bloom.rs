//! The Bloom filter: Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors" (CACM 1970).
//!
//! `k` positions of each tag are set among `m` bits, `k` being the bits that a look-up asks for. A
//! filter counts as built if at most half of its bits are set, so that `k` random positions are all
//! ones with probability at most `2^-k`: no estimate of the load enters. `m` is such that an attempt
//! fails with probability at most 1/4 ([`Shape::new`]).
//!
//! `k` positions take more randomness than a tag's 128 bits. Double hashing, which makes them of two
//! numbers, would not do: two tags agree in both with a probability far above `2^-k`. Here each pair
//! of positions is a block of AES under a key of its own, in the way of Matyas, Meyer and Oseas,
//! modelled as a random function of the tag. The keys are public.

use super::mix::place;
use super::{ATTEMPTS, Demand, Filter, Malformed};
use crate::facts::Unsupported;
use crate::prf::DigestPrf;
use crate::secret::Secret;

/// Tags that are expanded at a time.
const BATCH: usize = 64;

/// The shape of a Bloom filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Most tags.
    tags: usize,
    /// Positions of a tag, `k`.
    positions: u32,
    /// `m`, a multiple of 8.
    bits: usize,
}

impl Shape {
    /// `N = n k` random positions among `m` bits set `m (1 - (1 - 1/m)^N)` of them on average, and by
    /// McDiarmid's inequality `sqrt(N ln(4) / 2)` more with probability at most 1/4. Together this is at
    /// most [`most_ones`](Self::most_ones) if `m >= 1.44271 N + 2.41 sqrt(N) + 12`: docs/parameters/filters.md.
    fn new(tags: usize, positions: u32) -> Self {
        let set = tags * positions as usize;
        let bits = (set * 144_271).div_ceil(100_000) + (241 * (set.isqrt() + 1)).div_ceil(100) + 12;
        Self { tags, positions, bits: bits.next_multiple_of(8) }
    }

    /// Half of the bits, less `2^-20` of them: positions are bits of a 64-bit number times `m`, and so
    /// not quite uniform, by `m 2^-64`.
    fn most_ones(&self) -> usize {
        (self.bits - self.bits.div_ceil(1 << 19)) / 2
    }

    /// Hands the positions of some tags to `take`, each with the number of its tag.
    fn positions(&self, prfs: &[DigestPrf], tags: &[u128], mut take: impl FnMut(usize, usize)) {
        // What a tag expands to is as secret as the tag.
        let mut blocks = Secret::new([0; BATCH]);
        for (batch, tags) in tags.chunks(BATCH).enumerate() {
            let blocks = &mut blocks[..tags.len()];
            let mut left = self.positions;
            for prf in prfs {
                prf.eval(tags, blocks);
                for (number, &block) in blocks.iter().enumerate() {
                    take(BATCH * batch + number, place(block as u64, self.bits));
                    if left > 1 {
                        take(BATCH * batch + number, place((block >> 64) as u64, self.bits));
                    }
                }
                left = left.saturating_sub(2);
            }
        }
    }

    /// The functions of an attempt, one for two positions.
    fn prfs(&self, attempt: u8) -> Vec<DigestPrf> {
        let key = |pair: u32| u128::from(attempt) << 32 | u128::from(pair);
        (0..self.positions.div_ceil(2)).map(|pair| DigestPrf::new(DOMAIN ^ key(pair))).collect()
    }
}

/// Separates these functions from others under public keys.
const DOMAIN: u128 = u128::from_le_bytes(*b"\0\0\0\0\0\0bloom pos.");

/// Bits, of which those at the positions of the tags are ones.
pub struct BloomFilter {
    shape: Shape,
    attempt: u8,
    prfs: Vec<DigestPrf>,
    bits: Vec<u8>,
}

impl BloomFilter {
    fn new(shape: &Shape, attempt: u8, bits: Vec<u8>) -> Option<Self> {
        let ones: usize = bits.iter().map(|byte| byte.count_ones() as usize).sum();
        (ones <= shape.most_ones()).then(|| Self { shape: *shape, attempt, prfs: shape.prfs(attempt), bits })
    }
}

impl Filter for BloomFilter {
    type Shape = Shape;

    fn shape(demand: &Demand) -> Result<Shape, Unsupported> {
        demand.check()?;
        Ok(Shape::new(demand.least_tags(), demand.bits_per_look_up().max(1)))
    }

    fn bytes(shape: &Shape) -> usize {
        shape.bits / 8 + 1
    }

    fn attempt(shape: &Shape, tags: &[u128], attempt: u8) -> Option<Self> {
        assert!(tags.len() <= shape.tags, "as many tags as the filter is for");
        // With space for the attempt's number behind them.
        let mut bits = Vec::with_capacity(Self::bytes(shape));
        bits.resize(shape.bits / 8, 0);
        shape.positions(&shape.prfs(attempt), tags, |_, bit| bits[bit / 8] |= 1 << (bit % 8));
        Self::new(shape, attempt, bits)
    }

    fn into_bytes(self) -> Vec<u8> {
        let Self { attempt, mut bits, .. } = self;
        bits.push(attempt);
        bits
    }

    fn parse(shape: &Shape, mut bytes: Vec<u8>) -> Result<Self, Malformed> {
        if bytes.len() != Self::bytes(shape) {
            return Err(Malformed::Length);
        }
        let attempt = bytes.pop().unwrap_or(ATTEMPTS);
        if attempt >= ATTEMPTS {
            return Err(Malformed::Attempt);
        }
        Self::new(shape, attempt, bytes).ok_or(Malformed::TooFull)
    }

    fn look_up_here(&self, tags: &[u128], found: &mut [bool]) {
        found.fill(true);
        self.shape.positions(&self.prfs, tags, |number, bit| {
            found[number] &= self.bits[bit / 8] >> (bit % 8) & 1 == 1;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean, and the deviation that McDiarmid's inequality allows with probability 1/4.
    #[test]
    fn an_attempt_fails_with_probability_at_most_a_quarter() {
        for positions in [1, 2, 10, 42, 62, 80] {
            for tags in [1, 2, 3, 10, 1000, 12_345, 1 << 20, 3 << 20, 1 << 28] {
                let shape = Shape::new(tags, positions);
                let (set, bits) = ((tags * positions as usize) as f64, shape.bits as f64);
                let mean = -bits * (set * (-1.0 / bits).ln_1p()).exp_m1();
                let most = mean + (set * 4f64.ln() / 2.0).sqrt();
                let room = shape.most_ones() as f64 - most;
                assert!(room >= 0.0, "{tags} {positions}: {room}");
                assert!(room <= 20.0 + bits / 1e5, "{tags} {positions}: {room}");
                assert!((shape.most_ones() as f64 / bits) * (1.0 + bits * 2f64.powi(-64)) <= 0.5);
            }
        }
    }
}
