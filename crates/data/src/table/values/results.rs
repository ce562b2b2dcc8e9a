//! The result of an aggregate as a small table.

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::ArrowError;

use super::decimal;

/// What the numbers of an aggregate mean.
#[derive(Clone, Debug)]
pub struct ResultTable<'a> {
    /// The name of each result, and its digits after the point.
    pub columns: Vec<(String, u8)>,
    /// The column of the groups and their names, where there are any.
    pub groups: Option<(&'a str, &'a [Option<String>])>,
    /// The results of each group, or of the whole; `None` is a group that is kept back.
    pub results: &'a [Option<Vec<u64>>],
}

impl ResultTable<'_> {
    /// Each row's group, if there are groups, and its results as decimals; `None` is a group that
    /// is kept back.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Option<&str>, Vec<Option<String>>)> {
        self.results.iter().enumerate().map(|(place, results)| {
            let group = self.groups.and_then(|(_, names)| names.get(place)?.as_deref());
            let number = |(column, &(_, scale)): (usize, &(String, u8))| {
                Some(decimal::show(results.as_ref()?.get(column).copied()? as i64, scale))
            };
            (group, self.columns.iter().enumerate().map(number).collect())
        })
    }

    /// The name of each result and its number, `None` where that is kept back; nothing where there are groups, whose
    /// names are cells of the table.
    pub fn totals(&self) -> Vec<(String, Option<String>)> {
        let totals = self.rows().filter(|_| self.groups.is_none()).flat_map(|(_, results)| results);
        self.columns.iter().map(|(name, _)| name.clone()).zip(totals).collect()
    }

    /// As columns: the groups as text, whole numbers as integers of 64 bits, others as decimals.
    pub fn batch(&self) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        if let Some((name, groups)) = self.groups {
            let group = |place: usize| groups.get(place).cloned().flatten();
            columns.push((name, Arc::new((0..self.results.len()).map(group).collect::<StringArray>())));
        }
        for (place, (name, scale)) in self.columns.iter().enumerate() {
            let numbers = self.results.iter().map(|results| Some(results.as_ref()?.get(place).copied()?.cast_signed()));
            let column: ArrayRef = match scale {
                0 => Arc::new(numbers.collect::<Int64Array>()),
                _ => Arc::new(
                    numbers
                        .map(|number| number.map(i128::from))
                        .collect::<Decimal128Array>()
                        .with_precision_and_scale(38, scale.cast_signed())?,
                ),
            };
            columns.push((name, column));
        }
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
    }
}
