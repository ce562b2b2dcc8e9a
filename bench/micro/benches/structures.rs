//! One-thread times of the structures that a PSI of 2^20 x 2^20 items runs through.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use vesica_structures::facts::FailureEvent;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::filters::{Demand, Kind};
use vesica_structures::golomb::{self, Code};
use vesica_structures::okvs::{Clustered, EncodeFailure, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::{TagFinder, TagSorter};

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
    let pool = one_thread();
    let unsorted = uniform(ITEMS, WIDTH, 1);
    let mut sorted = unsorted.clone();
    sorted.sort_unstable();
    // A batch as the outer hash gives it.
    const BATCH: usize = 1024;
    group.bench_function("sort", |b| {
        b.iter(|| {
            let mut sorter = TagSorter::new(ITEMS, WIDTH);
            unsorted.chunks(BATCH).for_each(|batch| sorter.add(batch, std::iter::repeat(())));
            let (mut runs, mut run, mut tags) = (sorter.finish(), Vec::new(), Vec::new());
            for _ in Code::new(ITEMS, WIDTH).parts() {
                run.clear();
                pool.install(|| runs.fill(&mut run, &mut tags, golomb::PART));
                black_box(&run);
            }
        });
    });
    let mut own = uniform(ITEMS, WIDTH, 2);
    own[ITEMS / 2..].copy_from_slice(&unsorted[..ITEMS / 2]);
    let prepared = || {
        let mut finder = TagFinder::new(ITEMS, WIDTH, false);
        own.chunks(BATCH).enumerate().for_each(|(number, batch)| finder.add(batch, (number * BATCH) as u32..));
        pool.install(|| finder.prepare());
        finder
    };
    group.bench_function("prepare", |b| b.iter(&prepared));
    group.bench_function("find", |b| {
        b.iter_batched(
            &prepared,
            |mut finder| {
                sorted.chunks(golomb::PART).for_each(|part| pool.install(|| finder.find(part)));
                finder.found()
            },
            BatchSize::PerIteration,
        );
    });
    for width in [WIDTH, 128] {
        let masks: Vec<u128> = sorted.iter().map(|mask| mask << (width - WIDTH)).collect();
        let code = Code::new(ITEMS, width);
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        group.bench_function(format!("golomb_encode_{width}"), |b| {
            b.iter(|| {
                let mut previous = 0;
                for part in masks.chunks(golomb::PART) {
                    bytes.clear();
                    code.encode(part, previous, &mut bytes);
                    previous = part[part.len() - 1];
                }
            });
        });
        let mut parts = Vec::new();
        let mut previous = 0;
        for part in masks.chunks(golomb::PART) {
            let mut bytes = Vec::new();
            code.encode(part, previous, &mut bytes);
            previous = part[part.len() - 1];
            parts.push(bytes);
        }
        group.bench_function(format!("golomb_decode_{width}"), |b| {
            b.iter(|| {
                let mut previous = 0;
                for (bytes, count) in parts.iter().zip(code.parts()) {
                    values.clear();
                    code.decode(bytes, count, previous, &mut values).expect("it was encoded here");
                    previous = values[count - 1];
                }
            });
        });
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
    let arranged = okvs.arrange(&keys);
    let values = arranged.arranged(&values);
    let mut table = vec![V::default(); okvs.len()];
    let encode = |table: &mut [V]| {
        okvs.encode_arranged_vartime(&arranged, &values, FreeCells::Zero, |part, cells| {
            table[part].copy_from_slice(cells);
            Ok::<_, EncodeFailure>(())
        })
        .expect("the pairs encode");
    };
    group.bench_function(format!("encode_{name}"), |b| b.iter(|| pool.install(|| encode(black_box(&mut table)))));
    let mut out = vec![V::default(); keys.len()];
    let parts = okvs.parts().len();
    let mut decode = || {
        for part in 0..parts {
            okvs.decode_part(&table, &arranged, part, black_box(&mut out[arranged.part(part)]));
        }
    };
    group.bench_function(format!("decode_{name}"), |b| b.iter(|| pool.install(&mut decode)));
    group.finish();
}

fn clustered(c: &mut Criterion) {
    clustered_encode::<Gf64>(c, "64");
    clustered_encode::<Gf128>(c, "128");
    let keys = uniform(ITEMS, 128, 1);
    let okvs = Clustered::new(ITEMS, FailureEvent::Encoding.bits(), 3).expect("2^20 pairs are supported");
    let pool = one_thread();
    c.bench_function("clustered_2^20/arrange", |b| b.iter(|| pool.install(|| black_box(okvs.arrange(&keys)))));
    c.bench_function("clustered_shape_2^20", |b| {
        b.iter(|| Clustered::table_len(black_box(ITEMS), FailureEvent::Encoding.bits()))
    });
}

/// Tags a second of each filter, of sorted tags as the compare phase has them; its bits a tag are in the
/// names.
fn filters(c: &mut Criterion) {
    let mut group = c.benchmark_group("filters_2^20");
    group.sample_size(10).throughput(Throughput::Elements(ITEMS as u64));
    let pool = one_thread();
    let demand = Demand { tags: ITEMS, look_ups: ITEMS, error_bits: FailureEvent::TagCollision.bits() };
    let mut tags = uniform(ITEMS, 128, 1);
    tags.sort_unstable();
    let (others, mut found) = (uniform(ITEMS, 128, 2), vec![false; ITEMS]);
    for kind in Kind::ALL {
        let bytes = kind.build(&demand, &mut tags).expect("2^20 tags are supported");
        let bits = bytes.len() as f64 * 8.0 / ITEMS as f64;
        let name = format!("{kind:?}").to_lowercase();
        group.bench_function(format!("build_{name}_{bits:.1}_bits"), |b| {
            b.iter(|| kind.build(&demand, &mut tags).expect("2^20 tags are supported"));
        });
        group.bench_function(format!("parse_{name}"), |b| {
            b.iter_batched(|| bytes.clone(), |bytes| kind.parse(&demand, bytes), BatchSize::PerIteration);
        });
        let filter = kind.parse(&demand, bytes).expect("it was built here");
        group.bench_function(format!("look_up_{name}"), |b| {
            b.iter(|| pool.install(|| filter.look_up(black_box(&others), &mut found)));
        });
    }
    group.finish();
}

criterion_group!(benches, sorted_masks, clustered, filters);
criterion_main!(benches);
