//! The binary fuse filter: Graf, Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters"
//! (ACM Journal of Experimental Algorithmics 2022), with three cells a tag.
//!
//! A table such that the sum of a tag's three cells is its fingerprint. Cells lie in neighbouring
//! segments. For a tag outside of the set the sum is independent of its fingerprint, which no
//! position uses: it is found with probability `2^-w` exactly, whatever the table.
//!
//! To build one, cells that belong to one tag alone are taken away with it, again and again; the last
//! tag gets its cell first. If tags remain that share all cells, another attempt is made.

use super::cells::Cells;
use super::mix::{mix64, permuted, place, split};
use super::{Demand, Filter, Malformed};
use crate::facts::Unsupported;

/// Cells of a tag.
const ARITY: usize = 3;

/// Most bits of the length of a segment, as in the paper.
const MOST_SEGMENT_BITS: u32 = 18;

/// The shape of a binary fuse filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Most tags.
    tags: usize,
    /// Bits of a cell.
    width: u32,
    segment_bits: u32,
    /// Segments in which a tag may have its first cell; two more follow.
    segments: usize,
}

impl Shape {
    fn new(tags: usize, width: u32) -> Self {
        // The paper's lengths of segments, 2^floor(log_3.33 n + 2.25), and factors, 0.875 + 0.25 ln 10^6 / ln
        // n and at least 1.125, with floor(log2 n) for log2 n: whole numbers, and no fewer cells.
        let log = tags.ilog2();
        let segment_bits = ((5762 * log + 22500) / 10000).min(MOST_SEGMENT_BITS);
        let cells = (tags * 7).div_ceil(8) + (tags * 4983).div_ceil(1000 * log.max(1) as usize);
        let cells = cells.max((tags * 9).div_ceil(8));
        let segments = cells.div_ceil(1 << segment_bits).saturating_sub(ARITY - 1).max(1);
        Self { tags, width, segment_bits, segments }
    }

    fn cells(&self) -> usize {
        (self.segments + ARITY - 1) << self.segment_bits
    }

    /// The cells and the fingerprint of a tag.
    #[inline]
    fn of(&self, tag: u128, attempt: u8) -> ([usize; ARITY], u128) {
        let (position, fingerprint) = split(permuted(tag, attempt), self.width);
        let first = place(position, self.segments << self.segment_bits);
        let length = 1 << self.segment_bits;
        let offsets = mix64(position) as usize;
        let second = (first + length) ^ (offsets & (length - 1));
        let third = (first + 2 * length) ^ ((offsets >> MOST_SEGMENT_BITS) & (length - 1));
        ([first, second, third], fingerprint)
    }
}

/// Cells, of which the sum of a tag's three is its fingerprint.
pub struct BinaryFuseFilter {
    shape: Shape,
    cells: Cells,
}

impl Filter for BinaryFuseFilter {
    type Shape = Shape;

    fn shape(demand: &Demand) -> Result<Shape, Unsupported> {
        demand.check()?;
        Ok(Shape::new(demand.least_tags(), demand.bits_per_look_up().max(1)))
    }

    fn bytes(shape: &Shape) -> usize {
        Cells::encoded_len(shape.cells(), shape.width)
    }

    fn attempt(shape: &Shape, tags: &[u128], attempt: u8) -> Option<Self> {
        assert!(tags.len() <= shape.tags, "as many tags as the filter is for");
        // Of each cell: how many tags have it, and the sum of their numbers.
        let mut users = vec![(0u32, 0u32); shape.cells()];
        for (number, &tag) in tags.iter().enumerate() {
            for cell in shape.of(tag, attempt).0 {
                let (count, sum) = &mut users[cell];
                *count += 1;
                *sum ^= number as u32;
            }
        }
        // Tags in the order in which they are taken away, each with the cell that was its alone.
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(tags.len());
        let mut due = Vec::new();
        for cell in 0..users.len() {
            due.push(cell);
            while let Some(cell) = due.pop() {
                let (count, number) = users[cell];
                if count != 1 {
                    continue;
                }
                order.push((number, cell as u32));
                for of_tag in shape.of(tags[number as usize], attempt).0 {
                    let (count, sum) = &mut users[of_tag];
                    *count -= 1;
                    *sum ^= number;
                    if *count == 1 {
                        due.push(of_tag);
                    }
                }
            }
        }
        if order.len() < tags.len() {
            return None;
        }
        drop(users);
        let mut cells = Cells::new(shape.cells(), shape.width, attempt);
        for &(number, own) in order.iter().rev() {
            let (of_tag, fingerprint) = shape.of(tags[number as usize], attempt);
            // The own cell is still 0.
            let value = of_tag.iter().fold(fingerprint, |sum, &cell| sum ^ cells.get(cell));
            cells.xor(own as usize, value);
        }
        Some(Self { shape: *shape, cells })
    }

    fn into_bytes(self) -> Vec<u8> {
        self.cells.into_bytes()
    }

    fn parse(shape: &Shape, bytes: Vec<u8>) -> Result<Self, Malformed> {
        Ok(Self { shape: *shape, cells: Cells::parse(shape.cells(), shape.width, bytes)? })
    }

    fn look_up_here(&self, tags: &[u128], found: &mut [bool]) {
        for (&tag, found) in tags.iter().zip(found) {
            let ([first, second, third], fingerprint) = self.shape.of(tag, self.cells.attempt);
            *found = self.cells.get(first) ^ self.cells.get(second) ^ self.cells.get(third) == fingerprint;
        }
    }
}
