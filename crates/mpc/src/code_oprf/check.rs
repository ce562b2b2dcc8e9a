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
use super::rows::{Columns, Row};
use crate::ot_extension::UniversalHash;

/// The receiver's side: answers the challenge. `fill` writes the keys of rows from a number on.
pub(super) fn answer(
    params: &Params,
    zeros: &Columns,
    fill: impl Fn(usize, &mut [u128]),
    ch: &mut Channel,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Check);
    let blocks = params.rows() / 128;
    // Step 2.
    let Challenge(challenge) = ch.recv(())?;
    let hash = UniversalHash::new(challenge, blocks);
    // Step 3.
    let mut keys = vec![0; 128];
    for (block, weight) in hash.weights().enumerate() {
        let mut tile = Secret::new([0; 128]);
        fill(128 * block, &mut *tile);
        transpose_128x128(&mut tile);
        gf128_scale_add(&mut keys, weight, &*tile);
    }
    keys.truncate(params.request.key_bits as usize);
    let mut columns = Vec::with_capacity(params.width);
    zeros.each_column(blocks, |column| columns.push(hash.hash(column)));
    ch.send(&Answer { keys, columns })
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
    let hash = UniversalHash::new(challenge, params.rows() / 128);
    let mut columns = Secret::new(vec![0; 128 * C::Row::BLOCKS]);
    let tiles = pieces.iter().flat_map(|rows| rows.chunks(128));
    for (rows, weight) in tiles.zip(hash.weights()) {
        add_columns(&mut columns, weight, rows);
    }
    // Step 3.
    let Answer { keys, columns: of_zeros } =
        ch.recv(AnswerShape { key_bits: params.request.key_bits as usize, width: params.width })?;
    // Bit by bit of the hashes, the code word of the keys' bits.
    let mut tile = [0; 128];
    tile.iter_mut().zip(keys).for_each(|(bits, key)| *bits = key);
    transpose_128x128(&mut tile);
    let mut words = Vec::with_capacity(128);
    code.words(&tile, |_, word| words.push(masked(&word, secret)));
    let mut expected = Secret::new(vec![0; 128 * C::Row::BLOCKS]);
    add_columns(&mut expected, 1, &words);
    words.zeroize();
    expected.iter_mut().zip(of_zeros).for_each(|(expected, of_zeros)| *expected ^= of_zeros);
    let wrong = columns.iter().zip(expected.iter()).fold(0, |wrong, (found, expected)| wrong | (found ^ expected));
    if wrong != 0 {
        return Err(Abort::PeerMisbehaved(Answer::STEP, "a correction is to no word of the code"));
    }
    Ok(())
}

/// `word & secret`.
fn masked<R: Row>(word: &R, secret: &R) -> R {
    R::of(|q| word.blocks()[q] & secret.blocks()[q])
}

/// Adds `weight` times the block of 128 rows to the hash of each column.
fn add_columns<R: Row>(columns: &mut [u128], weight: u128, rows: &[R]) {
    for (q, columns) in columns.chunks_exact_mut(128).enumerate() {
        let mut tile = [0; 128];
        tile.iter_mut().zip(rows).for_each(|(block, row)| *block = row.blocks()[q]);
        transpose_128x128(&mut tile);
        gf128_scale_add(columns, weight, &tile);
        tile.zeroize();
    }
}
