//! Notations of numbers whose digits alone would be another number: fractions, exponents, signs.

use std::borrow::Cow;

use crate::invisible::is_invisible;

/// From here on a 64-bit float no longer holds every whole number, so that `9007199254740992.0` may have been another
/// integer once.
const FIRST_INEXACT: &str = "9007199254740992";

/// A decimal number as it is written: whether it is negative, the digits before its point, and those behind it if there
/// is a point. `None` for anything else.
pub(super) fn decimal(value: &str) -> Option<(bool, &str, Option<&str>)> {
    let (is_negative, digits) = match value.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, value.strip_prefix('+').unwrap_or(value)),
    };
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, behind)| (whole, Some(behind)));
    (all_digits(whole) && all_digits(fraction.unwrap_or_default())).then_some((is_negative, whole, fraction))
}

/// Whether there is nothing but digits.
fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a whole number with `.0` behind it has been a float that may have lost digits.
pub(super) fn is_inexact(whole: &str, fraction: Option<&str>) -> bool {
    fraction == Some("0") && is_beyond_floats(whole)
}

/// Whether a 64-bit float may not hold this whole number.
pub(super) fn is_beyond_floats(whole: &str) -> bool {
    let digits = whole.trim_start_matches('0');
    (digits.len(), digits) >= (FIRST_INEXACT.len(), FIRST_INEXACT)
}

/// The text without quotes, brackets, marks of formulas and characters that nobody sees at its ends, and with the wide
/// forms of digits and points as the usual ones: how a number in it reads.
fn bare(text: &str) -> Cow<'_, str> {
    let stands_around = |c: char| {
        c.is_whitespace()
            || is_invisible(c)
            || matches!(c, '"' | '\'' | '`' | '=' | '‘' | '’' | '“' | '”' | '„' | '[' | ']' | '{' | '}' | ';')
    };
    let text = text.trim_matches(stands_around);
    let is_wide = |c: char| matches!(c, '０'..='９' | '．' | '，' | '－' | '＋' | '·');
    if !text.contains(is_wide) {
        return Cow::Borrowed(text);
    }
    let usual = |c: char| match c {
        '０'..='９' => char::from_digit(u32::from(c) - u32::from('０'), 10).unwrap_or(c),
        '．' | '·' => '.',
        '，' => ',',
        '－' => '-',
        '＋' => '+',
        _ => c,
    };
    Cow::Owned(text.chars().map(usual).collect())
}

/// Whether the character is a minus, or a dash that stands for one.
fn is_minus(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Whether a point may be a mark of thousands: `1.000` is one in most countries, and a thousand in some.
pub(super) fn may_be_thousands(whole: &str, fraction: Option<&str>) -> bool {
    fraction.is_some_and(|zeros| zeros.len() == 3) && (1..=3).contains(&whole.len()) && !whole.starts_with('0')
}

/// Whether the digits of the text alone may be another number than the text: it has a fraction or a minus, or one of its
/// words is a number with an exponent, such as `1e2` in `1e2 EUR`.
pub(super) fn may_be_another_number(text: &str) -> bool {
    let text = bare(text);
    may_have_fraction(&text) || text.split_whitespace().any(has_exponent) || is_negative(&text)
}

/// Whether the text is a number with an exponent, such as `1.23457E+11`.
pub(super) fn has_exponent(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && all_digits(text);
    text.trim().split_once(['e', 'E']).is_some_and(|(number, exponent)| {
        let number = number.strip_prefix(['+', '-']).unwrap_or(number);
        let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
        digits(whole) && digits(fraction) && digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
    })
}

/// Marks that stand before a fraction, or between thousands.
const MARKS: [char; 3] = ['.', ',', '\u{66b}'];

/// Whether a number may have a fraction: a mark before a digit, behind a digit or at the start, that stands there only once.
/// Marks of thousands that stand several times, as in `1.234.567`, begin none.
fn may_have_fraction(text: &str) -> bool {
    if !text.contains(MARKS) {
        return false;
    }
    let mut found = [0; MARKS.len()];
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let follows =
            before.is_none_or(|c| c.is_ascii_digit() || c.is_whitespace() || is_minus(c) || "+$€£¥".contains(c));
        if follows && chars.peek().is_some_and(char::is_ascii_digit) {
            MARKS.iter().zip(&mut found).filter(|&(&mark, _)| mark == c).for_each(|(_, count)| *count += 1);
        }
        before = Some(c);
    }
    found.contains(&1)
}

/// Whether the text is a negative number, also beside a unit and as accountants write it: `-42`, `-42 EUR`, `42-`, `(42)`.
fn is_negative(text: &str) -> bool {
    if text
        .strip_prefix(is_minus)
        .is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    {
        return true;
    }
    let number = text.strip_suffix(is_minus).or_else(|| text.strip_prefix('(').and_then(|text| text.strip_suffix(')')));
    number.is_some_and(|number| {
        number.chars().any(|c| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || ".,'".contains(c))
    })
}

/// Whether the text may be a telephone number that a program took for a number, so that its digits are those of another
/// subscriber: `4930123456.0`, `493012345,6`, `4.93012E+11`, `-4930123456`. Points between the groups of a telephone
/// number are none of these.
pub(super) fn is_number_and_no_telephone(text: &str) -> bool {
    let text = bare(text);
    let text = text.trim_matches(|c: char| "()".contains(c) || c.is_whitespace());
    if text.starts_with(is_minus) || has_exponent(text) {
        return true;
    }
    let Some((before, behind)) = text.rsplit_once(['.', ',']).filter(|(_, behind)| !behind.is_empty()) else {
        return false;
    };
    let mark = text.get(before.len()..text.len() - behind.len()).unwrap_or_default();
    // Only telephone numbers have further digits behind a zero at the start, or a + and a point before a group of several.
    let is_float = match before.strip_prefix('+') {
        Some(whole) => all_digits(whole) && whole.len() > 6 && all_digits(behind) && behind.len() < 3,
        None => all_digits(before) && all_digits(behind) && (before == "0" || !before.starts_with('0')),
    };
    let all_zeros = behind.bytes().all(|byte| byte == b'0');
    (all_zeros && !before.contains(mark)) || is_float
}
