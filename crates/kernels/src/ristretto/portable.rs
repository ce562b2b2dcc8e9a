//! One element after the other, and an inversion for all encodings together.

use std::sync::LazyLock;

use curve25519_dalek::Scalar;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::{IsIdentity, VartimeMultiscalarMul};
use zeroize::Zeroizing;

use super::encoded::{Checked, Composites, ENCODED_BYTES, Encoded, Stated, Uniform};

pub(super) fn multiply(scalar: &Scalar, elements: &mut [Encoded]) -> bool {
    let half = halved(scalar);
    let products = all(elements.iter().map(|bytes| Some(element(bytes)? * *half)));
    encode_or_clear(products, elements)
}

pub(super) fn map_and_multiply(scalar: &Scalar, uniform: &[Uniform], out: &mut [Encoded]) {
    let half = halved(scalar);
    let times_half = |uniform: &Uniform| Some(RistrettoPoint::from_uniform_bytes(uniform) * *half);
    encode_or_clear(all(uniform.iter().map(times_half)), out);
}

pub(super) fn multiply_by_each(scalars: &[Scalar], elements: &mut [Encoded]) -> bool {
    let times_half = |(bytes, scalar): (&Encoded, &Scalar)| Some(element(bytes)? * *halved(scalar));
    let products = all(elements.iter().zip(scalars).map(times_half));
    encode_or_clear(products, elements)
}

pub(super) fn map_and_multiply_by_each(scalars: &[Scalar], uniform: &[Uniform], out: &mut [Encoded]) {
    let times_half =
        |(uniform, scalar): (&Uniform, &Scalar)| Some(RistrettoPoint::from_uniform_bytes(uniform) * *halved(scalar));
    encode_or_clear(all(uniform.iter().zip(scalars).map(times_half)), out);
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
    let products = all(elements.iter().zip(uniform).map(times_half));
    encode_or_clear(products, elements)
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
    let times_half = |element: RistrettoPoint| all(scalars.iter().map(|scalar| Some(element * *halved(scalar))));
    encode_or_clear(element(bytes).and_then(times_half), out)
}

/// Half of a scalar: encoding many doubles takes one inversion.
fn halved(scalar: &Scalar) -> Zeroizing<Scalar> {
    static HALF: LazyLock<Scalar> = LazyLock::new(|| Scalar::from(2u8).invert());
    Zeroizing::new(scalar * *HALF)
}

/// Secret points, unless one is missing. Their room is taken at once: no copy is left behind.
fn all(points: impl ExactSizeIterator<Item = Option<RistrettoPoint>>) -> Option<Zeroizing<Vec<RistrettoPoint>>> {
    let mut all = Zeroizing::new(Vec::with_capacity(points.len()));
    for point in points {
        all.push(point?);
    }
    Some(all)
}

/// Encodes twice each point, or zeros where there are none, and says so.
fn encode_or_clear(halves: Option<Zeroizing<Vec<RistrettoPoint>>>, out: &mut [Encoded]) -> bool {
    let Some(halves) = halves else {
        out.fill([0; ENCODED_BYTES]);
        return false;
    };
    let encoded = Zeroizing::new(RistrettoPoint::double_and_compress_batch(halves.iter()));
    out.iter_mut().zip(encoded.iter()).for_each(|(out, encoded)| *out = encoded.to_bytes());
    true
}

pub(super) fn composites(weights: &[Scalar], elements: &[Encoded], key: &Scalar, nonce: &Scalar) -> Option<Composites> {
    let sum = RistrettoPoint::optional_multiscalar_mul(weights, elements.iter().map(element))?;
    let points = [sum, key * sum, nonce * sum, RistrettoPoint::mul_base(nonce)];
    let [sum, sum_by_key, sum_by_nonce, generator_by_nonce] = points.map(|point| point.compress().to_bytes());
    Some(Composites { sum, sum_by_key, sum_by_nonce, generator_by_nonce })
}

pub(super) fn checked(weights: &[Scalar], stated: &Stated<'_>) -> Option<Checked> {
    let Stated { blinded, evaluated, public, challenge, response } = *stated;
    let sum = |elements: &[Encoded]| RistrettoPoint::optional_multiscalar_mul(weights, elements.iter().map(element));
    let (m, z, public) = (sum(blinded)?, sum(evaluated)?, element(public)?);
    let points = [
        m,
        z,
        RistrettoPoint::vartime_double_scalar_mul_basepoint(challenge, &public, response),
        RistrettoPoint::vartime_multiscalar_mul([response, challenge], [m, z]),
    ];
    let [blinded_sum, evaluated_sum, of_generator, of_sum] = points.map(|point| point.compress().to_bytes());
    Some(Checked { blinded_sum, evaluated_sum, of_generator, of_sum })
}

/// The element of this encoding, unless it is the neutral one.
fn element(encoded: &Encoded) -> Option<RistrettoPoint> {
    CompressedRistretto(*encoded).decompress().filter(|element| !element.is_identity())
}
