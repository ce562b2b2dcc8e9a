//! From the cells of rows to the digests of their keys.

use std::sync::Arc;

use crate::key::{Chain, Digests, KeyBatch, KeyFrame, KeySpec, NullWords, Reading};
use crate::table::read::beside::GatheredRows;
use crate::table::read::faults::OnFault;
use crate::table::source::{Cell, ScannerPart, WrongForm};
use crate::table::{KeyStats, LONGEST_VALUE, TableError};

/// Turns the cells of consecutive rows into digests.
pub(super) struct RowDigests<'a> {
    source: &'a str,
    spec: &'a KeySpec,
    null_words: &'a NullWords,
    /// The names of the wanted columns.
    columns: Arc<[String]>,
    chains: Vec<Chain<'a>>,
    /// For each alternative, the number of columns up to its end.
    ends: Vec<usize>,
    /// The alternative of the cell that came last, and its end.
    alternative: usize,
    end: usize,
    frame: KeyFrame,
    pub batch: KeyBatch,
    key_is_null: bool,
    key_is_unmatchable: bool,
    /// What the alternatives before this one say of the row.
    row_is_keyed: bool,
    row_is_unmatchable: bool,
    /// Whether a fault of the row was counted: it then has no key.
    row_is_faulty: bool,
    /// Wanted cells of the row that have come.
    cells: usize,
    /// What becomes of faults.
    pub on_fault: OnFault,
    /// Rows of the table before these.
    first: u64,
    /// The places of usable keys: with `n` alternatives, key `a` of row `r` among these rows has place
    /// `n r + a`.
    pub keyed: Vec<u32>,
    /// Their digests, but for those in `batch`.
    pub digests: Digests,
    /// What they say beside their keys.
    pub beside: GatheredRows,
    /// Without distinct and repeated keys.
    pub stats: KeyStats,
}

impl<'a> RowDigests<'a> {
    pub fn new(
        source: &'a str,
        spec: &'a KeySpec,
        columns: Arc<[String]>,
        beside: GatheredRows,
        on_fault: OnFault,
    ) -> Self {
        let mut rows = Self {
            source,
            spec,
            null_words: spec.null_words(),
            columns,
            chains: spec.columns().iter().map(|c| Chain::new(&c.normalisers)).collect(),
            ends: spec.alternatives().map(|columns| columns.end).collect(),
            alternative: 0,
            end: 0,
            frame: KeyFrame::default(),
            batch: KeyBatch::default(),
            key_is_null: false,
            key_is_unmatchable: false,
            row_is_keyed: false,
            row_is_unmatchable: false,
            row_is_faulty: false,
            cells: 0,
            on_fault,
            first: 0,
            keyed: Vec::new(),
            digests: Digests::default(),
            beside,
            stats: KeyStats::of(spec),
        };
        rows.begin_row();
        rows
    }

    /// Forgets all rows. The next one follows `first` others of the table.
    pub fn restart(&mut self, first: u64) {
        self.first = first;
        self.keyed.clear();
        self.batch.clear();
        self.digests.clear();
        self.beside.clear();
        self.on_fault.clear();
        self.stats = KeyStats::of(self.spec);
        self.begin_row();
    }

    fn begin_row(&mut self) {
        self.end = 0;
        self.row_is_keyed = false;
        self.row_is_unmatchable = false;
        self.row_is_faulty = false;
        self.cells = 0;
        self.begin_key(0);
    }

    fn begin_key(&mut self, alternative: usize) {
        let end = self.ends[alternative];
        self.frame.begin_alternative(alternative as u32, (end - self.end) as u32);
        (self.alternative, self.end) = (alternative, end);
        self.key_is_null = false;
        self.key_is_unmatchable = false;
    }

    /// Takes the key of the row in the present alternative, if it is usable.
    fn end_key(&mut self) {
        if !self.key_is_null && !self.key_is_unmatchable && !self.row_is_faulty {
            self.keyed.push((self.stats.rows as usize * self.ends.len() + self.alternative) as u32);
            self.batch.push(&self.frame, &mut self.digests);
            self.stats.alternatives[self.alternative].rows += 1;
            self.row_is_keyed = true;
        }
        self.row_is_unmatchable |= self.key_is_unmatchable && !self.key_is_null;
    }

    fn null(&mut self, index: usize) {
        self.stats.columns[index].nulls += 1;
        self.key_is_null = true;
    }

    fn text(&mut self, index: usize, cell: &str) -> Result<(), TableError> {
        if self.null_words.is_null(cell.as_bytes()) {
            self.null(index);
            return Ok(());
        }
        match self.chains[index].apply(cell) {
            Ok("") => {
                self.stats.columns[index].empty += 1;
                self.key_is_null = true;
            }
            Ok(value) => {
                let stats = &mut self.stats.columns[index];
                stats.count(value.as_bytes());
                stats.count_null_word(cell.as_bytes());
                if !self.frame.push(value.as_bytes()) {
                    return Err(self.out_of_range(index));
                }
                self.beside.key(index, value.as_bytes());
                match self.chains[index].reading {
                    Reading::Only => {}
                    Reading::BareNational => stats.bare_national += 1,
                    Reading::BareInternational => stats.bare_international += 1,
                }
            }
            Err(_) => {
                self.stats.columns[index].looks.count_refused(cell.as_bytes());
                self.unmatchable(index);
            }
        }
        Ok(())
    }

    /// A normaliser has refused a value.
    fn unmatchable(&mut self, index: usize) {
        if !self.beside.refuse() {
            self.stats.columns[index].unmatchable += 1;
            self.key_is_unmatchable = true;
            self.on_fault.refused(&self.spec.columns()[index].name, self.first + self.stats.rows + 1);
        }
    }

    /// Canonical bytes of a columnar value. Normalisers read text, so binary that is not UTF-8 is
    /// unmatchable under them.
    fn bytes(&mut self, index: usize, value: &[u8]) -> Result<(), TableError> {
        if value.len() > LONGEST_VALUE {
            let column = self.spec.columns()[index].name.clone();
            let row = self.first + self.stats.rows + 1;
            return Err(TableError::LongKey { path: self.source.to_owned(), row, column, limit: LONGEST_VALUE });
        }
        if value.is_empty() {
            return self.text(index, "");
        }
        if self.chains[index].is_empty() {
            if self.null_words.is_null(value) {
                self.null(index);
                return Ok(());
            }
            self.stats.columns[index].count(value);
            self.stats.columns[index].count_null_word(value);
            if !self.frame.push(value) {
                return Err(self.out_of_range(index));
            }
            self.beside.key(index, value);
            return Ok(());
        }
        match std::str::from_utf8(value) {
            Ok(text) => self.text(index, text),
            Err(_) => {
                self.unmatchable(index);
                Ok(())
            }
        }
    }

    /// Takes a null in the place of a cell beside the key that cannot be had. Every column takes nulls.
    fn no_cell(&mut self, place: usize) {
        let _ = self.beside.cell(place, Cell::Null);
    }

    /// Takes a fault of the current row.
    fn see(&mut self, error: TableError) -> Result<(), TableError> {
        self.on_fault.see(error)?;
        self.row_is_faulty = true;
        Ok(())
    }

    fn wrong_form(&self, place: usize) -> TableError {
        let column = self.columns.get(place).cloned().unwrap_or_default();
        TableError::WrongForm { path: self.source.to_owned(), row: self.first + self.stats.rows + 1, column }
    }

    fn out_of_range(&self, index: usize) -> TableError {
        let column = self.spec.columns()[index].name.clone();
        TableError::Value { path: self.source.to_owned(), row: self.first + self.stats.rows + 1, column }
    }
}

impl ScannerPart for RowDigests<'_> {
    #[inline]
    fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), TableError> {
        self.cells = place + 1;
        if let Some(beside) = place.checked_sub(self.chains.len()) {
            if let Err(WrongForm) = self.beside.cell(beside, cell) {
                self.see(self.wrong_form(place))?;
                self.no_cell(beside);
            }
            return Ok(());
        }
        if place == self.end {
            self.end_key();
            self.begin_key(self.alternative + 1);
        }
        let taken = match cell {
            Cell::Text(text) => self.text(place, text),
            Cell::Bytes(bytes) => self.bytes(place, bytes),
            Cell::OutOfRange => Err(self.out_of_range(place)),
            Cell::Null => {
                self.null(place);
                Ok(())
            }
            Cell::Boolean(_) | Cell::Fixed(_) | Cell::Decimal(..) => Err(self.wrong_form(place)),
        };
        taken.or_else(|error| self.see(error))
    }

    fn header_again(&mut self) {
        self.stats.header_rows += 1;
    }

    fn refuse(&mut self, error: TableError) -> Result<(), TableError> {
        self.see(error)?;
        // Each row has all cells, or none of them would stand in its place.
        for place in self.cells.max(self.chains.len())..self.columns.len() {
            self.no_cell(place - self.chains.len());
        }
        self.end_row()
    }

    fn end_row(&mut self) -> Result<(), TableError> {
        self.end_key();
        if !self.row_is_keyed && !self.row_is_faulty {
            if self.row_is_unmatchable {
                self.stats.unmatchable_rows += 1;
            } else {
                self.stats.null_rows += 1;
            }
        }
        self.beside.end_row(self.row_is_keyed);
        self.stats.rows += 1;
        self.begin_row();
        Ok(())
    }
}
