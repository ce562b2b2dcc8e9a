//! The right column of the figure: gets one block a transfer, by a choice bit.

use rayon::prelude::*;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Answer, Challenge, Corrections};
use super::{COLUMNS, Params};
use crate::base_ot;
use crate::code_oprf::{ColumnHash, Columns, ROWS_PER_BLOCK, ROWS_PER_PIECE, ROWS_PER_STRIP};
use crate::ot_extension::{CorrelationHash, UniversalHash, bit};
use crate::silent::bulk::batch_binding;
use crate::tasks::OtChosen;

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(OtChosen);

impl Party for Receiver {
    type Params = Params;
    type Input = ();
    type Output = OtChosen;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let (keys, binding) = ch.reversed(|ch| base_ot::send(COLUMNS, ch, rng))?;
        let [zeros, ones] = [0, 1].map(|slot: usize| Columns::new(keys.iter().map(move |pair| pair[slot])));

        // Step 1.
        let phase = ch.phase(Phase::OtExtension);
        let choices: Secret<Vec<u128>> = Secret::new((0..params.rows().div_ceil(128)).map(|_| rng.block()).collect());
        let mut rows = Secret::new(vec![[0]; params.rows()]);
        let mut corrections = vec![0; ROWS_PER_PIECE.min(params.rows())];
        for (first, rows) in (0..params.rows()).step_by(ROWS_PER_PIECE).zip(rows.chunks_mut(ROWS_PER_PIECE)) {
            let corrections = &mut corrections[..rows.len()];
            next_rows([&zeros, &ones], &choices[first / 128..], first, rows, corrections);
            ch.send_stream::<Corrections>(corrections)?;
        }
        drop(phase);

        if params.is_checked {
            let _phase = ch.phase(Phase::Check);
            // Step 2.
            let Challenge(challenge) = ch.recv(())?;
            // Step 3.
            let blocks = params.rows() / ROWS_PER_BLOCK;
            let of_columns = ColumnHash::new(challenge, blocks).of_columns(&zeros);
            let mut answer =
                Answer { choices: UniversalHash::new(challenge, blocks).hash(&choices), columns: [0; COLUMNS] };
            answer.columns.copy_from_slice(&of_columns);
            ch.send(&answer)?;
        }
        let _phase = ch.phase(Phase::OtExtension);
        let rows: &[u128] = bytemuck::cast_slice(&rows[..params.len]);
        let chosen = CorrelationHash::new(binding).hash(rows);
        Ok(Self(OtChosen { choices: (0..params.len).map(|i| bit(&choices, i)).collect(), chosen }))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtChosen, Abort> {
        Ok(self.0)
    }
}

/// The receiver's rows of a piece, of which `first` is the number of the first, and the corrections to the bits `choices`.
fn next_rows(
    [zeros, ones]: [&Columns; 2],
    choices: &[u128],
    first: usize,
    rows: &mut [[u128; 1]],
    corrections: &mut [u128],
) {
    let strips = rows.par_chunks_mut(ROWS_PER_STRIP).zip(corrections.par_chunks_mut(ROWS_PER_STRIP));
    strips.enumerate().for_each(|(strip, (rows, corrections))| {
        let start = strip * ROWS_PER_STRIP;
        zeros.rows(first + start, rows);
        let mut others = Secret::new(vec![[0]; rows.len()]);
        ones.rows(first + start, &mut others);
        for (i, (correction, ([row], [other]))) in
            corrections.iter_mut().zip(rows.iter().zip(others.iter())).enumerate()
        {
            *correction = row ^ other ^ u128::from(bit(choices, start + i)).wrapping_neg();
        }
    });
}

/// The OTs piece by piece, without a check.
pub(super) fn each_batch(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
    mut keep: impl FnMut(OtChosen),
) -> Result<(), Abort> {
    let (keys, binding) = ch.reversed(|ch| base_ot::send(COLUMNS, ch, rng))?;
    let [zeros, ones] = [0, 1].map(|slot: usize| Columns::new(keys.iter().map(move |pair| pair[slot])));
    let _phase = ch.phase(Phase::OtExtension);
    let mut corrections = vec![0; ROWS_PER_PIECE.min(params.len)];
    let mut rows = Secret::new(vec![[0]; corrections.len()]);
    for (batch, first) in (0..params.len).step_by(ROWS_PER_PIECE).enumerate() {
        let count = ROWS_PER_PIECE.min(params.len - first);
        let choices: Secret<Vec<u128>> = Secret::new((0..count.div_ceil(128)).map(|_| rng.block()).collect());
        // Step 1.
        next_rows([&zeros, &ones], &choices, first, &mut rows[..count], &mut corrections[..count]);
        ch.send_stream::<Corrections>(&corrections[..count])?;
        let chosen = CorrelationHash::new(batch_binding(binding, batch)).hash(bytemuck::cast_slice(&rows[..count]));
        keep(OtChosen { choices: (0..count).map(|i| bit(&choices, i)).collect(), chosen });
    }
    Ok(())
}
