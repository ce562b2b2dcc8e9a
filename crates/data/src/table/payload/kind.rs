//! The types of payload columns: a column arrives as it left, but for a dictionary, which arrives
//! as its values.

use std::fmt::Write;

use arrow_array::ArrowPrimitiveType;
use arrow_array::types::{Decimal256Type, DecimalType, Float16Type};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, TimeUnit};
use serde::{Deserialize, Serialize};

use crate::key::{date, uuid};
use crate::table::extension::{self, Extension, TypeName};

/// Types that travel, as those of Arrow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadKind {
    /// Nothing but nulls.
    Null,
    /// UTF-8 text.
    Text,
    /// UTF-8 text behind offsets of 64 bits.
    LargeText,
    /// UTF-8 text behind views.
    TextView,
    /// Bytes.
    Binary,
    /// Bytes behind offsets of 64 bits.
    LargeBinary,
    /// Bytes behind views.
    BinaryView,
    /// The same number of bytes in each value.
    FixedBinary {
        /// This number.
        bytes: u16,
    },
    /// True or false.
    Boolean,
    /// A signed integer.
    Int {
        /// 8, 16, 32 or 64.
        bits: u8,
    },
    /// An unsigned integer.
    UInt {
        /// 8, 16, 32 or 64.
        bits: u8,
    },
    /// An IEEE 754 number.
    Float {
        /// 16, 32 or 64.
        bits: u8,
    },
    /// An integer with a decimal point in it.
    Decimal {
        /// 32, 64, 128 or 256.
        bits: u16,
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// A day since 1970-01-01.
    Date {
        /// 32 where days are counted, 64 where milliseconds are.
        bits: u8,
    },
    /// A time since 1970-01-01T00:00:00.
    Timestamp {
        /// What is counted.
        unit: PayloadUnit,
        /// With a zone the time is an instant, which the zone says how to show; without one it is
        /// local time.
        zone: Option<String>,
    },
    /// A UUID in 16 bytes.
    Uuid,
    /// A text of JSON.
    Json,
}

/// What a timestamp counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadUnit {
    /// Seconds.
    Second,
    /// Thousandths of a second.
    Millisecond,
    /// Millionths of a second.
    Microsecond,
    /// Billionths of a second.
    Nanosecond,
}

/// Longest name of a time zone.
const LONGEST_ZONE: usize = 64;

const MILLISECONDS_PER_DAY: i64 = 86_400_000;

impl PayloadKind {
    /// The kind of a column, if its type travels.
    pub(crate) fn of(field: &Field) -> Option<Self> {
        match Extension::of(field) {
            None => Self::of_type(field.data_type()),
            Some(Extension::Uuid) => Some(Self::Uuid),
            Some(Extension::Json) => Some(Self::Json),
            // Only what is stored would travel.
            Some(Extension::Other(_)) => None,
        }
    }

    fn of_type(data_type: &DataType) -> Option<Self> {
        use DataType as T;
        let decimal =
            |bits, precision: u8, scale: i8| Some(Self::Decimal { bits, precision, scale: scale.try_into().ok()? });
        let kind = match data_type {
            T::Null => Self::Null,
            T::Utf8 => Self::Text,
            T::LargeUtf8 => Self::LargeText,
            T::Utf8View => Self::TextView,
            T::Binary => Self::Binary,
            T::LargeBinary => Self::LargeBinary,
            T::BinaryView => Self::BinaryView,
            T::FixedSizeBinary(bytes) => Self::FixedBinary { bytes: (*bytes).try_into().ok()? },
            T::Boolean => Self::Boolean,
            T::Int8 => Self::Int { bits: 8 },
            T::Int16 => Self::Int { bits: 16 },
            T::Int32 => Self::Int { bits: 32 },
            T::Int64 => Self::Int { bits: 64 },
            T::UInt8 => Self::UInt { bits: 8 },
            T::UInt16 => Self::UInt { bits: 16 },
            T::UInt32 => Self::UInt { bits: 32 },
            T::UInt64 => Self::UInt { bits: 64 },
            T::Float16 => Self::Float { bits: 16 },
            T::Float32 => Self::Float { bits: 32 },
            T::Float64 => Self::Float { bits: 64 },
            T::Decimal32(precision, scale) => decimal(32, *precision, *scale)?,
            T::Decimal64(precision, scale) => decimal(64, *precision, *scale)?,
            T::Decimal128(precision, scale) => decimal(128, *precision, *scale)?,
            T::Decimal256(precision, scale) => decimal(256, *precision, *scale)?,
            T::Date32 => Self::Date { bits: 32 },
            T::Date64 => Self::Date { bits: 64 },
            T::Timestamp(unit, zone) => {
                Self::Timestamp { unit: (*unit).into(), zone: zone.as_deref().map(str::to_owned) }
            }
            T::Dictionary(_, values) if !matches!(**values, T::Dictionary(..)) => Self::of_type(values)?,
            T::RunEndEncoded(_, values) => Self::of(values)?,
            _ => return None,
        };
        kind.data_type().is_some().then_some(kind)
    }

    /// The type of the receiver's column; `None` where no sender declares such a kind.
    pub(crate) fn data_type(&self) -> Option<DataType> {
        use DataType as T;
        Some(match *self {
            Self::Null => T::Null,
            Self::Text => T::Utf8,
            Self::LargeText => T::LargeUtf8,
            Self::TextView => T::Utf8View,
            Self::Binary => T::Binary,
            Self::LargeBinary => T::LargeBinary,
            Self::BinaryView => T::BinaryView,
            Self::FixedBinary { bytes: bytes @ 1.. } => T::FixedSizeBinary(bytes.into()),
            Self::Boolean => T::Boolean,
            Self::Int { bits: 8 } => T::Int8,
            Self::Int { bits: 16 } => T::Int16,
            Self::Int { bits: 32 } => T::Int32,
            Self::Int { bits: 64 } => T::Int64,
            Self::UInt { bits: 8 } => T::UInt8,
            Self::UInt { bits: 16 } => T::UInt16,
            Self::UInt { bits: 32 } => T::UInt32,
            Self::UInt { bits: 64 } => T::UInt64,
            Self::Float { bits: 16 } => T::Float16,
            Self::Float { bits: 32 } => T::Float32,
            Self::Float { bits: 64 } => T::Float64,
            Self::Decimal { bits, precision, scale } => decimal(bits, precision, scale)?,
            Self::Date { bits: 32 } => T::Date32,
            Self::Date { bits: 64 } => T::Date64,
            Self::Timestamp { unit, ref zone } => {
                let sound = |zone: &String| {
                    zone.len() <= LONGEST_ZONE
                        && zone.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_+-:".contains(&byte))
                };
                if !zone.as_ref().is_none_or(sound) {
                    return None;
                }
                T::Timestamp(unit.into(), zone.as_deref().map(Into::into))
            }
            Self::Uuid => T::FixedSizeBinary(uuid::BYTES as i32),
            Self::Json => T::Utf8,
            _ => return None,
        })
    }

    /// The receiver's column of this name; `None` where no sender declares such a kind.
    pub(crate) fn field(&self, name: &str) -> Option<Field> {
        let field = Field::new(name, self.data_type()?, true);
        Some(match self {
            Self::Uuid => extension::extended(field, extension::UUID, ""),
            Self::Json => extension::extended(field, extension::JSON, ""),
            _ => field,
        })
    }

    /// The name of the type.
    pub fn name(&self) -> String {
        self.field("").map_or_else(|| "unknown".to_owned(), |field| TypeName(&field).to_string())
    }

    /// Bytes of each value, where all have the same number.
    pub(crate) fn width(&self) -> Option<usize> {
        match *self {
            Self::Null | Self::Boolean | Self::Json => None,
            Self::Text | Self::LargeText | Self::TextView | Self::Binary | Self::LargeBinary | Self::BinaryView => None,
            Self::FixedBinary { bytes } => Some(bytes.into()),
            Self::Int { bits } | Self::UInt { bits } | Self::Float { bits } | Self::Date { bits } => {
                Some(usize::from(bits) / 8)
            }
            Self::Decimal { bits, .. } => Some(usize::from(bits) / 8),
            Self::Timestamp { .. } => Some(8),
            Self::Uuid => Some(uuid::BYTES),
        }
    }

    /// Whether these bytes, as many as [`Self::width`] says, are a value of the kind.
    pub(crate) fn holds(&self, bytes: &[u8]) -> bool {
        match *self {
            // The type of the same range: an integer of 256 bits holds them all.
            Self::Decimal { precision, scale, .. } => {
                Decimal256Type::validate_decimal_precision(wide(bytes), precision, scale.cast_signed()).is_ok()
            }
            _ => true,
        }
    }

    /// Appends the text of a value of fixed width; an error for what is out of range.
    pub(crate) fn text(&self, bytes: &[u8], out: &mut String) -> Result<(), ()> {
        // Writing to a String cannot fail.
        match *self {
            Self::Int { .. } => _ = write!(out, "{}", wide(bytes)),
            Self::UInt { .. } => _ = write!(out, "{}", unsigned(bytes)),
            Self::Float { bits: 16 } => {
                let number = <Float16Type as ArrowPrimitiveType>::Native::from_bits(unsigned(bytes) as u16);
                _ = write!(out, "{number}");
            }
            Self::Float { bits: 32 } => _ = write!(out, "{}", f32::from_bits(unsigned(bytes) as u32)),
            Self::Float { .. } => _ = write!(out, "{}", f64::from_bits(unsigned(bytes))),
            Self::Decimal { precision, scale, .. } => {
                out.push_str(&Decimal256Type::format_decimal(wide(bytes), precision, scale.cast_signed()))
            }
            Self::Date { bits } => {
                let count = signed(bytes);
                let days = if bits == 64 { count.div_euclid(MILLISECONDS_PER_DAY) } else { count };
                date::Date::from_days(days).map_err(drop)?.write(out);
            }
            Self::Timestamp { unit, ref zone } => {
                let (count, per_second) = (signed(bytes), unit.per_second());
                let nanos = count.rem_euclid(per_second) * (1_000_000_000 / per_second);
                date::write_timestamp(count.div_euclid(per_second), nanos as u32, zone.is_some(), out).map_err(drop)?;
            }
            Self::Uuid => uuid::write(bytes, out),
            _ => bytes.iter().for_each(|byte| _ = write!(out, "{byte:02x}")),
        }
        Ok(())
    }
}

fn decimal(bits: u16, precision: u8, scale: u8) -> Option<DataType> {
    let (make, most): (fn(u8, i8) -> DataType, u8) = match bits {
        32 => (DataType::Decimal32, 9),
        64 => (DataType::Decimal64, 18),
        128 => (DataType::Decimal128, 38),
        256 => (DataType::Decimal256, 76),
        _ => return None,
    };
    let sound = (1..=most).contains(&precision) && scale <= precision;
    sound.then(|| make(precision, scale.cast_signed()))
}

/// A signed integer in little-endian bytes.
fn wide(bytes: &[u8]) -> i256 {
    let negative = bytes.last().is_some_and(|last| last >> 7 == 1);
    let mut all = [if negative { 0xff } else { 0 }; 32];
    all.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    i256::from_le_bytes(all)
}

/// The same, of at most eight bytes.
fn signed(bytes: &[u8]) -> i64 {
    wide(bytes).as_i128() as i64
}

/// An unsigned integer in at most eight little-endian bytes.
fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl PayloadUnit {
    fn per_second(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Millisecond => 1_000,
            Self::Microsecond => 1_000_000,
            Self::Nanosecond => 1_000_000_000,
        }
    }
}

impl From<TimeUnit> for PayloadUnit {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Second => Self::Second,
            TimeUnit::Millisecond => Self::Millisecond,
            TimeUnit::Microsecond => Self::Microsecond,
            TimeUnit::Nanosecond => Self::Nanosecond,
        }
    }
}

impl From<PayloadUnit> for TimeUnit {
    fn from(unit: PayloadUnit) -> Self {
        match unit {
            PayloadUnit::Second => Self::Second,
            PayloadUnit::Millisecond => Self::Millisecond,
            PayloadUnit::Microsecond => Self::Microsecond,
            PayloadUnit::Nanosecond => Self::Nanosecond,
        }
    }
}
