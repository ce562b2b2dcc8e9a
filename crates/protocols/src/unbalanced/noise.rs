//! Noise, predicted: docs/parameters/unbalanced.md has the formulas in words.

use vesica_structures::facts::LAMBDA;
use vesica_structures::rlwe::bfv::Scheme;

use super::Shape;
use super::ring::{ANSWER_BITS, Form, Ring};
use crate::bfv::noise::{
    DEVIATIONS, ROUNDING, distance_bits, dropped, fits, flooded_fits, fresh, product, public, rounded, with_plaintexts,
};

/// Flooded ciphertexts that a prepared set answers with, at most, for all clients together: what noise
/// may say of the set shares one budget.
pub const ANSWERS_OF_A_SET: u64 = 1 << 24;

/// The standard deviation of the noise of a power that is a product of this depth.
pub fn of_power(scheme: &Scheme, depth: u32) -> f64 {
    // The two factors may be one, or have stamps in common.
    (0..depth).fold(fresh(), |deviation, _| product(scheme, deviation, deviation))
}

/// The standard deviation of the value of a polynomial of this degree at powers of this depth.
pub fn of_value(ring: &Ring, degree: usize, depth: u32) -> f64 {
    let scheme = &ring.scheme;
    let power = dropped(scheme, of_power(scheme, depth), scheme.all_primes(), ring.kept_primes);
    // The highest power has the coefficient 1.
    (with_plaintexts(scheme, power, degree).powi(2) + power.powi(2)).sqrt()
}

/// The standard deviation of an answer that is not flooded, before it is rounded.
pub fn of_answer(ring: &Ring, degree: usize, depth: u32) -> f64 {
    dropped(&ring.scheme, of_value(ring, degree, depth), ring.kept_primes, ring.sent_primes)
}

/// The standard deviation of an encryption of zero under a public key.
fn of_zero(ring: &Ring) -> f64 {
    let scheme = &ring.scheme;
    dropped(scheme, public(scheme), scheme.all_primes(), ring.kept_primes)
}

/// The standard deviation of what is flooded: so many values, multiplied by random plaintexts, and an
/// encryption of zero.
pub fn of_scrambled(ring: &Ring, degree: usize, depth: u32, limbs: usize) -> f64 {
    let scheme = &ring.scheme;
    (with_plaintexts(scheme, of_value(ring, degree, depth), limbs).powi(2) + of_zero(ring).powi(2)).sqrt()
}

/// The standard deviation of what is flooded of a masked value: the value, the rounding of the mask and
/// an encryption of zero.
pub fn of_masked(ring: &Ring, degree: usize, depth: u32) -> f64 {
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
pub fn is_within(shape: &Shape, depth: u32) -> bool {
    let (ring, degree) = (shape.form.ring(), shape.degree);
    let scheme = &ring.scheme;
    match shape.form {
        Form::Together => {
            fits(scheme, DEVIATIONS * of_value(ring, degree, depth), ring.kept_primes)
                && fits(scheme, rounded(scheme, of_answer(ring, degree, depth), ANSWER_BITS), ring.sent_primes)
        }
        Form::Apart | Form::Masked => {
            let drowned = of_flooded(shape, depth);
            flooded_fits(ring, drowned) && distance_bits(ring, ANSWERS_OF_A_SET, drowned) >= f64::from(LAMBDA)
        }
    }
}
