//! A column's values in the form in which they travel.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, LargeBinaryArray, LargeStringArray};
use arrow_buffer::Buffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};

use crate::table::{Cell, PayloadKind};

/// A column in the form in which its values travel.
pub(crate) enum PayloadColumn {
    Null,
    Text(LargeStringArray),
    Binary(LargeBinaryArray),
    Boolean(BooleanArray),
    Fixed {
        column: ArrayRef,
        /// All values one behind the other, and the bytes of each.
        values: Buffer,
        width: usize,
    },
}

impl PayloadColumn {
    /// The value of a row.
    pub fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Text(column) if column.is_valid(row) => Cell::Text(column.value(row)),
            Self::Binary(column) if column.is_valid(row) => Cell::Bytes(column.value(row)),
            Self::Boolean(column) if column.is_valid(row) => Cell::Boolean(column.value(row)),
            Self::Fixed { column, values, width } if column.is_valid(row) => {
                values.get(row * width..(row + 1) * width).map_or(Cell::Null, Cell::Fixed)
            }
            _ => Cell::Null,
        }
    }

    /// A column of this kind.
    pub fn of(array: &ArrayRef, kind: &PayloadKind) -> Result<Self, ArrowError> {
        // Not `safe`: what cannot be cast is an error, never silently null.
        let cast = |to: &DataType| cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() });
        Ok(match kind {
            PayloadKind::Null => Self::Null,
            PayloadKind::Text | PayloadKind::LargeText | PayloadKind::TextView | PayloadKind::Json => {
                Self::Text(cast(&DataType::LargeUtf8)?.as_string().clone())
            }
            PayloadKind::Binary | PayloadKind::LargeBinary | PayloadKind::BinaryView => {
                Self::Binary(cast(&DataType::LargeBinary)?.as_binary().clone())
            }
            PayloadKind::Boolean => Self::Boolean(cast(&DataType::Boolean)?.as_boolean().clone()),
            fixed => {
                let contradiction = || ArrowError::SchemaError("a column is not of its type".to_owned());
                let column = match fixed.data_type() {
                    Some(plain) => cast(&plain)?,
                    None => return Err(contradiction()),
                };
                let width = fixed.width().ok_or_else(contradiction)?;
                let data = column.to_data();
                let values = data.buffers().first().ok_or_else(contradiction)?.slice(data.offset() * width);
                if values.len() < column.len() * width {
                    return Err(contradiction());
                }
                Self::Fixed { column, values, width }
            }
        })
    }
}
