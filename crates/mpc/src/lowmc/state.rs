//! The states of many blocks as planes, with a bit of many blocks in each word.

use rayon::prelude::*;
use vesica_structures::secret::Secret;

use super::instance::{BITS, Matrix};
use crate::bits::{Bits, transpose_64};

/// Words of a plane that are worked on at a time: a piece and its tables stay in the first cache.
const WORDS: usize = 8;

/// Rows of a matrix go through the planes in groups of so many.
const PLANES_PER_GROUP: usize = 4;

/// The planes of some blocks, 64 a word.
pub(super) type Piece = [[u64; WORDS]; BITS];

/// The states of `len` blocks; what lies beyond them is of no use.
pub(super) struct State {
    pub pieces: Secret<Vec<Piece>>,
    len: usize,
}

impl State {
    pub fn zeros(len: usize) -> Self {
        Self { pieces: Secret::new(vec![[[0; WORDS]; BITS]; len.div_ceil(64 * WORDS)]), len }
    }

    pub fn of(blocks: &[u128]) -> Self {
        let mut state = Self::zeros(blocks.len());
        state.pieces.par_iter_mut().zip(blocks.par_chunks(64 * WORDS)).for_each(|(piece, blocks)| {
            let mut squares = Secret::new([[0; 64]; 2]);
            for (word, blocks) in blocks.chunks(64).enumerate() {
                *squares = [[0; 64]; 2];
                for (i, block) in blocks.iter().enumerate() {
                    (squares[0][i], squares[1][i]) = (*block as u64, (block >> 64) as u64);
                }
                squares.iter_mut().for_each(transpose_64);
                piece.iter_mut().zip(squares.as_flattened()).for_each(|(plane, bits)| plane[word] = *bits);
            }
        });
        state
    }

    pub fn blocks(&self) -> Secret<Vec<u128>> {
        let mut blocks = Secret::new(vec![0; self.len]);
        blocks.par_chunks_mut(64 * WORDS).zip(self.pieces.par_iter()).for_each(|(blocks, piece)| {
            let mut squares = Secret::new([[0; 64]; 2]);
            for (word, blocks) in blocks.chunks_mut(64).enumerate() {
                squares.as_flattened_mut().iter_mut().zip(piece).for_each(|(bits, plane)| *bits = plane[word]);
                squares.iter_mut().for_each(transpose_64);
                for (i, block) in blocks.iter_mut().enumerate() {
                    *block = u128::from(squares[0][i]) | u128::from(squares[1][i]) << 64;
                }
            }
        });
        blocks
    }

    /// Adds a block to each, in the same time whatever it is.
    pub fn add(&mut self, block: u128) {
        self.pieces.par_iter_mut().for_each(|piece| {
            for (bit, plane) in piece.iter_mut().enumerate() {
                let mask = ((block >> bit & 1) as u64).wrapping_neg();
                plane.iter_mut().for_each(|word| *word ^= mask);
            }
        });
    }

    /// Multiplies each by a public matrix, with the method of the four Russians: all sums of a few
    /// planes are made once for all rows.
    pub fn multiply(&mut self, matrix: &Matrix) {
        self.pieces.par_iter_mut().for_each(|piece| {
            let before = Secret::new(*piece);
            let mut sums = Secret::new([[0; WORDS]; 1 << PLANES_PER_GROUP]);
            *piece = [[0; WORDS]; BITS];
            for (group, planes) in before.chunks_exact(PLANES_PER_GROUP).enumerate() {
                for set in 1..sums.len() {
                    let (rest, plane) = (sums[set & (set - 1)], &planes[set.trailing_zeros() as usize]);
                    sums[set] = std::array::from_fn(|word| rest[word] ^ plane[word]);
                }
                for (row, product) in matrix.iter().zip(piece.iter_mut()) {
                    let sum = &sums[(row >> (PLANES_PER_GROUP * group)) as usize % (1 << PLANES_PER_GROUP)];
                    product.iter_mut().zip(sum).for_each(|(product, sum)| *product ^= sum);
                }
            }
        });
    }

    pub fn plane(&self, bit: usize) -> Bits {
        let words = self.pieces.iter().flat_map(|piece| piece[bit]);
        Bits::from_words(words.take(self.len.div_ceil(64)).collect(), self.len)
    }

    pub fn set_plane(&mut self, bit: usize, plane: &Bits) {
        for (piece, words) in self.pieces.iter_mut().zip(plane.words().chunks(WORDS)) {
            piece[bit][..words.len()].copy_from_slice(words);
        }
    }
}
