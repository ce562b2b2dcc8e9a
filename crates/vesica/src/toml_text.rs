//! Texts in TOML that people write: suites, papers, prices, jobs, partners. An error names its line.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fmt::Display;
use std::ops::Range;

use serde::de::DeserializeOwned;

/// Longest file in TOML that a user may name, in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// Reads a text as a `T`.
///
/// # Errors
/// The fault, after the number of its line if it has one.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| fault(text, &error))
}

/// What is wrong with a text: the line, if there is one, and the fault in one line.
pub(crate) fn fault(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', ", ");
    match error.span() {
        Some(span) => at_line(text, &span, message),
        None => message,
    }
}

/// A fault behind the number of the line in which `span` begins.
pub(crate) fn at_line(text: &str, span: &Range<usize>, fault: impl Display) -> String {
    format!("line {}: {fault}", line_of(text, span))
}

/// The number of the line in which `span` begins, from 1.
pub(crate) fn line_of(text: &str, span: &Range<usize>) -> usize {
    1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_fault_names_its_line() {
        type Numbers = BTreeMap<String, Vec<u8>>;
        assert_eq!(read::<Numbers>("# no\na = [1, 2]\n").map(|numbers| numbers["a"].clone()), Ok(vec![1, 2]));
        for (text, told) in [
            ("a = [1]\nb = [1", "line 2: "),
            ("a = [1]\n\nb = [\"x\"]", "line 3: invalid type: string \"x\""),
            ("a = [1]\na = [2]", "line 2: duplicate key"),
            ("a = [256]", "line 1: "),
        ] {
            let fault = read::<Numbers>(text).expect_err(text);
            assert!(fault.starts_with(told) && !fault.contains('\n'), "{fault}");
        }
    }

    /// The stack does not grow with a text.
    #[test]
    fn deep_nesting_is_refused() {
        let deep = format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read::<BTreeMap<String, serde_json::Value>>(&deep).is_err());
        let deep = format!("a{} = 1", ".a".repeat(100_000));
        assert!(read::<BTreeMap<String, serde_json::Value>>(&deep).is_err());
    }
}
