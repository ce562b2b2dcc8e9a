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
}

impl TextRows {
    pub fn new(names: &[&str], rows: Vec<Vec<Option<String>>>) -> Self {
        let fields: Vec<Field> = names.iter().map(|&name| Field::new(name, DataType::Utf8, true)).collect();
        Self { schema: Arc::new(Schema::new(fields)), rows }
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
        for part in scanner.parts(1) {
            for row in &self.rows {
                for (place, wanted) in wanted.iter().enumerate() {
                    part.cell(place, row[wanted.column].as_deref().map_or(Cell::Null, Cell::Text))?;
                }
                part.end_row();
            }
        }
        scanner.commit()
    }

    fn keep(&self, kept: &KeptRows<'_>, sink: &mut dyn Sink) -> Result<(), TableError> {
        sink.begin(&Head::of("the toy", self.schema.clone(), kept.payload_schema()))?;
        let column = |place: usize| {
            Arc::new(self.rows.iter().map(|row| row[place].as_deref()).collect::<StringArray>()) as ArrayRef
        };
        let columns = (0..self.schema.fields().len()).map(column).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).expect("columns of one length");
        keep_batch("the toy", &batch, 0, kept, sink)
    }
}
