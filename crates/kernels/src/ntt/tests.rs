use super::*;
use crate::testing::{on_every_backend, words};

/// Residues that depend on `seed` only.
fn residues(modulus: Modulus, seed: u64, n: usize) -> Vec<u64> {
    words(seed, n).iter().map(|&x| modulus.reduce(x)).collect()
}

/// Primes for both twins that are 1 modulo `2 n`, edges of either range included, and those of what is
/// left unreduced between layers: 39 and 47 bits at 4096 coefficients, up to 49 at fewer.
fn primes(n: usize) -> impl Iterator<Item = Modulus> {
    [36, 39, 40, 47, 48, 49, 50, 51, 62].into_iter().map(move |bits| Modulus::largest(bits, 2 * n as u64, 1)[0])
}

/// `x y` modulo `X^n + 1`, by the definition.
fn product(modulus: Modulus, x: &[u64], y: &[u64]) -> Vec<u64> {
    let (n, p) = (x.len(), u128::from(modulus.p()));
    let mut product = vec![0u128; n];
    for (i, &x) in x.iter().enumerate() {
        for (j, &y) in y.iter().enumerate() {
            let term = u128::from(x) * u128::from(y) % p;
            let place = &mut product[(i + j) % n];
            *place = (*place + if i + j < n { term } else { p - term }) % p;
        }
    }
    product.into_iter().map(|x| x as u64).collect()
}

#[test]
fn values_of_products_are_products_of_values() {
    for n in [2usize, 4, 8, 64, 512] {
        for modulus in Modulus::largest(50, 2 * n as u64, 2).into_iter().chain([Modulus::new(12289)]) {
            let ntt = Ntt::new(modulus, n);
            let random = |seed| words(seed, n).iter().map(|&x| x as u64 % modulus.p()).collect::<Vec<_>>();
            let largest = vec![modulus.p() - 1; n];
            for (x, y) in [(random(1), random(2)), (largest.clone(), largest), (vec![0; n], random(3))] {
                let mut expected = product(modulus, &x, &y);
                ntt.forward(&mut expected);
                let (mut values, mut others) = (x.clone(), y.clone());
                // What is not reduced has the same values.
                values.iter_mut().enumerate().for_each(|(i, x)| *x += modulus.p() * (i as u64 % 4));
                ntt.forward(&mut values);
                ntt.forward(&mut others);
                let mut acc = vec![5; n];
                accumulate(&mut acc, &values, &others);
                assert_eq!(
                    acc.iter().map(|&acc| modulus.reduce(acc - 5)).collect::<Vec<_>>(),
                    expected,
                    "{n} coefficients, {modulus:?}"
                );
                assert_eq!(dot(&values, &others), acc.iter().map(|acc| acc - 5).sum());
            }
        }
    }
}

#[test]
fn values_are_those_at_the_odd_powers_of_a_root() {
    let (n, modulus) = (16, Modulus::new(12289));
    let ntt = Ntt::new(modulus, n);
    let x: Vec<u64> = words(4, n).iter().map(|&x| x as u64 % modulus.p()).collect();
    let root = modulus.root(2 * n as u64);
    let mut values = x.clone();
    ntt.forward(&mut values);
    for (i, &value) in values.iter().enumerate() {
        let point = modulus.power(root, 2 * (i as u64).reverse_bits().wrapping_shr(60) + 1);
        let expected = x.iter().rev().fold(0, |sum, &x| (modulus.product(sum, point) + x) % modulus.p());
        assert_eq!(value, expected, "place {i}");
    }
}

#[test]
fn transforms_are_the_same_on_every_backend_and_come_back() {
    for n in (1..=13).map(|log| 1 << log) {
        for modulus in primes(n) {
            let (ntt, p) = (Ntt::new(modulus, n), modulus.p());
            let random = residues(modulus, n as u64, n);
            let lazy: Vec<u64> = random.iter().zip(0..).map(|(x, i)| x + p * (i % 4)).collect();
            for x in [random, lazy, vec![p - 1; n], vec![4 * p - 1; n], vec![0; n]] {
                let reduced: Vec<u64> = x.iter().map(|x| x % p).collect();
                let values = on_every_backend(|| {
                    let mut values = x.clone();
                    ntt.forward(&mut values);
                    values
                });
                assert!(values.iter().all(|&value| value < p));
                let back = on_every_backend(|| {
                    let mut back = values.clone();
                    ntt.inverse(&mut back);
                    back
                });
                assert!(back == reduced, "{n} coefficients, {modulus:?}");
            }
        }
    }
}

#[test]
fn sums_of_products_are_the_same_on_every_backend() {
    for modulus in primes(2) {
        let p = modulus.p();
        for (count, n) in [(0, 9), (1, 1), (2, 7), (3, 8), (8, 30), (9, 17), (17, 16), (24, 64)] {
            let vector = |seed| if seed % 3 == 0 { vec![p - 1; n] } else { residues(modulus, seed, n) };
            let vectors: Vec<[Vec<u64>; 2]> = (0..count).map(|i| [vector(i), vector(i + 99)]).collect();
            let pairs: Vec<[&[u64]; 2]> = vectors.iter().map(|pair| pair.each_ref().map(Vec::as_slice)).collect();
            let sums = on_every_backend(|| {
                let mut sums = vec![1; n];
                sum_of_products(modulus, &pairs, &mut sums);
                sums
            });
            for (i, &sum) in sums.iter().enumerate() {
                let expected = vectors.iter().fold(0, |sum, [x, y]| modulus.sum(sum, modulus.product(x[i], y[i])));
                assert_eq!(sum, expected, "place {i} of {count} products, {modulus:?}");
            }
        }
    }
}

#[test]
fn operations_on_elements_are_the_same_on_every_backend() {
    for modulus in primes(2) {
        let p = modulus.p();
        for n in [0, 1, 7, 8, 30, 64] {
            let [mut x, mut y] = [1, 2].map(|seed| residues(modulus, seed, n));
            for (x, y) in x.iter_mut().zip(&mut y).take(2) {
                (*x, *y) = (0, p - 1);
            }
            let on_copy = |change: &dyn Fn(&mut [u64])| {
                on_every_backend(|| {
                    let mut changed = x.clone();
                    change(&mut changed);
                    changed
                })
            };
            let expected =
                |map: &dyn Fn(u64, u64) -> u64| -> Vec<u64> { x.iter().zip(&y).map(|(&x, &y)| map(x, y)).collect() };
            assert_eq!(on_copy(&|x| add(modulus, x, &y)), expected(&|x, y| (x + y) % p));
            assert_eq!(on_copy(&|x| subtract(modulus, x, &y)), expected(&|x, y| (x + p - y) % p));
            if p >> Modulus::NARROW_BITS == 0 {
                let product = |x: u64, y: u64| modulus.product((x + p - y) % p, p - 2);
                let change = |x: &mut [u64]| subtract_and_multiply(modulus, x, &y, 2 * p, modulus.factor(p - 2));
                assert_eq!(on_copy(&change), expected(&product));
                // The most rows, the largest numbers and the largest weights.
                let most = vec![(1 << Modulus::NARROW_BITS) - 1; n];
                for count in [0, 1, 2, MOST_ROWS] {
                    let rows: Vec<&[u64]> = [&x[..], &most].into_iter().cycle().take(count).collect();
                    let weights: Vec<u64> = (1..=count as u64).map(|k| p - k).collect();
                    let sum = |i: usize| {
                        let products = rows.iter().zip(&weights).map(|(row, &w)| u128::from(row[i]) * u128::from(w));
                        (products.sum::<u128>() % u128::from(p)) as u64
                    };
                    assert_eq!(
                        on_copy(&|out| weighted_sum(modulus, &rows, &weights, out)),
                        (0..n).map(sum).collect::<Vec<_>>()
                    );
                }
            }
            let masks = [0, u64::MAX, 0];
            assert_eq!(on_copy(&|out| choose(&[&x, &y, &x], &masks, out)), y);
            assert_eq!(on_copy(&|out| choose(&[&x, &y, &x], &[0; 3], out)), vec![0; n]);
        }
    }
}

#[test]
#[should_panic(expected = "a root of -1")]
fn a_root_of_another_order_is_refused() {
    let modulus = Modulus::new(12289);
    Ntt::with_root(modulus, 16, modulus.root(16));
}
