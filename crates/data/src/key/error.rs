//! A key that cannot be declared, and a value that cannot be brought to its form.

/// The value is not of the kind that the normaliser reads (no telephone number, no date). Says
/// nothing of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmatchable;

/// A key that cannot be declared so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No key column was named.
    #[error("no key column is named; name one or more with --key COLUMN")]
    NoColumn,
    /// An alternative without columns.
    #[error("an alternative key has no column; write --or-key COLUMN[,COLUMN...]")]
    EmptyAlternative,
    /// The same column twice in one alternative.
    #[error("the key names column `{0}` twice; name each column once")]
    Repeated(String),
    /// A normaliser for a column that is not part of the key.
    #[error(
        "--normalise {0}: no key column has this name; write --normalise COLUMN=NAME[,NAME...] for a column given \
         with --key or --or-key"
    )]
    NotAKeyColumn(String),
    /// A normaliser that does not exist.
    #[error(
        "there is no normaliser `{0}`; known are trim, lower, nfc, email, e164:COUNTRY, digits, date[:FORMAT], \
         timestamp:ZONE[:PRECISION], int, decimal, bool, uuid"
    )]
    UnknownNormaliser(String),
    /// A country that `e164` does not know.
    #[error("`{0}` is no ISO 3166 country with a telephone plan; write two letters, for example e164:DE")]
    UnknownCountry(String),
    /// An argument of `e164` that is none.
    #[error(
        "e164 knows no `{0}`; write e164:COUNTRY, or :bare=national, :bare=international or :bare=refuse after the \
         country"
    )]
    Bare(String),
    /// A zone or precision that `timestamp` does not know.
    #[error(
        "`{0}` is not ZONE or ZONE:PRECISION; ZONE is utc or an offset such as +02:00 (the clock of timestamps \
         without one; names of zones are not known), PRECISION is s, ms, us, ns or day: for example timestamp:utc or \
         timestamp:+02:00:ms"
    )]
    Timestamp(String),
    /// A date format that does not give year, month and day once each.
    #[error(
        "the date format `{0}` does not name year, month and day once each; use %Y, %m and %d, for example \
         date:%d.%m.%Y"
    )]
    DateFormat(String),
    /// Words for a missing value that are none.
    #[error(
        "--null-words has an empty word, or `keep` beside others; name words, for example --null-words '\\N,NULL', or say \
         --null-words keep"
    )]
    NullWords,
}
