//! Timestamps of different writers to one text.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::key::{SpecError, Unmatchable, date};

/// How finely a time is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// To the day.
    Day,
    /// To the second.
    Second,
    /// To the millisecond.
    Millisecond,
    /// To the microsecond.
    Microsecond,
    /// To the nanosecond.
    Nanosecond,
}

impl Precision {
    /// All of them, coarsest first.
    pub(crate) const ALL: [Self; 5] = [Self::Day, Self::Second, Self::Millisecond, Self::Microsecond, Self::Nanosecond];

    /// As arguments have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Second => "s",
            Self::Millisecond => "ms",
            Self::Microsecond => "us",
            Self::Nanosecond => "ns",
        }
    }

    /// In words.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Second => "second",
            Self::Millisecond => "millisecond",
            Self::Microsecond => "microsecond",
            Self::Nanosecond => "nanosecond",
        }
    }

    /// Nanoseconds in a unit of less than a day.
    fn nanos(self) -> u32 {
        match self {
            Self::Day | Self::Second => 1_000_000_000,
            Self::Millisecond => 1_000_000,
            Self::Microsecond => 1_000,
            Self::Nanosecond => 1,
        }
    }
}

/// `timestamp:ZONE[:PRECISION]`: reads `YYYY-MM-DD`, `YYYYMMDD` and ISO 8601 timestamps (a space
/// may stand for the `T`) and gives the instant in UTC, `YYYY-MM-DDTHH:MM:SS[.fraction]Z`. What is
/// finer than the precision is cut; a date is its midnight. Values without a zone of their own are
/// in ZONE.
///
/// With the precision `day` it gives `YYYY-MM-DD`, the day of the instant in ZONE. Both sides must
/// then name the same zone.
///
/// Leap seconds are unmatchable: most programs cannot tell them from the next second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Seconds by which ZONE is ahead of UTC.
    offset: i64,
    precision: Precision,
}

impl Timestamp {
    /// Reads `ZONE[:PRECISION]`.
    pub fn parse(argument: &str) -> Result<Self, SpecError> {
        // Offsets hold a colon, too.
        let named = argument.rsplit_once(':').and_then(|(zone, name)| {
            let precision = Precision::ALL.into_iter().find(|precision| precision.name() == name)?;
            Some((zone, precision))
        });
        let (zone, precision) = named.unwrap_or((argument, Precision::Nanosecond));
        let zone = if zone.eq_ignore_ascii_case("utc") { "UTC" } else { zone };
        let offset = date::zone(zone).map_err(|_| SpecError::Timestamp(argument.to_owned()))?;
        Ok(Self { offset, precision })
    }

    /// How finely it gives times.
    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    /// Name, version and precision; the zone only where it decides what a day is.
    pub(crate) fn agreed_name(&self) -> String {
        match self.precision {
            Precision::Day => format!("timestamp@1:{}:day", self.zone()),
            precision => format!("timestamp@1:{}", precision.name()),
        }
    }

    fn zone(&self) -> String {
        let minutes = self.offset.abs() / 60;
        match self.offset {
            0 => "utc".to_owned(),
            offset => format!("{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60),
        }
    }

    /// Appends the normal form.
    pub(crate) fn read(&self, value: &str, out: &mut String) -> Result<(), Unmatchable> {
        let (date, time) = date::iso(value)?;
        if time.is_some_and(|time| time.leap) {
            return Err(Unmatchable);
        }
        let (seconds, nanos, offset) = time.map_or((0, 0, None), |time| (time.seconds, time.nanos, time.offset));
        let utc = date.to_days() * 86_400 + seconds - offset.unwrap_or(self.offset);
        if self.precision == Precision::Day {
            date::Date::from_days((utc + self.offset).div_euclid(86_400))?.write(out);
            return Ok(());
        }
        date::write_timestamp(utc, nanos - nanos % self.precision.nanos(), true, out)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timestamp:{}", self.zone())?;
        if self.precision == Precision::Nanosecond { Ok(()) } else { write!(f, ":{}", self.precision.name()) }
    }
}
