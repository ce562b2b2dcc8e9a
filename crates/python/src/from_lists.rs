//! Arrow arrays of Python's values.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, LargeStringArray,
    NullArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_schema::DECIMAL128_MAX_PRECISION;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBool, PyBytes, PyDate, PyDateTime, PyFloat, PyInt, PyString};
use vesica::Failure;
use vesica::failure::code;

use crate::failure::raised;

/// Python's ordinal of 1970-01-01: that of the first day of the year 1 is 1.
pub const EPOCH_ORDINAL: i32 = 719_163;

/// The types that a column of a list can have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Boolean,
    Integer,
    Float,
    Decimal,
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
        } else if value.get_type().name()? == "Decimal" {
            Some(Self::Decimal)
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
            Self::Decimal => "Decimal",
            Self::Bytes => "bytes",
            Self::Timestamp { zoned: true } => "datetime with a zone",
            Self::Timestamp { zoned: false } => "datetime without a zone",
            Self::Date => "date",
        }
    }

    /// What a value of the type must be.
    fn limit(self) -> &'static str {
        match self {
            Self::Text => "give text of whole characters of Unicode: a lone surrogate is none",
            Self::Integer => {
                "give integers of at most 64 bits, and none below 0 beside one of 64 bits; or all of them as str"
            }
            Self::Decimal => "give finite numbers of at most 38 digits",
            Self::Timestamp { .. } => "give times from the year 1 to 9999 without nanoseconds, or a table of pandas",
            Self::Boolean | Self::Float | Self::Bytes | Self::Date => "give values of Python's own type",
        }
    }
}

/// A value as Python's own, with its type; `None`, not-a-number, and pandas' `NaT` and `NA` are no value. Scalars of
/// numpy and of pyarrow become Python's own. Of other values there is no type.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, Option<Type>)>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok((!float.value().is_nan()).then(|| (value.clone(), Some(Type::Float))));
    }
    // `NaT` counts as a time, and has no zone that could be asked for.
    let is_time = value.is_instance_of::<PyDateTime>();
    let found = if is_time { None } else { Type::of(value)? };
    if found.is_none() {
        let kind = value.get_type().name()?.to_string();
        if kind == "NaTType" || kind == "NAType" {
            return Ok(None);
        }
        if is_time {
            return Ok(Some((value.clone(), Type::of(value)?)));
        }
        for method in ["as_py", "item"] {
            if value.hasattr(method)? {
                return plain(&value.call_method0(method)?);
            }
        }
    }
    Ok(Some((value.clone(), found)))
}

/// The values of a column.
///
/// # Errors
/// If they are of several types, or of one that no key and no payload can have. No error holds a value.
pub fn array(py: Python<'_>, column: &str, values: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let refuse = |fault: String, mend: &str| raised(py, &Failure::new(code::INPUT, fault, mend));
    let mut first: Option<(Type, usize)> = None;
    let mut plain_values = Vec::with_capacity(values.len());
    for (row, value) in (1..).zip(values) {
        let Some((value, found)) = plain(value)? else {
            plain_values.push(None);
            continue;
        };
        let found = found.ok_or_else(|| {
            let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            refuse(
                format!("column {column:?}: the value in row {row} is of the type {name}"),
                "give str, int, bool, bytes, date, datetime or Decimal",
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
        plain_values.push(Some(value));
    }
    let Some((wanted, _)) = first else { return Ok(Arc::new(NullArray::new(values.len()))) };
    // Python's errors can hold the value.
    let made = filled(py, wanted, &plain_values);
    made.map_err(|_| refuse(format!("column {column:?} has a value that cannot be read"), wanted.limit()))
}

/// Values that all are of one type.
fn filled(py: Python<'_>, wanted: Type, values: &[Option<Bound<'_, PyAny>>]) -> PyResult<ArrayRef> {
    let each = || values.iter().map(Option::as_ref);
    Ok(match wanted {
        Type::Text => {
            let texts = each().map(|value| value.map(|value| value.extract::<String>()).transpose());
            Arc::new(texts.collect::<PyResult<LargeStringArray>>()?)
        }
        Type::Boolean => {
            let truths = each().map(|value| value.map(|value| value.extract::<bool>()).transpose());
            Arc::new(truths.collect::<PyResult<BooleanArray>>()?)
        }
        Type::Integer => integers(values)?,
        Type::Float => {
            let numbers = each().map(|value| value.map(|value| value.extract::<f64>()).transpose());
            Arc::new(numbers.collect::<PyResult<Float64Array>>()?)
        }
        Type::Decimal => decimals(values)?,
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
            let since = |value: &Bound<'_, PyAny>| -> PyResult<i64> {
                // Times of pandas.
                if value.hasattr("nanosecond")? && value.getattr("nanosecond")?.extract::<i64>()? != 0 {
                    return Err(PyOverflowError::new_err(""));
                }
                value.sub(&epoch)?.floor_div(&unit)?.extract()
            };
            let times = each().map(|value| value.map(since).transpose());
            let times = times.collect::<PyResult<TimestampMicrosecondArray>>()?;
            Arc::new(if zoned { times.with_timezone("UTC") } else { times })
        }
    })
}

/// Decimals with as many digits behind the point as the one that has most.
fn decimals(values: &[Option<Bound<'_, PyAny>>]) -> PyResult<ArrayRef> {
    let invalid = |_| PyValueError::new_err("");
    let texts = values.iter().map(|value| {
        let text = value.as_ref().map(|value| value.call_method1("__format__", ("f",))?.extract::<String>());
        text.transpose()
    });
    let texts: Vec<Option<String>> = texts.collect::<PyResult<_>>()?;
    let digits = |text: &str| text.split_once('.').map_or(0, |(_, behind)| behind.len());
    let scale = texts.iter().flatten().map(|text| digits(text)).max().unwrap_or(0);
    let whole = texts.iter().map(|text| {
        let text = text.as_ref().map(|text| {
            let zeros = "0".repeat(scale - digits(text));
            format!("{}{zeros}", text.replace('.', "")).parse::<i128>()
        });
        text.transpose()
    });
    let whole = whole.collect::<Result<Decimal128Array, _>>().map_err(|_| PyValueError::new_err(""))?;
    let scale = i8::try_from(scale).map_err(|_| PyValueError::new_err(""))?;
    let array = whole.with_precision_and_scale(DECIMAL128_MAX_PRECISION, scale).map_err(invalid)?;
    array.validate_decimal_precision(DECIMAL128_MAX_PRECISION).map_err(invalid)?;
    Ok(Arc::new(array))
}

/// Integers of 64 bits with a sign, or else all of them without one.
fn integers(values: &[Option<Bound<'_, PyAny>>]) -> PyResult<ArrayRef> {
    let signed = values.iter().map(|value| value.as_ref().map(|value| value.extract::<i64>()).transpose());
    let signed = signed.collect::<PyResult<Int64Array>>();
    match signed {
        Ok(signed) => Ok(Arc::new(signed)),
        Err(_) => {
            let unsigned = values.iter().map(|value| value.as_ref().map(|value| value.extract::<u64>()).transpose());
            Ok(Arc::new(unsigned.collect::<PyResult<UInt64Array>>()?))
        }
    }
}
