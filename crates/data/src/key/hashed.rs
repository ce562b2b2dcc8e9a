//! Values that look like digests of a hash function, in the notations in which programs write them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many bits a digest has, by the function that is known for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HashSize {
    /// 128 bits.
    Md5,
    /// 160 bits.
    Sha1,
    /// 256 bits.
    Sha256,
    /// 512 bits.
    Sha512,
}

/// How a digest is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    Hex,
    UpperHex,
    Base64,
}

impl HashSize {
    /// What a digest of this length may be.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Md5 => "128 bits (MD5)",
            Self::Sha1 => "160 bits (SHA-1)",
            Self::Sha256 => "256 bits (SHA-256)",
            Self::Sha512 => "512 bits (SHA-512)",
        }
    }
}

/// What the value looks like, if it looks like a digest. Most values have another length.
#[inline]
pub(super) fn of(value: &[u8]) -> Option<(Notation, HashSize)> {
    let (is_hex, size) = match value.len() {
        32 => (true, HashSize::Md5),
        40 => (true, HashSize::Sha1),
        64 => (true, HashSize::Sha256),
        128 => (true, HashSize::Sha512),
        24 => (false, HashSize::Md5),
        28 => (false, HashSize::Sha1),
        43 | 44 => (false, HashSize::Sha256),
        86 | 88 => (false, HashSize::Sha512),
        _ => return None,
    };
    let notation = if is_hex { hexadecimal(value) } else { base64(value) }?;
    Some((notation, size))
}

/// Hexadecimal digits of one case, with at least one letter.
fn hexadecimal(value: &[u8]) -> Option<Notation> {
    let has = |from: u8, to: u8| value.iter().any(|byte| (from..=to).contains(byte));
    if !value.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    match (has(b'a', b'f'), has(b'A', b'F')) {
        (true, false) => Some(Notation::Hex),
        (false, true) => Some(Notation::UpperHex),
        _ => None,
    }
}

/// Characters of either alphabet of base64, with capitals and small letters, and the padding that the length wants. Short
/// digests without padding look like words.
fn base64(value: &[u8]) -> Option<Notation> {
    let padding = match value.len() {
        24 | 88 => 2,
        28 | 44 => 1,
        _ => 0,
    };
    let (digits, end) = value.split_at_checked(value.len() - padding)?;
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let is_it = end.iter().all(|&byte| byte == b'=')
        && digits.iter().all(is_digit)
        && digits.iter().any(u8::is_ascii_uppercase)
        && digits.iter().any(u8::is_ascii_lowercase);
    is_it.then_some(Notation::Base64)
}
