//! Keys as text: base64 (RFC 4648 section 4) for key lines, base32 (section 6, lower case) for
//! fingerprints.

/// What some editors write in front of a text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// `bytes` in base64, padded.
#[expect(clippy::indexing_slicing, reason = "the remainder is below the number of digits")]
pub(in crate::transport) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().enumerate().fold(0u32, |word, (i, &byte)| word | u32::from(byte) << (16 - 8 * i));
        for i in 0..4 {
            match i <= group.len() {
                true => text.push(char::from(BASE64[(word >> (18 - 6 * i)) as usize % 64])),
                false => text.push('='),
            }
        }
    }
    text
}

/// The bytes of a line that has this word and then their base64, perhaps behind a byte-order mark and before a comment.
pub(super) fn of_line<const N: usize>(line: &str, tag: &str) -> Option<[u8; N]> {
    let mut words = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).split_ascii_whitespace();
    words.next().filter(|word| *word == tag)?;
    words.next().and_then(from_base64)
}

/// The `N` bytes that `text` encodes: padded base64, canonical, of exactly that length.
pub(super) fn from_base64<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0u8; N];
    decode(text, &mut bytes).map(|()| bytes)
}

/// The bytes that `text` encodes: padded base64, canonical, of any length.
pub(super) fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    let padding = text.len() - text.trim_end_matches('=').len();
    let mut bytes = vec![0; (text.len() / 4 * 3).checked_sub(padding)?];
    decode(text, &mut bytes).map(|()| bytes)
}

/// Fills `bytes` with what `text` encodes; `None` if it encodes no bytes, or not exactly as many.
fn decode(text: &str, bytes: &mut [u8]) -> Option<()> {
    if text.len() != bytes.len().div_ceil(3) * 4 {
        return None;
    }
    let padding = (3 - bytes.len() % 3) % 3;
    let (digits, end) = text.as_bytes().split_at(text.len() - padding);
    if end.iter().any(|&byte| byte != b'=') {
        return None;
    }
    let (mut word, mut bits, mut filled) = (0u32, 0, 0);
    for &digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            *bytes.get_mut(filled)? = (word >> bits) as u8;
            filled += 1;
            word &= (1 << bits) - 1;
        }
    }
    // Bits beyond the last byte are zero in the one canonical encoding.
    (filled == bytes.len() && word == 0).then_some(())
}

/// `bytes` in lower-case base32 without padding.
#[expect(clippy::indexing_slicing, reason = "the remainder is below the number of digits")]
pub(super) fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() * 8).div_ceil(5));
    let (mut word, mut bits) = (0u32, 0);
    for &byte in bytes {
        word = (word << 8 | u32::from(byte)) & 0xffff;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(BASE32[(word >> bits) as usize % 32]));
        }
    }
    if bits > 0 {
        text.push(char::from(BASE32[(word << (5 - bits)) as usize % 32]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_vectors_of_rfc_4648() {
        let vectors = [
            ("", "", ""),
            ("f", "Zg==", "my"),
            ("fo", "Zm8=", "mzxq"),
            ("foo", "Zm9v", "mzxw6"),
            ("foobar", "Zm9vYmFy", "mzxw6ytboi"),
        ];
        for (plain, in_64, in_32) in vectors {
            assert_eq!(base64(plain.as_bytes()), in_64);
            assert_eq!(base32(plain.as_bytes()), in_32);
        }
        assert_eq!(from_base64::<2>("Zm8="), Some(*b"fo"));
        assert_eq!(from_base64::<6>("Zm9vYmFy"), Some(*b"foobar"));
        for (plain, in_64, _) in vectors {
            assert_eq!(bytes_of_base64(in_64).as_deref(), Some(plain.as_bytes()));
        }
    }

    #[test]
    fn refuses_what_is_not_the_canonical_encoding() {
        for bad in ["Zm9=", "Zm8", "Zm8A", "Zm-=", "Zm8=Zm8=", ""] {
            assert_eq!(from_base64::<2>(bad), None, "{bad}");
        }
        for bad in ["Zm9=", "Zm8", "Zm-=", "Zm8=Zm8=", "=", "====", "Z===", "Zg==="] {
            assert_eq!(bytes_of_base64(bad), None, "{bad}");
        }
    }
}
