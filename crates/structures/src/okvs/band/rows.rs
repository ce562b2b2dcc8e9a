//! From keys to rows: a keyed pseudo-random function, and the order of starts.

use vesica_kernels::aes::Aes128;
use vesica_kernels::band::BandRow;
use zeroize::Zeroize;

use super::Shape;
use crate::okvs::arrangement::encrypted;

/// Rows made at once: they reach little further than one of them does.
pub(super) const ROWS: usize = 256;

/// The row of a key: `h = pi(key)` gives the start, `pi'(h), pi'(h + 1), ...` the bits; `pi`, `pi'`
/// are AES under independent keys.
///
/// Both are permutations of 128 bits, so that distinct keys have distinct `h`, and up to 2^28
/// blocks are uniform up to about 2^-73.
pub(super) struct RowHash {
    start: Aes128,
    bits: Aes128,
}

impl RowHash {
    pub(super) fn new(seed: u128) -> Self {
        let keys = blake3::derive_key("vesica okvs band rows v1", &seed.to_le_bytes());
        let (keys, _) = keys.as_chunks::<16>();
        Self { start: Aes128::new(u128::from_le_bytes(keys[0])), bits: Aes128::new(u128::from_le_bytes(keys[1])) }
    }

    /// The line at which the row of a hash starts.
    #[inline]
    fn line(shape: &Shape, hash: u128) -> u32 {
        (((hash >> 64) * shape.starts as u128) >> 64) as u32
    }

    /// Calls `each` with the number and the line of each key.
    pub(super) fn lines(&self, shape: &Shape, keys: &[u128], mut each: impl FnMut(usize, u32)) {
        encrypted(&self.start, keys, |from, hashes| {
            for (number, &hash) in (from..).zip(hashes) {
                each(number, Self::line(shape, hash));
            }
        });
    }

    /// The rows of up to [`ROWS`] keys, and the lines at which they start.
    pub(super) fn rows(&self, shape: &Shape, keys: &[u128], lines: &mut [u32; ROWS], rows: &mut [BandRow; ROWS]) {
        let mut hashes = [0; ROWS];
        let hashes = &mut hashes[..keys.len()];
        hashes.copy_from_slice(keys);
        self.start.encrypt(hashes);
        let rows = &mut rows[..keys.len()];
        let blocks: &mut [u128] = bytemuck::cast_slice_mut(rows);
        for ((&hash, line), blocks) in hashes.iter().zip(lines).zip(blocks.chunks_exact_mut(4)) {
            *line = Self::line(shape, hash);
            for (i, block) in blocks.iter_mut().enumerate() {
                *block = hash.wrapping_add(i as u128);
            }
        }
        self.bits.encrypt(blocks);
        if shape.width < size_of::<BandRow>() {
            for row in bytemuck::cast_slice_mut::<BandRow, u8>(rows).chunks_exact_mut(size_of::<BandRow>()) {
                row[shape.width..].fill(0);
            }
        }
        hashes.zeroize();
    }
}

/// Orders the keys of one bucket by line, equal lines as given.
pub(super) struct Sorter {
    lines: Vec<u16>,
    next: Vec<u32>,
    keys: Vec<u128>,
    places: Vec<u32>,
}

impl Sorter {
    pub(super) fn new() -> Self {
        Self { lines: Vec::new(), next: Vec::new(), keys: Vec::new(), places: Vec::new() }
    }

    /// `first` is the first of at most `lines` lines at which rows of these keys start.
    pub(super) fn sort(
        &mut self,
        (hash, shape): (&RowHash, &Shape),
        (first, lines): (u32, usize),
        keys: &mut [u128],
        places: &mut [u32],
    ) {
        self.next.clear();
        self.next.resize(lines + 1, 0);
        self.lines.clear();
        hash.lines(shape, keys, |_, line| {
            let line = (line - first) as u16;
            self.lines.push(line);
            self.next[usize::from(line) + 1] += 1;
        });
        for line in 0..lines {
            self.next[line + 1] += self.next[line];
        }
        self.keys.resize(keys.len(), 0);
        self.places.resize(keys.len(), 0);
        for ((&key, &place), &line) in keys.iter().zip(&*places).zip(&self.lines) {
            let next = &mut self.next[usize::from(line)];
            (self.keys[*next as usize], self.places[*next as usize]) = (key, place);
            *next += 1;
        }
        keys.copy_from_slice(&self.keys);
        places.copy_from_slice(&self.places);
    }
}

impl Drop for Sorter {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}
