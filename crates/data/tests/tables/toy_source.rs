//! A source of its own, as a user of the library writes one: rows of text, in no file and without
//! Arrow's arrays.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use vesica_data::table::{Cell, Head, KeptRows, OpenSource, Scanner, Sink, Source, TableError, Wanted, keep_batch};

#[derive(Clone, Debug)]
pub(super) struct TextRows {
    schema: SchemaRef,
    rows: Vec<Vec<Option<String>>>,
    /// The rows of the second pass.
    again: Vec<Vec<Option<String>>>,
    /// In place of the last cell of each row.
    last: Option<Cell<'static>>,
}

impl TextRows {
    pub fn new(names: &[&str], rows: Vec<Vec<Option<String>>>) -> Self {
        let fields: Vec<Field> = names.iter().map(|&name| Field::new(name, DataType::Utf8, true)).collect();
        Self { schema: Arc::new(Schema::new(fields)), again: rows.clone(), rows, last: None }
    }

    /// A faulty source, whose second pass has other rows than the first.
    pub fn changing_to(self, again: Vec<Vec<Option<String>>>) -> Self {
        Self { again, ..self }
    }

    /// A faulty source, which gives this cell of its last column whatever the column's type is.
    pub fn giving(self, last: Cell<'static>) -> Self {
        Self { last: Some(last), ..self }
    }
}

impl OpenSource for TextRows {
    fn name(&self) -> String {
        "the toy".to_owned()
    }

    fn open(&self) -> Result<Box<dyn Source>, TableError> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for TextRows {
    fn name(&self) -> &str {
        "the toy"
    }

    fn schema(&self) -> Result<SchemaRef, TableError> {
        Ok(self.schema.clone())
    }

    fn scan(&self, wanted: &[Wanted], scanner: &mut dyn Scanner) -> Result<(), TableError> {
        for mut part in scanner.parts(1) {
            for row in &self.rows {
                for (place, wanted) in wanted.iter().enumerate() {
                    let cell = row[wanted.column].as_deref().map_or(Cell::Null, Cell::Text);
                    let is_last = wanted.column + 1 == row.len();
                    part.cell(place, self.last.filter(|_| is_last).unwrap_or(cell))?;
                }
                part.end_row()?;
            }
        }
        scanner.commit()
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        sink.begin(&Head::of("the toy", self.schema.clone(), kept.payload_schema()))?;
        let column = |place: usize| {
            Arc::new(self.again.iter().map(|row| row[place].as_deref()).collect::<StringArray>()) as ArrayRef
        };
        let columns = (0..self.schema.fields().len()).map(column).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).expect("columns of one length");
        keep_batch("the toy", &batch, 0, kept, sink)
    }
}
