//! One line: an object, its keys and values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::table::column_names::looks_like_data;
use crate::table::formats::csv::MOST_COLUMNS;

/// The lines whose keys are the columns of the table.
pub(super) const SAMPLED_LINES: usize = 1024;

/// Readers of JSON that keep numbers as doubles round some integers beyond it.
pub(crate) const LARGEST_EXACT: u64 = (1 << 53) - 1;

/// The longest key, in bytes: what the keys of a table take is bounded.
const LONGEST_KEY: usize = 4096;

/// What is wrong with a line: words that follow "line 5", and the mend.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineFault {
    pub what: String,
    pub mend: &'static str,
}

const NO_OBJECT: &str = "write one JSON object a line; `jq -c '.[]'` makes lines of an array";
const ONE_LINE: &str = "write each object on one line: jq -c . FILE";
const NO_COMMA: &str = "remove the commas between the lines: sed 's/,$//' FILE";
const CORRECT: &str = "correct this line";
const NESTED: &str = "choose another column, or write the value as text";

impl LineFault {
    fn new(what: impl Into<String>, mend: &'static str) -> Self {
        Self { what: what.into(), mend }
    }
}

/// The keys of a table, in order, and their places.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// Whether a line may bring new ones.
    grows: bool,
}

impl Keys {
    /// None yet, and each line may bring some.
    pub fn growing() -> Self {
        Self { grows: true, ..Self::default() }
    }

    /// These, and no others.
    pub fn fixed<'a>(names: impl Iterator<Item = &'a String>) -> Self {
        let names: Vec<String> = names.cloned().collect();
        let places = names.iter().cloned().zip(0..).collect();
        Self { names, places, grows: false }
    }

    /// In order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The place of `name`. Most lines have the keys in the same order: `guess` is looked at first.
    fn place(&mut self, name: &str, guess: usize) -> Result<usize, LineFault> {
        if self.names.get(guess).is_some_and(|guessed| guessed == name) {
            return Ok(guess);
        }
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        if !self.grows {
            let shown = if looks_like_data(name) { String::new() } else { format!(" `{name}`") };
            return Err(LineFault::new(
                format!("has a key{shown} that none of the first {} lines has", SAMPLED_LINES),
                "give one of the first lines this key, with null if it has no value there",
            ));
        }
        if name.len() > LONGEST_KEY {
            return Err(LineFault::new(
                format!("has a key that is longer than {LONGEST_KEY} bytes"),
                "check that the keys are names of columns",
            ));
        }
        if self.names.len() == MOST_COLUMNS {
            return Err(LineFault::new(
                format!("has the key after the {MOST_COLUMNS}th of the table"),
                "check that the keys are names of columns",
            ));
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        Ok(self.names.len() - 1)
    }

    /// The values of an object, each at its key's place and as it is written; `None` where the line
    /// has no such key.
    pub fn read<'a>(&mut self, line: &'a [u8], values: &mut Vec<Option<&'a str>>) -> Result<(), LineFault> {
        values.clear();
        values.resize(self.names.len(), None);
        let text = std::str::from_utf8(line)
            .map_err(|_| LineFault::new("is not UTF-8 text", "convert the file to UTF-8, for example with iconv"))?;
        let mut fault = None;
        let mut reader = serde_json::Deserializer::from_str(text);
        let read =
            Object { keys: self, values, fault: &mut fault }.deserialize(&mut reader).and_then(|()| reader.end());
        match (fault, read) {
            (Some(fault), _) => Err(fault),
            (None, Ok(())) => Ok(()),
            (None, Err(error)) => Err(of_json(&error, text)),
        }
    }
}

/// What the parser says of a line, without anything that stands there.
fn of_json(error: &serde_json::Error, line: &str) -> LineFault {
    let behind = line.as_bytes().get(error.column().saturating_sub(1)..).unwrap_or_default();
    match error.classify() {
        Category::Data => LineFault::new("is no JSON object", NO_OBJECT),
        Category::Eof => LineFault::new("is cut off: it ends within its JSON object", ONE_LINE),
        Category::Syntax if behind.trim_ascii() == b"," => {
            LineFault::new("has a comma behind its JSON object", NO_COMMA)
        }
        Category::Syntax | Category::Io => {
            let told = error.to_string();
            let (what, _) = told.split_once(" at line ").unwrap_or((&told, ""));
            LineFault::new(format!("is not valid JSON ({what}, character {})", error.column()), CORRECT)
        }
    }
}

/// Takes an object apart.
struct Object<'k, 'v, 'a> {
    keys: &'k mut Keys,
    values: &'v mut Vec<Option<&'a str>>,
    /// Why the object was not read to its end, if its JSON is sound.
    fault: &'v mut Option<LineFault>,
}

impl<'a> DeserializeSeed<'a> for Object<'_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Object<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let mut guess = 0;
        while let Some(Key(key)) = map.next_key()? {
            let value: &'a RawValue = map.next_value()?;
            let place = match self.keys.place(&key, guess) {
                Ok(place) => place,
                Err(fault) => {
                    *self.fault = Some(fault);
                    return Err(A::Error::custom(""));
                }
            };
            guess = place + 1;
            if place >= self.values.len() {
                self.values.resize(place + 1, None);
            }
            if let Some(slot) = self.values.get_mut(place)
                && slot.replace(value.get()).is_some()
            {
                *self.fault = Some(LineFault::new("has the same key twice", CORRECT));
                return Err(A::Error::custom(""));
            }
        }
        Ok(())
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'a> serde::Deserialize<'a> for Key<'a> {
    fn deserialize<D: Deserializer<'a>>(reader: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'a> Visitor<'a> for Text {
            type Value = Key<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        reader.deserialize_str(Text)
    }
}

/// A value as a cell: `None` is null. A text with escapes is written to `scratch`.
///
/// # Errors
/// If it is an object or array, or half of a surrogate pair.
pub(crate) fn scalar<'b>(value: &'b str, column: &str, scratch: &'b mut String) -> Result<Option<&'b str>, LineFault> {
    match value.as_bytes().first() {
        Some(b'n') | None => Ok(None),
        Some(b'"') => text(value, scratch).map(Some),
        Some(b'{' | b'[') => Err(LineFault::new(
            format!("has an object or array in column `{column}`, which cannot be a key, a payload or a number"),
            NESTED,
        )),
        Some(_) => Ok(Some(value)),
    }
}

/// A value as text: as [`scalar`], and what is nested as its JSON.
pub(crate) fn any<'b>(value: &'b str, scratch: &'b mut String) -> Result<Option<&'b str>, LineFault> {
    match value.as_bytes().first() {
        Some(b'{' | b'[') => Ok(Some(value)),
        _ => scalar(value, "", scratch),
    }
}

/// Refuses a text that is none, although its JSON is sound.
pub(crate) fn check(value: &str, scratch: &mut String) -> Result<(), LineFault> {
    any(value, scratch).map(drop)
}

/// What stands in quotes.
fn text<'b>(value: &'b str, scratch: &'b mut String) -> Result<&'b str, LineFault> {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Ok(inner);
    }
    *scratch = serde_json::from_str(value).map_err(|_| {
        LineFault::new("has a text with an escape that is no character (half of a surrogate pair)", CORRECT)
    })?;
    Ok(scratch)
}

/// Whether `text` is a number or truth value of JSON as it stands.
pub(crate) fn is_bare(text: &str) -> bool {
    let starts = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | 't' | 'f'));
    starts && serde_json::from_str::<&RawValue>(text).is_ok_and(|value| value.get().len() == text.len())
}

/// Appends a text in quotes.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    // Writing text to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<(String, Option<String>)>, String> {
        let (mut keys, mut values, mut scratch) = (Keys::growing(), Vec::new(), String::new());
        keys.read(line.as_bytes(), &mut values).map_err(|fault| fault.what)?;
        let cell = |(name, value): (&String, &Option<&str>)| {
            let cell = value.map_or(Ok(None), |value| any(value, &mut scratch).map(|text| text.map(str::to_owned)));
            Ok((name.clone(), cell.map_err(|fault| fault.what)?))
        };
        keys.names().iter().zip(&values).map(cell).collect()
    }

    #[test]
    fn values_are_cells_as_they_are_written() {
        for (value, cell) in [
            ("\"a\"", Some("a")),
            ("\"\"", Some("")),
            ("null", None),
            ("true", Some("true")),
            ("12345678901234567890123", Some("12345678901234567890123")),
            ("-1.50e+3", Some("-1.50e+3")),
            ("0.1000", Some("0.1000")),
            (r#""\"\\\u00e4\ud83d\ude00\n""#, Some("\"\\ä😀\n")),
            (r#"{"x": [1, 2]}"#, Some(r#"{"x": [1, 2]}"#)),
        ] {
            let line = format!(" {{ \"k\\u0065y\" : {value} ,\"b\":1}} \r\n");
            let expected = vec![("key".to_owned(), cell.map(str::to_owned)), ("b".to_owned(), Some("1".to_owned()))];
            assert_eq!(read(&line), Ok(expected), "{line}");
        }
        assert_eq!(read("{}"), Ok(Vec::new()));
    }

    #[test]
    fn faults_say_nothing_of_the_values() {
        for (line, what) in [
            (r#"["s3cr3t"]"#, "is no JSON object"),
            (r#""s3cr3t""#, "is no JSON object"),
            (r#"{"a":"s3cr3t"#, "cut off"),
            (r#"{"a":s3cr3t}"#, "is not valid JSON (expected value, character 6)"),
            (r#"{"a":01}"#, "invalid number"),
            (r#"{"a":1} {"b":2}"#, "trailing characters"),
            (r#"{"a":1,}"#, "trailing comma"),
            (r#"{"a":"s3cr3t","a":2}"#, "the same key twice"),
            (r#"{"a":"s3cr3t\ud800"}"#, "surrogate"),
            ("{\"a\":\"s3cr3t\u{1}\"}", "control character"),
            (&format!("{{\"s3cr3t{}\":1}}", "x".repeat(LONGEST_KEY)), "longer than 4096 bytes"),
        ] {
            let told = read(line).expect_err(line);
            assert!(told.contains(what) && !told.contains("s3cr3t"), "{line}: {told}");
        }
        let mut keys = Keys::fixed([&"a".to_owned()].into_iter());
        let fault = keys.read(br#"{"a":1,"b":2}"#, &mut Vec::new()).expect_err("a new key");
        assert!(fault.what.contains("key `b` that none of the first 1024 lines has"), "{}", fault.what);
        let fault = keys.read(br#"{"anna@x.org":2}"#, &mut Vec::new()).expect_err("a new key");
        assert!(!fault.what.contains("anna"), "{}", fault.what);
        assert!(scalar("[1]", "a", &mut String::new()).expect_err("nested").what.contains("column `a`"));
    }

    #[test]
    fn literals_are_those_of_json() {
        for text in ["1", "-0.5", "1e9", "true", "false", "123456789012345678901234567890"] {
            assert!(is_bare(text), "{text}");
        }
        for text in ["", "01", "+1", ".5", "NaN", "inf", "null", "\"a\"", "tru", "1 ", " 1", "-", "[1]"] {
            assert!(!is_bare(text), "{text}");
        }
    }
}
