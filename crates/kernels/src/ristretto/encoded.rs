//! Elements as bytes.

use curve25519_dalek::Scalar;

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

/// What a proof of RFC 9497 (section 2.2.2) is checked against. All of it is public.
#[derive(Clone, Copy, Debug)]
pub struct Stated<'a> {
    /// Elements, `C_i`.
    pub blinded: &'a [Encoded],
    /// The key times each of them, so it is claimed: `D_i`.
    pub evaluated: &'a [Encoded],
    /// The public key, `B`.
    pub public: &'a Encoded,
    /// The proof's `c`.
    pub challenge: &'a Scalar,
    /// The proof's `s`.
    pub response: &'a Scalar,
}

/// The elements whose hash is the challenge of a proof that is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The weighted sum of the blinded elements, `M`.
    pub blinded_sum: Encoded,
    /// That of the evaluated ones, `Z`.
    pub evaluated_sum: Encoded,
    /// `s` times the group's generator and `c` times the public key, `t2`.
    pub of_generator: Encoded,
    /// `s M + c Z`, `t3`.
    pub of_sum: Encoded,
}
