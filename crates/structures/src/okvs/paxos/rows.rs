//! The rows of the two-hash table.

use zeroize::Zeroize;

use crate::fields::Cell;
use crate::okvs::binned::{self, Shape, SubsetSums};

/// A row within its bin.
#[derive(Clone, Copy, Default)]
pub struct PaxosRow {
    /// The two sparse cells of the row, distinct.
    pub cells: [u16; 2],
    /// The dense cells of the row, a bit for each cell.
    pub dense: u64,
}

impl Zeroize for PaxosRow {
    fn zeroize(&mut self) {
        self.cells.zeroize();
        self.dense.zeroize();
    }
}

impl binned::BinRow for PaxosRow {
    /// A uniform pair of distinct cells, and independent dense bits.
    #[inline]
    fn draw([a, b, dense, _]: [u64; 4], shape: &Shape) -> Self {
        let below = |bits: u64, count: usize| ((u128::from(bits) * count as u128) >> 64) as u16;
        let (a, b) = (below(a, shape.sparse), below(b, shape.sparse - 1));
        let dense = dense.checked_shr(64 - shape.dense).unwrap_or(0);
        Self { cells: [a, b + u16::from(b >= a)], dense }
    }

    #[inline]
    fn sum<V: Cell>(&self, sparse: &[V], dense: &SubsetSums<V>) -> V {
        let [a, b] = self.cells.map(usize::from);
        sparse[a] + sparse[b] + dense.sum(self.dense)
    }
}
