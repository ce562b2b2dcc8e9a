//! The part of TOML that the project's own files of numbers are written in: prices, and what papers
//! measured.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use serde_json::{Map, Value};

/// Reads comments, `[table]`, `[[table]]`, and lines `key = value`. A value is a string without
/// escapes, a number, `true` or `false`, or an array of these on its line.
///
/// # Errors
/// The line that is not understood, or that says something a second time.
pub fn read(text: &str) -> Result<Value, String> {
    let mut list = Map::new();
    // The table that lines belong to: its name, and whether it is the last of several.
    let mut open: Option<(String, bool)> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = || format!("line {} is not understood", number + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let several = line.strip_prefix("[[").and_then(|line| line.strip_suffix("]]"));
        if let Some(name) = several.or_else(|| line.strip_prefix('[')?.strip_suffix(']')) {
            let table = Value::from(Map::new());
            match (several, list.get_mut(name)) {
                (Some(_), None) => _ = list.insert(name.into(), Value::from(vec![table])),
                (Some(_), Some(Value::Array(tables))) => tables.push(table),
                (None, None) => _ = list.insert(name.into(), table),
                _ => return Err(wrong()),
            }
            open = Some((name.into(), several.is_some()));
            continue;
        }
        let (key, rest) = line.split_once('=').ok_or_else(wrong)?;
        let (value, rest) = value(rest.trim()).ok_or_else(wrong)?;
        if !rest.is_empty() {
            return Err(wrong());
        }
        let table = match &open {
            None => Some(&mut list),
            Some((name, false)) => list.get_mut(name).and_then(Value::as_object_mut),
            Some((name, true)) => {
                list.get_mut(name).and_then(|tables| tables.as_array_mut()?.last_mut()?.as_object_mut())
            }
        };
        if table.ok_or_else(wrong)?.insert(key.trim().into(), value).is_some() {
            return Err(format!("line {} says {} a second time", number + 1, key.trim()));
        }
    }
    Ok(Value::from(list))
}

/// A value, and what follows it.
fn value(text: &str) -> Option<(Value, &str)> {
    if let Some(mut rest) = text.strip_prefix('[') {
        let mut values = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(rest) = rest.strip_prefix(']') {
                return Some((Value::from(values), rest));
            }
            let (value, after) = scalar(rest)?;
            values.push(value);
            let after = after.trim_start();
            rest = after.strip_prefix(',').or_else(|| after.starts_with(']').then_some(after))?;
        }
    }
    scalar(text)
}

/// A string, a number, `true` or `false`, and what follows it.
fn scalar(text: &str) -> Option<(Value, &str)> {
    if let Some(string) = text.strip_prefix('"') {
        let (string, rest) = string.split_once('"')?;
        return (!string.contains('\\')).then_some((Value::from(string), rest));
    }
    let (word, rest) = text.split_at(text.find([',', ']']).unwrap_or(text.len()));
    let value = match word.trim() {
        "true" => Value::from(true),
        "false" => Value::from(false),
        number => match number.parse::<u64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(number.parse::<f64>().ok()?),
        },
    };
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_strings_numbers_and_arrays_are_read() {
        let text = "a = \"x, [y]\" \n# no\n[b]\nc = 1.5\nf = true\n[[d]]\ne = [1, \"-\", 2.5]\n[[d]]\ne = []";
        let expected = json!({"a": "x, [y]", "b": {"c": 1.5, "f": true}, "d": [{"e": [1, "-", 2.5]}, {"e": []}]});
        assert_eq!(read(text), Ok(expected));
        for bad in [
            "a",
            "a = ",
            "a = \"x",
            "a = \"x\" y",
            "a = \"\\n\"",
            "a = [1",
            "a = [1 2]",
            "a = [1] 2",
            "a = [[1]]",
            "a = 1\na = 1",
            "[[b]]\n[b]",
            "[b",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
