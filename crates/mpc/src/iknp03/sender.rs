//! The left column of the figure: gets two blocks a transfer.

use rayon::prelude::*;
use subtle::Choice;
use vesica_party::{Abort, Channel, Message, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Answer, Challenge, Corrections};
use super::{COLUMNS, Params};
use crate::base_ot;
use crate::code_oprf::{ColumnHash, Columns, ROWS_PER_BLOCK, ROWS_PER_PIECE, ROWS_PER_STRIP};
use crate::ot_extension::CorrelationHash;
use crate::silent::bulk::batch_binding;
use crate::tasks::OtPairs;

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender(OtPairs);

impl Party for Sender {
    type Params = Params;
    type Input = ();
    type Output = OtPairs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let secret = Secret::new(rng.block());
        let choices = (0..COLUMNS).map(|j| Choice::from((*secret >> j & 1) as u8));
        let (keys, binding) = ch.reversed(|ch| base_ot::receive(choices, ch, rng))?;
        let chosen = Columns::new(keys.iter().copied());

        // Step 1. Memory follows what has come.
        let phase = ch.phase(Phase::OtExtension);
        let mut rows: Secret<Vec<[u128; 1]>> = Secret::new(Vec::new());
        let mut corrections = vec![0; ROWS_PER_PIECE.min(params.rows())];
        for first in (0..params.rows()).step_by(ROWS_PER_PIECE) {
            let corrections = &mut corrections[..ROWS_PER_PIECE.min(params.rows() - first)];
            ch.recv_stream::<Corrections>(corrections)?;
            grow(&mut rows, first + corrections.len());
            correct(&chosen, *secret, first, corrections, &mut rows[first..]);
        }
        drop(phase);

        if params.is_checked {
            check(&rows, *secret, ch, rng)?;
        }
        let _phase = ch.phase(Phase::OtExtension);
        let rows: &mut [u128] = bytemuck::cast_slice_mut(&mut rows[..params.len]);
        Ok(Self(CorrelationHash::new(binding).pairs(rows, *secret)))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtPairs, Abort> {
        Ok(self.0)
    }
}

/// The sender's rows of a piece, of which `first` is the number of the first.
fn correct(chosen: &Columns, secret: u128, first: usize, corrections: &[u128], rows: &mut [[u128; 1]]) {
    let strips = rows.par_chunks_mut(ROWS_PER_STRIP).zip(corrections.par_chunks(ROWS_PER_STRIP));
    strips.enumerate().for_each(|(strip, (rows, corrections))| {
        chosen.rows(first + strip * ROWS_PER_STRIP, rows);
        rows.iter_mut().zip(corrections).for_each(|([row], correction)| *row ^= correction & secret);
    });
}

/// The OTs piece by piece, without a check.
pub(super) fn each_batch(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
    mut keep: impl FnMut(OtPairs),
) -> Result<(), Abort> {
    let secret = Secret::new(rng.block());
    let choices = (0..COLUMNS).map(|j| Choice::from((*secret >> j & 1) as u8));
    let (keys, binding) = ch.reversed(|ch| base_ot::receive(choices, ch, rng))?;
    let chosen = Columns::new(keys.iter().copied());
    let _phase = ch.phase(Phase::OtExtension);
    let mut corrections = vec![0; ROWS_PER_PIECE.min(params.len)];
    let mut rows = Secret::new(vec![[0]; corrections.len()]);
    for (batch, first) in (0..params.len).step_by(ROWS_PER_PIECE).enumerate() {
        let count = ROWS_PER_PIECE.min(params.len - first);
        // Step 1.
        ch.recv_stream::<Corrections>(&mut corrections[..count])?;
        correct(&chosen, *secret, first, &corrections[..count], &mut rows[..count]);
        let hash = CorrelationHash::new(batch_binding(binding, batch));
        keep(hash.pairs(bytemuck::cast_slice_mut(&mut rows[..count]), *secret));
    }
    Ok(())
}

/// Grows to `len` rows, and leaves no copy behind: what was there is wiped where it lay.
fn grow(rows: &mut Secret<Vec<[u128; 1]>>, len: usize) {
    if rows.capacity() < len {
        let mut larger = Vec::with_capacity(len.max(2 * rows.capacity()));
        larger.extend_from_slice(rows);
        *rows = Secret::new(larger);
    }
    rows.resize(len, [0]);
}

/// Steps 2 and 3: whether each row of the corrections is one bit, repeated.
fn check(rows: &[[u128; 1]], secret: u128, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Check);
    // Step 2.
    let challenge = rng.block();
    ch.send(&Challenge(challenge))?;
    let found = ColumnHash::new(challenge, rows.len() / ROWS_PER_BLOCK).of_rows(rows.chunks(ROWS_PER_BLOCK));
    // Step 3.
    let answer: Answer = ch.recv(())?;
    let wrong = found.iter().zip(&answer.columns).enumerate().fold(0, |wrong, (j, (found, column))| {
        wrong | (found ^ column ^ (answer.choices & (secret >> j & 1).wrapping_neg()))
    });
    if wrong != 0 {
        return Err(Abort::PeerMisbehaved(Answer::STEP, "the corrections are not consistent"));
    }
    Ok(())
}
