//! Two queries after one enrolment, over one connection and over several; and a state that is
//! replaced while clients query.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::service::{Enrolled, Published, Server, read_state, write_state};
use vesica_party::transport::acceptor::in_memory;
use vesica_testkit::insecure_lookup::LookupClient;

use crate::support::*;

/// Bytes of the conversation around the service's own messages: a request; who joins, and what.
const REQUEST: u64 = 1;
const JOIN: u64 = 64;
const WELCOME: u64 = 32;
const ANSWERED: u64 = 17;
/// The toy's enrolment and one of its queries.
const ENROLMENT: u64 = 8;
const ITEMS_SENT: u64 = 8 * ITEMS as u64;
const ANSWER: u64 = 8 + ITEMS as u64;

#[test]
fn one_enrolment_serves_many_queries_and_connections() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[5, 6]));
        let (_, told) = with_server(acceptor, &state, &limits(), |_| {
            let mut toy = enrol(connect());
            assert_eq!(toy.query(vec![4, 5, 6]).expect("an answer"), [false, true, true]);
            assert_eq!(toy.query(vec![5, 4, 4]).expect("an answer"), [true, false, false]);
            let (kept, ended) = toy.leave();
            let total = ended.expect("a clean end").total();
            assert_eq!(total.sent_payload, 4 * REQUEST + JOIN + 2 * ITEMS_SENT);
            assert_eq!(total.received_payload, WELCOME + ENROLMENT + 2 * (ANSWER + ANSWERED));

            // What it keeps goes to a file and comes back, and joins again without another enrolment.
            let mut bytes = Vec::new();
            write_state(&kept, &mut bytes).expect("written");
            let again: Enrolled<LookupClient> = read_state(&mut &bytes[..], bytes.len() as u64, 1 << 10).expect("read");
            assert_eq!(again, kept);
            let rejoined = Toy::rejoin(channel(connect()), ITEMS, again, rng());
            let mut toy = rejoined.map_err(|(failure, _)| failure).expect("joined again");
            assert_eq!(toy.query(vec![4, 5, 6]).expect("an answer"), [false, true, true]);
            let (kept_on, ended) = toy.leave();
            let total = ended.expect("a clean end").total();
            assert_eq!(total.received_payload, WELCOME + ANSWER + ANSWERED, "nothing was enrolled");
            assert_eq!(kept_on, kept);
        });
        let numbers: Vec<u64> = told.answered.lock().unwrap().iter().map(|query| query.number).collect();
        assert_eq!(numbers, [0, 1, 0]);
    });
}

#[test]
fn a_failed_attempt_to_rejoin_gives_the_state_back() {
    let kept = {
        let (acceptor, connector) = in_memory(1);
        let state = Published::new(prepared(&[5]));
        with_server(&acceptor, &state, &limits(), |_| enrol(connector.connect().expect("room")).leave().0).0
    };
    let (gone, end) = vesica_party::transport::memory::pair();
    drop(gone);
    let (failure, back) = Toy::rejoin(channel(end), ITEMS, kept.clone(), rng()).err().expect("nobody is there");
    assert_eq!(back, kept, "{failure}");
}

#[test]
fn a_client_moves_to_the_state_that_replaces_its_own() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        let first = state.current();
        let (_, told) = with_server(acceptor, &state, &limits(), |_| {
            let mut toy = enrol(connect());
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [true, false, false]);
            let second = prepared(&[2, 3]);
            let second_id = second.state_id();
            assert!(Arc::ptr_eq(&state.replace(second), &first));
            // The query is answered from the state that was joined; its answer says that there is
            // another one.
            assert!(toy.is_current());
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [true, false, false]);
            assert!(!toy.is_current());
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [false, true, true]);
            assert!(toy.is_current());
            assert_eq!((toy.enrolled().state, toy.enrolled().client.set_size), (second_id, 2));
            // Nobody holds the first one any more, but this test.
            wait_until(|| Arc::strong_count(&first) == 1);
            let (kept, ended) = toy.leave();
            ended.expect("a clean end");

            // A client that comes back later enrols anew, too.
            state.replace(prepared(&[3, 4, 5]));
            let rejoined = Toy::rejoin(channel(connect()), ITEMS, kept, rng());
            let mut toy = rejoined.map_err(|(failure, _)| failure).expect("joined again");
            assert_eq!(toy.enrolled().client.set_size, 3);
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [false, false, true]);
            toy.leave().1.expect("a clean end");
        });
        assert_eq!(told.joined.lock().unwrap().len(), 3);
        assert!(told.failures.lock().unwrap().is_empty());
    });
}

#[test]
fn a_retired_state_is_answered_for_its_time_and_then_nobody_holds_it() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        let first = Arc::downgrade(&state.current());
        let (_, told) = with_server(acceptor, &state, &limits(), |_| {
            let mut toy = enrol(connect());
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [true, false, false]);
            state.retire(prepared(&[2, 3]), Instant::now() + Duration::from_secs(3600));
            for _ in 0..3 {
                assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [true, false, false]);
                assert!(toy.is_current(), "for its time it is as good as the present one");
            }
            // A client that comes now gets the new one.
            let mut other = enrol(connect());
            assert_eq!(other.query(vec![1, 2, 3]).expect("an answer"), [false, true, true]);
            // One that knows the old one enrols again.
            let (kept, ended) = toy.leave();
            ended.expect("a clean end");
            let rejoined = Toy::rejoin(channel(connect()), ITEMS, kept, rng());
            let toy = rejoined.map_err(|(failure, _)| failure).expect("joined again");
            assert_eq!(toy.enrolled().client.set_size, 2);
            assert!(first.upgrade().is_some(), "it still has its time");
            toy.leave().1.expect("a clean end");
            other.leave().1.expect("a clean end");
        });
        assert!(told.failures.lock().unwrap().is_empty());

        // With its time over: a client that asks nothing is disconnected, so that nobody holds the state.
        let state = Published::new(prepared(&[1]));
        let first = Arc::downgrade(&state.current());
        let (_, told) = with_server(acceptor, &state, &limits(), |_| {
            let mut toy = enrol(connect());
            assert_eq!(toy.query(vec![1, 2, 3]).expect("an answer"), [true, false, false]);
            state.retire(prepared(&[2, 3]), Instant::now());
            wait_until(|| first.upgrade().is_none());
            let refused = toy.query(vec![1, 2, 3]).expect_err("disconnected").to_string();
            assert!(refused.contains("wiped the set"), "{refused}");
        });
        assert_eq!(told.failures.lock().unwrap().len(), 1);
    });
}

/// Whatever the moment at which the state is replaced, an answer is that of one state.
#[test]
fn every_answer_is_that_of_one_state() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[0, 1, 2]));
        with_server(acceptor, &state, &limits(), |_| {
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let mut toy = enrol(connect());
                        for _ in 0..50 {
                            let found = toy.query(vec![0, 1, 2]).expect("an answer");
                            assert!(
                                found == [true; 3] || found == [false; 3],
                                "{found:?} is half of one state and half of another"
                            );
                        }
                        toy.leave().1.expect("a clean end");
                    });
                }
                for round in 1..100 {
                    state.replace(prepared(if round % 2 == 0 { &[0, 1, 2] } else { &[7, 8] }));
                    thread::yield_now();
                }
            });
        });
    });
}

#[test]
fn a_state_with_other_parameters_is_not_served() {
    over_both(|acceptor, connect| {
        let state = Published::new(prepared(&[1]));
        with_server(acceptor, &state, &limits(), |_| {
            let other = vesica_testkit::insecure_lookup::LookupServer::prepare(&(ITEMS + 1), vec![1], &mut rng());
            state.replace(other.expect("prepared"));
            let refusal = Toy::enrol(channel(connect()), ITEMS, rng()).err().expect("refused");
            assert!(refusal.to_string().contains("prepared for other parameters"), "{refusal}");
        });
    });
}
