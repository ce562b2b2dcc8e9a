//! Finding the columns that a user names in the schema of a source.

use std::sync::LazyLock;

use arrow_schema::{DataType, Field, Schema};

use crate::invisible::visible;
use crate::table::column_names::missing_column_mend;
use crate::table::extension::TypeName;
use crate::table::formats::arrow::scalars::canonical_kind;
use crate::table::source::{CellForm, Source, Wanted};
use crate::table::{Format, TableError};

/// A column of a table that names none.
static ANY: LazyLock<Field> = LazyLock::new(|| Field::new("", DataType::Utf8, true));

/// Finds columns of a source by their names.
pub(crate) struct NamedColumns<'a> {
    source: &'a dyn Source,
    schema: &'a Schema,
}

impl<'a> NamedColumns<'a> {
    /// The columns of `source`, which has this schema.
    pub fn new(source: &'a dyn Source, schema: &'a Schema) -> Self {
        Self { source, schema }
    }

    /// Where the column `name` stands, which must stand there once, and the column.
    pub fn find(&self, name: &str) -> Result<(usize, &'a Field), TableError> {
        let path = || self.source.name().to_owned();
        let fields = self.schema.fields();
        let mut places = fields.iter().enumerate().filter(|(_, field)| field.name() == name);
        match (places.next(), places.count()) {
            (Some((place, field)), 0) => Ok((place, field.as_ref())),
            (Some(_), more) => {
                Err(TableError::DuplicateColumn { path: path(), column: visible(name).into_owned(), count: 1 + more })
            }
            // A file of JSON lines without a line has whatever columns are asked for, and no row.
            (None, _) if fields.is_empty() && self.is_of(Format::JsonLines) => Ok((0, &ANY)),
            (None, _) => {
                let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
                let stored = self.source.stored().filter(|stored| stored.format == Format::Csv);
                let mend = missing_column_mend(name, &names, stored.map(|stored| stored.delimiter));
                Err(TableError::MissingColumn { path: path(), column: visible(name).into_owned(), mend })
            }
        }
    }

    fn is_of(&self, format: Format) -> bool {
        self.source.stored().is_some_and(|stored| stored.format == format)
    }

    /// A column whose values have canonical bytes, and their kind. `role` is what it is wanted as,
    /// for errors.
    pub fn key(&self, name: &str, role: &'static str) -> Result<(Wanted, &'static str), TableError> {
        let (column, found) = self.find(name)?;
        let kind = canonical_kind(found).map_err(|mend| self.refused(name, found, role, mend))?;
        Ok((Wanted { column, form: CellForm::Key }, kind))
    }

    /// The error of a column whose type does not serve.
    pub fn refused(&self, name: &str, found: &Field, role: &'static str, mend: &'static str) -> TableError {
        let (path, column) = (self.source.name().to_owned(), name.to_owned());
        TableError::ColumnType { path, column, found: TypeName(found).to_string(), role, mend }
    }
}
