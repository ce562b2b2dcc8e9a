//! The group of X25519: Curve25519 in Montgomery form, points by their u-coordinates (RFC 7748).
//!
//! A u-coordinate stands for a point and its negative, on which both parties' exponents act alike.
//! Three things keep the set of u-coordinates as good as a group of prime order:
//!
//! - Items are hashed by the suite `curve25519_XMD:SHA-512_ELL2_RO_` of RFC 9380: Elligator 2 gives
//!   points of the curve only. Multiplication keeps a u-coordinate on the curve or on its twist, so that
//!   a hash that gives both would show the peer one bit of every item. The cofactor is cleared, so that
//!   the point is in the subgroup of prime order `l`.
//! - An exponent `k` is applied as the multiple of eight that is congruent to it modulo `l`. On the
//!   subgroup that is `k`. A part of small order, which a peer's point may have, is gone after it
//!   (on the twist too, whose cofactor is four), so that it tells nothing of the exponent.
//! - A point of small order alone becomes the neutral element, which is refused.

use curve25519_dalek::{EdwardsPoint, MontgomeryPoint, Scalar};
use sha2::Sha512;
use vesica_mpc::group::random_scalar;
use vesica_party::{Assumption, assume};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use vesica_protocols::ecdh::exponent::{Exponent, Message};

/// What blindings rest on.
pub(crate) const ASSUMPTIONS: &[Assumption] = assume![
    (discrete_logarithm "DDH in the subgroup of prime order of Curve25519"),
    "hash-to-curve is a random oracle",
    "BLAKE3 is a pseudo-random generator on points",
];

/// An encoded u-coordinate, in little-endian order.
type Coordinate = [u8; 32];

/// An exponent: eight times this scalar.
#[derive(Zeroize)]
pub struct X25519(Scalar);

/// Bits of a scalar below the group's order.
const SCALAR_BITS: usize = 253;

impl X25519 {
    /// The u-coordinate of eight times the scalar times the point of this u-coordinate, and zero for
    /// the neutral element.
    pub(crate) fn times(&self, point: &MontgomeryPoint) -> Coordinate {
        let mut bytes = self.0.to_bytes();
        let bits = (0..SCALAR_BITS).rev().map(|i| bytes[i / 8] >> (i % 8) & 1 == 1);
        let product = point.mul_bits_be(bits.chain([false; 3])).to_bytes();
        bytes.zeroize();
        product
    }
}

impl Exponent for X25519 {
    type Point = Coordinate;

    fn random(rng: &mut SecretRng) -> Secret<Self> {
        Secret::new(Self(*random_scalar(rng)))
    }

    fn inverse(&self) -> Secret<Self> {
        // 8 t' = 1 / (8 t).
        Secret::new(Self((Scalar::from(64u8) * self.0).invert()))
    }

    fn hash_and_multiply(&self, domain: &[u8], messages: &[Message], out: &mut [Coordinate]) {
        assert_eq!(messages.len(), out.len(), "a point for each message");
        for (message, out) in messages.iter().zip(out) {
            *out = self.times(&hash(domain, message));
        }
    }

    fn multiply(&self, points: &mut [Coordinate]) -> bool {
        points.iter_mut().all(|point| {
            let canonical = is_canonical(point);
            *point = self.times(&MontgomeryPoint(*point));
            canonical && *point != [0; 32]
        })
    }
}

/// `hash_to_curve` of the suite. The map of RFC 9380 to edwards25519 is the one to curve25519,
/// followed by a map that `to_montgomery` takes back.
fn hash(domain: &[u8], message: &[u8]) -> MontgomeryPoint {
    EdwardsPoint::hash_to_curve::<Sha512>(&[message], &[domain]).to_montgomery()
}

/// Whether a u-coordinate is below the field's modulus, `2^255 - 19`.
pub(crate) fn is_canonical(coordinate: &Coordinate) -> bool {
    let [first, middle @ .., last] = coordinate;
    *last < 0x7f || *last == 0x7f && (*first < 0xed || middle.iter().any(|&byte| byte != 0xff))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> [u8; 32] {
        std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
    }

    /// RFC 7748, section 5.2. A clamped scalar is eight times one below the order.
    #[test]
    fn the_ladder_is_that_of_rfc_7748() {
        for (scalar, coordinate, product) in [
            (
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
            ),
            (
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                // The top bit, which is to be ignored, is cleared.
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a413",
                "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
            ),
        ] {
            let mut clamped = hex(scalar);
            clamped[31] = clamped[31] & 0x7f | 0x40;
            let eighth = std::array::from_fn(|i| clamped[i] >> 3 | clamped.get(i + 1).map_or(0, |next| next << 5));
            let exponent = X25519(Scalar::from_canonical_bytes(eighth).unwrap());
            let mut points = [hex(coordinate)];
            assert!(exponent.multiply(&mut points));
            assert_eq!(points[0], hex(product));
        }
    }

    /// RFC 9380, appendix J.4.1: `P.x`, which is written with the highest byte first.
    #[test]
    fn hashes_are_those_of_rfc_9380() {
        for (message, expected) in [
            ("", "2de3780abb67e861289f5749d16d3e217ffa722192d16bbd9d1bfb9d112b98c0"),
            ("abc", "2b4419f1f2d48f5872de692b0aca72cc7b0a60915dd70bde432e826b6abc526d"),
            ("abcdef0123456789", "68ca1ea5a6acf4e9956daa101709b1eee6c1bb0df1de3b90d4602382a104c036"),
        ] {
            let mut point = hash(b"QUUX-V01-CS02-with-curve25519_XMD:SHA-512_ELL2_RO_", message.as_bytes()).to_bytes();
            point.reverse();
            assert_eq!(point, hex(expected));
        }
    }

    /// The points of small order of the curve and of its twist, and numbers that are no coordinates.
    #[test]
    fn points_of_small_order_and_uncanonical_ones_are_refused() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let small = [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        ];
        let uncanonical = [
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0900000000000000000000000000000000000000000000000000000000000080",
        ];
        for bad in small.into_iter().chain(uncanonical) {
            assert!(!X25519::random(&mut rng).multiply(&mut [hex(bad)]), "{bad}");
        }
        // The base point, and the greatest coordinate but for the small ones.
        for good in [
            "0900000000000000000000000000000000000000000000000000000000000000",
            "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            assert!(X25519::random(&mut rng).multiply(&mut [hex(good)]), "{good}");
        }
    }

    /// What a peer adds of small order changes nothing of what it gets.
    #[test]
    fn a_part_of_small_order_is_cleared() {
        use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
        let mut rng = SecretRng::insecure_from_seed(2);
        for small in EIGHT_TORSION {
            let exponent = X25519::random(&mut rng);
            let mut points = [ED25519_BASEPOINT_POINT, ED25519_BASEPOINT_POINT + small].map(|p| p.to_montgomery().0);
            assert!(exponent.multiply(&mut points));
            assert_eq!(points[0], points[1]);
        }
    }
}
