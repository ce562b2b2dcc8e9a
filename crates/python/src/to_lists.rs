//! Python's values of Arrow arrays: for tables whose owner has no library of tables.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::types::{UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, TimeUnit};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::from_lists::EPOCH_ORDINAL;

/// The values of a column as a list. Numbers, text, truth values, bytes, dates, times, decimals and UUIDs become Python's
/// own; other types become text.
pub fn list<'py>(py: Python<'py>, array: &ArrayRef, field: &Field) -> PyResult<Bound<'py, PyList>> {
    let is_uuid = field.extension_type_name() == Some("arrow.uuid");
    let (array, zone) = match array.data_type() {
        DataType::Timestamp(unit, Some(zone)) if !zone.starts_with(['+', '-']) => (&in_utc(array, *unit), Some(zone)),
        _ => (array, None),
    };
    let zone = zone.and_then(|zone| py.import("zoneinfo").ok()?.getattr("ZoneInfo").ok()?.call1((&**zone,)).ok());
    let value = |row| -> PyResult<Py<PyAny>> {
        let value = if is_uuid { uuid(py, array, row) } else { value(py, array, row) }?;
        // Text has no such method, and the first and last hours of all time have no other zone.
        let there = zone.as_ref().and_then(|zone| value.call_method1(py, "astimezone", (zone,)).ok());
        Ok(there.unwrap_or(value))
    };
    let values: Vec<Py<PyAny>> = (0..array.len()).map(value).collect::<PyResult<_>>()?;
    PyList::new(py, values)
}

/// The same points in time, in UTC. Which offset a named zone has knows Python.
fn in_utc(times: &ArrayRef, unit: TimeUnit) -> ArrayRef {
    macro_rules! of {
        ($type:ty) => {
            Arc::new(times.as_primitive::<$type>().clone().with_timezone("+00:00"))
        };
    }
    match unit {
        TimeUnit::Second => of!(TimestampSecondType),
        TimeUnit::Millisecond => of!(TimestampMillisecondType),
        TimeUnit::Microsecond => of!(TimestampMicrosecondType),
        TimeUnit::Nanosecond => of!(TimestampNanosecondType),
    }
}

/// A UUID as Python's own.
fn uuid(py: Python<'_>, array: &ArrayRef, row: usize) -> PyResult<Py<PyAny>> {
    match array.as_fixed_size_binary_opt().filter(|uuids| uuids.is_valid(row)) {
        Some(uuids) => {
            let bytes = PyBytes::new(py, uuids.value(row));
            Ok(py.import("uuid")?.call_method1("UUID", (py.None(), bytes))?.unbind())
        }
        None => value(py, array, row),
    }
}

fn value(py: Python<'_>, array: &ArrayRef, row: usize) -> PyResult<Py<PyAny>> {
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return Ok(py.None());
    }
    // What Python's own types cannot hold, such as a day in the year 10000, is text.
    own_value(py, array, row).or_else(|_| text(array, row)?.into_py_any(py))
}

fn own_value(py: Python<'_>, array: &ArrayRef, row: usize) -> PyResult<Py<PyAny>> {
    macro_rules! number {
        ($type:ty) => {
            array.as_primitive::<$type>().value(row).into_py_any(py)
        };
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into_py_any(py),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Utf8 => array.as_string::<i32>().value(row).into_py_any(py),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into_py_any(py),
        DataType::Utf8View => array.as_string_view().value(row).into_py_any(py),
        DataType::Binary => PyBytes::new(py, array.as_binary::<i32>().value(row)).into_py_any(py),
        DataType::LargeBinary => PyBytes::new(py, array.as_binary::<i64>().value(row)).into_py_any(py),
        DataType::BinaryView => PyBytes::new(py, array.as_binary_view().value(row)).into_py_any(py),
        DataType::FixedSizeBinary(_) => PyBytes::new(py, array.as_fixed_size_binary().value(row)).into_py_any(py),
        DataType::Date32 => {
            let date = py.import("datetime")?.getattr("date")?;
            let ordinal = i64::from(array.as_primitive::<Date32Type>().value(row)) + i64::from(EPOCH_ORDINAL);
            Ok(date.call_method1("fromordinal", (ordinal,))?.unbind())
        }
        DataType::Timestamp(_, _) => {
            let time = py.import("datetime")?.getattr("datetime")?;
            // Python before 3.11 does not read a `Z`.
            let text = text(array, row)?.replace('Z', "+00:00");
            // Nanoseconds, of which Python has none.
            let digits =
                text.split_once('.').map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
            if digits > 6 {
                return text.into_py_any(py);
            }
            Ok(time.call_method1("fromisoformat", (text,))?.unbind())
        }
        DataType::Decimal128(_, _) => Ok(py.import("decimal")?.call_method1("Decimal", (text(array, row)?,))?.unbind()),
        _ => text(array, row)?.into_py_any(py),
    }
}

fn text(array: &ArrayRef, row: usize) -> PyResult<String> {
    let failed = |error: arrow_schema::ArrowError| PyValueError::new_err(error.to_string());
    let options = FormatOptions::new();
    let formatter = ArrayFormatter::try_new(array, &options).map_err(failed)?;
    formatter.value(row).try_to_string().map_err(failed)
}
