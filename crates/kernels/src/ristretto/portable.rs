//! One element after the other, and an inversion for all encodings together.

use curve25519_dalek::Scalar;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::{IsIdentity, VartimeMultiscalarMul};
use zeroize::Zeroizing;

use super::encoded::{Composites, ENCODED_BYTES, Encoded, Uniform};

pub(super) fn multiply(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    let half = halved(scalar);
    let products: Option<Vec<RistrettoPoint>> = elements.iter().map(|bytes| Some(element(bytes)? * *half)).collect();
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

pub(super) fn map_all(uniform: &[Uniform], out: &mut [Encoded]) {
    for (uniform, out) in uniform.iter().zip(out) {
        *out = RistrettoPoint::from_uniform_bytes(uniform).compress().to_bytes();
    }
}

pub(super) fn add_map_and_multiply(scalar: &Scalar, elements: &mut [Encoded], uniform: &[Uniform]) -> bool {
    let half = halved(scalar);
    let times_half = |(bytes, uniform): (&Encoded, &Uniform)| {
        Some((element(bytes)? + RistrettoPoint::from_uniform_bytes(uniform)) * *half)
    };
    let products: Option<Vec<RistrettoPoint>> = elements.iter().zip(uniform).map(times_half).collect();
    match products {
        Some(products) => encode_doubles(&products, elements),
        None => {
            elements.fill([0; ENCODED_BYTES]);
            return false;
        }
    }
    true
}

pub(super) fn generate_and_subtract_map(scalars: &[Scalar], uniform: &[Uniform], out: &mut [Encoded]) {
    for ((scalar, uniform), out) in scalars.iter().zip(uniform).zip(out) {
        let difference = RistrettoPoint::mul_base(scalar) - RistrettoPoint::from_uniform_bytes(uniform);
        *out = difference.compress().to_bytes();
    }
}

pub(super) fn multiply_each(bytes: &Encoded, scalars: &[Scalar], out: &mut [Encoded]) -> bool {
    if scalars.is_empty() {
        return true;
    }
    let Some(element) = element(bytes) else {
        out.fill([0; ENCODED_BYTES]);
        return false;
    };
    let products: Vec<RistrettoPoint> = scalars.iter().map(|scalar| element * *halved(scalar)).collect();
    encode_doubles(&products, out);
    true
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

pub(super) fn composites(weights: &[Scalar], elements: &[Encoded], key: &Scalar, nonce: &Scalar) -> Option<Composites> {
    let sum = RistrettoPoint::optional_multiscalar_mul(weights, elements.iter().map(element))?;
    let points = [sum, key * sum, nonce * sum, RistrettoPoint::mul_base(nonce)];
    let [sum, sum_by_key, sum_by_nonce, generator_by_nonce] = points.map(|point| point.compress().to_bytes());
    Some(Composites { sum, sum_by_key, sum_by_nonce, generator_by_nonce })
}

/// The element of this encoding, unless it is the neutral one.
fn element(encoded: &Encoded) -> Option<RistrettoPoint> {
    CompressedRistretto(*encoded).decompress().filter(|element| !element.is_identity())
}
