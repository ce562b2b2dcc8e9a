//! The band OKVS: encoding and decoding by size, value and thread count. `cargo bench -p vesica-structures --bench band`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{Band, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;

/// `-log2` of the encoding failure, an OKVS's share of a protocol's budget.
const FAILURE_BITS: u32 = 42;

fn bench_values<V: Value>(c: &mut Criterion) {
    // One thread, the caller's: what the speed goals are set for.
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    let mut group = c.benchmark_group(format!("band/{} bits", V::BITS));
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    for log in [12, 16, 20] {
        let pairs = 1 << log;
        let mut rng = SecretRng::insecure_from_seed(log);
        let keys: Vec<u128> = (0..pairs).map(|_| rng.block()).collect();
        let values: Vec<V> = (0..pairs).map(|_| V::from_bits(rng.block())).collect();
        let band = Band::new(pairs, FAILURE_BITS, 1).expect("a supported size");
        let table = band.encode(&keys, &values, FreeCells::Zero).expect("fails with probability 2^-42");
        group.throughput(Throughput::Elements(pairs as u64));
        group.bench_function(BenchmarkId::new("encode", pairs), |b| {
            b.iter(|| black_box(band.encode(&keys, &values, FreeCells::Zero)));
        });
        group.bench_function(BenchmarkId::new("decode", pairs), |b| {
            b.iter_batched_ref(
                || vec![V::default(); pairs],
                |out| one_thread.install(|| band.decode(&table, &keys, out)),
                BatchSize::LargeInput,
            );
        });
    }
}

fn bench(c: &mut Criterion) {
    bench_values::<Gf64>(c);
    bench_values::<Gf128>(c);
}

criterion_group!(benches, bench);
criterion_main!(benches);
