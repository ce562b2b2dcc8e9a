//! Which columns form the key and what is done to their values.

use std::ops::Range;

use crate::key::normalise::Normaliser;
use crate::key::{Form, NullWords, SpecError};

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

/// The key: its columns in the order that both parties use. There may be alternatives: a row then
/// has one key for each alternative in which all of its components are usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// The columns of all alternatives, one alternative behind the other.
    columns: Vec<KeyColumn>,
    /// For each alternative, the number of columns up to its end.
    ends: Vec<usize>,
    /// What becomes of words for a missing value, in all columns.
    null_words: NullWords,
}

impl KeySpec {
    /// A key of these columns, of which there is at least one and each only once.
    pub fn new(columns: Vec<KeyColumn>) -> Result<Self, SpecError> {
        if columns.is_empty() {
            return Err(SpecError::NoColumn);
        }
        let mut spec = Self { columns: Vec::new(), ends: Vec::new(), null_words: NullWords::default() };
        spec.append(columns)?;
        Ok(spec)
    }

    /// The key that `--key COLUMN` and `--normalise COLUMN=NAME[,NAME...]` arguments declare.
    pub fn parse<S: AsRef<str>>(keys: &[S], normalise: &[S]) -> Result<Self, SpecError> {
        Self::parse_alternatives(keys, &[], normalise)
    }

    /// The key that `--key COLUMN`, `--or-key COLUMN[,COLUMN...]` and `--normalise COLUMN=NAME[,NAME...]`
    /// arguments declare: `or_keys` has the columns of each further alternative. A normaliser is for
    /// the column of its name in every alternative that has it.
    pub fn parse_alternatives<S: AsRef<str>>(
        keys: &[S],
        or_keys: &[Vec<String>],
        normalise: &[S],
    ) -> Result<Self, SpecError> {
        let column = |name: &str| KeyColumn { name: name.to_owned(), normalisers: Vec::new() };
        let mut spec = Self::new(keys.iter().map(|name| column(name.as_ref())).collect())?;
        for names in or_keys {
            spec.append(names.iter().map(|name| column(name)).collect())?;
        }
        for argument in normalise.iter().map(AsRef::as_ref) {
            // Column names may hold `=`, so the key columns are tried as prefixes, the longest first.
            let split = |column: &KeyColumn| {
                argument.strip_prefix(column.name.as_str()).and_then(|rest| rest.strip_prefix('='))
            };
            let column =
                spec.columns.iter().filter(|column| split(column).is_some()).max_by_key(|column| column.name.len());
            let column = column.ok_or_else(|| SpecError::NotAKeyColumn(argument.to_owned()))?;
            let (name, chain) = (column.name.clone(), split(column).unwrap_or_default());
            let chain = chain.split(',').map(|name| Normaliser::parse(name.trim())).collect::<Result<Vec<_>, _>>()?;
            for column in spec.columns.iter_mut().filter(|column| column.name == name) {
                column.normalisers.extend(chain.iter().cloned());
            }
        }
        Ok(spec)
    }

    /// The same key, in whose columns words for a missing value are what `null_words` says.
    #[must_use]
    pub fn with_null_words(self, null_words: NullWords) -> Self {
        Self { null_words, ..self }
    }

    /// What becomes of words for a missing value.
    pub fn null_words(&self) -> &NullWords {
        &self.null_words
    }

    /// Adds an alternative.
    fn append(&mut self, columns: Vec<KeyColumn>) -> Result<(), SpecError> {
        if columns.is_empty() {
            return Err(SpecError::EmptyAlternative);
        }
        for (i, column) in columns.iter().enumerate() {
            if columns.iter().take(i).any(|other| other.name == column.name) {
                return Err(SpecError::Repeated(column.name.clone()));
            }
        }
        self.columns.extend(columns);
        self.ends.push(self.columns.len());
        Ok(())
    }

    /// The columns of all alternatives, in key order; never empty.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// The places in [`Self::columns`] that each alternative has; at least one alternative.
    pub fn alternatives(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Clone + '_ {
        let start = |alternative: usize| alternative.checked_sub(1).and_then(|before| self.ends.get(before));
        self.ends.iter().enumerate().map(move |(alternative, &end)| start(alternative).copied().unwrap_or(0)..end)
    }

    /// Whether there is more than one alternative.
    pub fn has_alternatives(&self) -> bool {
        self.ends.len() > 1
    }

    /// The columns of a key without alternatives, or of the first one.
    fn first(&self) -> &[KeyColumn] {
        self.columns.get(..self.ends.first().copied().unwrap_or(0)).unwrap_or_default()
    }

    /// A column's place in words, both sides of which name the same one: `key column 2`, or where
    /// there are alternatives `column 2 of alternative 1`.
    pub fn place(&self, column: usize) -> String {
        let found = self.alternatives().enumerate().find(|(_, columns)| columns.contains(&column));
        match found {
            Some((alternative, columns)) if self.has_alternatives() => {
                format!("column {} of alternative {}", column - columns.start + 1, alternative + 1)
            }
            _ => format!("key column {}", column + 1),
        }
    }

    /// The form that the normalisers of each column give to every value, where they do, in key order.
    pub fn gives(&self) -> Vec<Option<Form>> {
        self.columns.iter().map(KeyColumn::gives).collect()
    }

    /// What both parties must agree on, one line a column of the first alternative: the versioned
    /// normalisers, or `as it is`. Column names are not part of it, nor are a normaliser's local
    /// arguments (country, date format, zone): they describe the own input only.
    pub fn agreement(&self) -> Vec<String> {
        self.first().iter().map(agreed).collect()
    }

    /// [`Self::agreement`] for each alternative behind the first.
    pub fn or_agreement(&self) -> Vec<Vec<String>> {
        let columns = |columns: Range<usize>| self.columns.get(columns).unwrap_or_default();
        self.alternatives().skip(1).map(|places| columns(places).iter().map(agreed).collect()).collect()
    }
}

fn agreed(column: &KeyColumn) -> String {
    let names: Vec<_> = column.normalisers.iter().map(Normaliser::agreed_name).collect();
    if names.is_empty() { "as it is".to_owned() } else { names.join(",") }
}
