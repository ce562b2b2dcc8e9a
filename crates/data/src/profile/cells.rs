//! Every cell of a table's key columns, one after the other.

use crate::table::{Cell, NamedColumns, Scanner, ScannerPart, Source, TableError};

/// Calls `each` with the place in `names` and the canonical value of every cell of the named
/// columns, row by row. `None` is null.
pub(super) fn for_each_cell(
    source: &dyn Source,
    names: &[&str],
    each: &mut (dyn FnMut(usize, Option<&[u8]>) + Send),
) -> Result<(), TableError> {
    let schema = source.schema()?;
    let columns = NamedColumns::new(source, &schema);
    let wanted = names.iter().map(|name| Ok(columns.key(name, "a key")?.0)).collect::<Result<Vec<_>, TableError>>()?;
    source.scan(&wanted, &mut EachCell { source: source.name(), names, each, rows: 0 })
}

/// A scanner of one part, which passes every cell on.
struct EachCell<'a> {
    source: &'a str,
    names: &'a [&'a str],
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
        match cell {
            Cell::Text(text) => (self.each)(place, Some(text.as_bytes())),
            Cell::Bytes(bytes) => (self.each)(place, Some(bytes)),
            Cell::OutOfRange => {
                let column = self.names.get(place).copied().unwrap_or_default().to_owned();
                return Err(TableError::Value { path: self.source.to_owned(), row: self.rows + 1, column });
            }
            _ => (self.each)(place, None),
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), TableError> {
        self.rows += 1;
        Ok(())
    }
}
