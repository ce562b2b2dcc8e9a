//! PSI from a garbled Bloom filter whose cells come from oblivious transfers: two papers.
//!
//! The receiver makes a Bloom filter of its items, and chooses by its bits in a transfer for each cell: of
//! two random strings it gets the second where the filter has a one. The sum of an item's strings is known
//! to the sender, which knows all second strings, and to a receiver that has ones at all of the item's
//! cells. The sender sends a hash of that sum for each of its items.
//!
//! | row | paper | against |
//! |---|---|---|
//! | [`dcw13`] | Dong, Chen, Wen, CCS 2013, with the random transfers of PSZ14 | parties that follow the protocol |
//! | [`rr16`] | Rindal, Rosulek, EUROCRYPT 2017 | malicious parties: cut-and-choose bounds the receiver's ones |
//!
//! Both go through the filter some cells at a time ([`Groups`]), with transfers of their own for each
//! group, so that memory is that of a group and of one sum an item.

pub mod dcw13;
mod filter;
pub mod rr16;

use std::ops::Range;

use vesica_mpc::ot_extension::{OtExtension, OtParams};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Assumption, Attack, Effort, Protocol, Security};
use vesica_structures::facts::Unsupported;

/// Bytes that a side holds for each transfer of a group: docs/parameters/plan-memory.md.
const BYTES_PER_TRANSFER: u64 = 112;

/// The cells of a filter in groups, all of one size but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Cells of the filter.
    pub cells: usize,
    /// How many groups.
    pub count: usize,
}

impl Groups {
    /// Most cells of a group: so many that the base transfers of each group take little of its time, and
    /// so few that a group takes about 100 MB.
    pub const MOST_CELLS: usize = 1_000_000;

    /// As few groups as there can be.
    pub(crate) fn new(cells: usize) -> Self {
        Self { cells, count: cells.div_ceil(Self::MOST_CELLS) }
    }

    /// Cells of a group, but for the last.
    pub fn size(&self) -> usize {
        self.cells.div_ceil(self.count.max(1))
    }

    /// The cells of each group.
    pub(crate) fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        let size = self.size();
        (0..self.count).map(move |group| (group * size).min(self.cells)..((group + 1) * size).min(self.cells))
    }
}

/// Random transfers of 128-bit strings.
fn transfers(len: usize, security: Security) -> Result<OtParams, Unsupported> {
    OtExtension::derive(&CorrelationRequest { len, security, width: None })
}

/// What the groups' transfers, each with an extension of its own, add to a search for an offset.
const GROUPS_SEARCH: Assumption =
    Assumption::new("the offsets of all groups' OTs have no better search than a common one").attacked(Attack {
        falls: "the secret offset of a group's OTs, and with it what they hide",
        takes: Effort::Steps { tenths: 1160, of: "calls of AES at 2^20 items, 2^124 over the number of groups" },
        source: "docs/parameters/gbf.md",
    });

/// Bytes of so many transfers.
fn transfer_bytes(params: &OtParams) -> u64 {
    *OtExtension::predicted_bytes(params).end()
}

/// Bit `i` of packed bits; nothing beyond their end.
fn bit(bits: &[u8], i: usize) -> bool {
    bits.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1)
}

/// Packs bits, the first one lowest, into `bytes` bytes, of which the rest is zero.
fn packed(bits: impl Iterator<Item = bool>, bytes: usize) -> Vec<u8> {
    let mut packed = vec![0; bytes];
    for (i, bit) in bits.enumerate() {
        if let Some(byte) = packed.get_mut(i / 8) {
            *byte |= u8::from(bit) << (i % 8);
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_make_up_the_filter() {
        for cells in [0, 1, 999_999, 1_000_000, 1_000_001, 13_000_037] {
            let groups = Groups::new(cells);
            let mut next = 0;
            for range in groups.ranges() {
                assert_eq!(range.start, next);
                assert!(range.len() <= groups.size() && groups.size() <= Groups::MOST_CELLS);
                next = range.end;
            }
            assert_eq!((next, groups.ranges().count()), (cells, groups.count));
        }
    }

    #[test]
    fn bits_are_read_as_they_were_packed() {
        let bits: Vec<bool> = (0..77).map(|i| i * i % 7 < 3).collect();
        let packed = packed(bits.iter().copied(), 11);
        assert!((0..77).all(|i| bit(&packed, i) == bits[i]));
        assert!(!bit(&packed, 77) && !bit(&packed, 1000));
    }
}
