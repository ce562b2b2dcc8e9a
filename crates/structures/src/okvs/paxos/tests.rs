//! What an OKVS promises, at every kind of size.

use proptest::prelude::*;
use vesica_kernels::{Backend, with_backend};

use super::*;
use crate::fields::{Bits512, Bits1024, Gf64, Gf128, random};

const SIZES: [usize; 13] = [0, 1, 2, 3, 4, 10, 100, 1000, 1 << 12, 10_000, 10_001, 1 << 15, 1 << 16];

fn pairs<V: Cell>(count: usize, seed: u64) -> (Vec<u128>, Vec<V>) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    (0..count).map(|_| (rng.block(), random::<V>(&mut rng))).unzip()
}

fn decoded<V: Cell>(okvs: &Paxos, table: &[V], keys: &[u128]) -> Vec<V> {
    let mut out = vec![V::default(); keys.len()];
    okvs.decode(table, keys, &mut out);
    out
}

fn roundtrip<V: Cell>() {
    for (seed, count) in SIZES.into_iter().enumerate() {
        let (keys, values) = pairs::<V>(count, seed as u64);
        let okvs = Paxos::new(count, 43, 7 + seed as u128).unwrap();
        assert_eq!(Paxos::table_len(count, 43), Ok(okvs.len()));
        let mut rng = SecretRng::insecure_from_seed(99);
        for free in [FreeCells::Zero, FreeCells::Random(&mut rng)] {
            let table = okvs.encode_vartime(&keys, &values, free).unwrap();
            assert_eq!(table.len(), okvs.len());
            assert_eq!(decoded(&okvs, &table, &keys), values, "{count} pairs");
        }
    }
}

#[test]
fn decodes_what_was_encoded() {
    roundtrip::<Gf64>();
    roundtrip::<Gf128>();
    roundtrip::<Bits512>();
    roundtrip::<Bits1024>();
}

#[test]
fn fewer_pairs_fit_too() {
    let (keys, values) = pairs::<Gf64>(30, 1);
    let okvs = Paxos::new(100, 43, 1).unwrap();
    let table = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
    assert_eq!(decoded(&okvs, &table, &keys), values);
}

#[test]
fn equal_keys_are_a_failure() {
    for count in [2, 10, 1000, 30_000] {
        let (mut keys, values) = pairs::<Gf64>(count, 3);
        keys[count - 1] = keys[0];
        let okvs = Paxos::new(count, 43, 5).unwrap();
        assert_eq!(okvs.encode_vartime(&keys, &values, FreeCells::Zero), Err(EncodeFailure), "{count} pairs");
        // Even with equal values: success must not depend on values.
        assert_eq!(
            okvs.encode_vartime(&keys, &vec![Gf64(1); count], FreeCells::Zero),
            Err(EncodeFailure),
            "{count} pairs"
        );
    }
}

/// A graph with so many rows that a large part of it is one component with many cycles.
#[test]
fn cycles_are_solved_through_dense_cells() {
    let shape = Shape { pairs: 1020, bins: 1, capacity: 1020, sparse: 2000, dense: 64 };
    let okvs = Paxos(Binned::new(shape, 11));
    let (keys, values) = pairs::<Gf128>(1020, 4);
    let mut rng = SecretRng::insecure_from_seed(1);
    for free in [FreeCells::Zero, FreeCells::Random(&mut rng)] {
        let table = okvs.encode_vartime(&keys, &values, free).unwrap();
        assert!(table[2000..].iter().any(|&cell| cell != Gf128(0)), "there are cycles");
        assert_eq!(decoded(&okvs, &table, &keys), values);
    }
}

/// PSI adds tables to secrets cell by cell, and decodes the sums.
#[test]
fn decoding_is_linear() {
    let okvs = Paxos::new(3000, 43, 9).unwrap();
    let [(_, left), (_, right)] = [5, 6].map(|seed| pairs::<Gf128>(okvs.len(), seed));
    let (keys, _) = pairs::<Gf64>(500, 7);
    let sum: Vec<Gf128> = left.iter().zip(&right).map(|(&a, &b)| a + b).collect();
    let expected: Vec<Gf128> =
        decoded(&okvs, &left, &keys).into_iter().zip(decoded(&okvs, &right, &keys)).map(|(a, b)| a + b).collect();
    assert_eq!(decoded(&okvs, &sum, &keys), expected);
}

#[test]
fn backends_and_threads_agree() {
    let count = 41_000;
    let (keys, values) = pairs::<Gf64>(count, 10);
    let run = || {
        let okvs = Paxos::new(count, 43, 3).unwrap();
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
    let okvs = Paxos::new(100, 43, 3).unwrap();
    let zero = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
    assert!(zero.iter().filter(|&&cell| cell == Gf128(0)).count() >= okvs.len() - 100);
    let mut rng = SecretRng::insecure_from_seed(5);
    let first = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
    let second = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
    assert!(!first.contains(&Gf128(0)));
    assert!(first.iter().zip(&second).all(|(a, b)| a != b), "each cell is a sum with random cells in it");
}

/// Both parties must derive the same rows, and they may be of different builds: a change here is a
/// change of the wire format.
#[test]
fn rows_are_pinned() {
    let okvs = Paxos::new(30_000, 43, 0x1234).unwrap();
    let table: Vec<Gf64> = (0..okvs.len() as u64).map(|i| Gf64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let values = decoded(&okvs, &table, &(0..1000).collect::<Vec<u128>>());
    let digest = blake3::hash(bytemuck::cast_slice(&values));
    assert_eq!(digest.to_hex()[..16], *"55bdd6c44222a0f1");
}

/// Failures are as frequent as the bound allows where it is loose enough to be measured: it holds,
/// and it is no wild overestimate.
#[test]
fn failures_are_as_frequent_as_the_bound_says() {
    const RUNS: u32 = 4000;
    for (count, failure_bits) in [(3, 3), (10, 4), (100, 5), (1000, 5)] {
        let (keys, values) = pairs::<Gf64>(count, 14);
        let shape = DESIGN.shape(count, failure_bits).unwrap();
        let failures = (0..RUNS).filter(|&seed| {
            let okvs = Paxos::new(count, failure_bits, u128::from(seed)).unwrap();
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
        let okvs = Paxos::new(count, 43, seed).unwrap();
        let table = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
        prop_assert_eq!(decoded(&okvs, &table, &keys), values);
    }
}
