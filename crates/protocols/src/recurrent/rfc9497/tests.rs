use vesica_party::service::{
    Client as _, ClientIdentity, Query, Server as _, Standing, State, StateError, read_state, write_state,
};
use vesica_party::{Abort, Channel, Security, Stream};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{try_two_party, two_party};

use super::messages::{Blinded, Evaluated, Key, Proofs, Tags};
use super::*;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput, IntersectSenderInput, IntersectSenderOutput};

const WIDTH: usize = 3;

fn params(set_items: usize, query_items: usize, security: Security) -> Params {
    let request = IntersectRequest {
        sender_items: set_items,
        receiver_items: query_items,
        security,
        payload_bytes: WIDTH,
        both_learn: false,
    };
    Params::derive(&request).unwrap()
}

const MODES: [Security; 2] = [Security::SemiHonest, Security::Malicious];

/// Items from `first` on, with payloads of their own.
fn set(first: u128, count: usize) -> IntersectSenderInput {
    let items: Vec<u128> = (first..first + count as u128).collect();
    let payloads = items.iter().flat_map(|&item| [item as u8, (item >> 8) as u8, 0xa5]).collect();
    IntersectSenderInput { items, payloads }
}

fn prepared(params: &Params, set: &IntersectSenderInput) -> Server {
    Server::prepare(params, set.clone(), &mut SecretRng::from_os().unwrap()).unwrap()
}

/// The server's half of a query.
fn answer(server: &Server, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    let query = Query { client: ClientIdentity::Anonymous, number: 0 };
    server.answer(&mut (), query, ch, rng).map(drop)
}

fn query(items: &[u128]) -> IntersectReceiverInput {
    IntersectReceiverInput { items: items.to_vec() }
}

fn admit(server: &Server, standing: Standing, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    server.admit(&ClientIdentity::Anonymous, standing, ch, rng)
}

fn check(set: &IntersectSenderInput, items: &[u128], output: &IntersectReceiverOutput) {
    let nothing = IntersectSenderOutput { matches: None };
    Intersect::holds(set, &query(items), &nothing, output).unwrap_or_else(|wrong| panic!("{items:?}: {wrong}"));
}

fn bytes_of<S: State>(state: &S) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_state(state, &mut bytes).unwrap();
    bytes
}

fn read<S: State>(mut bytes: &[u8]) -> Result<S, StateError> {
    let length = bytes.len() as u64;
    read_state(&mut bytes, length, 1 << 24)
}

/// Both sides go through files between queries.
#[test]
fn many_queries_of_one_enrolment_are_right_in_both_modes() {
    // More than a part of coded tags.
    let set = set(1000, 20_000);
    for security in MODES {
        let params = params(set.items.len(), 3, security);
        let server = prepared(&params, &set);
        let queries = [[1, 2, 3], [1000, 20_999, 21_000], [5000, 999, 17_384], [1000, 1001, 1002]];
        let ((), client) = two_party(
            |ch, rng| {
                admit(&server, Standing::New, ch, rng)?;
                let stored: Server = read(&bytes_of(&server)).unwrap();
                assert_eq!(stored.state_id(), server.state_id());
                queries.iter().try_for_each(|_| answer(&stored, ch, rng))
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
}

#[test]
fn a_replaced_set_has_another_key_and_reaches_clients_that_come_back() {
    let (old, new) = (set(0, 10), set(5, 10));
    let params = params(10, 2, Security::Malicious);
    let (before, after) = (prepared(&params, &old), prepared(&params, &new));
    assert_ne!(before.key.public(), after.key.public());
    two_party(
        |ch, rng| {
            admit(&before, Standing::New, ch, rng)?;
            answer(&before, ch, rng)?;
            admit(&after, Standing::Outdated(before.state_id()), ch, rng)?;
            answer(&after, ch, rng)?;
            admit(&after, Standing::Current, ch, rng)?;
            answer(&after, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            check(&old, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            client.rejoin(&params, Standing::Outdated(before.state_id()), ch, rng)?;
            assert_eq!(client.asked, 0, "a new set has a budget of its own");
            check(&new, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            client.rejoin(&params, Standing::Current, ch, rng)?;
            let weaker = Params { is_verifiable: false, ..params };
            assert!(client.rejoin(&weaker, Standing::Current, ch, rng).is_err(), "other parameters");
            check(&new, &[5, 4], &client.query(0, query(&[5, 4]), ch, rng)?);
            Ok(())
        },
    );
}

/// A corrupt server enrols a client with what an honest one sent it, and passes queries on.
#[test]
fn proofs_of_another_conversation_are_refused() {
    let params = params(10, 1, Security::Malicious);
    let server = prepared(&params, &set(0, 10));
    let (_, client) = try_two_party(
        |ch, rng| {
            ch.bind_session([1; 32]);
            admit(&server, Standing::New, ch, rng)?;
            ch.bind_session([2; 32]);
            answer(&server, ch, rng)
        },
        |ch, rng| {
            ch.bind_session([1; 32]);
            Client::enrol(&params, ch, rng)?.query(0, query(&[7]), ch, rng)
        },
    );
    assert!(matches!(client.result, Err(Abort::PeerMisbehaved(Proofs::STEP, _))), "{:?}", client.result);
}

/// With proofs the client notices. Without them it finds nothing, which the entry says by offering
/// no such mode to malicious parties.
#[test]
fn answers_under_another_key_are_caught_where_the_server_proves() {
    let set = set(0, 10);
    for security in MODES {
        let params = params(10, 1, security);
        let (server, other) = (prepared(&params, &set), prepared(&params, &set));
        let (_, client) = try_two_party(
            |ch, rng| {
                admit(&server, Standing::New, ch, rng)?;
                answer(&other, ch, rng)
            },
            |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[7]), ch, rng),
        );
        match security {
            Security::Malicious => {
                assert!(matches!(client.result, Err(Abort::PeerMisbehaved(Proofs::STEP, _))), "{:?}", client.result);
            }
            Security::SemiHonest => assert_eq!(client.result.unwrap().matches, [0u32; 0]),
        }
    }
}

#[test]
fn elements_outside_of_the_group_are_caught_on_both_sides() {
    let params = params(1, 1, Security::Malicious);
    let server = prepared(&params, &set(0, 1));
    for bad in [[0; 32], [0xff; 32]] {
        let (sent, _) = try_two_party(|ch, rng| answer(&server, ch, rng), |ch, _| ch.send_stream::<Blinded>(&[bad]));
        assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Blinded::STEP, _))));

        let (_, received) =
            try_two_party(|ch, _| ch.send_stream::<Key>(&[bad]), |ch, rng| Client::enrol(&params, ch, rng));
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Key::STEP, _))));
    }
    // Without proofs, which no such element passes.
    let params = Params { is_verifiable: false, ..params };
    let server = prepared(&params, &set(0, 1));
    for bad in [[0; 32], [0xff; 32]] {
        let (_, received) = try_two_party(
            |ch, rng| {
                admit(&server, Standing::New, ch, rng)?;
                ch.recv_stream::<Blinded>(&mut [[0; 32]])?;
                ch.send_stream::<Evaluated>(&[bad])
            },
            |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[7]), ch, rng),
        );
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Evaluated::STEP, _))));
    }
}

#[test]
fn malformed_tags_are_refused() {
    let params = params(100, 1, Security::SemiHonest);
    for bytes in [vec![0xff; 4], [&800u32.to_le_bytes()[..], &[0; 800]].concat()] {
        let (_, received) =
            try_two_party(|ch, _| ch.send_stream::<Tags>(&bytes), |ch, rng| Client::enrol(&params, ch, rng));
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Tags::STEP, _))), "{:?}", received.result);
    }
}

/// The next query is refused before anything leaves.
#[test]
fn a_client_stops_when_its_budget_of_queries_is_used_up() {
    let (set, params) = (set(0, 10), params(10, 1, Security::SemiHonest));
    let server = prepared(&params, &set);
    let (_, client) = try_two_party(
        |ch, rng| {
            admit(&server, Standing::New, ch, rng)?;
            answer(&server, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.asked = QUERIES_AN_ENROLMENT - 1;
            check(&set, &[3], &client.query(0, query(&[3]), ch, rng)?);
            let sent = ch.tally().total().sent_payload;
            let refused = client.query(1, query(&[3]), ch, rng).map(drop);
            Ok((refused, ch.tally().total().sent_payload - sent))
        },
    );
    let (refused, sent) = client.result.unwrap();
    let Err(Abort::Local { fault, mend, .. }) = refused else { panic!("{refused:?}") };
    assert!(fault.contains("262144 times") && mend.contains("prepare its set again"), "{fault}; {mend}");
    assert_eq!(sent, 0);
}

#[test]
fn states_that_were_never_written_are_refused() {
    let params = params(5, 2, Security::Malicious);
    let words = params.to_words();
    assert_eq!(Params::from_words(words), Some(params));
    for (place, wrong) in [(0, u64::MAX), (1, 1 << 40), (2, 1 << 20), (3, 2), (4, 82), (5, 256), (6, 2)] {
        let mut words = words;
        words[place] = wrong;
        assert_eq!(Params::from_words(words), None, "{wrong} at {place}");
    }
    assert!(read::<Client>(&bytes_of(&prepared(&params, &set(0, 5)))).is_err(), "a server's state is no client's");
}

#[test]
fn a_set_with_an_item_twice_is_refused() {
    let mut set = set(0, 5);
    set.items[4] = set.items[1];
    let params = params(5, 1, Security::SemiHonest);
    let refused = Server::prepare(&params, set, &mut SecretRng::insecure_from_seed(1)).unwrap_err();
    assert!(refused.to_string().contains("twice"), "{refused}");
}

#[test]
fn tags_are_wide_enough_for_all_queries() {
    let width = |n_s: usize, n_r: usize, security| params(n_s, n_r, security).tag_bits();
    // The budget's share, 2^20 items, 2^18 queries of 4.
    assert_eq!(width(1 << 20, 4, Security::SemiHonest), 42 + 20 + 18 + 2);
    assert_eq!(width(1 << 20, 4, Security::Malicious), 128);
}
