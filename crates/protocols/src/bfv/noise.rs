//! Noise, predicted as standard deviations of coefficients: docs/parameters/bfv.md has the formulas in
//! words. Where the coefficients of what is multiplied are taken to be uniform and independent, a
//! prediction is a heuristic, which tests of the protocols measure.

use vesica_structures::rlwe::bfv::Scheme;

use super::Ring;

/// Variance of the coefficients of an error.
const ERROR: f64 = 10.5;
/// Variance of a rounding.
pub const ROUNDING: f64 = 1.0 / 12.0;
/// Variance of the coefficients of a secret.
const SECRET: f64 = 2.0 / 3.0;

/// Standard deviations of noise between its mean and what has to be ruled out: a Gaussian is larger
/// with probability below `2^-74`.
pub const DEVIATIONS: f64 = 10.0;

/// That of a seeded ciphertext.
pub fn fresh() -> f64 {
    (ERROR + ROUNDING).sqrt()
}

/// That of an encryption under a public key.
pub fn public(scheme: &Scheme) -> f64 {
    (ERROR * (1.0 + 2.0 * scheme.slots() as f64 * SECRET)).sqrt()
}

/// That of a product of two ciphertexts. The two may be one, or have factors in common: deviations are
/// added.
pub fn product(scheme: &Scheme, x: f64, y: f64) -> f64 {
    let n = scheme.slots() as f64;
    let t = scheme.plain_modulus() as f64;
    let width = scheme.params().digit_bits as i32;
    let switched = scheme.digits() as f64 * n * 4f64.powi(width - 1) * ERROR;
    // Of the square of a secret times a rounding.
    let rounded = ROUNDING * (1.0 + n * SECRET + (n * SECRET).powi(2));
    // (t / q) (c0 + c1 s) of the one factor times the noise of the other, for both.
    let factor = n * t.powi(2) * ROUNDING * (1.0 + n * SECRET);
    (factor * (x + y).powi(2) + switched + rounded).sqrt()
}

/// That of a sum of so many products with plaintexts, whose coefficients are at most `t / 2`.
pub fn with_plaintexts(scheme: &Scheme, deviation: f64, count: usize) -> f64 {
    let (n, t) = (scheme.slots() as f64, scheme.plain_modulus() as f64);
    deviation * (count as f64 * n * t.powi(2) / 4.0).sqrt()
}

/// That which is left once primes were dropped.
pub fn dropped(scheme: &Scheme, deviation: f64, from: usize, to: usize) -> f64 {
    let rounded = ROUNDING * (1.0 + scheme.slots() as f64 * SECRET);
    // One rounding for each prime, of which all but the last shrink again.
    ((deviation / lost(scheme, from, to)).powi(2) + 1.01 * rounded).sqrt()
}

/// What has to be ruled out of noise of this deviation in a ciphertext of one prime, once its halves are rounded to
/// so many bits a coefficient. The first half is off by no more than half of a multiple, and the second by as
/// much times a secret.
pub fn rounded(scheme: &Scheme, deviation: f64, bits: [u32; 2]) -> f64 {
    let q = scheme.params().primes[0] as f64;
    let [first, second] = bits.map(|bits| q / 2f64.powi(bits as i32));
    // Multiples are rounded to residues where they are read.
    let of_second = ROUNDING * (second.powi(2) + 1.0) * scheme.slots() as f64 * SECRET;
    (first + 1.0) / 2.0 + DEVIATIONS * (deviation.powi(2) + of_second).sqrt()
}

/// The product of the primes that are dropped.
fn lost(scheme: &Scheme, from: usize, to: usize) -> f64 {
    scheme.params().primes[to..from].iter().map(|&p| p as f64).product()
}

/// Whether noise of at most so much can be decrypted.
pub fn fits(scheme: &Scheme, most: f64, primes: usize) -> bool {
    most.log2() < scheme.room_bits(primes)
}

/// Whether an answer can be decrypted that is flooded with the kept primes, where noise has this
/// deviation.
pub fn flooded_fits(ring: &Ring, drowned: f64) -> bool {
    let scheme = &ring.scheme;
    let most = 2f64.powi(ring.flood_bits as i32 + 1) + DEVIATIONS * drowned;
    // Roundings of both halves, for each prime.
    let rounded = scheme.slots() as f64 + 1.0;
    fits(scheme, most, ring.kept_primes)
        && fits(scheme, most / lost(scheme, ring.kept_primes, ring.sent_primes) + rounded, ring.sent_primes)
}

/// `-log2` of the statistical distance of so many flooded answers from others with the same messages,
/// by the bound of docs/parameters/bfv.md on floods.
pub fn distance_bits(ring: &Ring, answers: u64, drowned: f64) -> f64 {
    let coefficients = 0.87 * answers as f64 * ring.scheme.slots() as f64;
    f64::from(ring.flood_bits) - 0.5 * coefficients.log2() - drowned.log2()
}
