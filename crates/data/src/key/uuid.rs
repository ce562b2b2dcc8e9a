//! UUIDs: the one normal form of their text.

use crate::key::Unmatchable;

/// Bytes of a UUID.
pub(crate) const BYTES: usize = 16;

/// Characters of the normal form.
pub(crate) const LENGTH: usize = 36;

/// Before which of its bytes the normal form has a dash.
const DASHES: [usize; 4] = [4, 6, 8, 10];

/// Reads a UUID as it is written by any program: with dashes or without, with capitals, in braces, or
/// behind `urn:uuid:`.
pub(crate) fn read(text: &str) -> Result<[u8; BYTES], Unmatchable> {
    let text = match text.get(..9) {
        Some(prefix) if prefix.eq_ignore_ascii_case("urn:uuid:") => text.get(9..).unwrap_or_default(),
        _ => text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text),
    };
    let dashed = text.len() == LENGTH;
    let mut rest = text.as_bytes();
    let mut uuid = [0; BYTES];
    for (place, byte) in uuid.iter_mut().enumerate() {
        if dashed && DASHES.contains(&place) {
            rest = rest.strip_prefix(b"-").ok_or(Unmatchable)?;
        }
        let Some(([high, low], behind)) = rest.split_first_chunk::<2>() else { return Err(Unmatchable) };
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(Unmatchable);
        *byte = (digit(*high)? << 4 | digit(*low)?) as u8;
        rest = behind;
    }
    if rest.is_empty() { Ok(uuid) } else { Err(Unmatchable) }
}

/// Appends the normal form: digits in lower case, with dashes.
pub(crate) fn write(uuid: &[u8], out: &mut String) {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    for (place, byte) in uuid.iter().enumerate() {
        if DASHES.contains(&place) {
            out.push('-');
        }
        out.extend([digit(byte >> 4), digit(byte & 0xf)]);
    }
}

/// Whether this is the normal form of a UUID.
pub(crate) fn is_normal(text: &[u8]) -> bool {
    let expected = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    text.len() == LENGTH && text.iter().enumerate().all(expected)
}
