use std::collections::HashSet;

use vesica_mpc::rfc9497::{self, SecretKey};
use vesica_party::service::{Client as _, Server as _, Standing};
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::facts::{FailureEvent, ceil_log2};
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::max_load;
use vesica_structures::packing::{packed_len, unpack};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{try_two_party, two_party};

use super::client::Ordered;
use super::messages::{Blinded, Buckets, Evaluated, Prefixes};
use super::params::SERVED_PREFIX_BITS;
use super::*;
use crate::recurrent::QUERIES_AN_ENROLMENT;
use crate::recurrent::oprf::evaluate;
use crate::recurrent::testing::{self, WIDTH, admit, answer, bytes_of, check, prepared, query, read, set};
use crate::tasks::IntersectSenderInput;

fn request(set_items: usize, query_items: usize) -> IntersectRequest {
    testing::request(set_items, query_items, Security::SemiHonest)
}

fn params(set_items: usize, query_items: usize, prefix_bits: u32) -> Params {
    Params::derive(&request(set_items, query_items), prefix_bits).unwrap()
}

#[test]
fn many_queries_of_one_enrolment_are_right() {
    let set = set(1000, 3000);
    for bits in [1, 8, PREFIX_BITS] {
        let client = testing::many_queries_are_right::<OprfBuckets>(&params(set.items.len(), 3, bits), &set);
        assert_eq!(client.asked, 4, "queries are counted across files");
    }
}

#[test]
fn a_replaced_set_reaches_clients_that_come_back() {
    let (wide, narrow) = (params(10, 2, 8), params(10, 2, 7));
    testing::clients_move_over_to_a_replaced_set::<OprfBuckets>(&wide, &narrow, true);
}

#[test]
fn a_client_stops_when_its_budget_of_queries_is_used_up() {
    let exhaust = |client: &mut Client| client.asked = QUERIES_AN_ENROLMENT - 1;
    let refused = testing::the_last_query_is_the_last::<OprfBuckets>(&params(10, 1, 4), &set(0, 10), exhaust);
    assert!(refused.to_string().contains("262144 times"), "{refused}");
}

#[test]
fn a_set_with_an_item_twice_is_refused() {
    testing::a_set_with_an_item_twice_is_refused::<Server>(&params(5, 1, 4));
}

/// The prefixes that a server sees of a query of these items.
fn seen(params: &Params, server: &Server, items: &[u128]) -> Vec<u32> {
    let (seen, ()) = two_party(
        |ch, _| {
            let mut prefixes = vec![0; items.len()];
            ch.recv_stream::<Prefixes>(&mut prefixes)?;
            evaluate::<Blinded, Evaluated>(&server.key, items.len(), ch)?;
            ch.send_stream::<Buckets>(&vec![0; items.len() * params.bucket_bytes()])?;
            Ok(prefixes)
        },
        |ch, rng| Client::enrol(params, ch, rng)?.query(0, query(items), ch, rng).map(drop),
    );
    seen
}

#[test]
fn a_server_sees_the_prefixes_and_not_the_order_of_the_items() {
    let params = params(100, 6, 10);
    let server: Server = prepared(&params, &set(0, 100));
    let items = [5, 900, 17, 3, 1 << 100, 44];
    let mut reversed = items;
    reversed.reverse();
    let mut expected = prefixes(&items, 10);
    expected.sort_unstable();
    assert_eq!(seen(&params, &server, &items), expected);
    assert_eq!(seen(&params, &server, &reversed), expected);
}

/// Items with equal prefixes are asked about one by one, so that their number does not show
/// elsewhere.
#[test]
fn items_of_one_prefix_are_all_found() {
    let items: Vec<u128> = (0..).filter(|&item| prefixes(&[item], 6) == [11]).take(5).collect();
    let set = IntersectSenderInput { payloads: items.iter().flat_map(|&item| [item as u8; WIDTH]).collect(), items };
    let asked = [set.items[4], set.items[0], 12_345_678, set.items[2]];
    let params = params(5, 4, 6);
    let server: Server = prepared(&params, &set);
    two_party(
        |ch, rng| answer(&server, &mut (), ch, rng),
        |ch, rng| {
            let sent = ch.tally().total().sent_payload + ch.tally().total().received_payload;
            check(&set, &asked, &Client::enrol(&params, ch, rng)?.query(0, query(&asked), ch, rng)?);
            let total = ch.tally().total();
            assert_eq!(total.sent_payload + total.received_payload - sent, params.query_bytes());
            Ok(())
        },
    );
}

/// Dummies of both sides are random items, and those of the engine are hashes.
#[test]
fn prefixes_are_uniform_and_depend_on_the_item_alone() {
    const COUNT: usize = 1 << 16;
    let mut rng = SecretRng::insecure_from_seed(1);
    let (low, high): (Vec<u128>, Vec<u128>) = (0..COUNT as u128).map(|item| (item, item << 112)).unzip();
    let random: Vec<u128> = (0..COUNT).map(|_| rng.block()).collect();
    for items in [low, high, random] {
        let found = prefixes(&items, 8);
        assert_eq!(found, prefixes(&items, 8));
        let mut loads = [0usize; 256];
        found.iter().for_each(|&prefix| loads[prefix as usize] += 1);
        // Deviations of 16.
        assert!(loads.iter().all(|load| load.abs_diff(COUNT / 256) < 6 * 16), "{loads:?}");
    }
    let (short, long) = (prefixes(&[77], 3), prefixes(&[77], 19));
    assert_eq!(short[0], long[0] >> 16, "a shorter prefix is the beginning of a longer one");
}

/// Whether a bucket is empty or as full as any, its bytes look alike: as many tags, of which each
/// bit is as often set, and cells that are not empty.
#[test]
fn a_bucket_does_not_show_how_many_items_are_in_it() {
    // Prefixes of one bit: an empty bucket, and one that holds the whole set.
    let items: Vec<u128> = (0..).filter(|&item| prefixes(&[item], 1) == [1]).take(1000).collect();
    let set = IntersectSenderInput { payloads: vec![0; items.len() * WIDTH], items };
    let params = Params { slots: 1100, ..params(1000, 1, 1) };
    let server: Server = prepared(&params, &set);
    for bucket in server.table.chunks_exact(params.bucket_bytes()) {
        let (bytes, cells) = bucket.split_at(packed_len(params.slots, params.tag_bits()));
        let mut tags = vec![Gf128::default(); params.slots];
        unpack(bytes, params.tag_bits(), &mut tags).unwrap();
        assert!(tags.windows(2).all(|pair| pair[0].0 < pair[1].0), "ascending, no tag twice");
        for bit in 0..params.tag_bits() {
            let ones = tags.iter().filter(|tag| tag.0 >> bit & 1 == 1).count();
            assert!(ones.abs_diff(550) < 110, "bit {bit} is set in {ones} of 1100 tags");
        }
        let empty = cells.chunks_exact(WIDTH).filter(|cell| **cell == [0; WIDTH]).count();
        assert!(empty < 3, "{empty} cells are empty");
    }
    assert_eq!(params.bucket_bytes() * 2, server.table.len());
}

/// Two copies of a bucket are equal: new filling each time would tell it from the items.
#[test]
fn the_filling_of_a_bucket_stays() {
    let params = params(10, 1, 4);
    let server: Server = prepared(&params, &set(0, 10));
    let fetch = |ch: &mut Channel, rng: &mut SecretRng| -> Result<Vec<u8>, Abort> {
        ch.send_stream::<Prefixes>(&[3])?;
        ch.send_stream::<Blinded>(&rfc9497::blind(rfc9497::Mode::Oprf, &[[7; 16]], rng).1)?;
        ch.recv_stream::<Evaluated>(&mut [[0; 32]])?;
        let mut bucket = vec![0; params.bucket_bytes()];
        ch.recv_stream::<Buckets>(&mut bucket)?;
        Ok(bucket)
    };
    let (_, [first, second, third]) = two_party(
        |ch, rng| {
            answer(&server, &mut (), ch, rng)?;
            answer(&server, &mut (), ch, rng)?;
            answer(&read::<Server>(&bytes_of(&server)).unwrap(), &mut (), ch, rng)
        },
        |ch, rng| Ok([fetch(ch, rng)?, fetch(ch, rng)?, fetch(ch, rng)?]),
    );
    assert!(first == second && second == third);
    let other: Server = prepared(&params, &set(0, 10));
    let tags = |server: &Server| server.table.chunks_exact(8).map(<[u8]>::to_vec).collect::<HashSet<_>>();
    assert!(tags(&server).is_disjoint(&tags(&other)), "another set has another key and another filling");
}

#[test]
fn malformed_messages_are_caught_on_both_sides() {
    let params = params(1, 1, 5);
    let server: Server = prepared(&params, &set(0, 1));
    for prefix in [32, u32::MAX] {
        let (sent, _) =
            try_two_party(|ch, rng| answer(&server, &mut (), ch, rng), |ch, _| ch.send_stream::<Prefixes>(&[prefix]));
        assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Prefixes::STEP, _))));
    }
    for bad in [[0; 32], [0xff; 32]] {
        let (sent, _) = try_two_party(
            |ch, rng| answer(&server, &mut (), ch, rng),
            |ch, _| {
                ch.send_stream::<Prefixes>(&[31])?;
                ch.send_stream::<Blinded>(&[bad])
            },
        );
        assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Blinded::STEP, _))));
        let (_, received) = try_two_party(
            |ch, _| {
                ch.recv_stream::<Prefixes>(&mut [0])?;
                ch.recv_stream::<Blinded>(&mut [[0; 32]])?;
                ch.send_stream::<Evaluated>(&[bad])
            },
            |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[0]), ch, rng),
        );
        assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Evaluated::STEP, _))));
    }
    // Bits that fill up the last byte of the tags.
    assert!(!(params.slots * params.tag_bits() as usize).is_multiple_of(8));
    let key = SecretKey::random(rfc9497::Mode::Oprf, &mut SecretRng::insecure_from_seed(1));
    let (_, received) = try_two_party(
        |ch, _| {
            ch.recv_stream::<Prefixes>(&mut [0])?;
            evaluate::<Blinded, Evaluated>(&key, 1, ch)?;
            ch.send_stream::<Buckets>(&vec![0xff; params.bucket_bytes()])
        },
        |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[0]), ch, rng),
    );
    assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Buckets::STEP, _))));
}

/// Somebody who knows the salt has put many items of one prefix into the set.
#[test]
fn a_set_that_overflows_a_bucket_is_refused() {
    let params = params(200, 1, 8);
    let items: Vec<u128> = (0..).filter(|&item| prefixes(&[item], 8) == [0]).take(params.slots + 1).collect();
    let filling = (1u128 << 64..).take(200 - items.len());
    let items: Vec<u128> = items.into_iter().chain(filling).collect();
    let set = IntersectSenderInput { payloads: vec![0; items.len() * WIDTH], items };
    let refused = Server::prepare(&params, set, &mut SecretRng::insecure_from_seed(1));
    assert!(matches!(refused, Err(Abort::StatisticalFailure(_))));
}

/// Every number that docs/parameters/recurrent.md claims of the derivation.
#[test]
fn parameters_keep_their_bounds_at_all_sizes() {
    for set_items in [0, 1, 2, 1000, 1 << 14, 1 << 20, 1 << 24, 1 << 26] {
        for query_items in [0, 1, 4, 1 << 14] {
            for bits in SERVED_PREFIX_BITS {
                let params = params(set_items, query_items, bits);
                let buckets = 1 << bits;
                assert!(max_load(set_items, 1, buckets, FailureEvent::HashTable.bits()) <= params.slots);
                assert!(params.slots * buckets >= set_items && params.slots <= set_items.max(1), "{params:?}");
                let pairs = QUERIES_AN_ENROLMENT.ilog2() + ceil_log2(query_items) + ceil_log2(params.slots);
                assert_eq!(params.tag_bits(), FailureEvent::TagCollision.bits() + pairs);
                assert!(params.tag_bits() <= u128::BITS);
                assert_eq!(Params::from_words(params.to_words()), Some(params));
            }
        }
    }
    let of = |log: u32, bits| {
        let params = Params::derive(&IntersectRequest { payload_bytes: 0, ..request(1 << log, 1) }, bits).unwrap();
        (params.slots, params.tag_bits(), params.bucket_bytes())
    };
    assert_eq!([(20, 16), (20, 20), (22, 16), (24, 12), (24, 16), (24, 20)].map(|(log, bits)| of(log, bits)), DERIVED);
}

/// The table in docs/parameters/recurrent.md: slots, bits of a tag, bytes of a bucket.
const DERIVED: [(usize, u32, usize); 6] =
    [(62, 66, 512), (20, 65, 163), (145, 68, 1233), (4643, 73, 42_368), (407, 69, 3511), (64, 66, 528)];

#[test]
fn what_is_not_served_is_refused_with_a_mend() {
    for bits in [0, 21, 32, u32::MAX] {
        let refused = Params::derive(&request(10, 1), bits).unwrap_err();
        assert!(refused.what.contains("prefix") && refused.mend.contains("1 to 20"), "{refused}");
    }
    let malicious = IntersectRequest { security: Security::Malicious, ..request(1, 1) };
    assert!(Params::derive(&malicious, 8).is_err());
    assert!(Params::derive(&IntersectRequest { both_learn: true, ..request(1, 1) }, 8).is_err());
    // A million buckets of kilobytes for a small set.
    let wide = IntersectRequest { payload_bytes: 1024, ..request(1000, 1) };
    assert!(Params::derive(&wide, 20).unwrap_err().mend.contains("shorter prefix"));
    assert!(Params::derive(&wide, 10).is_ok());
    let refused = IntersectRequest { payload_bytes: 1 << 16, ..request(IntersectRequest::MOST_ITEMS, 1) };
    assert!(Params::derive(&refused, 20).is_ok_and(|params| params.table_bytes() > 1 << 40));
}

#[test]
fn damaged_states_are_refused() {
    let params = params(3, 1, 4);
    let server: Server = prepared(&params, &set(0, 3));
    let bytes = bytes_of(&server);
    assert!(read::<Server>(&bytes).is_ok() && read::<Client>(&bytes).is_err());
    for place in [80, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert!(read::<Server>(&damaged).is_err(), "byte {place}");
        assert!(read::<Server>(&bytes[..place]).is_err(), "{place} bytes");
    }
    for (place, wrong) in [(0, u64::MAX), (1, 1 << 40), (2, 1 << 20), (3, 21), (4, 1), (5, 129), (6, 2)] {
        let mut words = params.to_words();
        words[place] = wrong;
        assert_eq!(Params::from_words(words), None, "{wrong} at {place}");
    }
}

#[test]
fn items_come_back_to_their_places() {
    let params = params(10, 5, 3);
    let items = [9, 4, 7, 1 << 90, 2];
    let Ordered { prefixes: sorted, places, items: ordered } = Ordered::of(&params, &items);
    assert!(sorted.is_sorted());
    for ((&place, &item), &prefix) in places.iter().zip(ordered.iter()).zip(&sorted) {
        assert_eq!((items[place], prefixes(&[item], 3)), (item, vec![prefix]));
    }
    assert_eq!(places.iter().collect::<HashSet<_>>().len(), items.len());
}

#[test]
fn nothing_travels_when_a_client_enrols() {
    let params = params(10, 1, 4);
    let server: Server = prepared(&params, &set(0, 10));
    let ((), total) = two_party(
        |ch, rng| admit(&server, Standing::New, ch, rng),
        |ch, rng| {
            Client::enrol(&params, ch, rng)?;
            Ok(ch.tally().total())
        },
    );
    assert_eq!((total.sent_payload, total.received_payload), (0, 0));
    assert_eq!(OprfBuckets::enrolment_bytes(&params), 0..=0);
}
