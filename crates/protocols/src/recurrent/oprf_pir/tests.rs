use vesica_party::service::{Client as _, Server as _, Standing};
use vesica_party::{Abort, Stream};
use vesica_structures::facts::{FailureEvent, ceil_log2};
use vesica_structures::hashing::max_load;
use vesica_structures::rng::SecretRng;
use vesica_testkit::{try_two_party, two_party};

use super::messages::{Answers, Blinded, Evaluated, Public, Queries};
use super::params::CHECK_BYTES;
use super::*;
use crate::ecdh::POINT_BYTES;
use crate::recurrent::testing::{self, WIDTH, admit, answer, bytes_of, check, query, read, set};
use crate::tasks::IntersectSenderInput;

fn request(set_items: usize, query_items: usize, payload_bytes: usize) -> IntersectRequest {
    IntersectRequest {
        sender_items: set_items,
        receiver_items: query_items,
        security: Security::SemiHonest,
        payload_bytes,
        both_learn: false,
        runs: 1,
    }
}

fn params(set_items: usize, query_items: usize) -> Params {
    Params::derive(&request(set_items, query_items, WIDTH)).unwrap()
}

fn prepared(params: &Params, set: &IntersectSenderInput) -> Server {
    testing::prepared(params, set)
}

/// Both sides go through files between queries; nine items are more than a batch.
#[test]
fn many_queries_of_one_enrolment_are_right() {
    let set = set(1000, 3000);
    let params = params(set.items.len(), super::ITEMS_AT_A_TIME + 1);
    let server = prepared(&params, &set);
    let queries = [
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1000, 3999, 4000, 2000, 2001, 0, 1234, 8, 1002],
        [1500, 999, 1738, 0, 3000, 3998, 3997, 1, 2],
        [1000, 1, 1001, 2, 1002, 3, 1003, 4, 1004],
    ];
    let ((), client) = two_party(
        |ch, rng| {
            admit(&server, Standing::New, ch, rng)?;
            let stored: Server = read(&bytes_of(&server)).unwrap();
            assert_eq!(stored.state_id(), server.state_id());
            queries.iter().try_for_each(|_| answer(&stored, &mut (), ch, rng))
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            for (number, items) in (0..).zip(&queries) {
                let output = client.query(number, query(items), ch, rng)?;
                check(&set, items, &output);
                client = read(&bytes_of(&client)).unwrap();
            }
            Ok(client)
        },
    );
    assert_eq!(client.asked, 4, "queries are counted across files");
}

#[test]
fn a_replaced_set_reaches_clients_that_come_back() {
    let (old, new) = (set(0, 10), set(5, 10));
    let params = params(10, 2);
    let (before, after) = (prepared(&params, &old), prepared(&params, &new));
    two_party(
        |ch, rng| {
            admit(&before, Standing::New, ch, rng)?;
            answer(&before, &mut (), ch, rng)?;
            admit(&after, Standing::Outdated(before.state_id()), ch, rng)?;
            answer(&after, &mut (), ch, rng)?;
            admit(&after, Standing::Current, ch, rng)?;
            answer(&after, &mut (), ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            check(&old, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            client.rejoin(&params, Standing::Outdated(before.state_id()), ch, rng)?;
            assert_eq!(client.asked, 0, "a new set has a budget of its own");
            check(&new, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            client.rejoin(&params, Standing::Current, ch, rng)?;
            let others = Params { slots: 1, ..params };
            assert!(client.rejoin(&others, Standing::Current, ch, rng).is_err(), "other parameters");
            check(&new, &[5, 4], &client.query(0, query(&[5, 4]), ch, rng)?);
            Ok(())
        },
    );
}

/// A server answers under another key, with records that the client's public part does not open: the
/// client says of all items that nothing is known, and its messages are as long as ever.
#[test]
fn answers_of_another_set_are_unread_and_stop_nothing() {
    let set = set(0, 10);
    let params = params(10, 2);
    let (server, other) = (prepared(&params, &set), prepared(&params, &set));
    two_party(
        |ch, rng| {
            admit(&server, Standing::New, ch, rng)?;
            answer(&other, &mut (), ch, rng)
        },
        |ch, rng| {
            let output = Client::enrol(&params, ch, rng)?.query(0, query(&[7, 8]), ch, rng)?;
            assert_eq!((&output.matches[..], output.unread), (&[0u32; 0][..], 2));
            Ok(())
        },
    );
}

/// Whatever a server answers, up to bits that fill up the last byte of the tags, the client goes on.
#[test]
fn no_answer_stops_a_client() {
    let params = params(100, 1);
    for byte in [0, 0x55, 0xff] {
        two_party(
            |ch, rng| {
                ch.send_stream::<Public>(&vec![byte; params.enrolment_bytes() as usize])?;
                let mut elements = [[0; POINT_BYTES]];
                ch.recv_stream::<Blinded>(&mut elements)?;
                let key = vesica_mpc::rfc9497::SecretKey::random(vesica_mpc::rfc9497::Mode::Oprf, rng);
                assert!(key.evaluate_blinded(&mut elements));
                ch.send_stream::<Evaluated>(&elements)?;
                ch.recv_stream::<Queries>(&mut vec![0; params.shape.query_bytes()])?;
                ch.send_stream::<Answers>(&vec![byte; params.shape.answer_bytes()])
            },
            |ch, rng| {
                let output = Client::enrol(&params, ch, rng)?.query(0, query(&[7]), ch, rng)?;
                assert_eq!((&output.matches[..], output.unread), (&[0u32; 0][..], 1));
                Ok(())
            },
        );
    }
}

#[test]
fn malformed_messages_are_caught() {
    let params = params(1, 1);
    let server = prepared(&params, &set(0, 1));
    for bad in [[0; 32], [0xff; 32]] {
        let (sent, _) =
            try_two_party(|ch, rng| answer(&server, &mut (), ch, rng), |ch, _| ch.send_stream::<Blinded>(&[bad]));
        assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Blinded::STEP, _))));
        let (_, received) = try_two_party(
            |ch, rng| {
                admit(&server, Standing::New, ch, rng)?;
                ch.recv_stream::<Blinded>(&mut [[0; 32]])?;
                ch.send_stream::<Evaluated>(&[bad])
            },
            |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[0]), ch, rng),
        );
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Evaluated::STEP, _))));
    }
    // Elements that are not below the modulus.
    let (sent, _) = try_two_party(
        |ch, rng| answer(&server, &mut (), ch, rng),
        |ch, rng| {
            let (_, blinded) = vesica_mpc::rfc9497::blind(vesica_mpc::rfc9497::Mode::Oprf, &[[0; 16]], rng);
            ch.send_stream::<Blinded>(&blinded)?;
            ch.recv_stream::<Evaluated>(&mut [[0; 32]])?;
            ch.send_stream::<Queries>(&vec![0xff; params.shape.query_bytes()])
        },
    );
    assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Queries::STEP, _))));
}

#[test]
fn an_enrolment_ends_after_its_queries() {
    let params = params(1, 1);
    let server = prepared(&params, &set(0, 1));
    let ((), mut client) =
        two_party(|ch, rng| admit(&server, Standing::New, ch, rng), |ch, rng| Client::enrol(&params, ch, rng));
    client.asked = QUERIES_AN_ENROLMENT - 1;
    assert!(client.check(&query(&[1])).is_ok());
    assert!(client.check(&query(&[1, 2])).is_err(), "another number of items");
    client.asked = QUERIES_AN_ENROLMENT;
    assert!(matches!(client.check(&query(&[1])), Err(Abort::Local { .. })));
}

#[test]
fn sets_that_cannot_be_prepared_are_refused() {
    let params = params(2, 1);
    let rng = &mut SecretRng::insecure_from_seed(1);
    let twins = IntersectSenderInput { items: vec![3, 3], payloads: vec![0; 2 * WIDTH] };
    assert!(Server::prepare(&params, twins, rng).is_err(), "an item twice");
    assert!(Server::prepare(&params, set(0, 3), rng).is_err(), "another number of items");
    // Buckets of fewer slots than any bound gives.
    let full = set(0, 1000);
    let derived = Params::derive(&request(1000, 1, WIDTH)).unwrap();
    let narrow = Params { slots: 1, ..derived };
    assert!(matches!(Server::prepare(&narrow, full, rng), Err(Abort::StatisticalFailure(_))));
}

#[test]
fn damaged_states_are_refused() {
    let params = params(3, 1);
    let bytes = bytes_of(&prepared(&params, &set(0, 3)));
    assert!(read::<Server>(&bytes).is_ok() && read::<Client>(&bytes).is_err());
    for place in [80, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert!(read::<Server>(&damaged).is_err(), "byte {place}");
        assert!(read::<Server>(&bytes[..place]).is_err(), "{place} bytes");
    }
}

/// Every number that docs/parameters/pir.md claims of the derivation.
#[test]
fn parameters_keep_their_bounds_at_all_sizes() {
    for set_items in [0, 1, 2, 1000, 1 << 14, 1 << 20, 1 << 24, 1 << 26] {
        for query_items in [0, 1, 4, 1 << 14] {
            for payload_bytes in [0, 1, 24, 1000] {
                let derived = Params::derive(&request(set_items, query_items, payload_bytes));
                let Ok(params) = derived else {
                    assert!(payload_bytes == 1000 && set_items >= 1 << 24, "{set_items}, {payload_bytes}");
                    continue;
                };
                let Params { shape, slots, tag_bits, .. } = params;
                let used = (slots * tag_bits as usize).div_ceil(8) + slots * payload_bytes + CHECK_BYTES;
                assert!(slots > 0 && used <= shape.record_bytes(), "{params:?}");
                assert!(max_load(set_items, 1, shape.rows(), FailureEvent::HashTable.bits()) <= slots, "{params:?}");
                let pairs = QUERIES_AN_ENROLMENT.ilog2() + ceil_log2(query_items) + ceil_log2(slots);
                assert!(tag_bits >= FailureEvent::TagCollision.bits() + pairs && tag_bits <= 128, "{params:?}");
                assert_eq!(Params::from_words(params.to_words()), Some(params));
            }
        }
    }
    assert!(Params::derive(&request(1 << 20, 1, 1 << 16)).is_err(), "a payload as wide as a record");
    assert!(Params::derive(&IntersectRequest { both_learn: true, ..request(1, 1, 0) }).is_err());
    assert!(Params::derive(&IntersectRequest { security: Security::Malicious, ..request(1, 1, 0) }).is_err());
    let mut words = params(1000, 4).to_words();
    words[7] += 1;
    assert_eq!(Params::from_words(words), None);
}

/// Prints shapes and costs: `cargo test --release -p vesica-protocols --lib oprf_pir -- --ignored
/// --nocapture`; with `VESICA_PIR_LOG`, it times that size instead of `2^20` and `2^22`.
#[test]
#[ignore = "takes minutes, and checks no more than the others"]
fn costs() {
    let timed = std::env::var("VESICA_PIR_LOG").ok().and_then(|log| log.parse().ok());
    let timed = timed.map_or(vec![20, 22], |log| vec![log]);
    // One thread a side: each waits for the other on it.
    let [servers, clients] = [(); 2].map(|()| rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    for log in [14, 16, 18, 20, 22, 24, 26] {
        let params = Params::derive(&request(1 << log, 4, 0)).unwrap();
        let Params { shape, slots, tag_bits, .. } = params;
        eprintln!(
            "2^{log}: {} buckets of {slots} tags of {tag_bits} bits, {} x {} entries; {:.1} + {:.1} MB; enrolment {} bytes, \
             an item {} bytes",
            shape.rows(),
            shape.columns(),
            shape.parts(),
            shape.matrix_bytes() as f64 / 1e6,
            shape.packing_bytes() as f64 / 1e6,
            params.enrolment_bytes(),
            params.query_bytes() / 4
        );
        if !timed.contains(&log) {
            continue;
        }
        let items: Vec<u128> = (0..1u128 << log).map(|i| i * 0x9e37_79b9_7f4a_7c15).collect();
        let payloads = Vec::new();
        let start = std::time::Instant::now();
        let server = prepared(&params, &IntersectSenderInput { items, payloads });
        eprintln!("  prepared on all threads in {:.1} s", start.elapsed().as_secs_f64());
        two_party(
            |ch, rng| {
                admit(&server, Standing::New, ch, rng)?;
                for _ in 0..4 {
                    let start = std::time::Instant::now();
                    servers.install(|| answer(&server, &mut (), ch, rng))?;
                    eprintln!("  answered four items in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
                }
                Ok(())
            },
            |ch, rng| {
                let mut client = Client::enrol(&params, ch, rng)?;
                for number in 0..4 {
                    let start = std::time::Instant::now();
                    let asked = [0, 1, 0x9e37_79b9_7f4a_7c15 * 77, 5];
                    let output = clients.install(|| client.query(number, query(&asked), ch, rng))?;
                    assert_eq!(output.matches, [0, 2]);
                    eprintln!("  asked four items in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
                }
                Ok(())
            },
        );
    }
}
