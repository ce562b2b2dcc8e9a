//! Gathers one value a distinct key and column, and the group of each key, while the table is read.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Schema};

use super::decimal::{self, Unfit};
use super::{MAX_GROUPS, ValueDuplicates, ValueSpec, ValueTable};
use crate::table::columnar::{Batch, Scalars, canonical_kind};
use crate::table::csv::Record;
use crate::table::{Input, TableError};

/// What one row says.
#[derive(Default)]
struct Row {
    values: Vec<Result<i64, Unfit>>,
    group: Option<String>,
}

pub(crate) struct ValueCollector {
    spec: ValueSpec,
    /// Places of the columns in a CSV record, and of the group's.
    csv_columns: Vec<usize>,
    csv_group: Option<usize>,
    scratch: String,
    row: Row,
    values: Vec<i64>,
    groups: Vec<u32>,
    categories: HashMap<Option<String>, u32>,
}

/// A batch's columns of values, in a form that [`ValueCollector::columnar_row`] reads.
pub(crate) struct ValueArrays {
    values: Vec<ArrayRef>,
    group: Option<Scalars>,
}

impl ValueCollector {
    fn new(spec: &ValueSpec, csv_columns: Vec<usize>, csv_group: Option<usize>) -> Self {
        Self {
            spec: spec.clone(),
            csv_columns,
            csv_group,
            scratch: String::new(),
            row: Row::default(),
            values: Vec::new(),
            groups: Vec::new(),
            categories: HashMap::new(),
        }
    }

    /// For a CSV input, by the places of the columns.
    pub fn for_csv(spec: &ValueSpec, mut place: impl FnMut(&str) -> Result<usize, TableError>) -> Result<Self, TableError> {
        let columns = spec.columns.iter().map(|column| place(&column.name)).collect::<Result<_, _>>()?;
        let group = spec.group_by.as_deref().map(place).transpose()?;
        Ok(Self::new(spec, columns, group))
    }

    /// For a Parquet or Arrow input; refuses columns that hold no exact numbers, and groups without a canonical form.
    pub fn for_columns(input: &Input, spec: &ValueSpec, schema: &Schema) -> Result<Self, TableError> {
        let field = |name: &str| schema.field_with_name(name).map_err(|error| input.damaged(error)).map(|field| field.data_type());
        let refused = |name: &str, found: &DataType, role, mend| TableError::ColumnType {
            path: input.path().to_owned(),
            column: name.to_owned(),
            found: found.to_string(),
            role,
            mend,
        };
        for column in &spec.columns {
            let found = field(&column.name)?;
            if stored_as(found).is_none() {
                let mend = "choose integers, decimals of up to 128 bits or text; cast floats to decimals, which says how they are rounded";
                return Err(refused(&column.name, found, "computed with", mend));
            }
        }
        if let Some(name) = &spec.group_by {
            let found = field(name)?;
            canonical_kind(found).map_err(|mend| refused(name, found, "a group", mend))?;
        }
        Ok(Self::new(spec, Vec::new(), None))
    }

    /// Notes a CSV row.
    pub fn csv_row(&mut self, record: &Record) {
        let (row, scratch) = (&mut self.row, &mut self.scratch);
        row.values.clear();
        for (&place, column) in self.csv_columns.iter().zip(&self.spec.columns) {
            row.values.push(record.cell(place, scratch).map_or(Err(Unfit::Missing), |text| decimal::parse(text, column.scale)));
        }
        row.group = self.csv_group.and_then(|place| record.cell(place, scratch)).map(str::to_owned);
    }

    /// The batch's columns.
    pub fn columns_of(&self, batch: &Batch) -> Result<ValueArrays, TableError> {
        let column = |name: &str| {
            let array = batch.batch.column_by_name(name).ok_or_else(|| batch.damaged("a batch lacks a column of the schema"))?;
            let target = stored_as(array.data_type()).ok_or_else(|| batch.damaged("a batch has another type than the schema"))?;
            let exact = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(array, &target, &exact).map_err(|error| batch.damaged(error))
        };
        let values = self.spec.columns.iter().map(|c| column(&c.name)).collect::<Result<_, _>>()?;
        Ok(ValueArrays { values, group: self.spec.group_by.as_deref().map(|name| batch.key_column(name)).transpose()? })
    }

    /// Notes a row of a batch.
    pub fn columnar_row(&mut self, columns: &ValueArrays, row: usize) {
        self.row.values.clear();
        for (array, column) in columns.values.iter().zip(&self.spec.columns) {
            self.row.values.push(match array.data_type() {
                _ if array.is_null(row) => Err(Unfit::Missing),
                DataType::Decimal128(_, scale) => decimal::rescale(array.as_primitive::<Decimal128Type>().value(row), *scale, column.scale),
                _ => decimal::parse(array.as_string::<i64>().value(row), column.scale),
            });
        }
        let group = columns.group.as_ref().and_then(|column| column.canonical(row, &mut self.scratch).ok().flatten());
        self.row.group = group.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    }

    /// Keeps what the current row says of its key, or joins it to what earlier rows said. `row` counts from 1.
    pub fn end_row(&mut self, input: &Input, key: usize, new: bool, row: u64) -> Result<(), TableError> {
        if !new && self.spec.duplicates == ValueDuplicates::First {
            return Ok(());
        }
        let path = || input.path().to_owned();
        let columns = self.spec.columns.len();
        let differs = || TableError::ValueDuplicates { path: path(), row };
        for (place, column) in self.spec.columns.iter().enumerate() {
            let unfit =
                |unfit: Unfit| TableError::Amount { path: path(), row, column: column.name.clone(), what: unfit.what(column.scale) };
            let value = self.row.values.get(place).copied().unwrap_or(Err(Unfit::Missing)).map_err(unfit)?;
            match self.values.get_mut(key * columns + place) {
                None => self.values.push(value),
                Some(sum) if self.spec.duplicates == ValueDuplicates::Sum => {
                    *sum = sum.checked_add(value).ok_or_else(|| unfit(Unfit::TooLarge))?;
                }
                Some(kept) if *kept != value => return Err(differs()),
                Some(_) => {}
            }
        }
        let Some(group_by) = &self.spec.group_by else { return Ok(()) };
        let next = self.categories.len();
        let group = *self.categories.entry(self.row.group.take()).or_insert(next as u32);
        if self.categories.len() > MAX_GROUPS {
            return Err(TableError::TooManyGroups { path: path(), column: group_by.clone(), limit: MAX_GROUPS });
        }
        match self.groups.get(key) {
            None => self.groups.push(group),
            Some(&kept) if kept != group => return Err(differs()),
            Some(_) => {}
        }
        Ok(())
    }

    /// Clamps the values and puts the categories in order.
    #[expect(clippy::indexing_slicing, reason = "categories are numbered from 0 without a gap, and groups are such numbers")]
    pub fn finish(mut self) -> ValueTable {
        let mut clamped = vec![0; self.spec.columns.len()];
        if !self.spec.columns.is_empty() {
            for key in self.values.chunks_mut(self.spec.columns.len()) {
                for ((value, column), clamped) in key.iter_mut().zip(&self.spec.columns).zip(&mut clamped) {
                    let Some(range) = column.clamp else { continue };
                    let within = (*value).clamp(range.least, range.most);
                    *clamped += u64::from(within != *value);
                    *value = within;
                }
            }
        }
        let mut categories: Vec<(Option<String>, u32)> = self.categories.into_iter().collect();
        categories.sort_unstable();
        let mut place = vec![0; categories.len()];
        for (new, (_, old)) in (0..).zip(&categories) {
            place[*old as usize] = new;
        }
        self.groups.iter_mut().for_each(|group| *group = place[*group as usize]);
        let categories = categories.into_iter().map(|(name, _)| name).collect();
        ValueTable { values: self.values, groups: self.groups, categories, clamped }
    }
}

/// The type by which a column's values are read: 128-bit decimals, or text.
fn stored_as(found: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match found {
        T::Utf8 | T::LargeUtf8 | T::Utf8View => T::LargeUtf8,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => T::Decimal128(38, 0),
        T::Decimal32(_, scale) | T::Decimal64(_, scale) | T::Decimal128(_, scale) => T::Decimal128(38, *scale),
        T::Dictionary(_, values) if !matches!(**values, T::Dictionary(..)) => stored_as(values)?,
        _ => return None,
    })
}
