//! The server's work on a query: powers, then the values of polynomials.

use rayon::prelude::*;
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Plain, SwitchKey, Values, Widened};

use super::polynomials::Polynomials;
use super::powers::Powers;
use super::ring::Ring;

/// Products with plaintexts that are added up at a time.
const PRODUCTS_AT_A_TIME: usize = 16;

/// All powers of a column up to the degree, the first one at 0, with the primes that are kept
/// for products with plaintexts. `sent` are those of [`Powers::sent`], in that order.
pub fn all_powers(
    ring: &Ring,
    powers: &Powers,
    sent: Vec<Ciphertext<Values>>,
    key: &SwitchKey,
) -> Vec<Ciphertext<Values>> {
    let scheme = &ring.scheme;
    let degree = powers.sent.len() + powers.products();
    let mut full: Vec<Option<Ciphertext<Values>>> = vec![None; degree + 1];
    for (&exponent, power) in powers.sent.iter().zip(sent) {
        full[exponent] = Some(power);
    }
    // Most powers that are factors are those of several products.
    let mut factors: Vec<Option<Widened>> = vec![None; degree + 1];
    for level in &powers.computed {
        let mut wanted: Vec<usize> = level.iter().flat_map(|(_, parts)| *parts).collect();
        wanted.retain(|&exponent| factors[exponent].is_none());
        wanted.sort_unstable();
        wanted.dedup();
        let widen = |&exponent: &usize| Some((exponent, scheme.widened(full[exponent].as_ref()?)));
        let widened: Vec<_> = wanted.par_iter().filter_map(widen).collect();
        for (exponent, factor) in widened {
            factors[exponent] = Some(factor);
        }
        let product = |&(exponent, [x, y]): &(usize, [usize; 2])| {
            let (x, y) = (factors[x].as_ref()?, factors[y].as_ref()?);
            Some((exponent, scheme.multiply_widened(x, y, key)))
        };
        let products: Vec<_> = level.par_iter().filter_map(product).collect();
        for (exponent, product) in products {
            full[exponent] = Some(product);
        }
    }
    let shorten = |power| {
        let mut short = scheme.ciphertext_coefficients(power);
        scheme.switch_down(&mut short, ring.kept_primes);
        scheme.ciphertext_values(short)
    };
    let full: Vec<_> = full.into_iter().flatten().collect();
    full.into_par_iter().map(shorten).collect()
}

/// The value of the polynomials of a part of a column at its powers.
pub fn value(
    ring: &Ring,
    polynomials: &Polynomials,
    column: usize,
    part: usize,
    powers: &[Ciphertext<Values>],
) -> Ciphertext<Values> {
    // The highest power, whose coefficient is 1.
    let mut value = powers[powers.len() - 1].clone();
    add_lower(ring, polynomials.of_part(&ring.scheme, column, part, 0), powers, &mut value);
    value
}

/// The value of the polynomials of a label of this number, from 1 on.
pub fn label(
    ring: &Ring,
    polynomials: &Polynomials,
    column: usize,
    part: usize,
    number: usize,
    powers: &[Ciphertext<Values>],
) -> Ciphertext<Values> {
    // Their degree is lower: the highest power's coefficient is 0.
    let highest = &powers[powers.len() - 1];
    let mut value = highest.clone();
    ring.scheme.subtract(&mut value, highest);
    add_lower(ring, polynomials.of_part(&ring.scheme, column, part, number), powers, &mut value);
    value
}

/// Adds the products of all coefficients, the constant one first, and their powers.
fn add_lower(
    ring: &Ring,
    mut plains: impl Iterator<Item = Plain>,
    powers: &[Ciphertext<Values>],
    value: &mut Ciphertext<Values>,
) {
    let scheme = &ring.scheme;
    let constant = plains.next();
    let plains: Vec<Plain> = plains.collect();
    for (powers, plains) in powers.chunks(PRODUCTS_AT_A_TIME).zip(plains.chunks(PRODUCTS_AT_A_TIME)) {
        let factors: Vec<_> = plains.iter().map(|plain| scheme.multiplier(plain, ring.kept_primes)).collect();
        let products: Vec<_> = powers.iter().zip(&factors).collect();
        scheme.add(value, &scheme.combine(&products));
    }
    if let Some(constant) = constant {
        scheme.add_plain(value, &constant);
    }
}

/// What travels of a value, where it may be known with its noise.
pub fn shorten(ring: &Ring, value: Ciphertext<Values>) -> Ciphertext<Coefficients> {
    let mut short = ring.scheme.ciphertext_coefficients(value);
    ring.scheme.switch_down(&mut short, ring.sent_primes);
    short
}
