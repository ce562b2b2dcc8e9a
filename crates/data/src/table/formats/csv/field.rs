//! Writing one CSV field.

use memchr::{memchr, memchr3};

/// Appends `text` as a field, in quotes where it needs them. An empty text is written as `""`,
/// since a bare empty field is null.
pub(crate) fn write_field(text: &str, delimiter: u8, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let plain = !bytes.is_empty() && memchr3(b'"', b'\n', b'\r', bytes).is_none() && memchr(delimiter, bytes).is_none();
    if plain {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    for (i, part) in bytes.split(|&b| b == b'"').enumerate() {
        if i > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
    out.push(b'"');
}
