use super::*;
use crate::testing::{lengths, on_every_backend, words};

fn random(seed: u64, len: usize) -> Vec<u64> {
    words(seed, len).iter().map(|&word| word as u64).collect()
}

#[test]
fn element_by_element_is_one_by_one() {
    for len in lengths() {
        let [a, b, c, d] = [1, 2, 3, 4].map(|seed| random(seed, len));
        let each = |f: &dyn Fn(usize) -> u64| (0..len).map(f).collect::<Vec<_>>();
        let sums = on_every_backend(|| {
            let mut out = vec![5; len];
            multiply_add(&a, &b, 77, &mut out);
            out
        });
        assert_eq!(sums, each(&|i| gf64_mul(a[i], b[i]) ^ 77));
        let products = on_every_backend(|| {
            let mut x = a.clone();
            multiply_into(&mut x, &b, 78);
            x
        });
        assert_eq!(products, each(&|i| gf64_mul(a[i] ^ 78, b[i])));
        let scaled = on_every_backend(|| {
            let mut acc = a.clone();
            scale_add(&mut acc, 1 << 63 | 79, &b);
            acc
        });
        assert_eq!(scaled, each(&|i| a[i] ^ gf64_mul(1 << 63 | 79, b[i])));
        let sums = on_every_backend(|| {
            let mut out = vec![5; len];
            add_products([&a, &b, &c, &d], &mut out);
            out
        });
        assert_eq!(sums, each(&|i| gf64_mul(a[i], b[i]) ^ gf64_mul(c[i], d[i])));
    }
}

#[test]
fn rows_are_combined_by_a_matrix_and_by_its_transpose() {
    for (count, terms) in [(0, 3), (3, 0), (1, 1), (5, 9), (41, 41)] {
        let elements = random(1, count * terms);
        let rows: Vec<Row> = (0..terms).map(|i| std::array::from_fn(|word| random(2 + i as u64, 8)[word])).collect();
        for matrix in [
            Matrix { elements: &elements, row: terms, column: 1 },
            Matrix { elements: &elements, row: 1, column: count },
        ] {
            let sums = on_every_backend(|| {
                let mut out = vec![[1; 8]; count];
                combine(matrix, &rows, &mut out);
                out
            });
            for (r, sum) in sums.iter().enumerate() {
                for lane in 0..8 {
                    let term = |i: usize| gf64_mul(elements[r * matrix.row + i * matrix.column], rows[i][lane]);
                    let expected = if lane < LANES { (0..terms).fold(0, |sum, i| sum ^ term(i)) } else { 0 };
                    assert_eq!(sum[lane], expected, "row {r}, word {lane}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "a factor for each row")]
fn a_matrix_that_is_too_small_is_refused() {
    combine(Matrix { elements: &[1; 5], row: 3, column: 1 }, &[[0; 8]; 3], &mut [[0; 8]; 2]);
}

#[test]
fn inverses_are_inverse() {
    let mut x = random(1, 50);
    x[7] = 0;
    x[49] = 1;
    let mut inverses = x.clone();
    invert(&mut inverses);
    for (x, inverted) in x.iter().zip(inverses) {
        assert_eq!(gf64_mul(*x, inverted), u64::from(*x != 0));
        assert_eq!(inverse(*x), inverted);
    }
    invert(&mut []);
}

/// The value at `x` of a polynomial with these coefficients, by the definition of the basis.
fn value(coefficients: &[u64], x: u64) -> u64 {
    let log = coefficients.len().ilog2();
    // t_j(x) = s_j(x) / s_j(2^j), s_j the product over all elements of W_j.
    let vanishing = |j: u32, x: u64| (0..1u64 << j).fold(1, |product, w| gf64_mul(product, x ^ w));
    let t: Vec<u64> = (0..log).map(|j| gf64_mul(vanishing(j, x), inverse(vanishing(j, 1 << j)))).collect();
    let basis = |i: usize| (0..log).filter(|&j| i >> j & 1 == 1).fold(1, |product, j| gf64_mul(product, t[j as usize]));
    coefficients.iter().enumerate().fold(0, |sum, (i, &c)| sum ^ gf64_mul(c, basis(i)))
}

#[test]
fn transforms_evaluate_the_basis_on_every_coset() {
    let transform = Transform::new(6);
    for log in 0..=4 {
        let coefficients = random(log.into(), 3 << log);
        for first in (0..64).step_by(1 << log) {
            let values = on_every_backend(|| {
                let mut x = coefficients.clone();
                transform.apply(Direction::Forward, log, first, &mut x);
                x
            });
            for (block, values) in coefficients.chunks(1 << log).zip(values.chunks(1 << log)) {
                for (i, &found) in values.iter().enumerate() {
                    assert_eq!(found, value(block, (first + i) as u64), "2^{log} from {first}");
                }
            }
        }
    }
    assert_eq!(transform.steps()[1], gf64_mul(2, 3));
}

#[test]
fn inverses_and_transposes_are_what_they_say() {
    let transform = Transform::new(14);
    let dot = |x: &[u64], y: &[u64]| x.iter().zip(y).fold(0, |sum, (&x, &y)| sum ^ gf64_mul(x, y));
    // Below, at and above the length from which blocks are halved.
    for (log, first) in [(0, 3), (1, 2), (3, 8), (11, 0), (11, 1 << 11), (13, 0), (13, 1 << 13)] {
        let (x, y) = (random(1, 1 << log), random(2, 1 << log));
        let apply = |direction, x: &[u64]| {
            on_every_backend(|| {
                let mut x = x.to_vec();
                transform.apply(direction, log, first, &mut x);
                x
            })
        };
        assert_eq!(apply(Direction::Inverse, &apply(Direction::Forward, &x)), x);
        for (map, transposed) in
            [(Direction::Forward, Direction::ForwardTransposed), (Direction::Inverse, Direction::InverseTransposed)]
        {
            assert_eq!(dot(&apply(map, &x), &y), dot(&x, &apply(transposed, &y)), "{map:?} of 2^{log} from {first}");
        }
        // Blocks do not mix.
        let mut both = [x.clone(), y.clone()].concat();
        transform.apply(Direction::Forward, log, first, &mut both);
        assert_eq!(both, [apply(Direction::Forward, &x), apply(Direction::Forward, &y)].concat());
    }
}
