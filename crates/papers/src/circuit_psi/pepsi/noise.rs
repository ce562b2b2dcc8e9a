//! Noise, predicted along the steps of `equality`.

use vesica_structures::facts::{FailureEvent, LAMBDA};
use vesica_structures::rlwe::bfv::Scheme;

use super::equality::DIFFERENCE;
use super::params::Parts;
use vesica_protocols::bfv::Ring;
use vesica_protocols::bfv::noise::{
    DEVIATIONS, distance_bits, dropped, fits, flooded_fits, fresh, product, public, with_plaintexts,
};

/// The mean of the fourth power of `|s(z)|^2` over that of its mean, for a secret `s` at a root of unity:
/// `4!`, as for a complex Gaussian. Each of the four levels of products multiplies noise by a polynomial
/// times the same secret.
const FOURTH_MOMENT: f64 = 24.0;

/// The standard deviation of a product for one row, of codewords of so many bits.
pub(super) fn of_row(scheme: &Scheme, codeword_bits: usize) -> f64 {
    let s = with_plaintexts(scheme, fresh(), codeword_bits);
    // A multiple adds a deviation.
    let v = product(scheme, s, s) + 15.0 * s;
    let w = product(scheme, v, v);
    let first = product(scheme, w + 100.0 * v, w + 40.0 * v);
    let (of_w, of_v, _) = DIFFERENCE;
    let second = first + of_w.unsigned_abs() as f64 * w + of_v.unsigned_abs() as f64 * v;
    product(scheme, first, second) * FOURTH_MOMENT.sqrt()
}

/// The standard deviation of the sum over all rows that is answered, with payloads if there are any.
pub(super) fn of_answer(parts: &Parts) -> f64 {
    let scheme = &parts.form.ring().scheme;
    let row = of_row(scheme, parts.codeword_bits);
    if parts.limbs == 0 { row * (parts.rows as f64).sqrt() } else { with_plaintexts(scheme, row, parts.rows) }
}

/// The standard deviation of what is flooded: an answer and an encryption of zero, with the kept primes.
pub(super) fn of_drowned(parts: &Parts) -> f64 {
    let Ring { scheme, kept_primes, .. } = parts.form.ring();
    let both = [of_answer(parts), public(scheme)];
    both.map(|deviation| dropped(scheme, deviation, scheme.all_primes(), *kept_primes).powi(2))
        .iter()
        .sum::<f64>()
        .sqrt()
}

/// `-log2` of the statistical distance of all answers of a run from others with the same shares.
pub(super) fn distance(parts: &Parts) -> f64 {
    distance_bits(parts.form.ring(), parts.answers() as u64, of_drowned(parts))
}

/// `-log2` of the distance that a run may have at most: with the shares of tags and of tables, `2^-42` and
/// `2^-43`, it stays within `2^-LAMBDA`.
pub(super) fn least_distance() -> f64 {
    let others = [FailureEvent::TagCollision, FailureEvent::HashTable].map(|event| (-f64::from(event.bits())).exp2());
    -((-f64::from(LAMBDA)).exp2() - others.iter().sum::<f64>()).log2()
}

/// Whether answers can be decrypted, and the floods drown what they are to drown.
pub(super) fn is_within(parts: &Parts) -> bool {
    let ring = parts.form.ring();
    fits(&ring.scheme, DEVIATIONS * of_answer(parts), ring.scheme.all_primes())
        && flooded_fits(ring, of_drowned(parts))
        && distance(parts) >= least_distance()
}
