//! What an OKVS promises, at every kind of size.

use proptest::prelude::*;
use vesica_kernels::{Backend, with_backend};

use super::*;
use crate::fields::{Bits512, Bits1024, Gf64, Gf128, Value, random};

const SIZES: [usize; 15] = [0, 1, 2, 3, 4, 10, 100, 1000, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 51_200, 51_201, 1 << 16];

fn pairs<V: Cell>(count: usize, seed: u64) -> (Vec<u128>, Vec<V>) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    (0..count).map(|_| (rng.block(), random::<V>(&mut rng))).unzip()
}

fn decoded<V: Cell>(okvs: &Clustered, table: &[V], keys: &[u128]) -> Vec<V> {
    let mut out = vec![V::default(); keys.len()];
    okvs.decode(table, keys, &mut out);
    out
}

fn roundtrip<V: Cell>() {
    for (seed, count) in SIZES.into_iter().enumerate() {
        let (keys, values) = pairs::<V>(count, seed as u64);
        let okvs = Clustered::new(count, 42, 7 + seed as u128).unwrap();
        assert_eq!(Clustered::table_len(count, 42), Ok(okvs.len()));
        let mut rng = SecretRng::insecure_from_seed(99);
        for free in [FreeCells::Zero, FreeCells::Random(&mut rng)] {
            let table = okvs.encode_vartime(&keys, &values, free).unwrap();
            assert_eq!(table.len(), okvs.len());
            assert_eq!(decoded(&okvs, &table, &keys), values, "{count} pairs");
        }
    }
}

#[test]
fn decodes_what_was_encoded_64() {
    roundtrip::<Gf64>();
}

#[test]
fn decodes_what_was_encoded_128() {
    roundtrip::<Gf128>();
}

#[test]
fn decodes_what_was_encoded_512() {
    roundtrip::<Bits512>();
    roundtrip::<Bits1024>();
}

#[test]
fn fewer_pairs_fit_too() {
    let (keys, values) = pairs::<Gf64>(30, 1);
    let okvs = Clustered::new(100, 42, 1).unwrap();
    let table = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
    assert_eq!(decoded(&okvs, &table, &keys), values);
}

#[test]
fn equal_keys_are_a_failure() {
    for count in [2, 10, 1000, 60_000] {
        let (mut keys, values) = pairs::<Gf64>(count, 3);
        keys[count - 1] = keys[0];
        let okvs = Clustered::new(count, 42, 5).unwrap();
        assert_eq!(okvs.encode_vartime(&keys, &values, FreeCells::Zero), Err(EncodeFailure), "{count} pairs");
        // Even with equal values: success must not depend on values.
        assert_eq!(
            okvs.encode_vartime(&keys, &vec![Gf64(1); count], FreeCells::Zero),
            Err(EncodeFailure),
            "{count} pairs"
        );
    }
}

/// Bins filled beyond the threshold of peeling are solved all the same.
#[test]
fn rows_set_aside_are_solved() {
    for (count, sparse) in [(1000, 1130), (20_000, 23_600)] {
        let shape = Shape { pairs: count, bins: 1, capacity: count, sparse, dense: 40 };
        let okvs = Clustered(Binned::new(shape, 11));
        let (keys, values) = pairs::<Gf128>(count, 4);
        let mut bin = Bin::new();
        let mut table = vec![Gf128::default(); okvs.len()];
        bin.encode_vartime(&okvs.0, (&keys, &values), &mut table, None).unwrap();
        assert!(bin.peeled.deferred.len() > 10, "{} rows set aside", bin.peeled.deferred.len());
        assert_eq!(decoded(&okvs, &table, &keys), values);
        let mut rng = SecretRng::insecure_from_seed(1);
        let random = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
        assert_eq!(decoded(&okvs, &random, &keys), values);
    }
}

#[test]
fn tables_add_up() {
    let count = 3000;
    let (keys, left) = pairs::<Gf64>(count, 5);
    let (_, right) = pairs::<Gf64>(count, 6);
    let sum: Vec<Gf64> = left.iter().zip(&right).map(|(&a, &b)| a + b).collect();
    let okvs = Clustered::new(count, 42, 9).unwrap();
    let table = |values: &[Gf64]| okvs.encode_vartime(&keys, values, FreeCells::Zero).unwrap();
    let added: Vec<Gf64> = table(&left).into_iter().zip(table(&right)).map(|(a, b)| a + b).collect();
    assert_eq!(added, table(&sum));
    // And so does decoding, on any table and keys, in both fields at once.
    let (others, _) = pairs::<Gf64>(500, 7);
    let (_, any) = pairs::<Gf64>(okvs.len(), 8);
    let embedded: Vec<Gf128> = any.iter().map(|value| value.embed()).collect();
    let narrow = decoded(&okvs, &any, &others);
    assert_eq!(decoded(&okvs, &embedded, &others), narrow.iter().map(|value| value.embed()).collect::<Vec<_>>());
    let shifted: Vec<Gf64> = any.iter().zip(&added).map(|(&a, &b)| a + b).collect();
    let expected: Vec<Gf64> = narrow.into_iter().zip(decoded(&okvs, &added, &others)).map(|(a, b)| a + b).collect();
    assert_eq!(decoded(&okvs, &shifted, &others), expected);
}

#[test]
fn backends_and_threads_agree() {
    let count = 110_000;
    let (keys, values) = pairs::<Gf64>(count, 10);
    let run = || {
        let okvs = Clustered::new(count, 42, 3).unwrap();
        let mut rng = SecretRng::insecure_from_seed(4);
        let zero = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
        let random = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
        let others = decoded(&okvs, &random, &keys[..9000]);
        (zero, random, others)
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(run);
    assert_eq!(one, pool(3).install(run));
    assert_eq!(one, pool(1).install(|| with_backend(Backend::Portable, run)));
    assert_eq!(one.2, values[..9000]);
}

#[test]
fn free_cells_are_random_when_asked() {
    let (keys, values) = pairs::<Gf128>(100, 11);
    let okvs = Clustered::new(100, 42, 3).unwrap();
    let zero = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
    assert!(zero.iter().filter(|&&cell| cell == Gf128(0)).count() >= okvs.len() - 100);
    let mut rng = SecretRng::insecure_from_seed(5);
    let first = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
    let second = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
    assert!(!first.contains(&Gf128(0)));
    assert!(first.iter().zip(&second).all(|(a, b)| a != b), "each cell is a sum with random cells in it");
}

/// Nothing but the free cells hides which cells keys take: in all bins, and where rows are set aside.
#[test]
fn no_two_cells_of_random_tables_are_equal() {
    let with_rows_set_aside = Shape { pairs: 1000, bins: 1, capacity: 1000, sparse: 1130, dense: 40 };
    let many_bins = Clustered::new(110_000, 42, 3).unwrap();
    assert!(many_bins.parts().len() > 2);
    for (count, okvs) in [(1000, Clustered(Binned::new(with_rows_set_aside, 11))), (110_000, many_bins)] {
        let (keys, values) = pairs::<Gf64>(count, 13);
        let mut rng = SecretRng::insecure_from_seed(6);
        let mut table = || okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
        let tables = [table(), table()].concat();
        let different: std::collections::HashSet<u64> = tables.iter().map(|cell| cell.0).collect();
        assert_eq!(different.len(), 2 * okvs.len(), "{count} pairs");
    }
}

#[test]
fn another_seed_is_another_table() {
    let (keys, values) = pairs::<Gf64>(50, 12);
    let tables: Vec<_> =
        [1, 2].map(|seed| Clustered::new(50, 42, seed).unwrap().encode_vartime(&keys, &values, FreeCells::Zero)).into();
    assert_ne!(tables[0], tables[1]);
}

/// Both parties must derive the same rows, and they may be of different builds: a change here is a
/// change of the wire format.
#[test]
fn rows_are_pinned() {
    let okvs = Clustered::new(60_000, 42, 0x1234).unwrap();
    let table: Vec<Gf64> = (0..okvs.len() as u64).map(|i| Gf64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let values = decoded(&okvs, &table, &(0..1000).collect::<Vec<u128>>());
    let digest = blake3::hash(bytemuck::cast_slice(&values));
    assert_eq!(digest.to_hex()[..16], *"abe8e29c30762953");
}

/// Failures are as frequent as the bound allows where it is loose enough to be measured: it holds,
/// and it is no wild overestimate.
#[test]
fn failures_are_as_frequent_as_the_bound_says() {
    const RUNS: u32 = 4000;
    for (count, failure_bits) in [(3, 3), (10, 4), (100, 5), (300, 6)] {
        let (keys, values) = pairs::<Gf64>(count, 14);
        let shape = DESIGN.shape(count, failure_bits).unwrap();
        let failures = (0..RUNS).filter(|&seed| {
            let okvs = Clustered::new(count, failure_bits, u128::from(seed)).unwrap();
            okvs.encode_vartime(&keys, &values, FreeCells::Zero).is_err()
        });
        let bound = expected_dependencies(count, shape.sparse) / f64::from(1 << shape.dense) * f64::from(RUNS);
        let failures = f64::from(failures.count() as u32);
        // Five standard deviations above; below, dependencies that come together make failures fewer than
        // their expected number.
        assert!(failures < bound + 5.0 * bound.sqrt(), "{count} pairs: {failures} failures, bound {bound}");
        assert!(failures > bound / 3.0, "{count} pairs: {failures} failures, bound {bound}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_size_and_seed_decodes(count in 0usize..600, seed: u128, filling: u64) {
        let (keys, values) = pairs::<Gf128>(count, filling);
        let okvs = Clustered::new(count, 42, seed).unwrap();
        let table = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
        prop_assert_eq!(decoded(&okvs, &table, &keys), values);
    }
}
