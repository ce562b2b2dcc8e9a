//! Rows, and stretches of a system that are being eliminated, for all twins.

use bytemuck::{Pod, Zeroable};

/// Columns of a line.
pub const LINE: usize = 8;

/// Lines of a row: its 512 columns.
pub const ROW_LINES: usize = 64;

/// The 512 coefficients of a row: bit `i % 64` of word `i / 64` is the `i`-th column from the row's
/// line on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct BandRow(pub [u64; 8]);

/// A row that the rows before it span: the system has no solution for all values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependent;

/// Rows, their lines and their values.
#[derive(Clone, Copy)]
pub(super) struct Equations<'a, const L: usize> {
    pub lines: &'a [u32],
    pub rows: &'a [BandRow],
    pub values: &'a [[u64; L]],
}

impl<'a, const L: usize> Equations<'a, L> {
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = (u32, &'a BandRow, [u64; L])> {
        self.lines.iter().zip(self.rows).zip(self.values).map(|((&line, row), &value)| (line, row, value))
    }
}

/// Lines of a system to which rows are added in the order of their lines, apart from all other
/// stretches.
pub struct Stretch<'a, const L: usize> {
    /// Its first line.
    pub(super) first: usize,
    pub(super) leading: &'a mut [BandRow],
    pub(super) values: &'a mut [[u64; L]],
    /// Its own, one row of padding after it.
    pub(super) leads: Vec<u8>,
    /// Line of the row inserted last.
    pub(super) line: usize,
    pub(super) beyond: Vec<Beyond<L>>,
}

/// A row without columns left in its stretch: its line, itself, its value.
pub(super) type Beyond<const L: usize> = (u32, BandRow, [u64; L]);

/// `Echelon::leads` from a line on, kept while rows start there: bytes written one by one and read
/// as words at once would stall.
pub(super) struct Window {
    pub line: usize,
    pub words: [u64; 8],
}

impl Window {
    #[inline(always)]
    pub fn new(line: usize, leads: &[u8]) -> Self {
        let mut window = Self { line, words: [0; 8] };
        window.read(leads);
        window
    }

    #[inline(always)]
    pub fn move_to(&mut self, line: usize, leads: &mut [u8]) {
        if line != self.line {
            self.write(leads);
            self.line = line;
            self.read(leads);
        }
    }

    #[inline(always)]
    fn read(&mut self, leads: &[u8]) {
        let (words, _) = leads[self.line..].as_chunks::<8>();
        for (word, bytes) in self.words.iter_mut().zip(words) {
            *word = u64::from_le_bytes(*bytes);
        }
    }

    #[inline(always)]
    pub fn write(&self, leads: &mut [u8]) {
        let (words, _) = leads[self.line..].as_chunks_mut::<8>();
        for (word, bytes) in self.words.iter().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
}

/// Exclusive or of two values.
#[inline(always)]
pub(super) fn add<const L: usize>(a: [u64; L], b: [u64; L]) -> [u64; L] {
    std::array::from_fn(|l| a[l] ^ b[l])
}
