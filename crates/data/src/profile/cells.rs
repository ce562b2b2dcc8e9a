//! Every cell of a table's key columns, one after the other.

use crate::key::KeySpec;
use crate::table::{Cell, NamedColumns, Scanner, ScannerPart, Source, TableError};

/// Calls `each` with the place in the key and the canonical value of every cell of the key's
/// columns, row by row. `None` is null.
pub(super) fn for_each_cell(
    source: &dyn Source,
    key: &KeySpec,
    each: &mut (dyn FnMut(usize, Option<&[u8]>) + Send),
) -> Result<(), TableError> {
    let schema = source.schema()?;
    let columns = NamedColumns::new(source, &schema);
    let wanted = key.columns().iter().map(|column| Ok(columns.key(&column.name, "a key")?.0));
    let wanted = wanted.collect::<Result<Vec<_>, TableError>>()?;
    source.scan(&wanted, &mut EachCell { source: source.name(), key, each, rows: 0 })
}

/// A scanner of one part, which passes every cell on.
struct EachCell<'a> {
    source: &'a str,
    key: &'a KeySpec,
    each: &'a mut (dyn FnMut(usize, Option<&[u8]>) + Send),
    rows: u64,
}

impl Scanner for EachCell<'_> {
    fn parts(&mut self, _most: usize) -> Vec<Box<dyn ScannerPart + '_>> {
        vec![Box::new(self)]
    }

    fn commit(&mut self) -> Result<(), TableError> {
        Ok(())
    }
}

impl ScannerPart for EachCell<'_> {
    fn cell(&mut self, place: usize, cell: Cell<'_>) -> Result<(), TableError> {
        let mut give =
            |value| (self.each)(place, if self.key.null_words().is_null(value) { None } else { Some(value) });
        match cell {
            Cell::Text(text) => give(text.as_bytes()),
            Cell::Bytes(bytes) => give(bytes),
            Cell::OutOfRange => {
                let column = self.key.columns().get(place).map(|column| column.name.clone()).unwrap_or_default();
                return Err(TableError::Value { path: self.source.to_owned(), row: self.rows + 1, column });
            }
            _ => (self.each)(place, None),
        }
        Ok(())
    }

    fn header_again(&mut self) {}

    fn end_row(&mut self) -> Result<(), TableError> {
        self.rows += 1;
        Ok(())
    }
}
