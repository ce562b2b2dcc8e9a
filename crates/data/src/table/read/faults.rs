//! Faults of a table's values, with their rows.

use crate::table::TableError;

/// How many rows are listed of each kind of fault.
pub const LISTED_ROWS: usize = 10;

/// The most kinds of faults that are told apart: what is wrong with a line of JSON can be worded in any number of
/// ways.
const MOST_KINDS: usize = 64;

/// Faults of one kind in one column. Never a value.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// The column; `None` for whole rows, or the whole table.
    pub column: Option<String>,
    /// What is wrong: the end of the sentence `a value that ...`, or without a column of `a row that ...`. A whole
    /// sentence where there are no rows.
    pub what: String,
    /// What the user can do.
    pub mend: String,
    /// How many values or rows.
    pub count: u64,
    /// The first of them, at most [`LISTED_ROWS`], counted from 1. Empty for a fault of the whole table.
    pub rows: Vec<u64>,
    /// The file of which `rows` are lines, where records cannot be read. `None` for rows of the table, which are
    /// counted without the header.
    pub file: Option<String>,
    /// Whether a run ends at it. Otherwise it leaves the row out.
    pub ends_run: bool,
}

impl Fault {
    /// One fault.
    pub(super) fn of(error: &TableError) -> Self {
        use TableError as E;
        let (column, what, row) = match error {
            E::Value { row, column, .. } => (Some(column), "is out of range for its type".into(), Some(row)),
            E::WrongForm { row, column, .. } => (Some(column), "is not of the column's type".into(), Some(row)),
            E::LongKey { row, column, limit, .. } => (Some(column), format!("is longer than {limit} bytes"), Some(row)),
            E::WideKey { row, columns, limit, .. } => {
                (Some(columns), format!("is longer than {limit} bytes"), Some(row))
            }
            E::UnfitNumber { row, column, what, .. } => (Some(column), what.clone(), Some(row)),
            E::ConflictingValues { row, .. } => {
                (None, "has the key of an earlier row, and other values or another group".into(), Some(row))
            }
            E::ConflictingPayloads { row, .. } => {
                (None, "has the key of an earlier row, and another payload".into(), Some(row))
            }
            E::PayloadTooWide { row, limit, .. } => {
                (None, format!("has a payload of more than {limit} bytes"), Some(row))
            }
            E::Ragged { line, expected, .. } => {
                (None, format!("has not as many columns as the header, which has {expected}"), Some(line))
            }
            E::CsvNotUtf8 { line, .. } => (None, "is not UTF-8 text".into(), Some(line)),
            E::JsonLine { line, what, .. } => (None, what.clone(), Some(line)),
            other => (None, other.to_string(), None),
        };
        let file = match error {
            E::Ragged { path, .. } | E::CsvNotUtf8 { path, .. } | E::JsonLine { path, .. } => Some(path.clone()),
            _ => None,
        };
        Self {
            column: column.cloned(),
            what,
            mend: error.mend(),
            count: 1,
            rows: row.copied().into_iter().collect(),
            file,
            ends_run: true,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        (&self.column, &self.what, &self.file, self.ends_run)
            == (&other.column, &other.what, &other.file, other.ends_run)
    }
}

/// What becomes of a fault: without a list, reading ends at it; with one, it is counted.
#[derive(Default)]
pub(crate) struct OnFault(Option<Vec<Fault>>);

impl OnFault {
    /// One that counts.
    pub fn counting() -> Self {
        Self(Some(Vec::new()))
    }

    /// What was counted, in the order in which each kind was found first.
    pub fn into_faults(self) -> Vec<Fault> {
        self.0.unwrap_or_default()
    }

    /// One that counts if `self` does, and has counted nothing.
    pub fn alike(&self) -> Self {
        Self(self.counts().then(Vec::new))
    }

    pub fn counts(&self) -> bool {
        self.0.is_some()
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        if let Some(faults) = &mut self.0 {
            faults.clear();
        }
    }

    /// Counts a fault.
    ///
    /// # Errors
    /// Gives the fault back if faults are not counted.
    pub fn see(&mut self, error: TableError) -> Result<(), TableError> {
        if !self.counts() {
            return Err(error);
        }
        self.add(Fault::of(&error));
        Ok(())
    }

    /// Counts a value of a key column that a normaliser refuses: its row is left out.
    pub fn refused(&mut self, column: &str, row: u64) {
        if self.counts() {
            self.add(Fault {
                column: Some(column.to_owned()),
                what: "is refused by a normaliser".into(),
                mend: "correct the value, or choose another normaliser; `vesica check` shows such values".into(),
                count: 1,
                rows: vec![row],
                file: None,
                ends_run: false,
            });
        }
    }

    /// Takes over what was counted in later rows.
    pub fn append(&mut self, later: &mut Self) {
        for fault in later.0.iter_mut().flat_map(|faults| faults.drain(..)) {
            self.add(fault);
        }
    }

    /// Counts a fault, if faults are counted.
    pub fn add(&mut self, fault: Fault) {
        let Some(faults) = &mut self.0 else { return };
        let many = faults.len() >= MOST_KINDS;
        match faults.iter_mut().find(|known| known.is_like(&fault)) {
            Some(known) => {
                known.count += fault.count;
                known.rows.extend(fault.rows);
                // Those of a table in a work folder come in another order.
                known.rows.sort_unstable();
                known.rows.truncate(LISTED_ROWS);
            }
            None if many => {
                let further = "has a fault of yet another kind";
                let rest = Fault { column: None, file: None, what: further.into(), rows: Vec::new(), ..fault };
                if let Some(known) = faults.iter_mut().find(|known| known.is_like(&rest)) {
                    known.count += rest.count;
                } else {
                    faults.push(rest);
                }
            }
            None => faults.push(fault),
        }
    }
}
