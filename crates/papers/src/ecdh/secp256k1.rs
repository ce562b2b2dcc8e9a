//! The group of secp256k1 (SEC 2), points compressed, with the suite
//! `secp256k1_XMD:SHA-256_SSWU_RO_` of RFC 9380.

use k256::elliptic_curve::BatchNormalize;
use k256::elliptic_curve::group::GroupEncoding;
use k256::hash2curve::GroupDigest;
use k256::{AffinePoint, ProjectivePoint, Scalar};
use vesica_party::{Assumption, assume};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use vesica_protocols::ecdh::exponent::{Exponent, Message};

/// What blindings rest on.
pub(crate) const ASSUMPTIONS: &[Assumption] = assume![(discrete_logarithm "DDH on secp256k1"), "hash-to-curve is a random oracle", "BLAKE3 is a pseudo-random generator on points"];

/// A compressed point.
type Compressed = [u8; 33];

/// Points that share an inversion.
const BATCH: usize = 16;

/// An exponent.
#[derive(Zeroize)]
pub struct Secp256k1(Scalar);

impl Exponent for Secp256k1 {
    type Point = Compressed;

    fn random(rng: &mut SecretRng) -> Secret<Self> {
        loop {
            let scalar = Secret::new(Self(Scalar::generate_biased_from_rng(rng)));
            if scalar.0 != Scalar::ZERO {
                return scalar;
            }
        }
    }

    fn inverse(&self) -> Secret<Self> {
        Secret::new(Self(self.0.invert().unwrap_or(Scalar::ZERO)))
    }

    fn hash_and_multiply(&self, domain: &[u8], messages: &[Message], out: &mut [Compressed]) {
        assert_eq!(messages.len(), out.len(), "a point for each message");
        for (messages, out) in messages.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let mut products = Secret::new([ProjectivePoint::IDENTITY; BATCH]);
            for (product, message) in products.iter_mut().zip(messages) {
                *product = hash(domain, message) * self.0;
            }
            compress(&products, out);
        }
    }

    fn multiply(&self, points: &mut [Compressed]) -> bool {
        points.chunks_mut(BATCH).all(|points| {
            let mut products = Secret::new([ProjectivePoint::IDENTITY; BATCH]);
            for (product, point) in products.iter_mut().zip(&*points) {
                // The library takes a third tag, too: a point has one encoding here.
                if !matches!(point[0], 2 | 3) {
                    return false;
                }
                let Some(point) = AffinePoint::from_bytes(&(*point).into()).into_option() else { return false };
                if point == AffinePoint::IDENTITY {
                    return false;
                }
                *product = ProjectivePoint::from(point) * self.0;
            }
            compress(&products, points);
            true
        })
    }
}

/// `hash_to_curve` of the suite.
fn hash(domain: &[u8], message: &[u8]) -> ProjectivePoint {
    // It refuses an empty domain, which no caller has, and takes longer ones than 255 bytes.
    k256::Secp256k1::hash_from_bytes(&[message], &[domain]).unwrap_or(ProjectivePoint::IDENTITY)
}

/// The encodings of the first points, as many as there is room for.
fn compress(points: &[ProjectivePoint; BATCH], out: &mut [Compressed]) {
    let points = Secret::new(ProjectivePoint::batch_normalize(points));
    out.iter_mut().zip(&*points).for_each(|(out, point)| *out = point.to_bytes().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
    }

    /// RFC 9380, appendix J.8.1, with the parity of `P.y` in front of `P.x`.
    #[test]
    fn hashes_are_those_of_rfc_9380() {
        for (message, expected) in [
            ("", "03c1cae290e291aee617ebaef1be6d73861479c48b841eaba9b7b5852ddfeb1346"),
            ("abc", "023377e01eab42db296b512293120c6cee72b6ecf9f9205760bd9ff11fb3cb2c4b"),
            ("abcdef0123456789", "02bac54083f293f1fe08e4a70137260aa90783a5cb84d3f35848b324d0674b0e3a"),
        ] {
            let point = hash(b"QUUX-V01-CS02-with-secp256k1_XMD:SHA-256_SSWU_RO_", message.as_bytes());
            let mut points = [ProjectivePoint::IDENTITY; BATCH];
            points[0] = point;
            let mut out = [[0; 33]];
            compress(&points, &mut out);
            assert_eq!(out[0], hex(expected));
        }
    }

    /// The neutral element, a coordinate off the curve, one that is no number of the field, and an
    /// encoding of another kind.
    #[test]
    fn encodings_of_no_point_are_refused() {
        let exponent = Secp256k1::random(&mut SecretRng::insecure_from_seed(1));
        let generator = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
        assert!(exponent.multiply(&mut [hex(generator)]));
        for bad in [
            "000000000000000000000000000000000000000000000000000000000000000000",
            "020000000000000000000000000000000000000000000000000000000000000005",
            "02ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "0579be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
            "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
        ] {
            assert!(!exponent.multiply(&mut [hex(bad)]), "{bad}");
        }
    }
}
