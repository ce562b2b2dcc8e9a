//! The canonical form of a column's values, as keys have it.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types as datatypes;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};

use crate::key::{Unmatchable, date, uuid};
use crate::table::extension::Extension;

/// The kind of a column's canonical form, or the mend for a type that has none.
pub(crate) fn canonical_kind(field: &Field) -> Result<&'static str, &'static str> {
    match Extension::of(field) {
        None => kind_of(field.data_type()),
        Some(Extension::Uuid) => Ok("uuid"),
        Some(Extension::Json) => Ok("text"),
        Some(Extension::Other(_)) => Err(NO_KIND),
    }
}

/// What to do about a type without a canonical form.
const NO_KIND: &str =
    "choose a column of text, integers, dates, timestamps, booleans, UUIDs or binary, or write it as text";

fn kind_of(data_type: &DataType) -> Result<&'static str, &'static str> {
    use DataType as T;
    match data_type {
        T::Null => Ok("null"),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => Ok("text"),
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => Ok("integer"),
        T::Decimal32(_, 0) | T::Decimal64(_, 0) | T::Decimal128(_, 0) | T::Decimal256(_, 0) => Ok("integer"),
        T::Boolean => Ok("boolean"),
        T::Date32 | T::Date64 => Ok("date"),
        T::Timestamp(_, None) => Ok("timestamp"),
        T::Timestamp(_, Some(_)) => Ok("timestamp with time zone"),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => Ok("binary"),
        T::Dictionary(_, values) if !matches!(**values, T::Dictionary(..)) => kind_of(values),
        T::RunEndEncoded(_, values) => canonical_kind(values),
        T::Float16 | T::Float32 | T::Float64 => {
            Err("floats have no reliable equality: cast the column to an integer, a date or text in both tables")
        }
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => {
            Err("cast the decimal to an integer (of cents, for example) or to text in both tables")
        }
        _ => Err(NO_KIND),
    }
}

/// An array of scalars that have a canonical text or bytes.
pub(crate) struct Scalars {
    array: ArrayRef,
    /// Of a dictionary, where each row's value stands in `array`. Its values are not written out
    /// for each row: one of them may be long.
    places: Option<UInt64Array>,
    is_uuid: bool,
}

impl Scalars {
    /// Takes the array of a column that [`canonical_kind`] accepts; types that differ in storage
    /// only are brought to one.
    pub fn new(array: &ArrayRef, field: &Field) -> Result<Self, ArrowError> {
        use DataType as T;
        if let T::RunEndEncoded(_, values) = array.data_type() {
            return Self::new(&cast(array, values.data_type())?, values);
        }
        let is_uuid = Extension::of(field) == Some(Extension::Uuid);
        let (array, places) = match array.as_any_dictionary_opt() {
            Some(dictionary) => {
                let places = cast(dictionary.keys(), &T::UInt64)?;
                (dictionary.values().clone(), Some(places.as_primitive::<datatypes::UInt64Type>().clone()))
            }
            None => (array.clone(), None),
        };
        let target = match array.data_type() {
            T::Int8 | T::Int16 | T::Int32 => T::Int64,
            T::UInt8 | T::UInt16 | T::UInt32 => T::UInt64,
            T::Decimal32(p, s) | T::Decimal64(p, s) => T::Decimal128(*p, *s),
            _ => return Ok(Self { array, places, is_uuid }),
        };
        Ok(Self { array: cast(&array, &target)?, places, is_uuid })
    }

    /// The canonical form of a row's value; `None` is null. Numbers and dates are written to
    /// `scratch`.
    pub fn canonical<'b>(&'b self, row: usize, scratch: &'b mut String) -> Result<Option<&'b [u8]>, Unmatchable> {
        use DataType as T;
        let array = self.array.as_ref();
        let row = match &self.places {
            Some(places) if places.is_null(row) => return Ok(None),
            Some(places) => {
                usize::try_from(places.value(row)).ok().filter(|&place| place < array.len()).ok_or(Unmatchable)?
            }
            None => row,
        };
        if array.is_null(row) || *array.data_type() == T::Null {
            return Ok(None);
        }
        scratch.clear();
        // Writing to a String cannot fail.
        match array.data_type() {
            T::Utf8 => return Ok(Some(array.as_string::<i32>().value(row).as_bytes())),
            T::LargeUtf8 => return Ok(Some(array.as_string::<i64>().value(row).as_bytes())),
            T::Utf8View => return Ok(Some(array.as_string_view().value(row).as_bytes())),
            T::Binary => return Ok(Some(array.as_binary::<i32>().value(row))),
            T::LargeBinary => return Ok(Some(array.as_binary::<i64>().value(row))),
            T::BinaryView => return Ok(Some(array.as_binary_view().value(row))),
            T::FixedSizeBinary(_) if self.is_uuid => uuid::write(array.as_fixed_size_binary().value(row), scratch),
            T::FixedSizeBinary(_) => return Ok(Some(array.as_fixed_size_binary().value(row))),
            T::Int64 => _ = write!(scratch, "{}", array.as_primitive::<datatypes::Int64Type>().value(row)),
            T::UInt64 => _ = write!(scratch, "{}", array.as_primitive::<datatypes::UInt64Type>().value(row)),
            T::Decimal128(_, 0) => {
                _ = write!(scratch, "{}", array.as_primitive::<datatypes::Decimal128Type>().value(row))
            }
            T::Decimal256(_, 0) => {
                _ = write!(scratch, "{}", array.as_primitive::<datatypes::Decimal256Type>().value(row))
            }
            T::Boolean => scratch.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
            T::Date32 => {
                date::Date::from_days(i64::from(array.as_primitive::<datatypes::Date32Type>().value(row)))?
                    .write(scratch);
            }
            T::Date64 => {
                let millis = array.as_primitive::<datatypes::Date64Type>().value(row);
                date::Date::from_days(millis.div_euclid(86_400_000))?.write(scratch);
            }
            T::Timestamp(unit, zone) => {
                let (value, per_second) = match unit {
                    TimeUnit::Second => (array.as_primitive::<datatypes::TimestampSecondType>().value(row), 1),
                    TimeUnit::Millisecond => {
                        (array.as_primitive::<datatypes::TimestampMillisecondType>().value(row), 1_000)
                    }
                    TimeUnit::Microsecond => {
                        (array.as_primitive::<datatypes::TimestampMicrosecondType>().value(row), 1_000_000)
                    }
                    TimeUnit::Nanosecond => {
                        (array.as_primitive::<datatypes::TimestampNanosecondType>().value(row), 1_000_000_000)
                    }
                };
                let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
                date::write_timestamp(value.div_euclid(per_second), nanos as u32, zone.is_some(), scratch)?;
            }
            _ => return Err(Unmatchable),
        }
        Ok(Some(scratch.as_bytes()))
    }
}
