//! Keys as integers: what a protocol takes that compares integers of few bits instead of digests.

use crate::table::TableError;
use crate::table::read::beside::KeyedRow;
use crate::table::read::faults::OnFault;

/// Widest integers, in bits.
pub const MOST_INTEGER_BITS: u32 = u64::BITS;

/// Gathers the integer that each distinct key is.
pub(crate) struct IntegerCollector {
    /// Name of the key column.
    column: String,
    bits: u32,
    integers: Vec<u64>,
}

/// The integers of consecutive rows.
pub(crate) struct IntegerRows {
    bits: u32,
    /// That of the row that has begun.
    begun: Option<Result<u64, UnfitInteger>>,
    /// Those of rows with a usable key.
    integers: Vec<Result<u64, UnfitInteger>>,
}

/// Why a key is not such an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnfitInteger {
    /// It has a sign and digits behind it.
    Negative,
    /// It is another number, or an integer in another notation.
    Notation,
    /// It is no number.
    NoNumber,
    /// A normaliser refused it.
    Refused,
    /// It has too many bits.
    Wide,
}

impl UnfitInteger {
    fn what(self, bits: u32) -> String {
        let why = match self {
            Self::Negative => "it is negative",
            Self::Notation => "it has a sign, a leading zero, a point or white space",
            Self::NoNumber => "it is no number",
            Self::Refused => "a normaliser of the column refuses it",
            Self::Wide => "it is larger",
        };
        format!("is no integer from 0 to 2^{bits} - 1: {why}")
    }

    fn mend(self) -> &'static str {
        match self {
            Self::Notation => {
                "write such values as plain digits, or read them as integers with --normalise COLUMN=int, on both sides"
            }
            Self::Wide => "take such rows out of the table, or have the set served with larger --integer-bits",
            Self::Negative | Self::NoNumber | Self::Refused => {
                "take such rows out of the table, or have the set served without --integer-bits"
            }
        }
    }
}

impl IntegerCollector {
    /// For a key of this column, whose values have at most so many bits.
    pub fn new(column: &str, bits: u32) -> Self {
        Self { column: column.to_owned(), bits, integers: Vec::new() }
    }

    /// No rows.
    pub fn rows(&self) -> IntegerRows {
        IntegerRows { bits: self.bits, begun: None, integers: Vec::new() }
    }

    /// Keeps the integer of a new key.
    pub fn take(
        &mut self,
        rows: &IntegerRows,
        place: usize,
        at: KeyedRow<'_>,
        on_fault: &mut OnFault,
    ) -> Result<(), TableError> {
        let integer = rows.integers.get(place).copied().unwrap_or(Err(UnfitInteger::NoNumber));
        let integer = match integer {
            Ok(integer) => integer,
            Err(unfit) => {
                on_fault.see(TableError::UnfitNumber {
                    path: at.source.to_owned(),
                    row: at.row,
                    column: self.column.clone(),
                    what: unfit.what(self.bits),
                    mend: unfit.mend(),
                })?;
                0
            }
        };
        if at.new {
            self.integers.push(integer);
        }
        Ok(())
    }

    /// The integers of the distinct keys, in their order.
    pub fn finish(self) -> Vec<u64> {
        self.integers
    }
}

impl IntegerRows {
    /// The current row's key, after its normalisers.
    pub fn key(&mut self, component: &[u8]) {
        self.begun = Some(parse(component, self.bits));
    }

    /// A normaliser has refused the current row's key. The row counts as one with a key, so that
    /// its number is told.
    pub fn refuse(&mut self) {
        self.begun = Some(Err(UnfitInteger::Refused));
    }

    /// Ends the row. One without a usable key has no integer.
    pub fn end_row(&mut self, keep: bool) {
        let begun = self.begun.take();
        if keep {
            self.integers.push(begun.unwrap_or(Err(UnfitInteger::NoNumber)));
        }
    }

    pub fn clear(&mut self) {
        self.begun = None;
        self.integers.clear();
    }
}

/// The integer below `2^bits` whose shortest decimal this is.
fn parse(value: &[u8], bits: u32) -> Result<u64, UnfitInteger> {
    let is_number = |value: &[u8]| {
        let mut digits = value.iter().filter(|byte| byte.is_ascii_digit());
        digits.next().is_some() && value.iter().all(|byte| byte.is_ascii_digit() || b"+-. \t".contains(byte))
    };
    match value {
        [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            Err(UnfitInteger::Negative)
        }
        [b'0', _, ..] if is_number(value) => Err(UnfitInteger::Notation),
        digits if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            let integer = digits
                .iter()
                .try_fold(0_u64, |integer, digit| integer.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
            integer.filter(|integer| u128::from(*integer) >> bits.min(MOST_INTEGER_BITS) == 0).ok_or(UnfitInteger::Wide)
        }
        _ if is_number(value) => Err(UnfitInteger::Notation),
        _ => Err(UnfitInteger::NoNumber),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shortest_decimals_of_integers_in_the_range_are_read() {
        for (value, bits, integer) in [
            ("0", 1, 0),
            ("1", 1, 1),
            ("255", 8, 255),
            ("8589934591", 33, (1 << 33) - 1),
            ("18446744073709551615", 64, u64::MAX),
        ] {
            assert_eq!(parse(value.as_bytes(), bits), Ok(integer), "{value}");
        }
        for (value, bits, unfit) in [
            ("2", 1, UnfitInteger::Wide),
            ("256", 8, UnfitInteger::Wide),
            ("8589934592", 33, UnfitInteger::Wide),
            ("18446744073709551616", 64, UnfitInteger::Wide),
            ("99999999999999999999999999999999999999999999", 64, UnfitInteger::Wide),
            ("-1", 33, UnfitInteger::Negative),
            ("-0", 33, UnfitInteger::Negative),
            ("+1", 33, UnfitInteger::Notation),
            ("007", 33, UnfitInteger::Notation),
            ("00", 33, UnfitInteger::Notation),
            ("5.0", 33, UnfitInteger::Notation),
            ("0.5", 33, UnfitInteger::Notation),
            ("-0.5", 33, UnfitInteger::Notation),
            (" 5", 33, UnfitInteger::Notation),
            ("0x1f", 33, UnfitInteger::NoNumber),
            ("1e3", 33, UnfitInteger::NoNumber),
            ("5a", 33, UnfitInteger::NoNumber),
            ("-", 33, UnfitInteger::NoNumber),
            ("x", 33, UnfitInteger::NoNumber),
            ("\u{665}", 33, UnfitInteger::NoNumber),
            ("true", 33, UnfitInteger::NoNumber),
        ] {
            assert_eq!(parse(value.as_bytes(), bits), Err(unfit), "{value}");
        }
        assert_eq!(parse(b"\xff\xfe", 64), Err(UnfitInteger::NoNumber));
    }
}
