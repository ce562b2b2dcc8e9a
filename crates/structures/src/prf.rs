//! Public keyed functions on batches of blocks, built from AES-128 or SHA-256. PSI applies them to
//! 128-bit digests, under a session's salt.
//!
//! No key here is secret: keys come from a salt that both parties know, and each function is
//! modelled as its construction's proof asks (a random permutation for fixed keys, the ideal cipher
//! for one key an item). Fixed keys differ from function to function.

use std::fmt;

use vesica_kernels::aes::{self, Aes128};
use vesica_kernels::sha256;

/// `x -> pi(x) + x` with `pi` = AES under a public key: a random-looking function of the whole
/// digest.
///
/// It is no random oracle: who may choose `x` freely can invert `pi`. Digests are images of BLAKE3,
/// so that nobody can.
pub struct DigestPrf(Aes128);

impl DigestPrf {
    /// The function whose `pi` has this key.
    pub fn new(key: u128) -> Self {
        Self(Aes128::new(key))
    }

    /// `out[i] = pi(digests[i]) + digests[i]`; both of one length.
    pub fn eval(&self, digests: &[u128], out: &mut [u128]) {
        self.0.mmo(digests, out);
    }

    /// `out[i] = pi(pi(digests[i]) + tweaks[i]) + pi(digests[i])` (TMMO); all of one length.
    pub fn eval_tweaked(&self, digests: &[u128], tweaks: &[u128], out: &mut [u128]) {
        self.0.tmmo(digests, tweaks, out);
    }
}

impl fmt::Debug for DigestPrf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestPrf(..)")
    }
}

/// Davies-Meyer with a key an item, `out[i] = AES_{keys[i]}(messages[i]) + messages[i]`, for proofs
/// in the ideal-cipher model; all of one length.
pub fn ideal_cipher_hash(keys: &[u128], messages: &[u128], out: &mut [u128]) {
    aes::davies_meyer(keys, messages, out);
}

/// `out[i]` = the first 16 bytes of SHA-256 of `first[i]`, `second[i]` and a suffix of at most 23
/// bytes: one compression each; all of one length.
pub fn sha256_digests(first: &[u128], second: &[u128], suffix: &[u8], out: &mut [u128]) {
    sha256::digests(first, second, suffix, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS-197, appendix C.1.
    const KEY: u128 = u128::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    const PLAIN: u128 = u128::from_le_bytes([
        0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    ]);
    const CIPHER: u128 = u128::from_le_bytes([
        0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a,
    ]);

    #[test]
    fn each_function_is_its_construction_over_the_standard_vector() {
        let mut out = [0];
        DigestPrf::new(KEY).eval(&[PLAIN], &mut out);
        assert_eq!(out[0], CIPHER ^ PLAIN);
        ideal_cipher_hash(&[KEY], &[PLAIN], &mut out);
        assert_eq!(out[0], CIPHER ^ PLAIN);
    }
}
