//! Whether two codewords are equal, under encryption.
//!
//! Two codewords of weight 16 have `s` ones in common; they are equal if `s` is 16. The product of all
//! `s - i` for `i` below 16 is `16!` there, and zero for any smaller `s`. The paper takes 15 products of
//! ciphertexts for it. Four do, at the same depth:
//!
//! ```text
//!   v  = s^2 - 15 s                           (s - i) (s - (15 - i)) = v + i (15 - i)
//!   w  = v^2
//!   q1 = (w + 100 v + 2464) (w + 40 v + 364)  the product for i = 1, 2, 4, 7
//!   q2 = q1 - 384 w - 37760 v - 896896        the product for i = 0, 3, 5, 6
//!   the result is q1 q2
//! ```
//!
//! The two sets of `i (15 - i)` have the same sum, 140, which is why `q2` and `q1` differ by so little: the
//! sets of `i` are those of Prouhet's problem (of Thue and Morse).

use vesica_structures::rlwe::bfv::{Ciphertext, Plain, Product, Scheme, SwitchKey, Values};

/// The plaintext modulus.
pub(super) const PLAIN: u64 = 65_537;

/// `16!` modulo [`PLAIN`]: the result for equal codewords.
pub(super) const EQUAL: u64 = {
    let (mut product, mut i) = (1, 1);
    while i <= super::codewords::WEIGHT as u64 {
        product = product * i % PLAIN;
        i += 1;
    }
    product
};

/// `1 / 16!` modulo [`PLAIN`].
pub(super) const INVERSE: u64 = {
    // By Fermat.
    let (mut power, mut square, mut exponent) = (1, EQUAL, PLAIN - 2);
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power * square % PLAIN;
        }
        square = square * square % PLAIN;
        exponent /= 2;
    }
    power
};

/// `v = s^2 + V s`.
const V: i64 = -15;
/// The factors of `q1`, less `w`: of `v`, and the constant.
const FACTORS: [(i64, i64); 2] = [(100, 2464), (40, 364)];
/// `q2 - q1`: of `w`, of `v`, and the constant.
pub(super) const DIFFERENCE: (i64, i64, i64) = (-384, -37_760, -896_896);

/// `16!` where the slot has 16, and zero where it has less.
pub(super) fn equal(scheme: &Scheme, key: &SwitchKey, s: &Ciphertext<Values>) -> Product {
    let mut v = scheme.square(s, key);
    scheme.add_multiple(&mut v, s, V);
    let w = scheme.square(&v, key);
    let [x, y] = FACTORS.map(|(of_v, constant)| {
        let mut factor = w.clone();
        scheme.add_multiple(&mut factor, &v, of_v);
        add_constant(scheme, &mut factor, constant);
        factor
    });
    let first = scheme.multiply(&x, &y, key);
    let mut second = first.clone();
    let (of_w, of_v, constant) = DIFFERENCE;
    scheme.add_multiple(&mut second, &w, of_w);
    scheme.add_multiple(&mut second, &v, of_v);
    add_constant(scheme, &mut second, constant);
    scheme.product(&first, &second)
}

/// Adds a constant to all slots.
fn add_constant(scheme: &Scheme, sum: &mut Ciphertext<Values>, constant: i64) {
    let mut coefficients = vec![0; scheme.slots()];
    if let Some(first) = coefficients.first_mut() {
        *first = constant.rem_euclid(PLAIN as i64) as u64;
    }
    if let Some(plain) = Plain::from_coefficients(scheme, coefficients) {
        scheme.add_plain(sum, &plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula, in whole numbers, against the product of all factors.
    #[test]
    fn the_polynomial_is_the_product_of_its_factors() {
        for s in -40..40i128 {
            let v = s * s + i128::from(V) * s;
            let w = v * v;
            let [x, y] = FACTORS.map(|(of_v, constant)| w + i128::from(of_v) * v + i128::from(constant));
            let (of_w, of_v, constant) = DIFFERENCE;
            let second = x * y + i128::from(of_w) * w + i128::from(of_v) * v + i128::from(constant);
            assert_eq!(x * y * second, (0..16).map(|i| s - i).product::<i128>(), "at {s}");
        }
        assert_eq!((1..=16).product::<u64>() % PLAIN, EQUAL);
        assert_eq!(EQUAL * INVERSE % PLAIN, 1);
    }
}
