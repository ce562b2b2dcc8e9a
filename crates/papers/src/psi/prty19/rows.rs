//! The two sides' rows: `Q` of the sender, `T` and `R = T + U` of the receiver.

use std::ops::Range;

use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Abort, Channel, Party, Protocol};
use vesica_structures::ot_rows::{BinRows, Columns, rows_of};
use vesica_structures::polynomial::{LANES, Row};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::bins::Bins;
use super::keys::Keys;
use super::params::{Oracle, Params};

/// Bins whose rows are made at a time.
const BINS_PER_BATCH: usize = 32;

/// The result of the OTs for the sender: `s`, and the key of each column that it chose.
pub(super) struct SenderColumns {
    pub(super) columns: Columns,
    pub(super) secret: Secret<[u64; LANES]>,
}

/// The result of the OTs for the receiver: the keys of `T` and of `U`.
pub(super) struct ReceiverColumns([Columns; 2]);

impl SenderColumns {
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = params.transfers;
        let chosen = ch.reversed(|ch| <OtExtension as Protocol>::Receiver::setup(&base, ch, rng)?.run((), ch, rng))?;
        let mut secret = Secret::new([0; LANES]);
        for (column, &choice) in chosen.choices.iter().enumerate() {
            secret[column / 64] |= u64::from(choice) << (column % 64);
        }
        Ok(Self { columns: Columns::new(chosen.chosen.iter().copied()), secret })
    }
}

impl ReceiverColumns {
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let base = params.transfers;
        let pairs = ch.reversed(|ch| <OtExtension as Protocol>::Sender::setup(&base, ch, rng)?.run((), ch, rng))?;
        Ok(Self([0, 1].map(|side| Columns::new(pairs.pairs.iter().map(|pair| pair[side])))))
    }
}

/// Everything from which the sender's rows and outputs follow.
pub(super) struct SenderRows<'a> {
    pub(super) params: &'a Params,
    pub(super) keys: &'a Keys,
    pub(super) own: &'a SenderColumns,
}

/// Everything from which the receiver's rows and outputs follow.
pub(super) struct ReceiverRows<'a> {
    pub(super) params: &'a Params,
    pub(super) keys: &'a Keys,
    pub(super) own: &'a ReceiverColumns,
}

impl SenderRows<'_> {
    /// The rows that the rows of `Q` in some bins are sums of.
    pub(super) fn bins(&self, range: Range<usize>) -> Secret<Vec<BinRows>> {
        self.own.columns.bins(range)
    }

    /// The rows `Q` of all items, whose `inputs` are in the order of their bins.
    pub(super) fn of_items(&self, bins: &Bins, inputs: &[u128]) -> Secret<Vec<Row>> {
        let mut rows = Secret::new(vec![Row::default(); inputs.len()]);
        match self.params.oracle {
            Oracle::Prf => bins.parts(BINS_PER_BATCH).into_iter().for_each(|part| {
                fill_rows(bins, part.clone(), &self.bins(part), inputs, &mut rows);
            }),
            Oracle::Random => self.own.columns.oracle_rows(inputs, &mut rows),
        }
        rows
    }

    /// Turns `Q(x)` into `Q(x) + s P(x)`, and puts `x`'s coordinate beside it.
    pub(super) fn correct(&self, row: &mut Row, value: &Row, coordinate: u64) {
        for ((word, &value), &secret) in row.iter_mut().zip(value).zip(self.own.secret.iter()) {
            *word ^= value & secret;
        }
        row[LANES] = coordinate;
    }

    /// Does the same for one slice of all rows.
    pub(super) fn correct_slice(&self, slice: usize, rows: &mut [Row], values: &[u64]) {
        let secret = self.own.secret[slice];
        rows.iter_mut().zip(values).for_each(|(row, &value)| row[slice] ^= value & secret);
    }
}

impl ReceiverRows<'_> {
    /// The rows that the rows of `T` and of `R` in some bins are sums of.
    pub(super) fn bins(&self, range: Range<usize>) -> (Secret<Vec<BinRows>>, Secret<Vec<BinRows>>) {
        let ReceiverColumns([t, u]) = self.own;
        let (t, mut differences) = (t.bins(range.clone()), u.bins(range));
        let words = differences.as_flattened_mut().as_flattened_mut();
        words.iter_mut().zip(t.as_flattened().as_flattened()).for_each(|(word, &other)| *word ^= other);
        (t, differences)
    }

    /// The rows `T` and `R` of all items, whose `inputs` are in the order of their bins.
    pub(super) fn of_items(&self, bins: &Bins, inputs: &[u128]) -> [Secret<Vec<Row>>; 2] {
        let [mut own, mut differences] = [(); 2].map(|()| Secret::new(vec![Row::default(); inputs.len()]));
        match self.params.oracle {
            Oracle::Prf => bins.parts(BINS_PER_BATCH).into_iter().for_each(|part| {
                let (t, r) = self.bins(part.clone());
                fill_rows(bins, part.clone(), &t, inputs, &mut own);
                fill_rows(bins, part, &r, inputs, &mut differences);
            }),
            Oracle::Random => {
                let ReceiverColumns([t, u]) = self.own;
                t.oracle_rows(inputs, &mut own);
                u.oracle_rows(inputs, &mut differences);
                let words = differences.as_flattened_mut().iter_mut();
                words.zip(own.as_flattened()).for_each(|(word, &other)| *word ^= other);
            }
        }
        [own, differences]
    }
}

/// Adds the rows of all inputs, which are in the order of their bins, to `rows`.
fn fill_rows(bins: &Bins, range: Range<usize>, matrices: &[BinRows], inputs: &[u128], rows: &mut [Row]) {
    for (bin, matrix) in range.zip(matrices) {
        let places = bins.places(bin..bin + 1);
        rows_of(matrix, &inputs[places.clone()], &mut rows[places]);
    }
}
