use vesica_party::service::{Client as _, Standing};
use vesica_party::{Abort, Security, Stream};
use vesica_structures::rng::SecretRng;
use vesica_testkit::try_two_party;

use super::messages::{Blinded, DoublyBlinded, Tags};
use super::*;
use crate::recurrent::testing::{self, admit, bytes_of, prepared, query, read, set};
use vesica_protocols::ecdh::{blind_items, random_exponent};
use vesica_protocols::recurrent::{QUERIES_AN_ENROLMENT, Sizes};

fn params(set_items: usize, query_items: usize) -> Params {
    Params::derive(&testing::request(set_items, query_items, Security::SemiHonest)).unwrap()
}

#[test]
fn many_queries_of_one_enrolment_are_right() {
    // More than a part of coded tags.
    let set = set(1000, 20_000);
    let client = testing::many_queries_are_right::<Ra17>(&params(set.items.len(), 3), &set);
    assert_eq!(client.asked, 4, "queries are counted across files");
}

#[test]
fn a_replaced_set_reaches_clients_that_come_back() {
    testing::clients_move_over_to_a_replaced_set::<Ra17>(&params(10, 2), &params(11, 2), true);
}

#[test]
fn a_client_stops_when_its_budget_of_queries_is_used_up() {
    let exhaust = |client: &mut Client| client.asked = QUERIES_AN_ENROLMENT - 1;
    let refused = testing::the_last_query_is_the_last::<Ra17>(&params(10, 1), &set(0, 10), exhaust);
    assert!(refused.to_string().contains("262144 times"), "{refused}");
}

#[test]
fn a_set_with_an_item_twice_is_refused() {
    testing::a_set_with_an_item_twice_is_refused::<Server>(&params(5, 1));
}

/// A client's points are not those of its next query, and not those of another one for the same
/// items.
#[test]
fn every_query_has_a_blinding_of_its_own() {
    let rng = &mut SecretRng::insecure_from_seed(1);
    let params = params(10, 1);
    let server: Server = prepared(&params, &set(0, 10));
    let (seen, client) = try_two_party(
        |ch, rng| {
            admit(&server, Standing::New, ch, rng)?;
            let mut seen = [[[0; 32]]; 2];
            for points in &mut seen {
                ch.recv_stream::<Blinded>(points)?;
                ch.send_stream::<DoublyBlinded>(points)?;
            }
            Ok(seen)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            // Echoed points carry one blinding only: nothing matches.
            for number in 0..2 {
                assert_eq!(client.query(number, query(&[7]), ch, rng)?.matches, [0u32; 0]);
            }
            Ok(())
        },
    );
    client.result.unwrap();
    let [first, second] = seen.result.unwrap();
    assert_ne!(first, second);
    assert_ne!(first[0], blind_items(DOMAIN, &NO_SESSION, &[7], &random_exponent(rng))[0]);
}

#[test]
fn points_outside_of_the_group_are_caught_on_both_sides() {
    let params = params(1, 1);
    let server: Server = prepared(&params, &set(0, 1));
    for bad in [[0; 32], [0xff; 32]] {
        let (sent, _) = try_two_party(
            |ch, rng| testing::answer(&server, &mut (), ch, rng),
            |ch, _| ch.send_stream::<Blinded>(&[bad]),
        );
        assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Blinded::STEP, _))));
        let (_, received) = try_two_party(
            |ch, rng| {
                admit(&server, Standing::New, ch, rng)?;
                ch.recv_stream::<Blinded>(&mut [[0; 32]])?;
                ch.send_stream::<DoublyBlinded>(&[bad])
            },
            |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[7]), ch, rng),
        );
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(DoublyBlinded::STEP, _))));
    }
}

#[test]
fn malformed_tags_are_refused() {
    let params = params(100, 1);
    for bytes in [vec![0xff; 4], [&800u32.to_le_bytes()[..], &[0; 800]].concat()] {
        let (_, received) =
            try_two_party(|ch, _| ch.send_stream::<Tags>(&bytes), |ch, rng| Client::enrol(&params, ch, rng));
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Tags::STEP, _))), "{:?}", received.result);
    }
}

#[test]
fn states_that_were_never_written_are_refused() {
    let params = params(5, 2);
    let words = params.to_words();
    assert_eq!(Params::from_words(words), Some(params));
    for (place, wrong) in [(0, u64::MAX), (1, 1 << 40), (2, 1 << 20), (3, 82), (4, 256), (5, 2)] {
        let mut words = words;
        words[place] = wrong;
        assert_eq!(Params::from_words(words), None, "{wrong} at {place}");
    }
    let server: Server = prepared(&params, &set(0, 5));
    assert!(read::<Client>(&bytes_of(&server)).is_err(), "a server's state is no client's");
}

#[test]
fn what_is_not_served_is_refused_with_a_mend() {
    let request = testing::request(5, 2, Security::SemiHonest);
    let refused = Params::derive(&IntersectRequest { both_learn: true, ..request }).unwrap_err();
    assert!(refused.mend.contains("let only the receiver learn"), "{refused}");
    assert!(Params::derive(&IntersectRequest { security: Security::Malicious, ..request }).is_err());
}

#[test]
fn tags_are_wide_enough_for_all_queries() {
    let sizes = Sizes { set_items: 1 << 20, query_items: 4, payload_bytes: 0 };
    assert_eq!(sizes.tag_bits(), 42 + 20 + 18 + 2);
}
