//! Every row at 2^16 items a side (2^10 where a point is multiplied for each), set-up included,
//! both parties in one process over memory.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use vesica_party::CostClass;
use vesica_party::transport::memory;
use vesica_protocols::registry;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{options, run_over};

fn psi(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("psi");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for row in registry::intersect().iter().chain(vesica_papers::registry::intersect()) {
        for mode in row.entry().modes {
            let n: usize = if row.entry().cost == CostClass::GroupOperations { 1 << 10 } else { 1 << 16 };
            let request = IntersectRequest {
                sender_items: n,
                receiver_items: n,
                security: mode.security,
                payload_bytes: 0,
                both_learn: false,
                runs: 1,
            };
            let mut rng = SecretRng::insecure_from_seed(1);
            let items: Vec<u128> = (0..n + n / 2).map(|_| rng.block()).collect();
            let sent = IntersectSenderInput { items: items[..n].to_vec(), payloads: Vec::new() };
            let asked = IntersectReceiverInput { items: items[n / 2..].to_vec() };
            group.throughput(Throughput::Elements(n as u64));
            group.bench_function(BenchmarkId::new(row.entry().id, mode.security), |bencher| {
                bencher.iter(|| {
                    let (sender, receiver) =
                        run_over(memory::pair(), options(), *row, &request, sent.clone(), asked.clone());
                    sender.result.expect("the sender succeeds");
                    receiver.result.expect("the receiver succeeds")
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, psi);
criterion_main!(benches);
