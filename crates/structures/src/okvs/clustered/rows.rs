//! The rows of the clustered table.

use zeroize::Zeroize;

use crate::fields::Cell;
use crate::hashing::three_distinct;
use crate::okvs::binned::{self, Shape, SubsetSums};

/// A row within its bin.
#[derive(Clone, Copy, Default)]
pub struct ClusteredRow {
    /// The sparse cells of the row.
    pub cells: [u16; 3],
    /// The dense cells of the row, a bit for each cell.
    pub dense: u64,
}

impl Zeroize for ClusteredRow {
    fn zeroize(&mut self) {
        self.cells.zeroize();
        self.dense.zeroize();
    }
}

impl binned::BinRow for ClusteredRow {
    /// A uniform 3-subset of the cells, drawn without replacement, and independent dense bits.
    #[inline]
    fn draw([a, b, c, dense]: [u64; 4], shape: &Shape) -> Self {
        let cells = three_distinct([a, b, c], shape.sparse as u64);
        let dense = dense.checked_shr(64 - shape.dense).unwrap_or(0);
        Self { cells: cells.map(|cell| cell as u16), dense }
    }

    #[inline]
    fn sum<V: Cell>(&self, sparse: &[V], dense: &SubsetSums<V>) -> V {
        let [a, b, c] = self.cells.map(usize::from);
        sparse[a] + sparse[b] + sparse[c] + dense.sum(self.dense)
    }
}
