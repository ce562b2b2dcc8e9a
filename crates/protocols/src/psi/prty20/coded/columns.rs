//! The result of the OTs, the rows that follow from it, and the code between them and the table.

use std::ops::Range;

use rand_core::Rng;
use rayon::prelude::*;
use vesica_mpc::code_oprf::{Columns, LongBch, ROWS_PER_BLOCK, ROWS_PER_STRIP};
use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Abort, Channel, Party, Protocol};
use vesica_structures::fields::{Bits256 as Value, Bits1024 as Row};
use vesica_structures::okvs::{Arrangement, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::super::Params;
use super::super::messages::Corrections;
use super::super::mode::{ReceiverRows, SenderRows};
use super::functions::Blake3Functions;
use super::{check, rows_made};

/// Words of a value's 64 bits that are used.
const WORDS_PER_VALUE: usize = LongBch::WORD_BITS / 64;

/// The result of the OTs for the sender: `s`, and the key of each column that it chose.
pub(in super::super) struct SenderColumns {
    chosen: Columns,
    secret: Secret<Row>,
    code: LongBch,
}

/// The result of the OTs for the receiver: the keys of `T` and of `U`.
pub(in super::super) struct ReceiverColumns {
    pub(in super::super) zeros: Columns,
    ones: Columns,
    code: LongBch,
}

impl SenderRows for SenderColumns {
    type Functions = Blake3Functions;
    const IS_CHECKED: bool = true;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = params.transfers;
        let chosen = ch.reversed(|ch| <OtExtension as Protocol>::Receiver::setup(&base, ch, rng)?.run((), ch, rng))?;
        let mut secret = Secret::new(Row::default());
        for (column, &choice) in chosen.choices.iter().enumerate() {
            secret.0[column / 128] |= u128::from(choice) << (column % 128);
        }
        Ok(Self { chosen: Columns::new(chosen.chosen.iter().copied()), secret, code: LongBch::new() })
    }

    fn rows(&self, numbers: Range<usize>) -> Secret<Vec<Row>> {
        rows(&self.chosen, numbers)
    }

    fn correct(&self, rows: &mut [Row], corrections: &[Row]) {
        rows.par_iter_mut().zip(corrections).with_min_len(ROWS_PER_STRIP).for_each(|(row, correction)| {
            for ((row, correction), secret) in row.0.iter_mut().zip(correction.0).zip(self.secret.0) {
                *row ^= correction & secret;
            }
        });
    }

    fn correct_by_values(&self, rows: &mut [Row], values: &[Value]) {
        rows.par_chunks_mut(ROWS_PER_STRIP).zip(values.par_chunks(ROWS_PER_STRIP)).for_each(|(rows, values)| {
            self.code.words(bytemuck::cast_slice(values), |number, word: [u128; 8]| {
                for ((row, word), secret) in rows[number].0.iter_mut().zip(word).zip(self.secret.0) {
                    *row ^= word & secret;
                }
            });
        });
    }

    /// Steps 8 and 9.
    fn check(&self, q: &[Row], ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        check::challenge(&self.code, &self.secret, q, ch, rng)
    }
}

impl ReceiverRows for ReceiverColumns {
    type Functions = Blake3Functions;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = params.transfers;
        let pairs = ch.reversed(|ch| <OtExtension as Protocol>::Sender::setup(&base, ch, rng)?.run((), ch, rng))?;
        let columns = |side: usize| Columns::new(pairs.pairs.iter().map(move |pair| pair[side]));
        Ok(Self { zeros: columns(0), ones: columns(1), code: LongBch::new() })
    }

    /// Steps 2, 8 and 9.
    fn send_table(
        self,
        params: &Params,
        okvs: &impl Okvs,
        pairs: (&Arrangement, &[Value]),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<Row>>, Abort> {
        let cells = okvs.len();
        let mut words = Secret::new(vec![Value::default(); rows_made(cells)]);
        for word in &mut words[cells..] {
            word.0[..WORDS_PER_VALUE].fill_with(|| rng.next_u64());
        }
        let mut masks = Secret::new(vec![Row::default(); cells]);
        // Each cell leaves under T_i + U_i, of which the sender knows one summand in each column: free cells
        // need not be random.
        table::encode_vartime(okvs, pairs, FreeCells::Zero, |place, cells| {
            words[place.clone()].copy_from_slice(cells);
            let (t, corrections) = self.corrections(place.clone(), cells);
            masks[place].copy_from_slice(&t);
            table::send::<Corrections, Row>(&corrections, params.width, ch)
        })?;
        let (_, corrections) = self.corrections(cells..words.len(), &words[cells..]);
        table::send::<Corrections, Row>(&corrections, params.width, ch)?;
        check::answer(&self.zeros, &words, ch)?;
        Ok(masks)
    }
}

impl ReceiverColumns {
    /// `T_i`, and the corrections `C(word) + T_i + U_i` for words of these numbers.
    pub(in super::super) fn corrections(
        &self,
        numbers: Range<usize>,
        words: &[Value],
    ) -> (Secret<Vec<Row>>, Secret<Vec<Row>>) {
        let t = rows(&self.zeros, numbers.clone());
        let mut corrections = rows(&self.ones, numbers);
        let strips = corrections.par_chunks_mut(ROWS_PER_STRIP).zip(t.par_chunks(ROWS_PER_STRIP));
        strips.zip(words.par_chunks(ROWS_PER_STRIP)).for_each(|((corrections, t), words)| {
            self.code.words(bytemuck::cast_slice(words), |number, word: [u128; 8]| {
                corrections[number] += t[number] + Row(word);
            });
        });
        (t, corrections)
    }
}

/// Rows of these numbers: row `i` has bit `i` of the stream of each column.
fn rows(columns: &Columns, numbers: Range<usize>) -> Secret<Vec<Row>> {
    let first = numbers.start / ROWS_PER_BLOCK * ROWS_PER_BLOCK;
    let mut rows = Secret::new(vec![Row::default(); numbers.end - first]);
    rows.par_chunks_mut(ROWS_PER_STRIP).enumerate().for_each(|(strip, rows)| {
        let rows: &mut [[u128; 8]] = bytemuck::cast_slice_mut(rows);
        columns.rows(first + strip * ROWS_PER_STRIP, rows);
    });
    rows.copy_within(numbers.start - first.., 0);
    rows.truncate(numbers.len());
    rows
}

#[cfg(test)]
mod tests {
    use vesica_party::{Protocol, Security};
    use vesica_structures::okvs::Kind;
    use vesica_testkit::two_party;

    use super::super::super::Prty20;
    use super::super::super::messages::{Answer, Challenge};
    use super::*;
    use crate::tasks::IntersectRequest;

    #[test]
    fn rows_do_not_depend_on_what_is_asked_for_together() {
        let columns = Columns::new((0..LongBch::WIDTH as u128).map(|key| key * 77));
        let all = rows(&columns, 0..5000);
        let beyond = |row: &Row| row.0[6] >> (LongBch::WIDTH - 768) | row.0[7];
        assert!(all.iter().all(|row| beyond(row) == 0), "no bits beyond the width");
        for numbers in [0..1, 127..129, 128..256, 1000..4097, 1023..1025, 5000..5000] {
            assert!(rows(&columns, numbers.clone())[..] == all[numbers]);
        }
    }

    /// The hashes of the words that a receiver of this seed opens to this challenge: keys, set and salt are always
    /// the same.
    fn opened(challenge: u128, seed: u64) -> Vec<u128> {
        let security = Security::Malicious;
        let request = IntersectRequest {
            sender_items: 9,
            receiver_items: 9,
            security,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let params = Prty20::derive(&request).unwrap();
        let okvs = Kind::Paxos.store(9, 43, 5).unwrap();
        let items = okvs.arrange(&std::array::from_fn::<u128, 9, _>(|item| item as u128));
        let values = [Value([1, 2, 3, 0]); 9];
        let (answer, _) = two_party(
            |ch, _| {
                for count in [okvs.len(), params.rows_made() - okvs.len()] {
                    table::receive::<Corrections, Row>(count, params.width, ch, |_, _| ())?;
                }
                ch.send(&Challenge(challenge))?;
                let Answer(hashes) = ch.recv(())?;
                Ok(hashes)
            },
            |ch, _| {
                let columns = |side: u128| Columns::new((0..LongBch::WIDTH as u128).map(move |key| 2 * key + side));
                let receiver = ReceiverColumns { zeros: columns(0), ones: columns(1), code: LongBch::new() };
                let rng = &mut SecretRng::insecure_from_seed(seed);
                receiver.send_table(&params, &okvs, (&items, &values), ch, rng).map(drop)
            },
        );
        answer[..LongBch::WORD_BITS].to_vec()
    }

    /// Whatever the challenge: each opened hash has the random bits of 128 words that serve nothing else.
    #[test]
    fn opened_hashes_of_words_are_hidden_by_random_ones() {
        for challenge in [0, 1, 1 << 77] {
            let (one, other) = (opened(challenge, 1), opened(challenge, 2));
            assert_eq!(one, opened(challenge, 1));
            let different = one.iter().zip(&other).map(|(one, other)| (one ^ other).count_ones());
            assert!(different.into_iter().all(|bits| (25..103).contains(&bits)), "{challenge}");
        }
    }
}
