//! Encryption in the clear.

use rayon::prelude::*;
use vesica_structures::secret::Secret;

use super::instance::{BOXED, Instance, ROUNDS, instance};
use super::state::{Piece, State};

/// The round keys of a key: one that is added before the first round, and one for each round.
pub struct RoundKeys(Secret<Vec<u128>>);

impl RoundKeys {
    /// The round keys of this key.
    pub fn new(key: u128) -> Self {
        Self::of(instance(), key)
    }

    pub(super) fn of(instance: &Instance, key: u128) -> Self {
        let parity = |row: &u128| u128::from((row & key).count_ones() % 2);
        let product = |matrix: &[u128]| matrix.iter().rev().fold(0, |block, row| block << 1 | parity(row));
        Self(Secret::new(instance.keys.iter().map(|matrix| product(matrix)).collect()))
    }

    /// Round key `round`, of [`ROUNDS`] and the first one.
    pub(super) fn get(&self, round: usize) -> u128 {
        self.0[round]
    }

    /// The encryptions of these blocks. Bits are computed and not looked up: the time tells nothing
    /// of them.
    pub fn encrypt(&self, blocks: &[u128]) -> Secret<Vec<u128>> {
        self.encrypt_by(instance(), ROUNDS, BOXED, blocks)
    }

    pub(super) fn encrypt_by(
        &self,
        instance: &Instance,
        rounds: usize,
        boxed: usize,
        blocks: &[u128],
    ) -> Secret<Vec<u128>> {
        let mut state = State::of(blocks);
        state.add(self.get(0));
        for round in 0..rounds {
            state.pieces.par_iter_mut().for_each(|piece| substitute(piece, boxed));
            state.multiply(&instance.linear[round]);
            state.add(instance.constants[round] ^ self.get(round + 1));
        }
        state.blocks()
    }
}

impl std::fmt::Debug for RoundKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RoundKeys(..)")
    }
}

/// All S-boxes: `(a, b, c)`, of which `c` is the lowest bit, becomes `(a + bc, a + b + ac, a + b + c
/// + ab)`.
fn substitute(piece: &mut Piece, boxed: usize) {
    for [low, middle, high] in piece[..boxed].as_chunks_mut::<3>().0 {
        for ((c, b), a) in low.iter_mut().zip(middle).zip(high) {
            (*a, *b, *c) = (*a ^ *b & *c, *a ^ *b ^ *a & *c, *a ^ *b ^ *c ^ *a & *b);
        }
    }
}
