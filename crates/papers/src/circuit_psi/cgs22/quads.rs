//! OPPRF hints on sets of three (KMPRT17): a table of four cells, whose places a nonce sets apart.
//!
//! The nonces of some bins travel as bytes, and then their cells, packed, block after block of
//! their width.

use std::ops::Range;

use vesica_mpc::opprf::params::block_widths;
use vesica_structures::fields::Gf128;
use vesica_structures::packing::{pack, packed_len, unpack};

/// Cells of a table.
pub(super) const CELLS: usize = 4;

/// Blocks of an OPRF's output that say where its cell is, 64 nonces a block.
pub(super) const PLACE_BLOCKS: usize = 2;

/// Nonces. Each serves with probability 3/8: none of them does with one of `(5/8)^128 < 2^-86`.
const NONCES: u8 = 128;

/// Bins that travel at a time.
const BINS_PER_PIECE: usize = 1 << 12;

/// The bins of each piece.
pub(super) fn pieces(bins: usize) -> impl Iterator<Item = Range<usize>> {
    (0..bins).step_by(BINS_PER_PIECE).map(move |first| first..bins.min(first + BINS_PER_PIECE))
}

/// Bytes of a piece.
fn piece_bytes(bins: usize, bits: u32) -> usize {
    bins + block_widths(bits).map(|width| packed_len(CELLS * bins, width)).sum::<usize>()
}

/// Bytes of all pieces.
pub(super) fn bytes(bins: usize, bits: u32) -> u64 {
    pieces(bins).map(|piece| piece_bytes(piece.len(), bits) as u64).sum()
}

/// The cell of an output under a nonce, by the output's last blocks.
pub(super) fn place(blocks: [u128; PLACE_BLOCKS], nonce: u8) -> usize {
    (blocks[usize::from(nonce) / 64] >> (2 * (nonce % 64)) & 3) as usize
}

/// The first nonce that sets three outputs apart.
pub(super) fn nonce(outputs: [[u128; PLACE_BLOCKS]; 3]) -> Option<u8> {
    (0..NONCES).find(|&nonce| {
        let [a, b, c] = outputs.map(|blocks| place(blocks, nonce));
        a != b && b != c && a != c
    })
}

/// Tables of some bins.
pub(super) struct Quads {
    /// The nonce of each bin.
    pub nonces: Vec<u8>,
    /// For each block, the cells of each bin.
    pub cells: Vec<Vec<Gf128>>,
}

impl Quads {
    /// Quads for `bins` bins, all zero.
    pub fn zero(bins: usize, bits: u32) -> Self {
        Self { nonces: vec![0; bins], cells: block_widths(bits).map(|_| vec![Gf128(0); CELLS * bins]).collect() }
    }

    /// The quads as bytes.
    pub fn to_bytes(&self, bits: u32) -> Vec<u8> {
        let mut bytes = self.nonces.clone();
        for (cells, width) in self.cells.iter().zip(block_widths(bits)) {
            pack(cells, width, &mut bytes);
        }
        bytes
    }

    /// Reads quads from bytes; `None` if a nonce is out of range or a spare bit is set.
    pub fn from_bytes(bins: usize, bits: u32, bytes: &[u8]) -> Option<Self> {
        let mut quads = Self::zero(bins, bits);
        let (nonces, mut rest) = bytes.split_at_checked(bins)?;
        quads.nonces.copy_from_slice(nonces);
        for (cells, width) in quads.cells.iter_mut().zip(block_widths(bits)) {
            let (packed, behind) = rest.split_at_checked(packed_len(cells.len(), width))?;
            unpack(packed, width, cells)?;
            rest = behind;
        }
        (rest.is_empty() && nonces.iter().all(|&nonce| nonce < NONCES)).then_some(quads)
    }

    /// Bytes to read for so many bins.
    pub fn len(bins: usize, bits: u32) -> usize {
        piece_bytes(bins, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_structures::rng::SecretRng;

    #[test]
    fn tables_come_back_and_what_is_no_table_is_refused() {
        let mut rng = SecretRng::insecure_from_seed(1);
        for (bins, bits) in [(1, 1), (3, 62), (5, 126), (7, 300)] {
            let mut quads = Quads::zero(bins, bits);
            quads.nonces.iter_mut().for_each(|nonce| *nonce = (rng.block() % 128) as u8);
            for (cells, width) in quads.cells.iter_mut().zip(block_widths(bits)) {
                cells.iter_mut().for_each(|cell| *cell = Gf128(rng.block() >> (128 - width)));
            }
            let mut bytes = quads.to_bytes(bits);
            assert_eq!(bytes.len(), Quads::len(bins, bits));
            let back = Quads::from_bytes(bins, bits, &bytes).unwrap();
            assert!(back.nonces == quads.nonces && back.cells == quads.cells);
            assert!(Quads::from_bytes(bins, bits, &bytes[1..]).is_none());
            bytes[0] = 128;
            assert!(Quads::from_bytes(bins, bits, &bytes).is_none());
        }
    }

    #[test]
    fn a_nonce_sets_three_apart_and_equal_outputs_have_none() {
        let mut rng = SecretRng::insecure_from_seed(2);
        for _ in 0..1000 {
            let outputs = [(); 3].map(|()| [rng.block(), rng.block()]);
            let found = nonce(outputs).unwrap();
            let mut places = outputs.map(|blocks| place(blocks, found));
            places.sort_unstable();
            assert!(places[0] < places[1] && places[1] < places[2] && places[2] < CELLS);
            assert_eq!(nonce([outputs[0], outputs[1], outputs[1]]), None);
        }
    }
}
