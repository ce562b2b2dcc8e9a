//! The result of the OTs, and the rows that follow from it.

use std::ops::Range;

use rayon::prelude::*;
use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Abort, Channel, Party, Protocol};
use vesica_structures::okvs::{Arrangement, FreeCells, Okvs};
use vesica_structures::ot_rows::Columns;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::super::Params;
use super::super::messages::Corrections;
use super::super::mode::{ReceiverRows, SenderRows};
use super::Row;
use super::functions::AesFunctions;

/// Rows that follow from one block of each column.
const ROWS_PER_BLOCK: usize = 128;

/// Blocks of each column that a thread makes at a time.
const BLOCKS_PER_STRIP: usize = 16;

/// The result of the OTs for the sender: `s`, and the key of each column that it chose.
pub(in super::super) struct SenderColumns {
    chosen: Columns,
    secret: Secret<Row>,
}

/// The result of the OTs for the receiver: the keys of `T` and of `U`.
pub(in super::super) struct ReceiverColumns([Columns; 2]);

impl SenderColumns {
    /// `row += s value`, bit by bit.
    fn correct_row(&self, row: &mut Row, value: &Row) {
        for ((word, value), secret) in row.0.iter_mut().zip(value.0).zip(self.secret.0) {
            *word ^= value & secret;
        }
    }
}

impl SenderRows for SenderColumns {
    type Functions = AesFunctions;
    const IS_CHECKED: bool = false;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = params.transfers;
        let chosen = ch.reversed(|ch| <OtExtension as Protocol>::Receiver::setup(&base, ch, rng)?.run((), ch, rng))?;
        let mut secret = Secret::new(Row::default());
        for (column, &choice) in chosen.choices.iter().enumerate() {
            secret.0[column / 64] |= u64::from(choice) << (column % 64);
        }
        Ok(Self { chosen: Columns::new(chosen.chosen.iter().copied()), secret })
    }

    fn rows(&self, numbers: Range<usize>) -> Secret<Vec<Row>> {
        rows(&self.chosen, numbers)
    }

    fn correct(&self, rows: &mut [Row], corrections: &[Row]) {
        rows.iter_mut().zip(corrections).for_each(|(row, correction)| self.correct_row(row, correction));
    }

    /// The code is the identity.
    fn correct_by_values(&self, rows: &mut [Row], values: &[Row]) {
        self.correct(rows, values);
    }

    fn check(&self, _: &[Row], _: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        Ok(())
    }
}

impl ReceiverRows for ReceiverColumns {
    type Functions = AesFunctions;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = params.transfers;
        let pairs = ch.reversed(|ch| <OtExtension as Protocol>::Sender::setup(&base, ch, rng)?.run((), ch, rng))?;
        Ok(Self([0, 1].map(|side| Columns::new(pairs.pairs.iter().map(|pair| pair[side])))))
    }

    /// Step 2. The masks stand where the table would: nothing else of it is kept.
    fn send_table(
        self,
        params: &Params,
        okvs: &impl Okvs,
        pairs: (&Arrangement, &[Row]),
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<Secret<Vec<Row>>, Abort> {
        let Self([zeros, ones]) = self;
        let mut masks = Secret::new(vec![Row::default(); okvs.len()]);
        let mask = |place: Range<usize>, cells: &mut [Row]| {
            let (t, u) = (rows(&zeros, place.clone()), rows(&ones, place.clone()));
            for ((cell, &t), &u) in cells.iter_mut().zip(t.iter()).zip(u.iter()) {
                *cell += t + u;
            }
            masks[place].copy_from_slice(&t);
        };
        // Each cell leaves under T_i + U_i, of which the sender knows one summand in each column: free cells
        // need not be random.
        table::encode_and_send_vartime::<Corrections, Row>(okvs, pairs, FreeCells::Zero, mask, params.width, ch)?;
        Ok(masks)
    }
}

/// Rows of these numbers: row `i` has bit `i` of the stream of each column.
fn rows(columns: &Columns, numbers: Range<usize>) -> Secret<Vec<Row>> {
    let first = numbers.start / ROWS_PER_BLOCK;
    let blocks = numbers.end.div_ceil(ROWS_PER_BLOCK) - first;
    let mut rows = Secret::new(vec![Row::default(); ROWS_PER_BLOCK * blocks]);
    rows.par_chunks_mut(ROWS_PER_BLOCK * BLOCKS_PER_STRIP).enumerate().for_each(|(strip, rows)| {
        let first = first + strip * BLOCKS_PER_STRIP;
        let made = columns.bins(first..first + rows.len() / ROWS_PER_BLOCK);
        rows.copy_from_slice(bytemuck::cast_slice(made.as_flattened()));
    });
    rows.copy_within(numbers.start % ROWS_PER_BLOCK.., 0);
    rows.truncate(numbers.len());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_do_not_depend_on_what_is_asked_for_together() {
        let columns = Columns::new((0..438u32).map(|key| u128::from(key) * 77));
        let all = rows(&columns, 0..5000);
        assert!(all.iter().all(|row| row.0[6] >> 54 == 0 && row.0[7] == 0), "no bits beyond the width");
        for numbers in [0..1, 127..129, 128..256, 1000..4097, 5000..5000] {
            assert!(rows(&columns, numbers.clone())[..] == all[numbers]);
        }
    }
}
