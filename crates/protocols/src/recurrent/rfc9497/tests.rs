use vesica_party::service::{Client as _, Server as _, Standing};
use vesica_party::{Abort, Channel, Security, Stream};
use vesica_structures::rng::SecretRng;
use vesica_testkit::try_two_party;

use super::messages::{Blinded, Edition, Evaluated, Key, Proofs, Tags};
use super::*;
use crate::recurrent::QUERIES_AN_ENROLMENT;
use crate::recurrent::testing::{self, admit, bytes_of, prepared, query, read, set};

fn params(set_items: usize, query_items: usize, security: Security) -> Params {
    Params::derive(&testing::request(set_items, query_items, security)).unwrap()
}

/// The server's half of a query.
fn answer(server: &Server, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    testing::answer(server, &mut (), ch, rng)
}

const MODES: [Security; 2] = [Security::SemiHonest, Security::Malicious];

#[test]
fn many_queries_of_one_enrolment_are_right_in_both_modes() {
    // More than a part of coded tags.
    let set = set(1000, 20_000);
    for security in MODES {
        let client = testing::many_queries_are_right::<OprfRfc9497>(&params(set.items.len(), 3, security), &set);
        assert_eq!(client.asked, 4, "queries are counted across files");
    }
}

#[test]
fn a_replaced_set_reaches_clients_that_come_back() {
    let params = params(10, 2, Security::Malicious);
    let weaker = Params { is_verifiable: false, ..params };
    testing::clients_move_over_to_a_replaced_set::<OprfRfc9497>(&params, &weaker, true);
}

#[test]
fn a_replaced_set_has_a_key_and_a_budget_of_its_own() {
    let params = params(10, 2, Security::Malicious);
    let [before, after]: [Server; 2] = [0, 5].map(|first| prepared(&params, &set(first, 10)));
    assert_ne!(before.key.public(), after.key.public());
    let (_, client) = try_two_party(
        |ch, rng| {
            admit(&before, Standing::New, ch, rng)?;
            admit(&after, Standing::Outdated(before.state_id()), ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.asked = QUERIES_AN_ENROLMENT;
            client.rejoin(&params, Standing::Outdated(before.state_id()), ch, rng)?;
            Ok(client.asked)
        },
    );
    assert_eq!(client.result.unwrap(), 0);
}

/// A corrupt server enrols a client with what an honest one sent it, and passes queries on.
#[test]
fn proofs_of_another_conversation_are_refused() {
    let params = params(10, 1, Security::Malicious);
    let server: Server = prepared(&params, &set(0, 10));
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
        let [server, other]: [Server; 2] = [(); 2].map(|()| prepared(&params, &set));
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
    let server: Server = prepared(&params, &set(0, 1));
    for bad in [[0; 32], [0xff; 32]] {
        let (sent, _) = try_two_party(|ch, rng| answer(&server, ch, rng), |ch, _| ch.send_stream::<Blinded>(&[bad]));
        assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Blinded::STEP, _))));

        let (_, received) =
            try_two_party(|ch, _| ch.send_stream::<Key>(&[bad]), |ch, rng| Client::enrol(&params, ch, rng));
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Key::STEP, _))));
    }
    // Without proofs, which no such element passes.
    let params = Params { is_verifiable: false, ..params };
    let server: Server = prepared(&params, &set(0, 1));
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
        let (_, received) = try_two_party(
            |ch, _| {
                ch.send_stream::<Edition>(&[0; super::params::EDITION_BYTES])?;
                ch.send_stream::<Tags>(&bytes)
            },
            |ch, rng| Client::enrol(&params, ch, rng),
        );
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Tags::STEP, _))), "{:?}", received.result);
    }
}

#[test]
fn a_client_stops_when_its_budget_of_queries_is_used_up() {
    let params = params(10, 1, Security::SemiHonest);
    let exhaust = |client: &mut Client| client.asked = QUERIES_AN_ENROLMENT - 1;
    let refused = testing::the_last_query_is_the_last::<OprfRfc9497>(&params, &set(0, 10), exhaust);
    let Abort::Local { fault, mend, .. } = refused else { panic!("{refused:?}") };
    assert!(fault.contains("262144 times") && mend.contains("prepare its set again"), "{fault}; {mend}");
}

#[test]
fn states_that_were_never_written_are_refused() {
    let params = params(5, 2, Security::Malicious);
    let words = params.to_words();
    assert_eq!(Params::from_words(words), Some(params));
    for (place, wrong) in [(0, u64::MAX), (1, 1 << 40), (2, 1 << 20), (3, 2), (4, 82), (5, 256), (6, 3)] {
        let mut words = words;
        words[place] = wrong;
        assert_eq!(Params::from_words(words), None, "{wrong} at {place}");
    }
    assert!(
        read::<Client>(&bytes_of::<Server>(&prepared(&params, &set(0, 5)))).is_err(),
        "a server's state is no client's"
    );
}

#[test]
fn a_set_with_an_item_twice_is_refused() {
    testing::a_set_with_an_item_twice_is_refused::<Server>(&params(5, 1, Security::SemiHonest));
}

#[test]
fn tags_are_wide_enough_for_all_queries() {
    let width = |n_s: usize, n_r: usize, security| params(n_s, n_r, security).tag_bits();
    // The budget's share, 2^20 items, 2^18 queries of 4.
    assert_eq!(width(1 << 20, 4, Security::SemiHonest), 42 + 20 + 18 + 2);
    assert_eq!(width(1 << 20, 4, Security::Malicious), 128);
}

mod updates;
