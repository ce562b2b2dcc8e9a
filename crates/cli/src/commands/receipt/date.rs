//! Dates for people.

const SECONDS_A_DAY: u64 = 86_400;
/// Days from 1970-01-01 to the end of 9999-12-31, the last date that ISO 8601 writes in four digits of a year.
const DAYS: u64 = 2_932_897;

/// `seconds` since the start of 1970 as ISO 8601 in UTC, to the second; nothing after the year 9999.
pub fn iso_utc(seconds: u64) -> Option<String> {
    let mut days = seconds / SECONDS_A_DAY;
    if days >= DAYS {
        return None;
    }
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hours, minutes, rest) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    Some(format!("{year:04}-{month:02}-{:02}T{hours:02}:{minutes:02}:{rest:02}Z", days + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

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
