//! One-thread times of the structures that a PSI of 2^20 x 2^20 items runs through.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use vesica_structures::facts::FailureEvent;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{Clustered, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::{golomb, masks};

const ITEMS: usize = 1 << 20;
/// 40 + 20 + 20 bits, and two for the budget's share.
const WIDTH: u32 = 82;

fn uniform(count: usize, width: u32, seed: u64) -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(seed);
    (0..count).map(|_| rng.block() >> (128 - width)).collect()
}

fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread")
}

fn sorted_masks(c: &mut Criterion) {
    let mut group = c.benchmark_group("masks_2^20");
    group.sample_size(20);
    let unsorted = uniform(ITEMS, WIDTH, 1);
    let mut sorted = unsorted.clone();
    sorted.sort_unstable();
    let pool = one_thread();
    group.bench_function("sort", |b| {
        b.iter_batched_ref(|| unsorted.clone(), |masks| pool.install(|| masks::sort_masks(masks, WIDTH)), BatchSize::LargeInput);
    });
    let mut own = uniform(ITEMS, WIDTH, 2);
    own[ITEMS / 2..].copy_from_slice(&unsorted[..ITEMS / 2]);
    group.bench_function("match", |b| b.iter(|| pool.install(|| black_box(masks::match_sorted(&sorted, &own, WIDTH)))));
    for width in [WIDTH, 128] {
        let masks: Vec<u128> = if width == WIDTH { sorted.clone() } else { sorted.iter().map(|mask| mask << (128 - WIDTH)).collect() };
        let bytes = golomb::encode_sorted(&masks, width);
        group.bench_function(format!("golomb_encode_{width}"), |b| b.iter(|| black_box(golomb::encode_sorted(&masks, width))));
        group.bench_function(format!("golomb_decode_{width}"), |b| b.iter(|| black_box(golomb::decode_sorted(&bytes, ITEMS, width))));
    }
    group.finish();
}

fn clustered_encode<V: Value>(c: &mut Criterion, name: &str) {
    let mut group = c.benchmark_group("clustered_2^20");
    group.sample_size(10);
    let pool = one_thread();
    let keys = uniform(ITEMS, 128, 1);
    let values: Vec<V> = uniform(ITEMS, 128, 2).into_iter().map(V::from_bits).collect();
    let okvs = Clustered::new(ITEMS, FailureEvent::Encoding.bits(), 3).expect("2^20 pairs are supported");
    let encode = || pool.install(|| okvs.encode(&keys, &values, FreeCells::Zero)).expect("the pairs encode");
    group.bench_function(format!("encode_{name}"), |b| b.iter(|| black_box(encode())));
    let table = encode();
    let mut out = vec![V::default(); ITEMS];
    group.bench_function(format!("decode_{name}"), |b| b.iter(|| pool.install(|| okvs.decode(&table, &keys, black_box(&mut out)))));
    group.finish();
}

fn clustered(c: &mut Criterion) {
    clustered_encode::<Gf64>(c, "64");
    clustered_encode::<Gf128>(c, "128");
    c.bench_function("clustered_shape_2^20", |b| b.iter(|| Clustered::table_len(black_box(ITEMS), FailureEvent::Encoding.bits())));
}

criterion_group!(benches, sorted_masks, clustered);
criterion_main!(benches);
