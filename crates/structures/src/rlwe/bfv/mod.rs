//! The encryption scheme of Brakerski, Fan and Vercauteren ("Somewhat practical fully homomorphic
//! encryption", 2012) over `Z_q[X] / (X^n + 1)`, with plaintexts modulo `t`, by residues.
//!
//! A ciphertext `(c0, c1)` of `m` has `c0 + c1 s = (q / t) m + noise`, where `(q / t) m` is a
//! rational number: messages are scaled by `round(q m / t)`, so that sums and products with
//! plaintexts wrap modulo `t` without further noise. Secrets are ternary, fresh noise is centred
//! binomial of variance 10.5.
//!
//! | what | where |
//! |---|---|
//! | parameters, and their security | [`Params`] |
//! | slots | [`Scheme::encode`], [`Scheme::decode`] |
//! | fresh ciphertexts | [`Encryptor`] (half of each from a seed), [`PublicKey`] |
//! | sums, products with plaintexts | [`Scheme::add`], [`Scheme::add_plain`], [`Scheme::combine`] |
//! | moved slots | [`GaloisKey`], [`Scheme::apply`]; by a secret choice [`Scheme::apply_chosen`] |
//! | products | [`SwitchKey`], [`Scheme::multiply`], [`Scheme::square`]; of a factor with several [`Scheme::widened`] |
//! | sums of products | [`Scheme::product`], then [`Scheme::relinearise`] |
//! | smaller ciphertexts | [`Scheme::switch_down`] |
//! | circuit privacy | [`PublicKey::zero`], then [`Scheme::flood`] |
//! | noise | [`Scheme::decrypt`] reports exhaustion, [`Scheme::noise_bits`] measures |
//!
//! *Key switching* takes a polynomial apart into its residues, each residue into signed digits of
//! [`digit_bits`](Params::digit_bits) bits, and adds up the digits' products with encryptions of
//! their weights. No prime is set aside for it. The weight of digit `k` of prime `p` is `2^(k
//! digit_bits)` modulo `p`, and 0 modulo the other primes.
//!
//! *Products* are exact: both factors are lifted to a second modulus, which is so large that their
//! scaled product is known by its residues there.
//!
//! Time depends on the parameters alone, but for the rejection of random draws. The numbers are
//! derived in docs/parameters/bfv.md.

mod base;
mod batching;
mod ciphertext;
mod decrypt;
mod keys;
mod noise;
mod params;
mod plain;
mod poly;
mod product;
mod sample;
mod scheme;
mod tensor;
#[cfg(test)]
mod tests;
mod wire;

pub use ciphertext::Ciphertext;
pub use decrypt::NoiseExhausted;
pub use keys::{Automorphism, Encryptor, GaloisKey, PublicKey, SecretKey, SwitchKey, Workspace};
pub use params::Params;
pub use plain::Plain;
pub use poly::{Coefficients, Poly, Values};
pub use product::{Product, Widened};
pub use sample::{MOST_FLOOD_BITS, Seed};
pub use scheme::Scheme;
