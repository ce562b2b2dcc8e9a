use rand_core::Rng;

use super::*;
use crate::fields::Gf64;
use crate::rng::SecretRng;

fn points(count: usize, seed: u64) -> Vec<u64> {
    let mut rng = SecretRng::insecure_from_seed(seed);
    (0..count).map(|_| rng.next_u64() | 1 << 63).collect()
}

#[test]
fn a_polynomial_through_many_points_passes_through_them_and_has_as_many_coefficients() {
    for (count, others) in
        [(1, 3), (2, 1), (3, 0), (4, 9), (5, 5), (64, 64), (100, 1000), (1025, 700), (4096, 30), (5000, 20000)]
    {
        let space = Space::new(count);
        let (at, mut values) = (points(count, 1), points(count, 2));
        let wanted = values.clone();
        let coefficients = Interpolator::new(&space, &at).unwrap().coefficients(&mut values);
        assert!(coefficients[count..].iter().all(|&coefficient| coefficient == 0), "{count} points");
        let mut on_space = coefficients.clone();
        space.values(&mut on_space);
        assert_eq!(*Tree::new(&space, &at).evaluate(&on_space), wanted, "{count} points");

        // At other points, in several trees, against the definition: sums of products with the space's
        // Lagrange polynomials are too slow, so against a second interpolation through some of
        // these values.
        let elsewhere = points(others, 3);
        let found: Vec<u64> =
            elsewhere.chunks(space.len()).flat_map(|at| Tree::new(&space, at).evaluate(&on_space).to_vec()).collect();
        let (mut again, mut at_again) = (found.clone(), elsewhere.clone());
        again.extend_from_slice(&wanted);
        at_again.extend_from_slice(&at);
        again.truncate(count);
        at_again.truncate(count);
        assert_eq!(
            *Interpolator::new(&space, &at_again).unwrap().coefficients(&mut again),
            *coefficients,
            "{count} points"
        );
    }
}

/// Monomials, by their definition: the basis of the space is of the right degrees, but not theirs.
#[test]
fn values_of_a_linear_polynomial_are_its() {
    let space = Space::new(4);
    let (slope, constant) = (Gf64(0x1234_5678_9abc_def1), Gf64(77));
    let at = points(4, 5);
    let mut values: Vec<u64> = at.iter().map(|&x| (slope * Gf64(x) + constant).0).collect();
    let mut coefficients = Interpolator::new(&space, &at).unwrap().coefficients(&mut values);
    // s_0 = X and s_0(1) = 1: the first two elements of the basis are 1 and X.
    assert_eq!(**coefficients, [constant.0, slope.0, 0, 0]);
    space.values(&mut coefficients);
    let elsewhere = points(3, 6);
    let expected: Vec<u64> = elsewhere.iter().map(|&x| (slope * Gf64(x) + constant).0).collect();
    assert_eq!(*Tree::new(&space, &elsewhere).evaluate(&coefficients), expected);
}

#[test]
fn coincident_points_are_seen_where_they_matter() {
    let space = Space::new(40);
    let mut at = points(40, 7);
    at[31] = at[5];
    assert_eq!(Interpolator::new(&space, &at).err(), Some(Coincidence));
    let mut coefficients = points(64, 8);
    space.values(&mut coefficients);
    let values = Tree::new(&space, &at).evaluate(&coefficients);
    assert_eq!(values[31], values[5]);
    let (mut values, mut out) = (vec![Row::default(); 40], vec![Row::default(); 40]);
    assert_eq!(Small::default().interpolate(&at, &mut values, &mut out), Err(Coincidence));
}

#[test]
fn small_polynomials_pass_through_their_points_in_every_slice() {
    let mut rng = SecretRng::insecure_from_seed(9);
    let mut small = Small::default();
    for count in [0, 1, 2, 3, 4, 17, 41, 52] {
        let at = points(count, 10);
        let rows: Vec<Row> = (0..count).map(|_| std::array::from_fn(|_| rng.next_u64())).collect();
        let (mut values, mut coefficients) = (rows.clone(), vec![Row::default(); count]);
        small.interpolate(&at, &mut values, &mut coefficients).unwrap();
        let horner =
            |x: u64, lane: usize| coefficients.iter().rev().fold(Gf64(0), |sum, row| sum * Gf64(x) + Gf64(row[lane])).0;
        for (&x, row) in at.iter().zip(&rows) {
            assert!((0..LANES).all(|lane| horner(x, lane) == row[lane]), "{count} points");
        }
        let elsewhere = points(5, 11);
        let mut found = vec![Row::default(); 5];
        evaluate_small(&coefficients, &elsewhere, &mut Vec::new(), &mut found);
        for (&x, row) in elsewhere.iter().zip(&found) {
            assert!((0..LANES).all(|lane| horner(x, lane) == row[lane]), "{count} points");
        }
    }
}
