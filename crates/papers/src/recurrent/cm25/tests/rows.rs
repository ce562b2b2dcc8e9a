//! The rows: messages, states, budgets and what is refused.

use std::sync::atomic::Ordering;

use vesica_party::service::{Client as _, Service, Standing};
use vesica_party::{Abort, Security, Stream};
use vesica_structures::facts::FailureEvent;
use vesica_structures::rlwe::bfv::SecretKey;
use vesica_testkit::{try_two_party, two_party};

use super::super::counted::rows::{self as counting, Counted, FastIntersectionCount, FastIntersectionCountRepaired};
use super::super::messages::{ClientKeys, Masks, Results, Seeds, ServerKeys, Sums};
use super::super::request::compressed;
use super::*;
use crate::recurrent::testing::{self, admit, answer, bytes_of, prepared, query, read};
use vesica_protocols::bfv::ciphertexts::send_short;
use vesica_protocols::tasks::{IntersectRequest, IntersectSenderInput};

type SetupRow = Cm25<FastSetupRepaired>;
type IntersectionRow = Cm25<FastIntersectionRepaired>;

fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
    IntersectRequest { payload_bytes: 0, ..testing::request(sender_items, receiver_items, Security::SemiHonest) }
}

fn params<S: Service<Task = vesica_protocols::tasks::Intersect>>(set_items: usize, query_items: usize) -> S::Params {
    S::derive(&request(set_items, query_items)).unwrap()
}

fn set(first: u128, count: usize) -> IntersectSenderInput {
    IntersectSenderInput { payloads: Vec::new(), ..testing::set(first, count) }
}

/// Both sides go through files between queries. There are several blocks of bins.
#[test]
fn many_queries_of_one_enrolment_are_right() {
    let mut set = set(1000, 9000);
    set.items.extend([7, 7]);
    let count = set.items.len();
    let client = testing::many_queries_are_right::<SetupRow>(&params::<SetupRow>(count, 3), &set);
    assert_eq!(client.asked, 12, "queries are counted across files");
    let params = params::<IntersectionRow>(count, 3);
    assert_eq!((params.params.blocks(), params.params.limbs), (2, 4));
    testing::many_queries_are_right::<IntersectionRow>(&params, &set);
}

/// Questions and answers of this row are megabytes: a client that sent all of its questions first would
/// wait for a server that waits for it.
#[test]
fn a_query_of_more_bytes_than_a_channel_takes_ends() {
    let params = params::<SetupRow>(10, 24);
    let server: Server = prepared(&params, &set(0, 10));
    let items: Vec<u128> = (0..24).collect();
    let ((), output) = two_party(
        |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
        |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&items), ch, rng),
    );
    assert!(output.matches.into_iter().eq(0..10));
}

/// The rows of footnote 1: the client's output, and the number that the server learns. The questions are more
/// than a channel takes.
#[test]
fn a_server_that_counts_learns_how_many_match() {
    fn check(params: &RowParams) {
        let server: counting::Server = prepared(params, &set(0, 10));
        let items: Vec<u128> = (5..).take(params.query_items).collect();
        let ((), output) = two_party(
            |ch, rng| {
                admit(&server, Standing::New, ch, rng)?;
                answer(&server, &mut (), ch, rng)?;
                answer(&server, &mut (), ch, rng)
            },
            |ch, rng| {
                let mut client = counting::Client::enrol(params, ch, rng)?;
                client.query(0, query(&items), ch, rng)?;
                client.query(1, query(&items), ch, rng)
            },
        );
        assert!(output.matches.into_iter().eq(0..5));
        assert_eq!(server.matched.load(Ordering::Relaxed), 10, "five of each query");
    }
    check(&params::<Counted<FastIntersectionCountRepaired>>(10, 24));
    check(&params::<Counted<FastIntersectionCount>>(10, 7));
}

#[test]
fn a_replaced_set_reaches_clients_that_come_back() {
    let [params, others] = [2, 3].map(|items| params::<IntersectionRow>(10, items));
    testing::clients_move_over_to_a_replaced_set::<IntersectionRow>(&params, &others, false);
}

#[test]
fn a_client_stops_when_its_budget_is_used_up() {
    let exhaust = |client: &mut Client| client.asked = ITEMS_AN_ENROLMENT - 1;
    let params = params::<IntersectionRow>(10, 1);
    let refused = testing::the_last_query_is_the_last::<IntersectionRow>(&params, &set(0, 10), exhaust);
    let Abort::Local { fault, .. } = refused else { panic!("{refused:?}") };
    assert!(fault.contains("262144"), "{fault}");
}

#[test]
fn a_set_stops_when_its_budget_is_used_up() {
    let params = params::<IntersectionRow>(10, 2);
    let server: Server = prepared(&params, &set(0, 10));
    server.answered.store(ITEMS_OF_A_SET - 3, Ordering::Relaxed);
    let (sent, client) = try_two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            answer(&server, &mut session, ch, rng)?;
            let stored: Server = read(&bytes_of(&server)).unwrap();
            answer(&stored, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.query(0, query(&[3, 4]), ch, rng)?;
            client.query(1, query(&[5, 6]), ch, rng)
        },
    );
    let Err(Abort::Local { fault, .. }) = sent.result else { panic!("{:?}", sent.result) };
    assert!(fault.contains("1048575 items of at most 1048576"), "{fault}");
    assert!(matches!(client.result, Err(Abort::PeerAborted(_))), "{:?}", client.result);
}

/// Items of the set that are compressed to the same are one, and are found.
#[test]
fn items_that_are_compressed_to_the_same_all_match() {
    let params = Params::compressed(Configuration::FastIntersection, Form::Faithful, 4, 3000).unwrap();
    assert_eq!(params.shape.right_bits(), 15);
    let items: Vec<u128> = (0..1 << 15).collect();
    let short = compressed(&params, &[7; 16], &items);
    assert!(short.iter().all(|&item| item >> params.shape.item_bits == 0));
    let mut distinct = short.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    // Of 2^15 items of 27 bits, 2^29 pairs: 4 equal ones expected.
    assert!((1..16).contains(&(items.len() - distinct.len())), "{} of {}", distinct.len(), items.len());
    assert_ne!(*compressed(&params, &[8; 16], &items), *short, "another key");
}

#[test]
fn exhausted_noise_ends_the_server_and_is_counted_by_the_client() {
    let params = params::<IntersectionRow>(10, 1);
    let server: Server = prepared(&params, &set(0, 10));
    let (sent, _) = try_two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            answer(&server, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            // First halves that do not fit the second ones.
            client.receiver.tables.setup.cells.fill(server.sender.setup().public.clone());
            client.query(0, query(&[7]), ch, rng)
        },
    );
    assert!(
        matches!(sent.result, Err(Abort::PeerMisbehaved(Sums::STEP, what)) if what.contains("exhausted")),
        "{:?}",
        sent.result
    );
    let ((), output) = two_party(
        |ch, rng| {
            let _session = admit(&server, Standing::New, ch, rng)?;
            let (scheme, params) = (server.sender.scheme, &params.params);
            let sums = params.sums() * scheme.ciphertext_bytes(params.primes_of_d());
            ch.recv_stream::<Sums>(&mut vec![0; sums])?;
            ch.recv_stream::<Masks>(&mut vec![0; 32 + params.sums() * scheme.poly_bytes(4)])?;
            // A ciphertext under another key.
            let other = SecretKey::new(scheme, rng);
            let mut encryptor = other.encryptor(scheme, rng);
            let half = encryptor.encrypt(&scheme.encode(&vec![1; scheme.slots()]), rng);
            let mut result = scheme.ciphertext_coefficients(scheme.expand(&encryptor.seed(), 0, half));
            scheme.switch_down(&mut result, params.primes_of_e());
            (0..params.sums()).try_for_each(|_| send_short::<Results>(scheme, &result, ch))
        },
        |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[7]), ch, rng),
    );
    assert_eq!((&output.matches[..], output.unread), (&[0u32; 0][..], 1));
}

#[test]
fn malformed_polynomials_are_refused_on_both_sides() {
    let params = params::<IntersectionRow>(1, 1);
    let server: Server = prepared(&params, &set(0, 1));
    let bad = vec![0xff; 1 << 18];
    let (_, received) = try_two_party(
        |ch, _| {
            ch.send_stream::<Seeds>(&[0; 16])?;
            ch.send_stream::<Seeds>(&[0; 48])?;
            ch.send_stream::<ServerKeys>(&bad)
        },
        |ch, rng| Client::enrol(&params, ch, rng),
    );
    assert!(matches!(received.result, Err(Abort::PeerMisbehaved(ServerKeys::STEP, _))), "{:?}", received.result);
    let (sent, _) =
        try_two_party(|ch, rng| admit(&server, Standing::Current, ch, rng), |ch, _| ch.send_stream::<ClientKeys>(&bad));
    assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(ClientKeys::STEP, _))), "{:?}", sent.result);
}

#[test]
fn states_that_were_never_written_are_refused() {
    let params = params::<SetupRow>(5, 2);
    let words = params.to_words();
    assert_eq!(RowParams::from_words(words), Some(params.clone()));
    for place in 0..words.len() {
        let mut words = words;
        words[place] ^= 1 << 40;
        assert_eq!(RowParams::from_words(words), None, "place {place}");
    }
    let server: Server = prepared(&params, &set(0, 5));
    assert!(read::<Client>(&bytes_of(&server)).is_err(), "a server's state is no client's");
}

/// docs/parameters/cm25.md.
#[test]
fn false_matches_are_within_their_budget_at_every_size() {
    let mut least = f64::INFINITY;
    for (configuration, functions) in
        CONFIGURATIONS.into_iter().flat_map(|one| [3, 4].map(|functions| (one, functions)))
    {
        for log in 0..=25u32 {
            for set_items in [1 << log, (1 << log) * 7 / 8, (1 << log) + 1] {
                let params = Params::compressed(configuration, Form::Repaired, functions, set_items).unwrap();
                assert!(params.limbs <= 4, "{configuration:?}, {set_items} items");
                // An item asked about that is compressed as one of the set.
                let pairs = (set_items.max(1) as f64).log2() + f64::from(ITEMS_AN_ENROLMENT.ilog2());
                assert!(f64::from(params.shape.item_bits) - pairs >= f64::from(FailureEvent::TagCollision.bits()));
                least = least.min(params.mixed_match_bits());
                let faithful = Params::compressed(configuration, Form::Faithful, functions, set_items).unwrap();
                assert_eq!((faithful.shape.right_bits(), faithful.limbs), (15, 1));
            }
        }
    }
    assert!(least > f64::from(FailureEvent::ZeroDifference.bits()), "2^-{least}");
    // 2^-47 with four functions.
    assert_eq!(least.round(), 45.0);
}

#[test]
fn parameters_are_those_of_the_page_and_what_is_not_served_is_refused() {
    let million = params::<IntersectionRow>(1 << 20, 4).params;
    assert_eq!((million.shape.item_bits, million.shape.bin_bits, million.limbs), (80, 21, 4));
    assert_eq!(million.ciphertexts(), 1024);
    assert_eq!(params::<IntersectionRow>(0, 0).query_bytes(), 0);
    let refused = |request: IntersectRequest| SetupRow::derive(&request).unwrap_err();
    refused(request(1 << 27, 4));
    refused(request(4, (1 << 18) + 1));
    refused(IntersectRequest { payload_bytes: 1, ..request(4, 4) });
    refused(IntersectRequest { both_learn: true, ..request(4, 4) });
    refused(IntersectRequest { security: Security::Malicious, ..request(4, 4) });
}

/// The attack on faithful forms, from what travels: which of these items a client of row `V` asked about.
fn recognised_from_messages<V: Variant>() -> Vec<usize> {
    let guesses = [3, 77, 12, 999];
    let params = params::<Cm25<V>>(50, 1);
    let server: Server = prepared(&params, &set(0, 50));
    let mut question = None;
    // The server says no more after that.
    let _ = try_two_party(
        |ch, rng| {
            admit(&server, Standing::New, ch, rng)?;
            question = Some(server.receive_question(ch)?);
            Ok(())
        },
        |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[guesses[1]]), ch, rng),
    );
    let guesses = compressed(&params.params, &server.key, &guesses);
    attacks::recognised(&server.sender, &question.unwrap(), &guesses)
}

#[test]
fn a_server_recognises_the_item_of_faithful_rows_only() {
    assert_eq!(recognised_from_messages::<FastSetup>(), [1]);
    assert_eq!(recognised_from_messages::<FastIntersection>(), [1]);
    assert_eq!(recognised_from_messages::<FastSetupRepaired>(), [0usize; 0]);
    assert_eq!(recognised_from_messages::<FastIntersectionRepaired>(), [0usize; 0]);
}
