//! What an e-mail address is, and its one normal form.

use unicode_normalization::UnicodeNormalization;

use crate::invisible::is_invisible;
use crate::key::Unmatchable;

/// Quotes and brackets that programs and people put around an address.
const AROUND: [(char, char); 12] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('‘', '’'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('‚', '‘'),
    ('«', '»'),
    ('‹', '›'),
    ('(', ')'),
    ('[', ']'),
];

/// Appends the normal form of the address in `value`: form C and lower case, without what stands around an address in
/// lists, letters and formulas. Refuses what is no single address.
pub(super) fn read(value: &str, out: &mut String) -> Result<(), Unmatchable> {
    let value = value.trim();
    if is_plain(value.as_bytes()) {
        out.push_str(value);
        out.make_ascii_lowercase();
        return Ok(());
    }
    // Most values that are no address end here.
    if !value.contains('@') {
        return Err(Unmatchable);
    }
    // Lower case can leave form C (`İ` becomes two characters), so NFC comes last; it keeps lower case
    // lower.
    let text: String = value.chars().filter(|&c| !is_mark(c)).nfc().flat_map(char::to_lowercase).nfc().collect();
    let (local, domain) = unwrapped(&text)?.split_once('@').ok_or(Unmatchable)?;
    // The dot behind a whole domain stands for the root, or ends a sentence.
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    let is_local = !local.is_empty() && !local.starts_with('\'') && local.chars().all(is_local);
    if !is_local || !domain.split('.').all(|label| !label.is_empty() && label.chars().all(is_of_domain)) {
        return Err(Unmatchable);
    }
    out.push_str(local);
    out.push('@');
    out.push_str(domain);
    Ok(())
}

/// Whether these bytes are an address with nothing around it.
fn is_plain(value: &[u8]) -> bool {
    let Some((local, [_, domain @ ..])) = memchr::memchr(b'@', value).map(|at| value.split_at(at)) else {
        return false;
    };
    // Folds and not `all`, which would go byte by byte.
    let all = |bytes: &[u8], is: fn(char) -> bool| {
        bytes.iter().fold(true, |so_far, &byte| so_far & (byte.is_ascii() && is(char::from(byte))))
    };
    !local.is_empty()
        && local.first() != Some(&b'\'')
        && all(local, is_local)
        && all(domain, |c| c == '.' || is_of_domain(c))
        && !domain.split(|&byte| byte == b'.').any(<[u8]>::is_empty)
}

/// Marks that programs put into text for its layout, and that mean nothing in an address: soft hyphen, zero-width
/// space, word joiner, byte-order mark, marks of direction.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// The address without what stands around it.
fn unwrapped(text: &str) -> Result<&str, Unmatchable> {
    let (mut text, mut is_link) = (text, false);
    loop {
        let before = text.len();
        text = text.trim().trim_matches([';', ',']);
        // A spreadsheet's formula that keeps a text a text: ="ann@x.org"
        if let Some(formula) = text.strip_prefix('=').filter(|formula| formula.starts_with('"')) {
            text = formula;
        }
        if let Some(address) = text.strip_prefix("mailto:") {
            (text, is_link) = (address, true);
        }
        for (open, close) in AROUND {
            if let Some(inside) = text.strip_prefix(open).and_then(|text| text.strip_suffix(close)) {
                text = inside;
            }
        }
        text = in_angle_brackets(text)?;
        if text.len() == before {
            // A link writes some characters as %2B.
            return if is_link && text.contains('%') { Err(Unmatchable) } else { Ok(text) };
        }
    }
}

/// The address of `Ann Lee <ann@x.org>`. A name that is another address is refused: nothing says which one counts.
fn in_angle_brackets(text: &str) -> Result<&str, Unmatchable> {
    let Some((name, address)) = text.strip_suffix('>').and_then(|text| text.split_once('<')) else { return Ok(text) };
    let quotes = |c: char| c.is_whitespace() || AROUND.iter().any(|&(open, close)| c == open || c == close);
    if name.contains('@') && name.trim_matches(quotes) != address.trim() {
        return Err(Unmatchable);
    }
    Ok(address)
}

/// Whether the character may stand before the `@`: that of RFC 5322 without quotes, or a letter of another script. Dots
/// may stand anywhere, as some providers have them.
fn is_local(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c) } else { is_foreign(c) }
}

/// Whether the character may stand in a label of the domain.
fn is_of_domain(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '-' || c == '_' } else { is_foreign(c) }
}

/// Whether a character beyond ASCII may stand in an address: none that nobody sees, no punctuation, and none of the wide
/// and narrow forms, which look like other characters.
fn is_foreign(c: char) -> bool {
    let is_punctuation = matches!(
        c,
        '\u{a0}'..='\u{bf}' | '\u{2000}'..='\u{2bff}' | '\u{2e00}'..='\u{2e7f}' | '\u{3000}'..='\u{3004}'
            | '\u{3008}'..='\u{3020}' | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ffef}'
    );
    !(is_punctuation || c.is_whitespace() || c.is_control() || is_invisible(c))
}
