//! Arrow arrays of Python's values.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Float64Array, Int64Array, LargeStringArray, NullArray,
    TimestampMicrosecondArray, UInt64Array,
};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBool, PyBytes, PyDate, PyDateTime, PyFloat, PyInt, PyString};
use vesica::Failure;
use vesica::failure::code;

use crate::failure::raised;

/// Days from the first day of the year 1, whose ordinal is 1, to 1970-01-01.
const EPOCH_ORDINAL: i32 = 719_163;

/// The types that a column of a list can have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Boolean,
    Integer,
    Float,
    Bytes,
    Timestamp { zoned: bool },
    Date,
}

impl Type {
    /// The type of a value. A truth value is an integer to Python, and a date with time a date, so these come first.
    fn of(value: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        Ok(if value.is_instance_of::<PyString>() {
            Some(Self::Text)
        } else if value.is_instance_of::<PyBool>() {
            Some(Self::Boolean)
        } else if value.is_instance_of::<PyInt>() {
            Some(Self::Integer)
        } else if value.is_instance_of::<PyFloat>() {
            Some(Self::Float)
        } else if value.is_instance_of::<PyBytes>() {
            Some(Self::Bytes)
        } else if value.is_instance_of::<PyDateTime>() {
            Some(Self::Timestamp { zoned: !value.call_method0("utcoffset")?.is_none() })
        } else if value.is_instance_of::<PyDate>() {
            Some(Self::Date)
        } else {
            None
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "str",
            Self::Boolean => "bool",
            Self::Integer => "int",
            Self::Float => "float",
            Self::Bytes => "bytes",
            Self::Timestamp { zoned: true } => "datetime with a zone",
            Self::Timestamp { zoned: false } => "datetime without a zone",
            Self::Date => "date",
        }
    }
}

/// The values of a column; `None` is no value.
///
/// # Errors
/// If they are of several types, or of one that no key and no payload can have.
pub fn array(py: Python<'_>, column: &str, values: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let refuse = |fault: String, mend: &str| raised(py, &Failure::new(code::INPUT, fault, mend));
    let mut first: Option<(Type, usize)> = None;
    for (row, value) in (1..).zip(values).filter(|(_, value)| !value.is_none()) {
        let found = Type::of(value)?.ok_or_else(|| {
            let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            refuse(
                format!("column {column:?}: the value in row {row} is of the type {name}"),
                "give str, int, bool, bytes, date or datetime",
            )
        })?;
        match first {
            None => first = Some((found, row)),
            Some((wanted, earlier)) if wanted != found => {
                let fault = format!(
                    "column {column:?} mixes types: row {earlier} has {}, and row {row} has {}",
                    wanted.name(),
                    found.name()
                );
                return Err(refuse(fault, "bring all values to one type, for example with str()"));
            }
            Some(_) => {}
        }
    }
    let Some((wanted, _)) = first else { return Ok(Arc::new(NullArray::new(values.len()))) };
    let each = || values.iter().map(|value| (!value.is_none()).then_some(value));
    Ok(match wanted {
        Type::Text => {
            let texts = each().map(|value| value.map(|value| value.extract::<String>()).transpose());
            Arc::new(texts.collect::<PyResult<LargeStringArray>>()?)
        }
        Type::Boolean => {
            let truths = each().map(|value| value.map(|value| value.extract::<bool>()).transpose());
            Arc::new(truths.collect::<PyResult<BooleanArray>>()?)
        }
        Type::Integer => integers(values).map_err(|error| match error.is_instance_of::<PyOverflowError>(py) {
            true => refuse(
                format!(
                    "column {column:?} has an integer of more than 64 bits, or both a negative one and one of 64 bits"
                ),
                "give such numbers as str",
            ),
            false => error,
        })?,
        Type::Float => {
            let numbers = each().map(|value| value.map(|value| value.extract::<f64>()).transpose());
            Arc::new(numbers.collect::<PyResult<Float64Array>>()?)
        }
        Type::Bytes => {
            let bytes = each().map(|value| value.map(|value| value.extract::<Vec<u8>>()).transpose());
            Arc::new(bytes.collect::<PyResult<Vec<_>>>()?.iter().map(Option::as_deref).collect::<BinaryArray>())
        }
        Type::Date => {
            let day = |value: &Bound<'_, PyAny>| -> PyResult<i32> {
                Ok(value.call_method0("toordinal")?.extract::<i32>()? - EPOCH_ORDINAL)
            };
            let days = each().map(|value| value.map(day).transpose());
            Arc::new(days.collect::<PyResult<Date32Array>>()?)
        }
        Type::Timestamp { zoned } => {
            let module = py.import("datetime")?;
            let zone = if zoned { module.getattr("timezone")?.getattr("utc")? } else { py.None().into_bound(py) };
            let epoch = module.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
            let unit = module.getattr("timedelta")?.call1((0, 0, 1))?;
            let since = |value: &Bound<'_, PyAny>| value.sub(&epoch)?.floor_div(&unit)?.extract::<i64>();
            let times = each().map(|value| value.map(since).transpose());
            let times = times.collect::<PyResult<TimestampMicrosecondArray>>()?;
            Arc::new(if zoned { times.with_timezone("UTC") } else { times })
        }
    })
}

/// Integers of 64 bits with a sign, or else all of them without one.
fn integers(values: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let signed = values.iter().map(|value| value.extract::<Option<i64>>()).collect::<PyResult<Int64Array>>();
    match signed {
        Ok(signed) => Ok(Arc::new(signed)),
        Err(_) => {
            let unsigned = values.iter().map(|value| value.extract::<Option<u64>>());
            Ok(Arc::new(unsigned.collect::<PyResult<UInt64Array>>()?))
        }
    }
}
