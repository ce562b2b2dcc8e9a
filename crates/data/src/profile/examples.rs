//! What becomes of the own keys, value by value: for their own user, who may see them.

use crate::invisible::visible;
use crate::key::{Chain, KeyColumn, KeySpec};
use crate::profile::cells;
use crate::table::{Source, TableError};

/// Rows with a refused value that are listed for each column.
const LISTED_REFUSALS: usize = 10;

/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// Values of the own table. Nothing of it leaves this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Examples {
    /// The first different keys that are usable, so many of each alternative.
    pub keys: Vec<ExampleKey>,
    /// What normalisers refuse, for each key column.
    pub refused: Vec<RefusedValues>,
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ExampleKey {
    /// The row, counted from 1.
    pub row: u64,
    /// The alternative of the key, counted from 1.
    pub alternative: usize,
    /// Its components, in key order.
    pub components: Vec<Component>,
}

/// A component of a key.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Component {
    /// The value as the table has it; of a typed column, as text.
    pub value: String,
    /// Its normal form, which is compared.
    pub key: String,
}

/// What the normalisers of one column refuse.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RefusedValues {
    /// The column's name.
    pub column: String,
    /// How many values.
    pub count: u64,
    /// The first of their rows, counted from 1, with the values.
    pub first: Vec<RefusedValue>,
}

/// A value that a normaliser refuses.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RefusedValue {
    /// The row, counted from 1.
    pub row: u64,
    /// The value.
    pub value: String,
}

/// The first `most` different keys of each alternative, and the first values that its normalisers refuse;
/// these without the values if `most` is 0.
///
/// # Errors
/// If the table cannot be read.
pub fn examples(source: &dyn Source, spec: &KeySpec, most: usize) -> Result<Examples, TableError> {
    let columns = spec.columns();
    let mut chains: Vec<Chain<'_>> = columns.iter().map(|column| Chain::new(&column.normalisers)).collect();
    let refused = |column: &KeyColumn| RefusedValues { column: column.name.clone(), count: 0, first: Vec::new() };
    let mut refused: Vec<RefusedValues> = columns.iter().map(refused).collect();
    let mut keys: Vec<ExampleKey> = Vec::new();
    let ends: Vec<usize> = spec.alternatives().map(|columns| columns.end).collect();
    // How many keys of each alternative there are.
    let mut found = vec![0; ends.len()];
    let (mut row, mut place, mut components, mut is_usable) = (1, 0, Vec::new(), true);
    cells::for_each_cell(source, spec, &mut |index, cell| {
        let (Some(chain), Some(refused)) = (chains.get_mut(index), refused.get_mut(index)) else { return };
        let (Some(&end), Some(found)) = (ends.get(place), found.get_mut(place)) else { return };
        match cell.map(|value| (value, normal(chain, value))) {
            Some((_, Some(key))) if key.is_empty() => is_usable = false,
            Some((value, Some(key))) => {
                if is_usable && *found < most {
                    components.push(Component { value: shown(value), key: shown(&key) });
                }
            }
            Some((value, None)) => {
                is_usable = false;
                refused.count += 1;
                if refused.first.len() < LISTED_REFUSALS {
                    let value = if most > 0 { shown(value) } else { String::new() };
                    refused.first.push(RefusedValue { row, value });
                }
            }
            None => is_usable = false,
        }
        if index + 1 == end {
            let (alternative, components) = (place + 1, std::mem::take(&mut components));
            let same = |key: &ExampleKey| {
                key.alternative == alternative
                    && key.components.iter().map(|c| &c.key).eq(components.iter().map(|c| &c.key))
            };
            if is_usable && *found < most && !keys.iter().any(same) {
                keys.push(ExampleKey { row, alternative, components });
                *found += 1;
            }
            (place, is_usable) = (place + 1, true);
        }
        if index + 1 == columns.len() {
            (row, place) = (row + 1, 0);
        }
    })?;
    Ok(Examples { keys, refused })
}

/// The bytes of the normal form; `None` for a refusal. Normalisers read text alone.
pub(super) fn normal(chain: &mut Chain<'_>, value: &[u8]) -> Option<Vec<u8>> {
    if chain.is_empty() {
        return Some(value.to_vec());
    }
    let text = std::str::from_utf8(value).ok()?;
    chain.apply(text).ok().map(|key| key.as_bytes().to_vec())
}

/// A value in quotes, bounded, with control characters escaped and invisible ones named; bytes that are no text in
/// hexadecimal.
pub(super) fn shown(value: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(value) else {
        let hex: String = value.iter().take(SHOWN / 2).map(|byte| format!("{byte:02x}")).collect();
        return format!("0x{hex}{}", if value.len() > SHOWN / 2 { "..." } else { "" });
    };
    let text_shown: String = text.chars().take(SHOWN).collect();
    let mut shown = visible(&text_shown.replace('\\', "\\\\").replace('"', "\\\"")).into_owned();
    if text.chars().count() > SHOWN {
        shown.push_str("...");
    }
    format!("\"{shown}\"")
}
