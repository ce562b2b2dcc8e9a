//! Groups of Diffie-Hellman beside the product's Ristretto255.

pub(crate) mod secp256k1;
pub(crate) mod x25519;
