//! The vectors of ML-KEM-768's public keys, and how they travel.

use zeroize::Zeroize;

/// `q`.
const MODULUS: u16 = 3329;

/// Numbers modulo `q` of a vector: 3 polynomials of 256 coefficients.
const NUMBERS: usize = 768;

/// Bytes of a vector, 12 bits a number.
pub(super) const BYTES: usize = NUMBERS / 2 * 3;

/// A vector; all numbers are below [`MODULUS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector([u16; NUMBERS]);

/// Bytes from which a number is derived: what remains of 2^128 modulo `q` shifts no number's probability by more
/// than `2^-116`. The time does not depend on the bytes where dividing by a constant is a multiplication, as in
/// release builds for 64-bit processors.
const UNIFORM_BYTES: usize = 16;

/// A uniform vector from as many uniform bytes as `fill` is asked for.
pub(super) fn uniform(fill: impl FnOnce(&mut [u8])) -> Vector {
    let mut bytes = [0; UNIFORM_BYTES * NUMBERS];
    fill(&mut bytes);
    let mut vector = Vector([0; NUMBERS]);
    let (chunks, _) = bytes.as_chunks::<UNIFORM_BYTES>();
    for (number, chunk) in vector.0.iter_mut().zip(chunks) {
        let [low, high]: [u64; 2] = bytemuck::cast(*chunk);
        let modulus = u64::from(MODULUS);
        // 2^64 modulo q.
        let shift = (u64::MAX % modulus + 1) % modulus;
        *number = ((u64::from_le(high) % modulus * shift + u64::from_le(low) % modulus) % modulus) as u16;
    }
    bytes.zeroize();
    vector
}

impl Zeroize for Vector {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Vector {
    /// The vector of these bytes (FIPS 203, algorithm 6, for each polynomial); `None` if a number is not below
    /// [`MODULUS`].
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let mut vector = Self([0; NUMBERS]);
        let (triples, _) = bytes.as_chunks::<3>();
        let (pairs, _) = vector.0.as_chunks_mut::<2>();
        for (pair, &[a, b, c]) in pairs.iter_mut().zip(triples) {
            let [a, b, c] = [a, b, c].map(u16::from);
            *pair = [a | (b & 15) << 8, b >> 4 | c << 4];
        }
        vector.0.iter().all(|&number| number < MODULUS).then_some(vector)
    }

    /// The bytes of the vector.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let (triples, _) = bytes.as_chunks_mut::<3>();
        let (pairs, _) = self.0.as_chunks::<2>();
        for (triple, [first, second]) in triples.iter_mut().zip(pairs) {
            *triple = [*first as u8, (first >> 8 | second << 4) as u8, (second >> 4) as u8];
        }
        bytes
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| (self.0[i] + other.0[i]) % MODULUS))
    }

    /// The difference.
    pub fn minus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| (self.0[i] + MODULUS - other.0[i]) % MODULUS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ml_kem::KeyExport;
    use ml_kem::ml_kem_768::DecapsulationKey;
    use rand_core::Rng;
    use vesica_structures::rng::SecretRng;

    #[test]
    fn public_keys_decode_and_encode_to_themselves() {
        for seed in 0..5 {
            let key = DecapsulationKey::from_seed([seed; 64].into()).encapsulation_key().to_bytes();
            let bytes = key.first_chunk::<BYTES>().unwrap();
            assert_eq!(Vector::decode(bytes).unwrap().encode(), *bytes);
        }
    }

    #[test]
    fn what_is_added_is_taken_away_again() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let [one, other] = [0; 2].map(|_| uniform(|bytes| rng.fill_bytes(bytes)));
        assert_eq!(one.plus(&other).minus(&other), one);
        assert_eq!(Vector::decode(&one.minus(&other).encode()), Some(one.minus(&other)));
    }

    #[test]
    fn numbers_from_the_modulus_on_are_refused() {
        for (bytes, accepted) in [([0x00, 0x0d, 0xd0], true), ([0x01, 0x0d, 0x00], false), ([0x00, 0x10, 0xd0], false)]
        {
            let mut encoded = [0; BYTES];
            encoded[BYTES - 3..].copy_from_slice(&bytes);
            assert_eq!(Vector::decode(&encoded).is_some(), accepted, "{bytes:?}");
        }
    }

    #[test]
    fn numbers_are_the_bytes_modulo_q() {
        let vector = uniform(|bytes| bytes.fill(0xff));
        // 2^128 - 1 modulo 3329.
        let expected = (u128::MAX % u128::from(MODULUS)) as u16;
        assert_eq!(vector.0, [expected; NUMBERS]);
        let mean = {
            let mut rng = SecretRng::insecure_from_seed(2);
            let vector = uniform(|bytes| rng.fill_bytes(bytes));
            vector.0.iter().map(|&number| f64::from(number)).sum::<f64>() / NUMBERS as f64
        };
        // Six standard deviations of a mean of 768 uniform numbers: 961 / sqrt(768) each.
        assert!((mean - 1664.0).abs() < 6.0 * 961.0 / (NUMBERS as f64).sqrt(), "{mean}");
    }
}
