//! One-thread times of interpolation and evaluation, as SpOT-Light uses them: one slice of 2^16
//! points by a tree, and seven slices of 41 points.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vesica_structures::polynomial::{Interpolator, Row, Small, Space, Tree, evaluate_small};
use vesica_structures::rng::SecretRng;

const POINTS: usize = 1 << 16;
/// Points of a small polynomial, and those at which the sender evaluates it.
const SMALL: usize = 41;
const EVALUATIONS: usize = 80;

fn uniform(count: usize, seed: u64) -> Vec<u64> {
    let mut rng = SecretRng::insecure_from_seed(seed);
    (0..count).map(|_| rng.block() as u64 | 1 << 63).collect()
}

fn rows(count: usize, seed: u64) -> Vec<Row> {
    let words = uniform(8 * count, seed);
    words.as_chunks::<8>().0.to_vec()
}

fn tree(c: &mut Criterion) {
    let mut group = c.benchmark_group("polynomial_2^16");
    group.sample_size(10).throughput(Throughput::Elements(POINTS as u64));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    let (points, values) = (uniform(POINTS, 1), uniform(POINTS, 2));
    let space = Space::new(POINTS);
    group.bench_function("tree", |b| b.iter(|| pool.install(|| Tree::new(&space, black_box(&points)))));
    let interpolator = pool.install(|| Interpolator::new(&space, &points)).expect("distinct points");
    group.bench_function("interpolate", |b| {
        b.iter(|| pool.install(|| interpolator.coefficients(&mut black_box(values.clone()))))
    });
    let tree = pool.install(|| Tree::new(&space, &points));
    group.bench_function("evaluate", |b| b.iter(|| pool.install(|| tree.evaluate(black_box(&values)))));
    let mut coefficients = values.clone();
    group.bench_function("transform", |b| b.iter(|| space.values(black_box(&mut coefficients))));
    group.finish();
}

fn small(c: &mut Criterion) {
    let mut group = c.benchmark_group("polynomial_41");
    let (points, values) = (uniform(SMALL, 1), rows(SMALL, 2));
    let (mut small, mut coefficients) = (Small::default(), vec![Row::default(); SMALL]);
    group.throughput(Throughput::Elements(SMALL as u64));
    group.bench_function("interpolate", |b| {
        b.iter(|| {
            small.interpolate(black_box(&points), &mut values.clone(), &mut coefficients).expect("distinct points")
        });
    });
    let (elsewhere, mut powers, mut out) = (uniform(EVALUATIONS, 3), Vec::new(), vec![Row::default(); EVALUATIONS]);
    group.throughput(Throughput::Elements(EVALUATIONS as u64));
    group.bench_function("evaluate", |b| {
        b.iter(|| evaluate_small(&coefficients, black_box(&elsewhere), &mut powers, &mut out))
    });
    group.finish();
}

criterion_group!(benches, tree, small);
criterion_main!(benches);
