//! The permutation `Pi` of 256 bits: a Feistel network of 14 rounds, whose round functions are BLAKE3.
//!
//! With independent random oracles as round functions, 14 rounds are indifferentiable from a random
//! permutation (Holenstein, Künzler, Tessaro, STOC 2011), as are 8 (Dai, Steinberger, CRYPTO 2016).
//! Their bounds, of the form `q^8 / 2^128`, say little about 2^64 queries: that these take nothing from
//! it is an assumption of the protocol. 14 rounds are the more careful number.

use vesica_structures::fields::Bits256;
use zeroize::Zeroize;

const ROUNDS: u8 = 14;

/// `Pi` and its inverse, under a public key.
#[derive(Clone)]
pub(super) struct Permutation([u8; 32]);

impl Permutation {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// `Pi(value)`.
    pub(super) fn apply(&self, value: Bits256) -> [u8; 32] {
        let [mut left, mut right]: [u128; 2] = bytemuck::cast(value.0);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.round(round, right));
        }
        bytemuck::cast([left, right])
    }

    /// `Pi^-1(value)`.
    pub(super) fn invert(&self, value: [u8; 32]) -> Bits256 {
        let [mut left, mut right]: [u128; 2] = bytemuck::cast(value);
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.round(round, left), left);
        }
        Bits256(bytemuck::cast([left, right]))
    }

    fn round(&self, round: u8, half: u128) -> u128 {
        let mut input = [0; 17];
        input[..16].copy_from_slice(&half.to_le_bytes());
        input[16] = round;
        let mut hash = blake3::keyed_hash(&self.0, &input);
        input.zeroize();
        let output = hash.as_bytes().first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
        hash.zeroize();
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_takes_it_back() {
        let permutation = Permutation::new([7; 32]);
        for i in 0..50 {
            let value = Bits256([i, 2, 3, i]);
            let image = permutation.apply(value);
            assert_eq!(permutation.invert(image), value);
            assert_ne!(Permutation::new([8; 32]).apply(value), image);
        }
    }
}
