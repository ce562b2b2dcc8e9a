//! Payloads that have come and are not decrypted yet.

use std::fmt;

use rayon::prelude::*;
use vesica_structures::secret::{Secret, WipedStack};

/// Fewest cells that are worth a task of a thread.
const MIN_CELLS: usize = 256;

/// Fills a buffer with the keystream of an own item, by its number.
type Keystream = Box<dyn Fn(usize, &mut [u8]) + Send + Sync>;

/// The sender's payloads of a receiver's matches, still encrypted: decrypting takes time for each
/// match, which the sender must not see. So it is put off until the conversation is over.
#[derive(Default)]
pub struct SealedPayloads(Option<Sealed>);

struct Sealed {
    width: usize,
    /// The cells, `width` bytes each; those behind `matches` of them hold nothing.
    cells: Vec<u8>,
    /// For each match its item, and the cell that its payload came into.
    matches: Box<dyn Fn() -> Vec<(u32, u32)> + Send + Sync>,
    keystream: Keystream,
}

impl SealedPayloads {
    /// Cells of `width` bytes; `matches` says for each match, in order, the own item and its cell,
    /// of which several may share one. It is not called, nor is `keystream`, before the seal is
    /// opened.
    pub fn new(
        width: usize,
        cells: Vec<u8>,
        matches: impl Fn() -> Vec<(u32, u32)> + Send + Sync + 'static,
        keystream: impl Fn(usize, &mut [u8]) + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Sealed { width, cells, matches: Box::new(matches), keystream: Box::new(keystream) }))
    }

    /// Payloads of `width` bytes that are not encrypted: at least 1.
    pub fn plain(width: usize, bytes: Vec<u8>) -> Self {
        let count = bytes.len().checked_div(width).unwrap_or(0) as u32;
        Self::new(width, bytes, move || (0..count).map(|place| (place, place)).collect(), |_, out| out.fill(0))
    }

    /// The payloads, one after the other in the order of the matches. Takes time that goes by their
    /// number.
    pub fn open(mut self) -> Vec<u8> {
        let Some(sealed) = &mut self.0 else { return Vec::new() };
        let cells = std::mem::take(&mut sealed.cells);
        sealed.decrypt(cells)
    }

    /// The payloads in the places of their items, `width` bytes for each of `items` items, and zeros for those without a
    /// match. Takes the same time whatever matched, so that it may be done while the sender can time it.
    pub fn open_for_all(self, items: usize, width: usize) -> Vec<u8> {
        let mut all = vec![0; items * width];
        let Some(sealed) = &self.0 else { return all };
        // Where nothing matched, any cell: it is masked.
        let mut cells = vec![(0u32, 0u8); items];
        for (item, cell) in (sealed.matches)() {
            if let Some(of_item) = cells.get_mut(item as usize) {
                *of_item = (cell, u8::MAX);
            }
        }
        let records = all.par_chunks_exact_mut(width.max(1)).zip(cells).enumerate().with_min_len(MIN_CELLS);
        records.for_each_init(
            || WipedStack,
            |_, (item, (out, (cell, mask)))| {
                (sealed.keystream)(item, out);
                let start = cell as usize * sealed.width;
                let cell = sealed.cells.get(start..start + sealed.width).unwrap_or_default();
                out.iter_mut().zip(cell).for_each(|(byte, cell)| *byte = (*byte ^ cell) & mask);
            },
        );
        all
    }

    /// A decrypted copy of the payloads, for comparisons; `self` stays sealed.
    pub fn opened(&self) -> Vec<u8> {
        self.0.as_ref().map(|sealed| sealed.decrypt(sealed.cells.clone())).unwrap_or_default()
    }
}

impl Sealed {
    fn decrypt(&self, mut cells: Vec<u8>) -> Vec<u8> {
        let (matches, width) = ((self.matches)(), self.width);
        // Of equal masks, which are next to impossible, one has the cell.
        for (place, &(_, cell)) in matches.iter().enumerate() {
            if place != cell as usize {
                cells.copy_within(cell as usize * width..(cell as usize + 1) * width, place * width);
            }
        }
        cells.truncate(matches.len() * width);
        cells.par_chunks_exact_mut(width).zip(matches).with_min_len(MIN_CELLS).for_each_init(
            || (Secret::new(vec![0; width]), WipedStack),
            |(key, _), (cell, (item, _))| {
                (self.keystream)(item as usize, key);
                cell.iter_mut().zip(key.iter()).for_each(|(byte, key)| *byte ^= key);
            },
        );
        cells
    }
}

impl From<Vec<u8>> for SealedPayloads {
    /// Payloads that were never encrypted.
    fn from(bytes: Vec<u8>) -> Self {
        Self::plain(1, bytes)
    }
}

impl PartialEq for SealedPayloads {
    fn eq(&self, other: &Self) -> bool {
        self.opened() == other.opened()
    }
}

impl Eq for SealedPayloads {}

impl fmt::Debug for SealedPayloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealedPayloads(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_for_all_items_stand_in_their_places() {
        // Items 4, 1 and 6 of 7 match; the cells of 4 and 1 are one.
        let cells: Vec<u8> = [[1u8; 3], [2; 3], [9; 3]].concat();
        let keystream = |item: usize, out: &mut [u8]| out.fill(10 * item as u8);
        let sealed = SealedPayloads::new(3, cells, || vec![(1, 0), (4, 0), (6, 1)], keystream);
        let mut expected = vec![0; 21];
        for (item, byte) in [(1, 1 ^ 10), (4, 1 ^ 40), (6, 2 ^ 60)] {
            expected[3 * item..3 * item + 3].fill(byte);
        }
        assert_eq!(sealed.open_for_all(7, 3), expected);
        assert_eq!(SealedPayloads::default().open_for_all(2, 2), [0; 4]);
        assert_eq!(SealedPayloads::default().open_for_all(5, 0), [0; 0]);
    }

    #[test]
    fn bytes_that_were_never_encrypted_come_out_as_they_went_in() {
        assert_eq!(SealedPayloads::from(b"abc".to_vec()).opened(), b"abc");
        assert_eq!(SealedPayloads::default().open(), b"");
        assert_eq!(SealedPayloads::default(), SealedPayloads::from(Vec::new()));
    }
}
