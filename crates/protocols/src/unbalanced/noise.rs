//! Noise, predicted: docs/parameters/unbalanced.md has the formulas in words.

use vesica_structures::facts::LAMBDA;
use vesica_structures::rlwe::bfv::Scheme;

use super::Shape;
use super::ring::{Form, Ring};

/// Variance of the coefficients of an error.
const ERROR: f64 = 10.5;
/// Variance of a rounding.
const ROUNDING: f64 = 1.0 / 12.0;
/// Variance of the coefficients of a secret.
const SECRET: f64 = 2.0 / 3.0;

/// Standard deviations of noise between its mean and what has to be ruled out: a Gaussian is larger
/// with probability below `2^-74`.
const DEVIATIONS: f64 = 10.0;

/// Bits of each of the four summands of a flood.
pub(super) const FLOOD_BITS: u32 = 116;

/// Flooded ciphertexts that a prepared set answers with, at most, for all clients together: what noise
/// may say of the set shares one budget.
pub(super) const ANSWERS_OF_A_SET: u64 = 1 << 24;

/// The standard deviation of the noise of a power that is a product of this depth.
pub(super) fn of_power(scheme: &Scheme, depth: u32) -> f64 {
    let n = scheme.slots() as f64;
    let t = scheme.plain_modulus() as f64;
    let width = scheme.params().digit_bits as i32;
    let switched = scheme.digits() as f64 * n * 4f64.powi(width - 1) * ERROR;
    // Of the square of a secret times a rounding.
    let rounded = ROUNDING * (1.0 + n * SECRET + (n * SECRET).powi(2));
    let mut deviation = (ERROR + ROUNDING).sqrt();
    for _ in 0..depth {
        // (t / q) (c0 + c1 s) of the one factor times the noise of the other, for both.
        let factor = n * t.powi(2) * ROUNDING * (1.0 + n * SECRET);
        // The two may be one, or have stamps in common: deviations are added.
        deviation = (factor * (2.0 * deviation).powi(2) + switched + rounded).sqrt();
    }
    deviation
}

/// The standard deviation once primes were dropped.
fn dropped(scheme: &Scheme, deviation: f64, from: usize, to: usize) -> f64 {
    let lost: f64 = scheme.params().primes[to..from].iter().map(|&p| p as f64).product();
    let rounded = ROUNDING * (1.0 + scheme.slots() as f64 * SECRET);
    // One rounding for each prime, of which all but the last shrink again.
    ((deviation / lost).powi(2) + 1.01 * rounded).sqrt()
}

/// The standard deviation of the value of a polynomial of this degree at powers of this depth.
pub(super) fn of_value(ring: &Ring, degree: usize, depth: u32) -> f64 {
    let scheme = &ring.scheme;
    let (n, t) = (scheme.slots() as f64, scheme.plain_modulus() as f64);
    let power = dropped(scheme, of_power(scheme, depth), scheme.all_primes(), ring.kept_primes);
    // Coefficients of plaintexts are at most t / 2.
    power * (degree as f64 * n * t.powi(2) / 4.0 + 1.0).sqrt()
}

/// The standard deviation of an answer that is not flooded.
pub(super) fn of_answer(ring: &Ring, degree: usize, depth: u32) -> f64 {
    dropped(&ring.scheme, of_value(ring, degree, depth), ring.kept_primes, ring.sent_primes)
}

/// The standard deviation of an encryption of zero under a public key.
fn of_zero(ring: &Ring) -> f64 {
    let scheme = &ring.scheme;
    let zero = (ERROR * (1.0 + 2.0 * scheme.slots() as f64 * SECRET)).sqrt();
    dropped(scheme, zero, scheme.all_primes(), ring.kept_primes)
}

/// The standard deviation of what is flooded: so many values, multiplied by random plaintexts, and an
/// encryption of zero.
pub(super) fn of_scrambled(ring: &Ring, degree: usize, depth: u32, limbs: usize) -> f64 {
    let scheme = &ring.scheme;
    let (n, t) = (scheme.slots() as f64, scheme.plain_modulus() as f64);
    (of_value(ring, degree, depth).powi(2) * limbs as f64 * n * t.powi(2) / 4.0 + of_zero(ring).powi(2)).sqrt()
}

/// The standard deviation of what is flooded of a masked value: the value, the rounding of the mask and
/// an encryption of zero.
pub(super) fn of_masked(ring: &Ring, degree: usize, depth: u32) -> f64 {
    (of_value(ring, degree, depth).powi(2) + ROUNDING + of_zero(ring).powi(2)).sqrt()
}

/// The standard deviation of what is flooded in this shape.
fn of_flooded(shape: &Shape, depth: u32) -> f64 {
    match shape.form {
        Form::Masked => of_masked(shape.form.ring(), shape.degree, depth),
        Form::Together | Form::Apart => of_scrambled(shape.form.ring(), shape.degree, depth, shape.limbs),
    }
}

/// Whether values and answers can be decrypted, and floods drown what they are to drown.
pub(super) fn is_within(shape: &Shape, depth: u32) -> bool {
    let (ring, degree) = (shape.form.ring(), shape.degree);
    let fits = |most: f64, primes: usize| most.log2() < ring.scheme.room_bits(primes);
    match shape.form {
        Form::Together => {
            fits(DEVIATIONS * of_value(ring, degree, depth), ring.kept_primes)
                && fits(DEVIATIONS * of_answer(ring, degree, depth), ring.sent_primes)
        }
        Form::Apart | Form::Masked => {
            let drowned = of_flooded(shape, depth);
            let most = 2f64.powi(FLOOD_BITS as i32 + 1) + DEVIATIONS * drowned;
            let lost: f64 =
                ring.scheme.params().primes[ring.sent_primes..ring.kept_primes].iter().map(|&p| p as f64).product();
            // Roundings of both halves, for each prime.
            let rounded = ring.scheme.slots() as f64 + 1.0;
            fits(most, ring.kept_primes)
                && fits(most / lost + rounded, ring.sent_primes)
                && distance_bits(drowned, ring.scheme.slots()) >= f64::from(LAMBDA)
        }
    }
}

/// `-log2` of the statistical distance of all answers of a prepared set from others with the same
/// messages, by the bound of docs/parameters/bfv.md on floods.
pub(super) fn distance_bits(drowned: f64, coefficients: usize) -> f64 {
    let coefficients = 0.87 * ANSWERS_OF_A_SET as f64 * coefficients as f64;
    f64::from(FLOOD_BITS) - 0.5 * coefficients.log2() - drowned.log2()
}
