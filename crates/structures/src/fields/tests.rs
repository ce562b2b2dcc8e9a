//! The two fields are fields, and `B` is a subfield of `F`.

use proptest::prelude::*;
use vesica_kernels::{Backend, with_backend};

use super::{Gf64, Gf128, Value};

/// `x^(2^times)`.
fn frobenius<V: Copy + std::ops::Mul<Output = V>>(x: V, times: u32) -> V {
    (0..times).fold(x, |x, _| x * x)
}

/// Carry-less multiplication modulo `x^64 + x^4 + x^3 + x + 1`, bit by bit.
fn slow_product(a: u64, b: u64) -> u64 {
    let mut product = 0;
    for i in (0..64).rev() {
        let carry = product >> 63;
        product = (product << 1) ^ (carry * 0x1b);
        if b >> i & 1 == 1 {
            product ^= a;
        }
    }
    product
}

#[test]
fn the_modulus_of_b_is_irreducible() {
    // x generates a field of degree 64 exactly: x^(2^64) = x, and x^(2^32) - x is invertible (64 has
    // the one prime divisor 2).
    let x = Gf64(2);
    assert_eq!(frobenius(x, 64), x);
    let difference = frobenius(x, 32) + x;
    assert_eq!(inverse(difference) * difference, Gf64(1));
}

#[test]
fn the_modulus_of_f_is_irreducible() {
    // Y^2 + Y + theta has no root in B exactly when theta has trace 1; theta = Y^2 + Y as computed.
    let y = Gf128(1 << 64);
    let theta = y * y + y;
    assert_eq!(theta.0 >> 64, 0, "theta lies in B");
    let mut trace = Gf128(0);
    for i in 0..64 {
        trace += frobenius(theta, i);
    }
    assert_eq!(trace, Gf128(1));
}

/// `x^(2^64 - 2)`.
fn inverse(x: Gf64) -> Gf64 {
    (1..64).fold(Gf64(1), |product, i| product * frobenius(x, i))
}

proptest! {
    #[test]
    fn products_in_b_are_those_of_the_definition(a: u64, b: u64) {
        prop_assert_eq!((Gf64(a) * Gf64(b)).0, slow_product(a, b));
    }

    #[test]
    fn products_in_f_are_those_of_the_tower(a: u128, b: u128) {
        let halves = |x: u128| (Gf64(x as u64), Gf64((x >> 64) as u64));
        let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
        let y = Gf128(1 << 64);
        let theta = Gf64((y * y + y).0 as u64);
        let (ones, ys) = (a0 * b0 + theta * (a1 * b1), a0 * b1 + a1 * b0 + a1 * b1);
        prop_assert_eq!(Gf128(a) * Gf128(b), Gf128(u128::from(ones.0) | u128::from(ys.0) << 64));
    }

    #[test]
    fn embedding_is_a_homomorphism(a: u64, b: u64) {
        prop_assert_eq!((Gf64(a) * Gf64(b)).embed(), Gf64(a).embed() * Gf64(b).embed());
        prop_assert_eq!((Gf64(a) + Gf64(b)).embed(), Gf64(a).embed() + Gf64(b).embed());
    }

    #[test]
    fn every_element_is_a_root_of_its_field(a: u64, b: u128) {
        prop_assert_eq!(frobenius(Gf64(a), 64), Gf64(a));
        prop_assert_eq!(frobenius(Gf128(b), 128), Gf128(b));
        prop_assert_eq!(frobenius(Gf128(b), 64) == Gf128(b), b >> 64 == 0);
    }

    #[test]
    fn laws_of_a_field(a: u128, b: u128, c: u128) {
        let (a, b, c) = (Gf128(a), Gf128(b), Gf128(c));
        prop_assert_eq!(a * b, b * a);
        prop_assert_eq!(a * (b * c), (a * b) * c);
        prop_assert_eq!(a * (b + c), a * b + a * c);
        prop_assert_eq!(a * Gf128(1), a);
        prop_assert_eq!(a + a, Gf128(0));
    }

    #[test]
    fn backends_agree(a: u128, b: u128) {
        let portable = with_backend(Backend::Portable, || (Gf128(a) * Gf128(b), Gf64(a as u64) * Gf64(b as u64)));
        prop_assert_eq!((Gf128(a) * Gf128(b), Gf64(a as u64) * Gf64(b as u64)), portable);
    }

    #[test]
    fn from_bits_takes_the_low_bits(bits: u128) {
        prop_assert_eq!(Gf64::from_bits(bits), Gf64(bits as u64));
        prop_assert_eq!(Gf128::from_bits(bits), Gf128(bits));
    }
}
