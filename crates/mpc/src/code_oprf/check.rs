//! The consistency check of OOS17: all corrections are to words of the code.
//!
//! For the sender `q_i + t_i = C(y_i) & s` in every row, which is linear over GF(2) for a linear code.
//! So it holds for the hash `R` of each column, too, if `R` is a linear combination of the column's
//! blocks of 128 rows over GF(2^128): the receiver sends `R` of the bits of its keys and of the columns
//! of `t`, and the sender compares with `R` of the columns of `q`. The last block of rows has random
//! keys, is used for nothing else, and has coefficient one: it masks both hashes.
//!
//! Corrections that are no code words pass only if the receiver guesses the bits of `s` in the columns
//! where they are off. It may choose these columns after it has seen the challenge, and more than 40 of
//! them pass with probability 2^-41 at most (docs/parameters/one-of-n-ot.md).

use vesica_kernels::clmul::gf128_scale_add;
use vesica_kernels::transpose::transpose_128x128;
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::Params;
use super::codes::Code;
use super::messages::{Answer, AnswerShape, Challenge};
use super::rows::{Columns, MatrixRow};
use crate::ot_extension::UniversalHash;

/// Rows of a block, each bit of which the hash takes as an element of GF(2^128).
pub const ROWS_PER_BLOCK: usize = 128;

/// The receiver's side: answers the challenge. `fill` writes the keys of rows from a number on.
pub(super) fn answer(
    params: &Params,
    zeros: &Columns,
    fill: impl Fn(usize, &mut [u128]),
    ch: &mut Channel,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Check);
    // Step 2.
    let Challenge(challenge) = ch.recv(())?;
    let hash = ColumnHash::new(challenge, params.rows() / ROWS_PER_BLOCK);
    // Step 3.
    let keys = hash.of_words(params.request.key_bits as usize, |row, _, keys| fill(row, keys));
    ch.send(&Answer { keys, columns: hash.of_columns(zeros) })
}

/// The sender's side: challenges the receiver, and compares.
///
/// # Errors
/// If the answer does not fit the rows `q`, or does not come.
pub(super) fn challenge<C: Code>(
    params: &Params,
    code: &C,
    secret: &C::Row,
    pieces: &[Secret<Vec<C::Row>>],
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Check);
    // Step 2.
    let challenge = rng.block();
    ch.send(&Challenge(challenge))?;
    let hash = ColumnHash::new(challenge, params.rows() / ROWS_PER_BLOCK);
    let found = hash.of_rows(pieces.iter().flat_map(|rows| rows.chunks(ROWS_PER_BLOCK)));
    // Step 3.
    let Answer { keys, columns: of_zeros } =
        ch.recv(AnswerShape { key_bits: params.request.key_bits as usize, width: params.width })?;
    // Bit by bit of the hashes, the code word of the keys' bits.
    let mut tile = [0; 128];
    tile.iter_mut().zip(keys).for_each(|(bits, key)| *bits = key);
    transpose_128x128(&mut tile);
    let mut words = Secret::new(Vec::with_capacity(128));
    code.words(&tile, |_, word| words.push(word));
    if !fits(&found, &mut words, secret, &of_zeros) {
        return Err(Abort::PeerMisbehaved(Answer::STEP, "a correction is to no word of the code"));
    }
    Ok(())
}

/// `R` for a number of blocks at the point of a challenge. Its last block has coefficient one.
pub struct ColumnHash {
    hash: UniversalHash,
    blocks: usize,
}

impl ColumnHash {
    /// For this challenge and as many blocks of [`ROWS_PER_BLOCK`] rows.
    pub fn new(challenge: u128, blocks: usize) -> Self {
        Self { hash: UniversalHash::new(challenge, blocks), blocks }
    }

    /// `R` of each of `bits` bits of all words: `fill` gets the number of the first row of a block and which 128 bits
    /// of the words to write.
    pub fn of_words(&self, bits: usize, fill: impl Fn(usize, usize, &mut [u128])) -> Vec<u128> {
        let mut hashes = vec![0; bits.next_multiple_of(128)];
        for (block, weight) in self.hash.weights().enumerate() {
            for (number, hashes) in hashes.chunks_exact_mut(128).enumerate() {
                let mut tile = Secret::new([0; 128]);
                fill(ROWS_PER_BLOCK * block, number, &mut *tile);
                transpose_128x128(&mut tile);
                gf128_scale_add(hashes, weight, &*tile);
            }
        }
        hashes.truncate(bits);
        hashes
    }

    /// `R` of each column.
    pub fn of_columns(&self, columns: &Columns) -> Vec<u128> {
        let mut hashes = Vec::with_capacity(columns.len());
        columns.each_column(self.blocks, |column| hashes.push(self.hash.hash(column)));
        hashes
    }

    /// `R` of each column of these rows, which come block by block.
    pub fn of_rows<'a, R: MatrixRow>(&self, blocks: impl Iterator<Item = &'a [R]>) -> Secret<Vec<u128>> {
        let mut columns = Secret::new(vec![0; 128 * R::BLOCKS]);
        for (rows, weight) in blocks.zip(self.hash.weights()) {
            add_columns(&mut columns, weight, rows);
        }
        columns
    }
}

/// Whether hashes of the columns of `q` are those that `R(t)` and the words of `R(y)` ask for: word `i` is that of
/// bit `i` of all hashes. Uses up the words.
pub fn fits<R: MatrixRow>(of_rows: &[u128], words: &mut [R], secret: &R, of_zeros: &[u128]) -> bool {
    for word in &mut *words {
        word.blocks_mut().iter_mut().zip(secret.blocks()).for_each(|(word, secret)| *word &= secret);
    }
    let mut expected = Secret::new(vec![0; 128 * R::BLOCKS]);
    add_columns(&mut expected, 1, words);
    expected.iter_mut().zip(of_zeros).for_each(|(expected, of_zeros)| *expected ^= of_zeros);
    of_rows.iter().zip(expected.iter()).fold(0, |wrong, (found, expected)| wrong | (found ^ expected)) == 0
}

/// Adds `weight` times the block of 128 rows to the hash of each column.
fn add_columns<R: MatrixRow>(columns: &mut [u128], weight: u128, rows: &[R]) {
    for (q, columns) in columns.chunks_exact_mut(128).enumerate() {
        let mut tile = [0; 128];
        tile.iter_mut().zip(rows).for_each(|(block, row)| *block = row.blocks()[q]);
        transpose_128x128(&mut tile);
        gf128_scale_add(columns, weight, &tile);
        tile.zeroize();
    }
}
