//! Fixed-point numbers: whole multiples of a power of ten in 64 bits, read and written exactly. No
//! float on the way.

/// Most digits after the point: more do not leave a digit before it.
pub const MOST_SCALE: u8 = 18;

/// Why a text or a number is none of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is empty or null.
    Missing,
    /// It is no decimal number.
    NoNumber,
    /// It has digits other than zero beyond the scale.
    TooFine,
    /// It is beyond 64 bits.
    TooLarge,
}

impl Unfit {
    /// What the user can do about such a value.
    pub fn mend(self) -> &'static str {
        match self {
            Self::Missing => "fill in the value, or remove the row",
            Self::NoNumber => "correct the value, or remove the row",
            Self::TooFine => "correct the value, or give the column more digits with --scale; nothing is rounded",
            Self::TooLarge => "correct the value, or give the column fewer digits with --scale",
        }
    }

    /// The end of the sentence "a value that ...".
    pub fn what(self, scale: u8) -> String {
        match self {
            Self::Missing => "is missing".into(),
            Self::NoNumber => "is not a decimal number (digits, a sign before them, a point between them)".into(),
            Self::TooFine => format!("has more than the {scale} digits after the point of --scale"),
            Self::TooLarge => "does not fit 64 bits at its scale".into(),
        }
    }
}

/// `text` times `10^scale`.
pub fn parse(text: &str, scale: u8) -> Result<i64, Unfit> {
    let (negative, digits) = match text.as_bytes().first() {
        None => return Err(Unfit::Missing),
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        Some(_) => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + fraction.len() == 0 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return Err(Unfit::NoNumber);
    }
    let scale = usize::from(scale);
    let (kept, beyond) = fraction.split_at(fraction.len().min(scale));
    if beyond.bytes().any(|digit| digit != b'0') {
        return Err(Unfit::TooFine);
    }
    let zeros = std::iter::repeat_n(b'0', scale - kept.len());
    let mut value = 0i64;
    // Downwards, since the least number has no positive twin.
    for digit in whole.bytes().chain(kept.bytes()).chain(zeros) {
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_sub(i64::from(digit - b'0')))
            .ok_or(Unfit::TooLarge)?;
    }
    if negative { Ok(value) } else { value.checked_neg().ok_or(Unfit::TooLarge) }
}

/// `value`, which counts units of `10^-from`, in units of `10^-to`.
pub fn rescale(value: i128, from: i8, to: u8) -> Result<i64, Unfit> {
    let steps = i32::from(to) - i32::from(from);
    let factor = 10i128.checked_pow(steps.unsigned_abs());
    let scaled = match factor {
        _ if value == 0 => 0,
        Some(factor) if steps >= 0 => value.checked_mul(factor).ok_or(Unfit::TooLarge)?,
        None if steps >= 0 => return Err(Unfit::TooLarge),
        Some(factor) if value % factor == 0 => value / factor,
        _ => return Err(Unfit::TooFine),
    };
    i64::try_from(scaled).map_err(|_| Unfit::TooLarge)
}

/// `value`, which counts units of `10^-scale`, as text.
pub fn show(value: i64, scale: u8) -> String {
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = usize::from(scale) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    let sign = if value < 0 { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly_or_not_at_all() {
        for (text, scale, value) in [
            ("12.34", 2, Ok(1234)),
            ("12.3", 2, Ok(1230)),
            ("12", 2, Ok(1200)),
            ("12.340", 2, Ok(1234)),
            ("-0.01", 2, Ok(-1)),
            ("+7", 0, Ok(7)),
            (".5", 1, Ok(5)),
            ("5.", 1, Ok(50)),
            ("0.1", 18, Ok(100_000_000_000_000_000)),
            ("9223372036854775807", 0, Ok(i64::MAX)),
            ("-9223372036854775808", 0, Ok(i64::MIN)),
            ("9223372036854775808", 0, Err(Unfit::TooLarge)),
            ("92233720368547758.08", 2, Err(Unfit::TooLarge)),
            ("12.345", 2, Err(Unfit::TooFine)),
            ("12.34", 0, Err(Unfit::TooFine)),
            ("", 2, Err(Unfit::Missing)),
            ("-", 2, Err(Unfit::NoNumber)),
            (".", 2, Err(Unfit::NoNumber)),
            ("1e3", 2, Err(Unfit::NoNumber)),
            (" 1", 2, Err(Unfit::NoNumber)),
            ("1,5", 2, Err(Unfit::NoNumber)),
            ("1.2.3", 2, Err(Unfit::NoNumber)),
            ("--1", 2, Err(Unfit::NoNumber)),
            ("٣", 0, Err(Unfit::NoNumber)),
        ] {
            assert_eq!(parse(text, scale), value, "{text:?} at scale {scale}");
        }
    }

    #[test]
    fn what_is_shown_is_read_back() {
        for value in [0, 1, -1, 99, -100, 12_345, i64::MAX, i64::MIN] {
            for scale in [0, 1, 2, 5, MOST_SCALE] {
                assert_eq!(parse(&show(value, scale), scale), Ok(value), "{}", show(value, scale));
            }
        }
        assert_eq!((show(-5, 2), show(1234, 2), show(-7, 0)), ("-0.05".into(), "12.34".into(), "-7".into()));
    }

    #[test]
    fn scales_change_without_loss_or_not_at_all() {
        assert_eq!(rescale(1234, 2, 4), Ok(123_400));
        assert_eq!(rescale(1200, 2, 0), Ok(12));
        assert_eq!(rescale(1234, 2, 0), Err(Unfit::TooFine));
        assert_eq!(rescale(5, -3, 0), Ok(5000));
        assert_eq!(rescale(i128::MAX, 0, 18), Err(Unfit::TooLarge));
        assert_eq!(rescale(1, 127, 0), Err(Unfit::TooFine));
        assert_eq!((rescale(0, -128, 18), rescale(1, -128, 18)), (Ok(0), Err(Unfit::TooLarge)));
    }
}
