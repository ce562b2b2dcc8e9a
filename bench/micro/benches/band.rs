//! The band OKVS on one thread: putting keys in order, encoding and decoding by size and value.
//! `cargo bench --manifest-path bench/micro/Cargo.toml --bench band`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{Band, EncodeFailure, FreeCells, Okvs};
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
        let arranged = band.arrange(&keys);
        let values = arranged.arranged(&values);
        let mut table = vec![V::default(); band.len()];
        let encode = |table: &mut [V]| {
            band.encode_arranged_vartime(&arranged, &values, FreeCells::Zero, |part, cells| {
                table[part].copy_from_slice(cells);
                Ok::<_, EncodeFailure>(())
            })
            .expect("fails with probability 2^-42");
        };
        encode(&mut table);
        group.throughput(Throughput::Elements(pairs as u64));
        group.bench_function(BenchmarkId::new("arrange", pairs), |b| {
            b.iter(|| one_thread.install(|| black_box(band.arrange(&keys))));
        });
        group.bench_function(BenchmarkId::new("encode", pairs), |b| {
            let mut table = table.clone();
            b.iter(|| one_thread.install(|| encode(black_box(&mut table))));
        });
        group.bench_function(BenchmarkId::new("decode", pairs), |b| {
            let mut out = vec![V::default(); pairs];
            let parts = band.parts().len();
            b.iter(|| {
                one_thread.install(|| {
                    for part in 0..parts {
                        band.decode_part(&table, &arranged, part, black_box(&mut out[arranged.part(part)]));
                    }
                });
            });
        });
    }
}

fn bench(c: &mut Criterion) {
    bench_values::<Gf64>(c);
    bench_values::<Gf128>(c);
}

criterion_group!(benches, bench);
criterion_main!(benches);
