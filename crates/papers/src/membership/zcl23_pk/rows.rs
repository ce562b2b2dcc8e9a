//! What the test takes of an OKVS, over any field.

use std::fmt;

use curve25519_dalek::scalar::Scalar;
use vesica_structures::facts::Unsupported;
use vesica_structures::okvs::EncodeFailure;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// A linear OKVS whose rows are sets of cells: decoding a key adds up the cells of its row. That
/// needs no field, only a group, and encoding needs the field of the group's scalars.
pub trait BinaryRows: Sized + Send + Sync + fmt::Debug + 'static {
    /// The numbers that both sides derive from the sizes.
    type Shape: Copy + fmt::Debug + PartialEq + Send + Sync;

    /// The smallest shape for which, over the scalars of Ristretto255, the rows of the receiver's
    /// items are linearly dependent with probability at most
    /// [`FailureEvent::Encoding`](vesica_structures::facts::FailureEvent::Encoding), and the row
    /// of any item of the sender that is not among them is a linear combination of them with
    /// probability at most
    /// [`FailureEvent::ZeroDifference`](vesica_structures::facts::FailureEvent::ZeroDifference).
    fn shape(sender_items: usize, receiver_items: usize) -> Result<Self::Shape, Unsupported>;

    /// Cells of a table.
    fn cells(shape: &Self::Shape) -> usize;

    /// The store of this shape whose rows are a function of the key.
    fn keyed(shape: Self::Shape, key: [u8; 32]) -> Self;

    /// The same for this store's shape.
    fn table_len(&self) -> usize;

    /// The numbers of the items in an order in which those that follow each other share cells, as
    /// far as any do.
    fn order(&self, items: &[u128]) -> Vec<u32>;

    /// The rows of these items.
    fn rows(&self, items: &[u128]) -> RowSets;

    /// A uniform vector among those that have sum zero over the row of each item.
    fn kernel(&self, items: &[u128], rng: &mut SecretRng) -> Result<Secret<Vec<Scalar>>, EncodeFailure>;
}

/// Sets of cells, one after another.
#[derive(Debug, Default)]
pub struct RowSets {
    cells: Vec<u32>,
    ends: Vec<usize>,
}

impl RowSets {
    /// Adds a row of these cells.
    pub fn push(&mut self, cells: impl IntoIterator<Item = usize>) {
        self.cells.extend(cells.into_iter().map(|cell| cell as u32));
        self.ends.push(self.cells.len());
    }

    /// All cells of all rows, ascending and each once.
    pub fn all_cells(&self) -> Vec<u32> {
        let mut cells = self.cells.clone();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.cells[start..end])
    }
}

/// The numbers of the bits of a mask that are set, ascending.
pub fn set_bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        lowest
    })
}

/// Uniform scalars.
pub fn random_scalars(count: usize, rng: &mut SecretRng) -> Secret<Vec<Scalar>> {
    Secret::new((0..count).map(|_| Scalar::random(rng)).collect())
}
