//! Which columns form the key and what is done to their values.

use crate::key::Form;
use crate::key::normalise::Normaliser;

/// One column of the key with the normalisers that its values pass, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// The column's name in the own table; the partner's may differ.
    pub name: String,
    /// Applied first to last.
    pub normalisers: Vec<Normaliser>,
}

impl KeyColumn {
    /// `COLUMN=NAME[,NAME...]` as `--normalise` takes it, with one more normaliser at the end. It
    /// stands instead of the last one if that is of the same name.
    pub fn flag_with(&self, normaliser: &str) -> String {
        let name = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
        let mut chain: Vec<String> = self.normalisers.iter().map(Normaliser::to_string).collect();
        if chain.last().is_some_and(|last| name(last) == name(normaliser)) {
            chain.pop();
        }
        chain.push(normaliser.to_owned());
        format!("{}={}", self.name, chain.join(","))
    }

    /// The form that the normalisers give to every value, where they do: that of the last one that
    /// does not leave it as it was.
    pub fn gives(&self) -> Option<Form> {
        let keeps = |normaliser: &&Normaliser| matches!(normaliser, Normaliser::Trim | Normaliser::Nfc);
        self.normalisers.iter().rev().find(|normaliser| !keeps(normaliser))?.gives()
    }
}

/// The key: its columns in the order that both parties use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpec {
    columns: Vec<KeyColumn>,
}

/// A key that cannot be declared so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No key column was named.
    #[error("no key column is named; name one or more with --key COLUMN")]
    NoColumn,
    /// The same column twice.
    #[error("the key names column `{0}` twice; name each column once")]
    Repeated(String),
    /// A normaliser for a column that is not part of the key.
    #[error(
        "--normalise {0}: no key column has this name; write --normalise COLUMN=NAME[,NAME...] for a column given \
         with --key"
    )]
    NotAKeyColumn(String),
    /// A normaliser that does not exist.
    #[error(
        "there is no normaliser `{0}`; known are trim, lower, nfc, email, e164:COUNTRY, digits, date[:FORMAT], \
         timestamp:ZONE[:PRECISION], int, decimal, bool"
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
}

impl KeySpec {
    /// A key of these columns, of which there is at least one and each only once.
    pub fn new(columns: Vec<KeyColumn>) -> Result<Self, SpecError> {
        if columns.is_empty() {
            return Err(SpecError::NoColumn);
        }
        for (i, column) in columns.iter().enumerate() {
            if columns.iter().take(i).any(|other| other.name == column.name) {
                return Err(SpecError::Repeated(column.name.clone()));
            }
        }
        Ok(Self { columns })
    }

    /// The key that `--key COLUMN` and `--normalise COLUMN=NAME[,NAME...]` arguments declare.
    pub fn parse<S: AsRef<str>>(keys: &[S], normalise: &[S]) -> Result<Self, SpecError> {
        let columns =
            keys.iter().map(|name| KeyColumn { name: name.as_ref().to_owned(), normalisers: Vec::new() }).collect();
        let mut spec = Self::new(columns)?;
        for argument in normalise.iter().map(AsRef::as_ref) {
            // Column names may hold `=`, so the key columns are tried as prefixes, the longest first.
            let split = |column: &KeyColumn| {
                argument.strip_prefix(column.name.as_str()).and_then(|rest| rest.strip_prefix('='))
            };
            let column =
                spec.columns.iter_mut().filter(|column| split(column).is_some()).max_by_key(|column| column.name.len());
            let column = column.ok_or_else(|| SpecError::NotAKeyColumn(argument.to_owned()))?;
            let chain = split(column).unwrap_or_default();
            for name in chain.split(',') {
                column.normalisers.push(Normaliser::parse(name.trim())?);
            }
        }
        Ok(spec)
    }

    /// The columns in key order; never empty.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// The form that the normalisers of each column give to every value, where they do, in key order.
    pub fn gives(&self) -> Vec<Option<Form>> {
        self.columns.iter().map(KeyColumn::gives).collect()
    }

    /// What both parties must agree on, one line a column: the versioned normalisers, or `as it
    /// is`. Column names are not part of it, nor are a normaliser's local arguments (country,
    /// date format, zone): they describe the own input only.
    pub fn agreement(&self) -> Vec<String> {
        let line = |column: &KeyColumn| {
            let names: Vec<_> = column.normalisers.iter().map(Normaliser::agreed_name).collect();
            if names.is_empty() { "as it is".to_owned() } else { names.join(",") }
        };
        self.columns.iter().map(line).collect()
    }
}
