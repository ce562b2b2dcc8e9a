//! A query of four items of `cm25-select` between two threads over memory, after one enrolment, and
//! what is done once: items of any width in a set of 2^20, and integers of 33 bits in one of 911,705.

use std::time::Instant;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use vesica_party::Security;
use vesica_party::service::{Client as _, ClientIdentity, Query, Server as _, Standing};
use vesica_protocols::recurrent::cm25_select::{Client, Params, Server};
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

fn select(criterion: &mut Criterion) {
    let request = |sender_items| IntersectRequest {
        sender_items,
        receiver_items: 4,
        security: Security::SemiHonest,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    };
    let any_width = Params::derive(&request(1 << 20)).expect("served");
    let integers = Params::derive_for_integers(&request(911_705), 33).expect("served");
    for (name, params) in [("any width", any_width), ("33 bits", integers)] {
        let mut group = criterion.benchmark_group(format!("cm25-select, {name}"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        let rng = &mut SecretRng::insecure_from_seed(1);
        let mut items: Vec<u128> = (0..params.set_items).map(|_| rng.block() >> 95).collect();
        items[0] = 1;
        let asked = [1, 2, 3, items[7]];
        let set = IntersectSenderInput { items, payloads: Vec::new() };
        let prepared = Server::prepare(&params, set.clone(), rng).expect("a table");
        let who = ClientIdentity::Anonymous;
        let ((), mut client) = two_party(
            |ch, rng| prepared.admit(&who, Standing::New, ch, rng).map(drop),
            |ch, rng| Client::enrol(&params, ch, rng),
        );
        group.bench_function("query", |bencher| {
            bencher.iter_custom(|times| {
                two_party(
                    |ch, rng| {
                        let mut session = prepared.admit(&who, Standing::Current, ch, rng)?;
                        (0..=times).try_for_each(|number| {
                            let query = Query { client: who, number };
                            prepared.answer(&mut session, query, ch, rng).map(drop)
                        })
                    },
                    |ch, rng| {
                        client.rejoin(&params, Standing::Current, ch, rng)?;
                        let mut start = Instant::now();
                        for number in 0..=times {
                            let query = IntersectReceiverInput { items: asked.to_vec() };
                            assert_eq!(client.query(number, query, ch, rng)?.matches, [0, 3]);
                            // The first query waits for the server to read the keys.
                            if number == 0 {
                                start = Instant::now();
                            }
                        }
                        Ok(start.elapsed())
                    },
                )
                .1
            });
        });
        group.bench_function("prepare", |bencher| {
            bencher.iter(|| Server::prepare(&params, set.clone(), &mut SecretRng::insecure_from_seed(2)));
        });
        group.bench_function("enrol", |bencher| {
            bencher.iter(|| {
                two_party(
                    |ch, rng| prepared.admit(&who, Standing::New, ch, rng).map(drop),
                    |ch, rng| Client::enrol(&params, ch, rng).map(drop),
                );
            });
        });
        group.finish();
    }
}

criterion_group!(benches, select);
criterion_main!(benches);
