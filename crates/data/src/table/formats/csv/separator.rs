//! The line `sep=;` that Excel understands, and that its users put in front of the header.

/// The delimiter that the first line of a text names, and the bytes of this line behind a byte-order mark, if the
/// text begins with such a line.
pub(crate) fn separator_line(head: &[u8]) -> Option<(u8, usize)> {
    let text = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    let quote = text.strip_prefix(b"\"");
    let line = quote.unwrap_or(text);
    let (word, rest) = line.split_at_checked(4)?;
    let (&delimiter, rest) = rest.split_first()?;
    let rest = if quote.is_some() { rest.strip_prefix(b"\"")? } else { rest };
    let behind =
        rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).or_else(|| rest.strip_prefix(b"\r"))?;
    (word.eq_ignore_ascii_case(b"sep=") && delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\r' | b'\n' | 0))
        .then_some((delimiter, text.len() - behind.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_names_one_character_is_such_a_line() {
        for (text, found) in [
            ("sep=;\nid;v\n", Some((b';', 6))),
            ("\u{feff}SEP=\t\r\nid\tv", Some((b'\t', 7))),
            ("\"sep=|\"\rid|v", Some((b'|', 8))),
            ("sep=,\n", Some((b',', 6))),
            ("sep=", None),
            ("sep=;", None),
            ("sep=;;\n", None),
            ("sep=\n\n", None),
            ("sep=ä\n", None),
            ("sep;v\n", None),
            ("\"sep=;\n", None),
            ("", None),
        ] {
            assert_eq!(separator_line(text.as_bytes()), found, "{text:?}");
        }
    }
}
