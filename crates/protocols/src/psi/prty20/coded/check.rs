//! The consistency check of OOS17: all corrections are to words of the code.
//!
//! For the sender `q_i + t_i = s C(D_i)` in every row, which is linear over GF(2). So it holds for the hash of each
//! column, too: [`ColumnHash`] is linear. The receiver sends the hashes of all bits of its words and of all columns
//! of `T`, and the sender compares with those of `Q`. The last block of rows has random words and coefficient one,
//! and is used for nothing else: it hides both. docs/parameters/prty20.md says what passes.

use vesica_mpc::code_oprf::{ColumnHash, Columns, LongBch, ROWS_PER_BLOCK, fits};
use vesica_party::{Abort, Channel, Message, Phase};
use vesica_structures::fields::{Bits256 as Value, Bits1024 as Row};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::super::messages::{Answer, Challenge};
use super::OPENED_HASHES;

/// The receiver's side: answers the challenge on its words, in whole blocks of rows.
pub(super) fn answer(zeros: &Columns, words: &[Value], ch: &mut Channel) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Check);
    // Step 8.
    let Challenge(challenge) = ch.recv(())?;
    // Step 9.
    ch.send(&opening(challenge, zeros, words))
}

/// What answers this challenge.
pub(in super::super) fn opening(challenge: u128, zeros: &Columns, words: &[Value]) -> Answer {
    let hash = ColumnHash::new(challenge, words.len() / ROWS_PER_BLOCK);
    let of_words = hash.of_words(LongBch::WORD_BITS, |first, block, bits| {
        for (bits, word) in bits.iter_mut().zip(&words[first..]) {
            *bits = u128::from(word.0[2 * block]) | u128::from(word.0[2 * block + 1]) << 64;
        }
    });
    let mut hashes = [0; OPENED_HASHES];
    hashes[..LongBch::WORD_BITS].copy_from_slice(&of_words);
    hashes[LongBch::WORD_BITS..].copy_from_slice(&hash.of_columns(zeros));
    Answer(hashes)
}

/// The sender's side: challenges the receiver, and compares with the rows `q`, in whole blocks.
///
/// # Errors
/// If the answer does not fit the rows, or does not come.
pub(super) fn challenge(
    code: &LongBch,
    secret: &Row,
    q: &[Row],
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Check);
    // Step 8. Not before: until here the peer has sent all of its corrections.
    let challenge = rng.block();
    ch.send(&Challenge(challenge))?;
    let hash = ColumnHash::new(challenge, q.len() / ROWS_PER_BLOCK);
    let q: &[[u128; 8]] = bytemuck::cast_slice(q);
    let of_rows = hash.of_rows(q.chunks(ROWS_PER_BLOCK));
    // Step 9.
    let Answer(hashes) = ch.recv(())?;
    let (of_words, of_zeros) = hashes.split_at(LongBch::WORD_BITS);
    // Bit by bit of the hashes, the code word of the bits.
    let mut coded = Secret::new(vec![[0; 8]; ROWS_PER_BLOCK]);
    code.words_of_bits(of_words, |number, word: [u128; 8]| coded[number] = word);
    if !fits(&of_rows, &mut coded, &secret.0, of_zeros) {
        return Err(Abort::PeerMisbehaved(<Answer as Message>::STEP, "a correction is to no word of the code"));
    }
    Ok(())
}
