//! The OKVS of `bpsy23-union`: a random band matrix over the scalars of the group.
//!
//! The rows are those of [`Band`], a row of at most [`WIDEST`] bits. The bound that
//! [`Shape`] rests on ([`vesica_structures::okvs::band::model`]) is written for the field of two
//! elements, and holds over every field. Its steps are that a row, reduced by those before it, is
//! zero with probability `2^-(w - q)`, and that all of the `a` rows that wait for a column are zero
//! there with probability `2^-a`. Over any field these probabilities are at most that: the reduced
//! entry at a column is the row's own bit plus something that other bits determine, so that at most
//! one of the bit's two values makes it zero. And the queue is monotone: it is shorter where columns
//! are skipped less often. The same goes for the dense matrix of small sets.
//!
//! One step needs another argument over a large field, where a longer row can be dependent more often
//! than a shorter one: rows start at lines of eight columns, and the model's anywhere within the line.
//! A row that joins the queue up to seven columns early is served no later, and at most seven rows are
//! served before the model's row joins. So a row of `w` columns finds at most `q + 7` leading columns
//! where one of `w - 7` columns finds `q` in the model, and `2^-(w - (q + 7)) = 2^-((w - 7) - q)`.
//!
//! The row of an item outside of the receiver's set is a linear combination of theirs only if `n_r +
//! 1` rows are dependent.

use curve25519_dalek::scalar::Scalar;
use std::fmt;
use std::ops::Range;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::okvs::band::Shape;
use vesica_structures::okvs::{Band, EncodeFailure, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::rows::{BinaryRows, RowSets, random_scalars, set_bits};

/// The widest row, in columns. Solving takes a product of scalars for each bit of a row and each row
/// that waits with it, and decoding an addition of two group elements for every other bit: wider rows
/// cost more time than the few cells that they save.
const WIDEST: usize = 192;

/// The most items of the sender: the bound of a band goes to `2^-64` for a table.
const MOST_SENDER_ITEMS: usize = 1 << 23;

/// Columns that are solved at a time: their rows, of [`WIDEST`] scalars each, are held together.
const COLUMNS_PER_PART: usize = 1 << 8;

/// A band OKVS with narrow rows.
pub struct NarrowBand {
    shape: Shape,
    band: Band,
}

impl fmt::Debug for NarrowBand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NarrowBand({:?})", self.shape)
    }
}

/// An equation while it is eliminated: coefficients of the columns from `first` on.
#[derive(Clone)]
struct Equation {
    first: usize,
    coefficients: Vec<Scalar>,
}

impl Equation {
    /// The coefficients from a column on; none where the column lies behind the equation.
    fn tail(&self, column: usize) -> &[Scalar] {
        self.coefficients.get(column - self.first..).unwrap_or(&[])
    }
}

/// The equation that determines a column, and the inverse of its coefficient there.
struct Pivot {
    column: usize,
    equation: Equation,
    inverse: Scalar,
}

/// Where elimination stands at a column.
#[derive(Clone, Default)]
struct Front {
    /// The next key, by ascending start.
    next: usize,
    /// Equations that have determined no column yet, by ascending end.
    waiting: Vec<Equation>,
}

impl Front {
    /// Eliminates these columns from left to right; `determined` takes what determines each, as far
    /// as an equation does.
    fn advance(
        &mut self,
        columns: Range<usize>,
        rows: &[(usize, [u64; 8])],
        width: usize,
        mut determined: impl FnMut(Pivot),
    ) -> Result<(), EncodeFailure> {
        for column in columns {
            while let Some((first, bits)) = rows.get(self.next).filter(|(first, _)| *first == column) {
                let coefficient = |bit: usize| Scalar::from(bits[bit / 64] >> (bit % 64) & 1);
                self.waiting.push(Equation { first: *first, coefficients: (0..width).map(coefficient).collect() });
                self.next += 1;
            }
            if self.waiting.first().is_some_and(|equation| equation.tail(column).is_empty()) {
                return Err(EncodeFailure);
            }
            // The first that can: its end is the earliest, so that the others grow no longer.
            let Some(chosen) = self.waiting.iter().position(|equation| equation.tail(column)[0] != Scalar::ZERO) else {
                continue;
            };
            let equation = self.waiting.remove(chosen);
            let leading = equation.tail(column)[0];
            let inverse = if leading == Scalar::ONE { leading } else { leading.invert() };
            for other in &mut self.waiting {
                let at = column - other.first;
                let entries = &mut other.coefficients[at..];
                if entries[0] != Scalar::ZERO {
                    let factor = entries[0] * inverse;
                    entries.iter_mut().zip(equation.tail(column)).for_each(|(entry, above)| *entry -= factor * above);
                }
            }
            determined(Pivot { column, equation, inverse });
        }
        Ok(())
    }
}

impl BinaryRows for NarrowBand {
    type Shape = Shape;

    fn shape(sender_items: usize, receiver_items: usize) -> Result<Shape, Unsupported> {
        let dependent = FailureEvent::Encoding.bits();
        let covered = FailureEvent::ZeroDifference.bits() + ceil_log2(sender_items);
        if sender_items > MOST_SENDER_ITEMS {
            return Err(Unsupported::new(
                format_args!("a band OKVS that {sender_items} items are looked up in"),
                format_args!("use at most {MOST_SENDER_ITEMS} items of the sender, or another protocol"),
            ));
        }
        Shape::at_most(WIDEST, receiver_items + 1, dependent.max(covered))
    }

    fn cells(shape: &Shape) -> usize {
        shape.columns()
    }

    fn keyed(shape: Shape, key: [u8; 32]) -> Self {
        let [seed, _]: [u128; 2] = bytemuck::cast(key);
        // The number of pairs only bounds what this band encodes itself, which is nothing.
        Self { shape, band: Band::with_shape(0, shape, seed) }
    }

    fn table_len(&self) -> usize {
        self.shape.columns()
    }

    fn order(&self, items: &[u128]) -> Vec<u32> {
        self.band.arrange(items).places().to_vec()
    }

    fn rows(&self, items: &[u128]) -> RowSets {
        let mut rows = RowSets::default();
        self.band.for_each_row(items, |first, bits| {
            let words = (first..).step_by(64).zip(bits);
            rows.push(words.flat_map(|(first, word)| set_bits(word).map(move |bit| first + bit)));
        });
        rows
    }

    fn kernel(&self, items: &[u128], rng: &mut SecretRng) -> Result<Secret<Vec<Scalar>>, EncodeFailure> {
        let arrangement = self.band.arrange(items);
        let mut rows = Vec::with_capacity(items.len());
        self.band.for_each_row(arrangement.keys(), |first, bits| rows.push((first, bits)));
        drop(arrangement);
        let width = 8 * self.shape.width;
        let part = |first: usize| first..self.table_len().min(first + COLUMNS_PER_PART);

        // To hold all equations at once would take `WIDEST` scalars an item. So elimination goes through
        // all columns once, and keeps only what waits at the beginning of each part; then a second
        // time, part by part from the last, each part's columns being solved at once.
        let mut front = Front::default();
        let mut fronts = Vec::new();
        for first in (0..self.table_len()).step_by(COLUMNS_PER_PART) {
            fronts.push((first, front.clone()));
            front.advance(part(first), &rows, width, drop)?;
        }
        if !front.waiting.is_empty() {
            return Err(EncodeFailure);
        }
        let mut vector = random_scalars(self.table_len(), rng);
        for (first, mut front) in fronts.into_iter().rev() {
            let mut pivots = Vec::with_capacity(COLUMNS_PER_PART);
            front.advance(part(first), &rows, width, |pivot| pivots.push(pivot))?;
            for Pivot { column, equation, inverse } in pivots.into_iter().rev() {
                let terms = equation.tail(column).iter().zip(&vector[column..]).skip(1);
                vector[column] = -(terms.map(|(coefficient, value)| coefficient * value).sum::<Scalar>() * inverse);
            }
        }
        Ok(vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_rows_are_refused_and_others_solved() {
        // 100 rows of 64 bits in 136 columns, in which a few runs fail; and rows in fewer columns than
        // rows.
        let mut rng = SecretRng::insecure_from_seed(1);
        let items: Vec<u128> = (0..100).collect();
        let crowded = Shape { width: 8, starts: 4 };
        assert!(NarrowBand::keyed(crowded, [1; 32]).kernel(&items, &mut rng).is_err());
        let mut solved = 0;
        for key in 0..20 {
            let okvs = NarrowBand::keyed(Shape { width: 8, starts: 10 }, [key; 32]);
            if let Ok(vector) = okvs.kernel(&items, &mut rng) {
                solved += 1;
                let sum = |row: &[u32]| row.iter().map(|&cell| vector[cell as usize]).sum::<Scalar>();
                assert!(okvs.rows(&items).iter().all(|row| sum(row) == Scalar::ZERO), "key {key}");
            }
        }
        assert!(solved > 10, "{solved} of 20");
    }
}
