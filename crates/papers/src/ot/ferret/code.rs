//! The code of an instance: each position is the sum of its noise and of ten secret bits at random places.

use std::ops::BitXorAssign;

use rayon::prelude::*;
use vesica_kernels::aes::Aes128;
use vesica_mpc::ot_parts::Binding;

/// Secret bits of a position (`d`).
pub const LOCALITY: usize = 10;

/// Blocks of the cipher a position: their 32-bit words are its draws, of which the last two are not used.
const BLOCKS_PER_POSITION: usize = LOCALITY.div_ceil(4);

/// Positions that a thread encodes at a time.
const POSITIONS_PER_TASK: usize = 1 << 12;

/// Positions whose places are drawn at a time.
const POSITIONS_PER_BATCH: usize = 128;

/// A random linear code of locality [`LOCALITY`], expanded from a public seed as it is used.
#[derive(Debug)]
pub struct Code(Aes128);

impl Code {
    /// The code of an instance, from the seed of the run.
    pub fn new(binding: Binding, seed: u128) -> Self {
        Self(Aes128::new(binding.extend("code", &seed.to_le_bytes()).key("code", &[])))
    }

    /// Adds the secrets of the positions from number `first` on to their noise in `out`.
    ///
    /// A draw of 32 bits names one of `k` places; each place is drawn with a probability within a factor `1 + k / 2^32` of
    /// the uniform one.
    pub fn add<T: Copy + BitXorAssign + Send + Sync>(&self, secrets: &[T], first: usize, out: &mut [T]) {
        let count = secrets.len() as u64;
        out.par_chunks_mut(POSITIONS_PER_TASK).enumerate().for_each(|(task, out)| {
            let mut blocks = [0u128; BLOCKS_PER_POSITION * POSITIONS_PER_BATCH];
            for (batch, out) in out.chunks_mut(POSITIONS_PER_BATCH).enumerate() {
                let start = first + task * POSITIONS_PER_TASK + batch * POSITIONS_PER_BATCH;
                let blocks = &mut blocks[..BLOCKS_PER_POSITION * out.len()];
                self.0.ctr((BLOCKS_PER_POSITION * start) as u128, blocks);
                for (out, blocks) in out.iter_mut().zip(blocks.as_chunks::<BLOCKS_PER_POSITION>().0) {
                    let draws = blocks.iter().flat_map(|block| (0..4).map(move |word| (block >> (32 * word)) as u32));
                    for draw in draws.take(LOCALITY) {
                        *out ^= secrets[((u64::from(draw) * count) >> 32) as usize];
                    }
                }
            }
        });
    }
}
