use vesica_kernels::{Backend, with_backend};

use super::*;
use crate::fields::{Bits256, Bits512, Bits1024, Gf64, Gf128, random};
use crate::rng::SecretRng;

const SEED: u128 = 0x5eed;

/// Distinct keys and random values.
fn pairs<V: Cell>(count: usize, rng: &mut SecretRng) -> (Vec<u128>, Vec<V>) {
    let first = rng.block();
    let keys = (0..count as u128).map(|i| first.wrapping_add(i * i)).collect();
    (keys, (0..count).map(|_| random(rng)).collect())
}

fn decoded<V: Cell>(band: &Band, table: &[V], keys: &[u128]) -> Vec<V> {
    let mut out = vec![V::default(); keys.len()];
    band.decode(table, keys, &mut out);
    out
}

fn decodes_what_it_encodes<V: Cell>(sizes: impl Iterator<Item = usize>) {
    let mut rng = SecretRng::insecure_from_seed(7);
    for count in sizes {
        let (keys, values) = pairs::<V>(count, &mut rng);
        let band = Band::new(count, 42, SEED).unwrap();
        assert_eq!(band.len(), Band::table_len(count, 42).unwrap());
        let zeroes = band.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
        let filled = band.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
        for table in [&zeroes, &filled] {
            assert_eq!(table.len(), band.len());
            assert_eq!(decoded(&band, table, &keys), values, "{count} pairs");
        }
        // All cells are fixed by equations or random: a table with free cells filled has no zero.
        assert!(filled.iter().all(|&cell| cell != V::default()), "{count} pairs");
        assert!(zeroes.iter().filter(|&&cell| cell == V::default()).count() >= band.len() - count);
        let (others, _) = pairs::<V>(100, &mut rng);
        assert_ne!(
            decoded(&band, &filled, &others),
            decoded(&band, &zeroes, &others),
            "{count} pairs: free cells matter"
        );
    }
}

#[test]
fn decodes_what_it_encodes_at_all_sizes() {
    let sizes = [0, 1, 2, 3, 10, 100, 470, 471, 1000, 3000].into_iter().chain((12..=16).map(|log| 1 << log));
    decodes_what_it_encodes::<Gf64>(sizes.clone());
    decodes_what_it_encodes::<Gf128>(sizes.clone());
    decodes_what_it_encodes::<Bits256>(sizes.clone().take(11));
    decodes_what_it_encodes::<Bits512>(sizes.clone().take(11));
    decodes_what_it_encodes::<Bits1024>(sizes.take(11));
}

#[test]
fn equal_keys_are_refused() {
    let mut rng = SecretRng::insecure_from_seed(8);
    for count in [2, 300, 5000] {
        let (mut keys, values) = pairs::<Gf64>(count, &mut rng);
        let band = Band::new(count, 40, SEED).unwrap();
        keys[count - 1] = keys[0];
        assert_eq!(band.encode_vartime(&keys, &values, FreeCells::Zero), Err(EncodeFailure));
        let constant = vec![Gf64(1); count];
        assert_eq!(
            band.encode_vartime(&keys, &constant, FreeCells::Zero),
            Err(EncodeFailure),
            "also with equal values"
        );
    }
}

#[test]
fn decoding_is_linear() {
    let mut rng = SecretRng::insecure_from_seed(9);
    for count in [50, 5000] {
        let band = Band::new(count, 40, SEED).unwrap();
        let (keys, a) = pairs::<Gf128>(count + band.len(), &mut rng);
        let (a, b) = (&a[..band.len()], pairs::<Gf128>(band.len(), &mut rng).1);
        let sum: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| a + b).collect();
        let of_sum = decoded(&band, &sum, &keys);
        let sum_of: Vec<_> =
            decoded(&band, a, &keys).into_iter().zip(decoded(&band, &b, &keys)).map(|(a, b)| a + b).collect();
        assert_eq!(of_sum, sum_of);
    }
}

#[test]
fn every_backend_gives_the_same_tables_and_values() {
    every_backend_agrees::<Gf128>();
    every_backend_agrees::<Bits256>();
    every_backend_agrees::<Bits512>();
    every_backend_agrees::<Bits1024>();
}

fn every_backend_agrees<V: Cell>() {
    let mut rng = SecretRng::insecure_from_seed(10);
    for count in [20, 600, 4096, 30_000] {
        let (keys, values) = pairs::<V>(count, &mut rng);
        let results: Vec<_> = Backend::available()
            .map(|backend| {
                with_backend(backend, || {
                    let band = Band::new(count, 40, SEED).unwrap();
                    let mut rng = SecretRng::insecure_from_seed(11);
                    let table = band.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
                    let strangers: Vec<u128> = keys.iter().map(|key| !key).collect();
                    (decoded(&band, &table, &strangers), table)
                })
            })
            .collect();
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{count} pairs");
    }
}

#[test]
fn the_order_of_pairs_does_not_show() {
    let mut rng = SecretRng::insecure_from_seed(12);
    let (mut keys, mut values) = pairs::<Gf64>(10_000, &mut rng);
    let band = Band::new(10_000, 40, SEED).unwrap();
    let table = band.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
    keys.reverse();
    values.reverse();
    assert_eq!(band.encode_vartime(&keys, &values, FreeCells::Zero).unwrap(), table);
}

#[test]
fn seeds_give_other_rows() {
    let mut rng = SecretRng::insecure_from_seed(13);
    let (keys, values) = pairs::<Gf64>(1000, &mut rng);
    let [one, two] = [1, 2].map(|seed| Band::new(1000, 40, seed).unwrap());
    let table = one.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
    assert_ne!(decoded(&two, &table, &keys), values);
}

/// Both parties must derive the same rows: a change here is a change of the wire format.
#[test]
fn rows_are_fixed() {
    let keys: Vec<u128> = (0..1000).collect();
    for (pairs, golden) in [(100, 0x6edf_9aab_e7b8_3d81), (5000, 0xeba5_6316_4522_93a6)] {
        let band = Band::new(pairs, 40, SEED).unwrap();
        let table: Vec<Gf64> = (0..band.len() as u64).map(|i| Gf64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let folded = decoded(&band, &table, &keys).iter().fold(0u64, |sum, value| sum.rotate_left(7) ^ value.0);
        assert_eq!(folded, golden, "{pairs} pairs: {folded:#x}");
    }
}

#[test]
fn dependent_systems_fail_instead_of_lying() {
    // 60 pairs in 64 columns: about 2^-4 of the seeds fail; all others decode.
    let mut rng = SecretRng::insecure_from_seed(14);
    let (keys, values) = pairs::<Gf64>(60, &mut rng);
    let mut failures = 0;
    for seed in 0..400 {
        let band = Band::with_shape(60, Shape { width: 8, starts: 1 }, seed);
        match band.encode_vartime(&keys, &values, FreeCells::Zero) {
            Ok(table) => assert_eq!(decoded(&band, &table, &keys), values),
            Err(EncodeFailure) => failures += 1,
        }
    }
    assert!((8..60).contains(&failures), "{failures} of 400 where 25 are expected");
}
