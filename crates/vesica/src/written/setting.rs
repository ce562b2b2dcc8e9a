//! One setting of a file: its key, its value and its line.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::toml_text::{at_line, line_of};

/// A setting as a file says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The flag's long name; `_` in the file is `-` here.
    pub key: String,
    /// What the file says.
    pub value: Value,
    /// The line of the key, from 1.
    pub line: usize,
}

/// What a setting says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string or a number, as a flag has it.
    Word(String),
    /// `true` or `false`.
    Switch(bool),
    /// An array of strings or numbers.
    List(Vec<String>),
    /// A table, as `{ amount = 2 }`: a word for each column, or several with commas between them.
    Columns(Vec<(String, String)>),
}

impl Value {
    /// The kind of value, for errors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Word(_) => "a string or a number",
            Self::Switch(_) => "true or false",
            Self::List(_) => "an array",
            Self::Columns(_) => "a table",
        }
    }
}

impl Setting {
    /// The setting `key = value` of `text`.
    pub(super) fn read(text: &str, key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Result<Self, String> {
        let name = printable_key(key);
        let unfit = |what: &str| Err(at_line(text, &value.span(), format_args!("`{name}` says {what}")));
        let value = match value.get_ref() {
            DeValue::Boolean(is_on) => Value::Switch(*is_on),
            DeValue::Array(values) => match values.iter().map(|value| word(value.get_ref())).collect() {
                Some(words) => Value::List(words),
                None => return unfit("an array of something else than strings and numbers"),
            },
            DeValue::Table(columns) => {
                let each = columns.iter().map(|(column, value)| {
                    let words = match value.get_ref() {
                        DeValue::Array(values) => {
                            let words: Option<Vec<String>> = values.iter().map(|value| word(value.get_ref())).collect();
                            words?.join(",")
                        }
                        one => word(one)?,
                    };
                    Some((column.get_ref().to_string(), words))
                });
                match each.collect() {
                    Some(columns) => Value::Columns(columns),
                    None => return unfit("a table of something else than strings, numbers and arrays of these"),
                }
            }
            one => match word(one) {
                Some(word) => Value::Word(word),
                None => return unfit("a date, which no setting takes: put it in quotes"),
            },
        };
        Ok(Self { key: name, value, line: line_of(text, &key.span()) })
    }

    /// The settings of a table. None may be there twice, with `-` and with `_`.
    pub(super) fn read_all(text: &str, table: &DeTable<'_>) -> Result<Vec<Self>, String> {
        let settings = table.iter().map(|(key, value)| Self::read(text, key, value));
        let mut settings = settings.collect::<Result<Vec<_>, _>>()?;
        settings.sort_by_key(|setting| setting.line);
        Ok(settings)
    }
}

/// The first setting that an earlier one of `settings` has said already.
pub(super) fn first_repeated<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> Option<(&'a Setting, usize)> {
    let mut lines = std::collections::HashMap::new();
    settings.into_iter().find_map(|setting| {
        let earlier = lines.insert(&setting.key, setting.line)?;
        Some((setting, earlier))
    })
}

/// A key as errors show it and flags have it.
fn printable_key(key: &Spanned<DeString<'_>>) -> String {
    let plain = key.get_ref().chars().map(|c| if c.is_control() { '?' } else { c });
    plain.take(100).collect::<String>().replace('_', "-")
}

/// A string or a number, as a flag has it.
fn word(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}
