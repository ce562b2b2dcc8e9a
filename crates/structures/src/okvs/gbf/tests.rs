use proptest::prelude::*;
use vesica_kernels::{Backend, with_backend};

use super::*;
use crate::fields::{Bits512, Gf64, Gf128, random};

fn pairs<V: Cell>(count: usize, seed: u64) -> (Vec<u128>, Vec<V>) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    (0..count).map(|_| (rng.block(), random::<V>(&mut rng))).unzip()
}

fn decoded<V: Cell>(okvs: &Gbf, table: &[V], keys: &[u128]) -> Vec<V> {
    let mut out = vec![V::default(); keys.len()];
    okvs.decode(table, keys, &mut out);
    out
}

fn roundtrip<V: Cell>() {
    for count in [0, 1, 2, 10, 100, 3000, 50_000] {
        let (keys, values) = pairs::<V>(count, count as u64);
        let okvs = Gbf::new(count, 43, 7).unwrap();
        let mut rng = SecretRng::insecure_from_seed(1);
        for free in [FreeCells::Zero, FreeCells::Random(&mut rng)] {
            let table = okvs.encode_vartime(&keys, &values, free).unwrap();
            assert_eq!((table.len(), decoded(&okvs, &table, &keys)), (okvs.len(), values.clone()), "{count} pairs");
        }
    }
}

#[test]
fn decodes_what_was_encoded() {
    roundtrip::<Gf64>();
    roundtrip::<Gf128>();
    roundtrip::<Bits512>();
}

#[test]
fn equal_keys_are_a_failure() {
    for count in [2, 10, 1000] {
        let (mut keys, values) = pairs::<Gf64>(count, 3);
        keys[count - 1] = keys[0];
        let okvs = Gbf::new(count, 43, 5).unwrap();
        assert_eq!(okvs.encode_vartime(&keys, &values, FreeCells::Zero), Err(EncodeFailure), "{count} pairs");
        // Even with equal values: success must not depend on values.
        assert_eq!(
            okvs.encode_vartime(&keys, &vec![Gf64(1); count], FreeCells::Zero),
            Err(EncodeFailure),
            "{count} pairs"
        );
    }
}

#[test]
fn free_cells_are_random_when_asked() {
    let (keys, values) = pairs::<Gf128>(100, 11);
    let okvs = Gbf::new(100, 43, 3).unwrap();
    let zero = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
    assert!(zero.iter().filter(|&&cell| cell == Gf128(0)).count() >= okvs.len() - 100);
    let mut rng = SecretRng::insecure_from_seed(5);
    let first = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
    let second = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
    assert!(!first.contains(&Gf128(0)));
    assert!(first.iter().zip(&second).all(|(a, b)| a != b), "each cell is a sum with random cells in it");
}

/// A filter and sums that are made some cells at a time are those that are made at once.
#[test]
fn any_division_into_ranges_gives_the_same() {
    let (keys, _) = pairs::<Gf64>(300, 4);
    let okvs = Gbf::with_shape(Shape { segments: 7, cells: half_full(300) }, 9);
    let (_, table) = pairs::<Gf128>(okvs.len(), 5);
    let filter = okvs.taken_vartime(&keys, 0..okvs.len());
    let expected = decoded(&okvs, &table, &keys);
    for size in [1, 100, 433, 434, 1000, okvs.len()] {
        let (mut bits, mut sums) = (Vec::new(), vec![Gf128(0); keys.len()]);
        for start in (0..okvs.len()).step_by(size) {
            let range = start..okvs.len().min(start + size);
            bits.extend_from_slice(&okvs.taken_vartime(&keys, range.clone()));
            okvs.add_cells_vartime(&keys, range.clone(), &table[range], &mut sums);
        }
        assert!(bits == *filter && sums == expected, "ranges of {size}");
    }
    // A key's cells are taken, one in each segment.
    let one = okvs.taken_vartime(&keys[..1], 0..okvs.len());
    for segment in one.chunks(okvs.shape().cells) {
        assert_eq!(segment.iter().filter(|&&taken| taken).count(), 1);
    }
    assert!(one.iter().zip(filter.iter()).all(|(&one, &all)| all || !one));
}

/// The loads of segments and the false positives are what the shape says.
#[test]
fn loads_and_false_positives_are_as_frequent_as_stated() {
    let shape = Shape { segments: 4, cells: half_full(2000) };
    let okvs = Gbf::with_shape(shape, 2);
    let (keys, _) = pairs::<Gf64>(2000, 8);
    let filter = okvs.taken_vartime(&keys, 0..okvs.len());
    let table: Vec<Gf64> = filter.iter().map(|&taken| Gf64(u64::from(!taken))).collect();
    let taken = filter.iter().filter(|&&taken| taken).count() as f64 / okvs.len() as f64;
    assert!((taken - shape.load(2000)).abs() < 0.02, "{taken}");
    // No cell of a false positive is free. Sums are over characteristic two, so look segment by segment.
    let (others, _) = pairs::<Gf64>(40_000, 9);
    let mut positive = vec![true; others.len()];
    for segment in 0..4 {
        let range = segment * shape.cells..(segment + 1) * shape.cells;
        let mut sums = vec![Gf64(0); others.len()];
        okvs.add_cells_vartime(&others, range.clone(), &table[range], &mut sums);
        positive.iter_mut().zip(sums).for_each(|(positive, sum)| *positive &= sum == Gf64(0));
    }
    let positives = positive.iter().filter(|&&positive| positive).count() as f64;
    let expected = 40_000.0 * shape.log2_false_positive(2000).exp2();
    assert!((positives - expected).abs() < 6.0 * expected.sqrt() + 0.1 * expected, "{positives}, expected {expected}");
}

#[test]
fn backends_and_threads_agree() {
    let count = 20_000;
    let (keys, values) = pairs::<Gf64>(count, 10);
    let run = || {
        let okvs = Gbf::new(count, 20, 3).unwrap();
        let mut rng = SecretRng::insecure_from_seed(4);
        let random = okvs.encode_vartime(&keys, &values, FreeCells::Random(&mut rng)).unwrap();
        (okvs.taken_vartime(&keys, 5..70_000).to_vec(), decoded(&okvs, &random, &keys[..9000]), random)
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(run);
    assert!(one == pool(3).install(run));
    assert!(one == pool(1).install(|| with_backend(Backend::Portable, run)));
    assert_eq!(one.1, values[..9000]);
}

/// Both parties must derive the same rows, and they may be of different builds: a change here is a
/// change of the wire format.
#[test]
fn rows_are_pinned() {
    let okvs = Gbf::new(3000, 43, 0x1234).unwrap();
    let table: Vec<Gf64> = (0..okvs.len() as u64).map(|i| Gf64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let values = decoded(&okvs, &table, &(0..1000).collect::<Vec<u128>>());
    let digest = blake3::hash(bytemuck::cast_slice(&values));
    assert_eq!(digest.to_hex()[..16], *"a1b648eca9e464a7");
}

/// Failures are as frequent as the bound allows where it is loose enough to be measured: it holds,
/// and it is no wild overestimate.
#[test]
fn failures_are_as_frequent_as_the_bound_says() {
    const RUNS: u32 = 4000;
    for (count, failure_bits) in [(10, 4), (100, 5), (1000, 5)] {
        let (keys, values) = pairs::<Gf64>(count, 14);
        let shape = Shape::derive(count, failure_bits).unwrap();
        let failures = (0..RUNS).filter(|&seed| {
            let okvs = Gbf::new(count, failure_bits, u128::from(seed)).unwrap();
            okvs.encode_vartime(&keys, &values, FreeCells::Zero).is_err()
        });
        let bound = params::log2_expected_failures(count, shape).exp2() * f64::from(RUNS);
        let failures = f64::from(failures.count() as u32);
        assert!(failures < bound + 5.0 * bound.sqrt(), "{count} pairs: {failures} failures, bound {bound}");
        assert!(failures > bound / 4.0, "{count} pairs: {failures} failures, bound {bound}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_size_and_seed_decodes(count in 0usize..300, seed: u128, filling: u64) {
        let (keys, values) = pairs::<Gf128>(count, filling >> 1);
        let okvs = Gbf::new(count, 43, seed).unwrap();
        let table = okvs.encode_vartime(&keys, &values, FreeCells::Zero).unwrap();
        prop_assert_eq!(decoded(&okvs, &table, &keys), values);
    }
}
