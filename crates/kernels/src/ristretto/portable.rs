//! One element after the other, and an inversion for all encodings together.

use curve25519_dalek::Scalar;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::IsIdentity;
use zeroize::Zeroizing;

use super::{ENCODED_BYTES, Encoded, Uniform};

pub(super) fn multiply(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    let half = halved(scalar);
    let products: Option<Vec<RistrettoPoint>> = elements
        .iter()
        .map(|bytes| {
            let element = CompressedRistretto(*bytes).decompress().filter(|element| !element.is_identity())?;
            Some(element * *half)
        })
        .collect();
    match products {
        Some(products) => encode_doubles(&products, elements),
        None => {
            elements.fill([0; ENCODED_BYTES]);
            return false;
        }
    }
    true
}

pub(super) fn map_and_multiply(scalar: &Scalar, uniform: &[Uniform], out: &mut [Encoded]) {
    let half = halved(scalar);
    let products: Vec<RistrettoPoint> =
        uniform.iter().map(|uniform| RistrettoPoint::from_uniform_bytes(uniform) * *half).collect();
    encode_doubles(&products, out);
}

/// Half of a scalar: encoding many doubles takes one inversion.
fn halved(scalar: &Scalar) -> Zeroizing<Scalar> {
    Zeroizing::new(scalar * Scalar::from(2u8).invert())
}

fn encode_doubles(halves: &[RistrettoPoint], out: &mut [Encoded]) {
    for (out, encoded) in out.iter_mut().zip(RistrettoPoint::double_and_compress_batch(halves)) {
        *out = encoded.to_bytes();
    }
}
