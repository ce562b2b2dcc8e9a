use proptest::prelude::*;

use super::tower::THETA_POWER;
use super::*;
use crate::testing::{block, blocks, lengths, on_every_backend, words};
use crate::{Backend, with_backend};

/// `x^4 + x^3 + x + 1`, what `x^64` is in `B`.
const X64: u64 = 0x1b;
const THETA: u64 = 1 << THETA_POWER;

/// Schoolbook multiplication in `B`: shift, reduce by the definition of the field, add.
fn schoolbook(mut a: u64, b: u64) -> u64 {
    let mut product = 0;
    for i in 0..64 {
        if b >> i & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a >> 63 == 1 { X64 } else { 0 };
    }
    product
}

/// Schoolbook multiplication in `F`, by `Y^2 = Y + theta`.
fn schoolbook_tower(a: u128, b: u128) -> u128 {
    let (a0, a1, b0, b1) = (a as u64, (a >> 64) as u64, b as u64, (b >> 64) as u64);
    let yy = schoolbook(a1, b1);
    let one = schoolbook(a0, b0) ^ schoolbook(THETA, yy);
    let y = schoolbook(a0, b1) ^ schoolbook(a1, b0) ^ yy;
    u128::from(one) | u128::from(y) << 64
}

/// `a^(2^power)` by squaring.
fn frobenius(a: u128, power: u32) -> u128 {
    (0..power).fold(a, |a, _| gf128_mul(a, a))
}

/// `a^(2^128 - 2)`.
fn inverse(a: u128) -> u128 {
    let mut product = 1;
    let mut square = a;
    for _ in 1..128 {
        square = gf128_mul(square, square);
        product = gf128_mul(product, square);
    }
    product
}

#[test]
fn the_polynomial_of_b_is_irreducible() {
    // Rabin's test at degree 64 = 2^6: x^(2^64) = x, and x^(2^32) - x has no common factor with the
    // polynomial.
    let square = |a| schoolbook(a, a);
    let x = 2;
    let half = (0..32).fold(x, |a, _| square(a));
    assert_eq!((32..64).fold(half, |a, _| square(a)), x);
    // gcd(half - x, x^64 + x^4 + x^3 + x + 1) = 1, by Euclid over GF(2).
    let (mut a, mut b) = ((1 << 64) | u128::from(X64), u128::from(half ^ x));
    while b != 0 {
        while a != 0 && a.leading_zeros() <= b.leading_zeros() {
            a ^= b << (b.leading_zeros() - a.leading_zeros());
        }
        (a, b) = (b, a);
    }
    assert_eq!(a, 1);
}

#[test]
fn theta_has_trace_one_and_no_lower_power_of_x_has() {
    let trace = |a: u64| {
        let mut power = a;
        let mut sum = a;
        for _ in 1..64 {
            power = schoolbook(power, power);
            sum ^= power;
        }
        sum
    };
    assert_eq!(trace(THETA), 1, "Y^2 + Y + theta would have a root in B");
    assert!((0..THETA_POWER).all(|i| trace(1 << i) == 0));
}

#[test]
fn the_tower_is_what_its_definition_says() {
    let y = 1 << 64;
    let on_machine = on_every_backend(|| gf128_mul(y, y));
    assert_eq!(on_machine, y | u128::from(THETA), "Y^2 = Y + theta");
    // Frobenius of order 64 fixes B and moves Y to its conjugate Y + 1.
    assert_eq!(frobenius(u128::from(u64::MAX), 64), u128::from(u64::MAX));
    assert_eq!(frobenius(y, 64), y | 1);
    assert_eq!(frobenius(y, 128), y);
}

proptest! {
    #[test]
    fn products_are_the_schoolbook_s(a in block(), b in block()) {
        let (short_a, short_b) = (a as u64, (b >> 64) as u64);
        prop_assert_eq!(on_every_backend(|| gf64_mul(short_a, short_b)), schoolbook(short_a, short_b));
        prop_assert_eq!(on_every_backend(|| gf128_mul(a, b)), schoolbook_tower(a, b));
        prop_assert_eq!(on_every_backend(|| gf128_mul_gf64(a, short_b)), schoolbook_tower(a, u128::from(short_b)));
    }

    #[test]
    fn f_is_a_field_and_b_a_subfield(a in block(), b in block(), c in block()) {
        prop_assert_eq!(gf128_mul(a, b), gf128_mul(b, a));
        prop_assert_eq!(gf128_mul(gf128_mul(a, b), c), gf128_mul(a, gf128_mul(b, c)));
        prop_assert_eq!(gf128_mul(a, b ^ c), gf128_mul(a, b) ^ gf128_mul(a, c));
        prop_assert_eq!(gf128_mul(a, 1), a);
        if a != 0 {
            prop_assert_eq!(gf128_mul(a, inverse(a)), 1);
        }
        let (a, b) = (a as u64, b as u64);
        prop_assert_eq!(gf128_mul(u128::from(a), u128::from(b)), u128::from(gf64_mul(a, b)));
    }

    #[test]
    fn backends_agree(x in blocks(), y in blocks(), delta in block()) {
        let len = x.len().min(y.len());
        let (x, y) = (&x[..len], &y[..len]);
        let short: Vec<u64> = x.iter().map(|&x| x as u64).collect();
        on_every_backend(|| {
            let mut sums = [y.to_vec(), y.to_vec()];
            gf128_scale_add(&mut sums[0], delta, x);
            gf128_scale_add_gf64(&mut sums[1], delta, &short);
            (sums, gf128_inner_product(x, y))
        });
    }
}

#[test]
fn bulk_products_are_sums_of_single_ones_at_every_length() {
    for len in lengths() {
        let (x, y, delta) = (words(1, len), words(2, len), words(3, 1)[0]);
        let short: Vec<u64> = x.iter().map(|&x| (x >> 64) as u64).collect();

        let scaled = on_every_backend(|| {
            let mut acc = y.clone();
            gf128_scale_add(&mut acc, delta, &x);
            acc
        });
        assert_eq!(scaled, x.iter().zip(&y).map(|(&x, &y)| y ^ schoolbook_tower(delta, x)).collect::<Vec<_>>());

        let scaled = on_every_backend(|| {
            let mut acc = y.clone();
            gf128_scale_add_gf64(&mut acc, delta, &short);
            acc
        });
        assert_eq!(
            scaled,
            short.iter().zip(&y).map(|(&x, &y)| y ^ schoolbook_tower(delta, x.into())).collect::<Vec<_>>()
        );

        let product = on_every_backend(|| gf128_inner_product(&x, &y));
        assert_eq!(product, x.iter().zip(&y).fold(0, |sum, (&x, &y)| sum ^ schoolbook_tower(x, y)));

        let powers = on_every_backend(|| {
            let mut out = vec![9; len];
            gf128_powers(delta, &mut out);
            out
        });
        let mut power = 1;
        for got in powers {
            power = schoolbook_tower(power, delta);
            assert_eq!(got, power);
        }
    }
}

#[test]
fn powers_go_on_past_their_stride() {
    let x = words(5, 1)[0];
    let mut out = vec![0; 3000];
    gf128_powers(x, &mut out);
    assert_eq!(out[0], x);
    assert!(out.windows(2).all(|pair| pair[1] == gf128_mul(pair[0], x)));
}

#[test]
fn the_portable_carry_less_product_holds_where_columns_are_fullest() {
    let slow = |a: u64, b: u64| (0..64).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ u128::from(a) << i);
    for a in [u64::MAX, 0x1111_1111_1111_1111, 0x8888_8888_8888_8888, 1, 1 << 63, 0] {
        for b in [u64::MAX, 0x1111_1111_1111_1111, 0x2222_2222_2222_2222, 1, 1 << 63, 0] {
            assert_eq!(portable::clmul(a, b), slow(a, b), "{a:x} * {b:x}");
        }
    }
    for pair in words(6, 1000) {
        let (a, b) = (pair as u64, (pair >> 64) as u64);
        assert_eq!(portable::clmul(a, b), slow(a, b), "{a:x} * {b:x}");
    }
    assert_eq!(with_backend(Backend::Portable, crate::backend), Backend::Portable);
}
