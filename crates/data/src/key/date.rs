//! Calendar dates (proleptic Gregorian): reading, checking, and the canonical text of dates and
//! timestamps.

use std::fmt::{self, Write};

use crate::key::{SpecError, Unmatchable};

/// A day that exists, years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    fn new(year: u32, month: u32, day: u32) -> Result<Self, Unmatchable> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last = match month {
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            1..=12 => 31,
            _ => return Err(Unmatchable),
        };
        if !(1..=9999).contains(&year) || !(1..=last).contains(&day) {
            return Err(Unmatchable);
        }
        Ok(Self { year: year as u16, month: month as u8, day: day as u8 })
    }

    /// Appends `YYYY-MM-DD`.
    pub(crate) fn write(self, out: &mut String) {
        let digit = |n: u16| char::from(b'0' + (n % 10) as u8);
        let (year, month, day) = (self.year, u16::from(self.month), u16::from(self.day));
        out.extend([year / 1000, year / 100, year / 10, year].map(digit));
        out.push('-');
        out.extend([month / 10, month].map(digit));
        out.push('-');
        out.extend([day / 10, day].map(digit));
    }

    /// Days after 1970-01-01.
    pub(crate) fn to_days(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        // As in `from_days`: years begin in March.
        let year = i64::from(self.year) - i64::from(month <= 2);
        let march_month = if month > 2 { month - 3 } else { month + 9 };
        let of_year = (153 * march_month + 2) / 5 + day - 1;
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        era * 146_097 + 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
    }

    /// The day `days` after 1970-01-01, or an error outside of the years 1 to 9999.
    pub(crate) fn from_days(days: i64) -> Result<Self, Unmatchable> {
        // Years 1 to 9999 are days -719162 to 2932896.
        if !(-719_162..=2_932_896).contains(&days) {
            return Err(Unmatchable);
        }
        // Count from 0000-03-01, so that a leap day ends its year; 400 years are 146097 days.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self::new(year as u32, month as u32, day as u32)
    }
}

/// Appends the canonical text of a timestamp: `YYYY-MM-DDTHH:MM:SS[.fraction]`, with `Z` when
/// `utc`.
pub(crate) fn write_timestamp(seconds: i64, nanos: u32, utc: bool, out: &mut String) -> Result<(), Unmatchable> {
    Date::from_days(seconds.div_euclid(86_400))?.write(out);
    let of_day = seconds.rem_euclid(86_400);
    // Writing to a String cannot fail.
    let _ = write!(out, "T{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
    if nanos != 0 {
        let fraction = format!("{nanos:09}");
        out.push('.');
        out.push_str(fraction.trim_end_matches('0'));
    }
    if utc {
        out.push('Z');
    }
    Ok(())
}

/// `seconds` since the start of 1970 as ISO 8601 in UTC, to the second; nothing after the year 9999.
pub fn iso_utc(seconds: u64) -> Option<String> {
    let mut text = String::new();
    write_timestamp(i64::try_from(seconds).ok()?, 0, true, &mut text).ok()?;
    Some(text)
}

/// A number of exactly `digits` ASCII digits at the start, and what follows.
fn number(text: &str, digits: usize) -> Result<(u32, &str), Unmatchable> {
    let head = text.get(..digits).filter(|head| head.bytes().all(|b| b.is_ascii_digit())).ok_or(Unmatchable)?;
    Ok((head.parse().map_err(|_| Unmatchable)?, &text[digits..]))
}

fn after<'a>(text: &'a str, prefix: &str) -> Result<&'a str, Unmatchable> {
    text.strip_prefix(prefix).ok_or(Unmatchable)
}

/// The time of day in an ISO 8601 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    /// Seconds since midnight.
    pub seconds: i64,
    /// Nanoseconds of the second; what is finer is cut.
    pub nanos: u32,
    /// Digits behind the point of the second.
    pub digits: usize,
    /// Seconds by which the clock is ahead of UTC, if the text names a zone.
    pub offset: Option<i64>,
    /// The second is the 60th: a leap second.
    pub leap: bool,
}

/// Reads `YYYY-MM-DD`, `YYYYMMDD`, or an ISO 8601 timestamp that starts with the first, of which it
/// keeps the date as written.
pub(crate) fn from_iso(text: &str) -> Result<Date, Unmatchable> {
    iso(text).map(|(date, _)| date)
}

/// Reads the same, with the time of day where there is one.
pub(crate) fn iso(text: &str) -> Result<(Date, Option<Time>), Unmatchable> {
    let (year, rest) = number(text, 4)?;
    let (month, day, rest) = match rest.strip_prefix('-') {
        Some(rest) => {
            let (month, rest) = number(rest, 2)?;
            let (day, rest) = number(after(rest, "-")?, 2)?;
            (month, day, rest)
        }
        None => {
            let (month, rest) = number(rest, 2)?;
            let (day, rest) = number(rest, 2)?;
            if !rest.is_empty() {
                return Err(Unmatchable);
            }
            (month, day, rest)
        }
    };
    let time = match rest.strip_prefix(['T', ' ']) {
        Some(time) => Some(time_of_day(time)?),
        None if rest.is_empty() => None,
        None => return Err(Unmatchable),
    };
    Ok((Date::new(year, month, day)?, time))
}

/// `HH:MM[:SS[.fraction]]` with an optional zone; a second of 60 is a leap second.
fn time_of_day(time: &str) -> Result<Time, Unmatchable> {
    let (hour, rest) = number(time, 2)?;
    let (minute, mut rest) = number(after(rest, ":")?, 2)?;
    let (mut second, mut nanos, mut digits) = (0, 0, 0);
    if let Some(seconds) = rest.strip_prefix(':') {
        (second, rest) = number(seconds, 2)?;
        if let Some(fraction) = rest.strip_prefix('.') {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            digits = fraction.len() - rest.len();
            if digits == 0 {
                return Err(Unmatchable);
            }
            nanos = fraction
                .bytes()
                .take(digits)
                .chain(std::iter::repeat(b'0'))
                .take(9)
                .fold(0, |n, b| 10 * n + u32::from(b - b'0'));
        }
    }
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let offset = if rest.is_empty() { None } else { Some(zone(rest)?) };
    if hour > 23 || minute > 59 || second > 60 {
        return Err(Unmatchable);
    }
    Ok(Time { seconds: i64::from(3600 * hour + 60 * minute + second), nanos, digits, offset, leap: second == 60 })
}

/// `Z`, `UTC` or `+HH[[:]MM]`: the seconds by which the zone is ahead of UTC.
pub(crate) fn zone(text: &str) -> Result<i64, Unmatchable> {
    let (sign, hours) = match text.as_bytes().first() {
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (-1, &text[1..]),
        _ if text == "Z" || text == "UTC" => return Ok(0),
        _ => return Err(Unmatchable),
    };
    let (hour, minutes) = number(hours, 2)?;
    let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
    let (minute, end) = if minutes.is_empty() { (0, "") } else { number(minutes, 2)? };
    if hour > 18 || minute > 59 || !end.is_empty() {
        Err(Unmatchable)
    } else {
        Ok(sign * i64::from(3600 * hour + 60 * minute))
    }
}

/// How a column writes its dates: `%Y` (four digits), `%m` and `%d` (one or two digits, two beside another
/// number), `%%`, and literal characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
    Literal(char),
}

impl DateFormat {
    /// A format that names year, month and day once each.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let refused = || SpecError::DateFormat(text.to_owned());
        let mut parts = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            parts.push(match (c, if c == '%' { chars.next() } else { None }) {
                ('%', Some('Y')) => Part::Year,
                ('%', Some('m')) => Part::Month,
                ('%', Some('d')) => Part::Day,
                ('%', Some('%')) => Part::Literal('%'),
                ('%', _) => return Err(refused()),
                (c, _) => Part::Literal(c),
            });
        }
        let once = |part| parts.iter().filter(|&p| *p == part).count() == 1;
        if !(once(Part::Year) && once(Part::Month) && once(Part::Day)) {
            return Err(refused());
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The date in `text`, which holds nothing else.
    pub(crate) fn read(&self, text: &str) -> Result<Date, Unmatchable> {
        let (mut year, mut month, mut day) = (0, 0, 0);
        let mut rest = text;
        let is_number = |at: Option<usize>| {
            let part = at.and_then(|at| self.parts.get(at));
            part.is_some_and(|part| !matches!(part, Part::Literal(_)))
        };
        for (at, part) in self.parts.iter().enumerate() {
            // `2013112` may be 2 November or 12 January.
            let is_alone = !is_number(at.checked_sub(1)) && !is_number(Some(at + 1));
            let one_or_two = |text| number(text, 2).or_else(|no| if is_alone { number(text, 1) } else { Err(no) });
            match part {
                Part::Year => (year, rest) = number(rest, 4)?,
                Part::Month => (month, rest) = one_or_two(rest)?,
                Part::Day => (day, rest) = one_or_two(rest)?,
                Part::Literal(c) => rest = rest.strip_prefix(*c).ok_or(Unmatchable)?,
            }
        }
        if rest.is_empty() { Date::new(year, month, day) } else { Err(Unmatchable) }
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_one_to_one() {
        for days in (-719_162..=2_932_896).step_by(97).chain([-719_162, -1, 0, 1, 2_932_896]) {
            assert_eq!(Date::from_days(days).map(Date::to_days), Ok(days));
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (1_795_403_448, "2026-11-23T03:10:48Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(iso_utc(seconds).as_deref(), Some(date));
        }
        assert_eq!((iso_utc(253_402_300_800), iso_utc(u64::MAX)), (None, None));
    }
}
