//! The Ristretto group: hashing to it after RFC 9380, and many elements times one scalar.

use curve25519_dalek::{RistrettoPoint, Scalar};
use rayon::prelude::*;
use sha2::{Digest, Sha512};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

pub use vesica_kernels::ristretto::{
    Checked, Composites, ENCODED_BYTES, Encoded, Stated, Uniform, add_map_and_multiply, checked, composites,
    generate_and_subtract_map, map, map_and_multiply, map_and_multiply_by_each, multiply, multiply_by_each,
    multiply_each,
};

/// Elements that a thread takes at a time: enough to fill the lanes of the kernel and to share an
/// inversion, few enough to spread some hundred elements over threads.
pub const BATCH: usize = 64;

/// Input block of SHA-512, in bytes (`s_in_bytes` in RFC 9380).
const BLOCK_BYTES: usize = 128;

/// Output of SHA-512, in bytes (`b_in_bytes` in RFC 9380).
const DIGEST_BYTES: usize = 64;

/// A uniform scalar that is not zero.
pub fn random_scalar(rng: &mut SecretRng) -> Secret<Scalar> {
    loop {
        let scalar = Secret::new(Scalar::random(rng));
        if *scalar != Scalar::ZERO {
            return scalar;
        }
    }
}

/// Multiplies another party's elements by `scalar` over all threads, in place. Says whether all of
/// them were elements, and none the neutral one; where it says no, they are of no use.
#[must_use]
pub fn multiply_all(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    if elements.len() <= BATCH {
        // Handing them to another thread takes longer than a few of them.
        return multiply(scalar, elements);
    }
    elements.par_chunks_mut(BATCH).all(|elements| multiply(scalar, elements))
}

/// `hash_to_ristretto255` of RFC 9380, appendix B: the suite
/// `ristretto255_XMD:SHA-512_R255MAP_RO_`.
///
/// `dst` is the domain separation tag, of at most 255 bytes; a longer one is hashed first, as
/// section 5.3.3 says.
pub fn hash_to_group(dst: &[u8], message: &[u8]) -> RistrettoPoint {
    RistrettoPoint::from_uniform_bytes(&hash_to_uniform(dst, message))
}

/// The uniform bytes from which [`hash_to_group`] derives its element, as [`map_and_multiply`]
/// does.
pub fn hash_to_uniform(dst: &[u8], message: &[u8]) -> Uniform {
    let mut uniform = [0u8; 64];
    expand_message_xmd(dst, message, &mut uniform);
    uniform
}

/// `expand_message_xmd` with SHA-512 (RFC 9380, section 5.3.1), for at most 64 bytes of output: one
/// block `b_1` is enough then.
fn expand_message_xmd(dst: &[u8], message: &[u8], out: &mut [u8]) {
    assert!(out.len() <= DIGEST_BYTES, "one block of output");
    let hashed_dst;
    let dst = if dst.len() > 255 {
        hashed_dst = Sha512::new().chain_update(b"H2C-OVERSIZE-DST-").chain_update(dst).finalize();
        &hashed_dst[..]
    } else {
        dst
    };
    let dst_len = [dst.len() as u8];
    let out_len = (out.len() as u16).to_be_bytes();
    let b_0 = Sha512::new()
        .chain_update([0u8; BLOCK_BYTES])
        .chain_update(message)
        .chain_update(out_len)
        .chain_update([0])
        .chain_update(dst)
        .chain_update(dst_len)
        .finalize();
    let b_1 = Sha512::new().chain_update(b_0).chain_update([1]).chain_update(dst).chain_update(dst_len).finalize();
    out.copy_from_slice(&b_1[..out.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
    }

    /// RFC 9380, appendix K.3 (expand_message_xmd with SHA-512, 0x20 bytes of output).
    #[test]
    fn expansion_matches_rfc_9380() {
        let dst = b"QUUX-V01-CS02-with-expander-SHA512-256";
        for (message, expected) in [
            (&b""[..], "6b9a7312411d92f921c6f68ca0b6380730a1a4d982c507211a90964c394179ba"),
            (b"abc", "0da749f12fbe5483eb066a5f595055679b976e93abe9be6f0f6318bce7aca8dc"),
        ] {
            let mut out = [0u8; 32];
            expand_message_xmd(dst, message, &mut out);
            assert_eq!(out[..], hex(expected));
        }
    }

    /// RFC 9497, appendix A.1.1 (OPRF(ristretto255, SHA-512)): `BlindedElement = blind *
    /// HashToGroup(input)`.
    #[test]
    fn points_match_rfc_9497() {
        let dst = [&b"HashToGroup-OPRFV1-"[..], &[0], b"-ristretto255-SHA512"].concat();
        let blind = hex("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706");
        let blind = Scalar::from_canonical_bytes(blind.try_into().unwrap()).unwrap();
        for (input, expected) in [
            ("00", "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c"),
            ("5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a", "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418"),
        ] {
            let blinded = blind * hash_to_group(&dst, &hex(input));
            assert_eq!(blinded.compress().as_bytes()[..], hex(expected));
        }
    }

    #[test]
    fn long_tags_are_hashed() {
        let long = [7u8; 300];
        assert_ne!(hash_to_group(&long, b"x"), hash_to_group(&long[..255], b"x"));
    }
}
