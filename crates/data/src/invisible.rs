//! Characters that nobody sees: how they are named where a text is shown.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether this is a character that most programs do not draw: the code points with the property
/// Default_Ignorable_Code_Point of Unicode, and the marks of interlinear annotation. White space and control
/// characters are not among them.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The text with its invisible characters and the white space beyond ASCII named by code point (`<U+200B>`), and its
/// control characters escaped (`\n`).
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(needs_a_name) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_debug());
        } else if needs_a_name(c) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn needs_a_name(c: char) -> bool {
    c.is_control() || is_invisible(c) || (c.is_whitespace() && !c.is_ascii())
}

/// The code points of the characters of `text` that nobody sees, each once, in order: `U+FEFF`.
pub(crate) fn code_points(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for c in text.chars().filter(|&c| needs_a_name(c)) {
        let name = format!("U+{:04X}", u32::from(c));
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_named() {
        for (text, shown) in [
            ("id", "id"),
            ("a b", "a b"),
            ("Köln 日本", "Köln 日本"),
            ("\u{feff}id", "<U+FEFF>id"),
            ("a\u{200b}b\u{ad}", "a<U+200B>b<U+00AD>"),
            ("a\u{a0}b", "a<U+00A0>b"),
            ("a\tb\u{1b}[31m\0", "a\\tb\\u{1b}[31m\\0"),
            ("\u{202e}moc", "<U+202E>moc"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(code_points("\u{feff}i\u{200b}d\u{feff}"), ["U+FEFF", "U+200B"]);
    }
}
