//! Elements as bytes.

/// Bytes of an encoded element.
pub const ENCODED_BYTES: usize = 32;

/// An encoded element.
pub type Encoded = [u8; ENCODED_BYTES];

/// Bytes from which an element is derived.
pub type Uniform = [u8; 64];

/// What the server's proof of RFC 9497 (section 2.2.1) takes from the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composites {
    /// The weighted sum of the elements, `M`.
    pub sum: Encoded,
    /// The key times that, `Z`.
    pub sum_by_key: Encoded,
    /// The nonce times that, `t3`.
    pub sum_by_nonce: Encoded,
    /// The nonce times the group's generator, `t2`.
    pub generator_by_nonce: Encoded,
}
