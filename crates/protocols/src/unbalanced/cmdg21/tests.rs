mod labels;

use vesica_party::service::{Client as _, Standing};
use vesica_party::{Abort, Stream};
use vesica_structures::rlwe::bfv;
use vesica_structures::secret::Secret;
use vesica_testkit::{try_two_party, two_party};

use super::messages::{Blinded, Evaluated, Question};
use super::params::ring;
use super::*;
use crate::recurrent::testing::{self, admit, answer, bytes_of, check, query, read};
use crate::tasks::IntersectSenderInput;
use crate::unbalanced::Shape;
use crate::unbalanced::query::Slots;

fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
    IntersectRequest {
        sender_items,
        receiver_items,
        security: Security::SemiHonest,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    }
}

fn params(set_items: usize, query_items: usize) -> Params {
    Params::derive(&request(set_items, query_items)).unwrap()
}

fn set(first: u128, count: usize) -> IntersectSenderInput {
    IntersectSenderInput { items: (first..first + count as u128).collect(), payloads: Vec::new() }
}

/// Both sides go through files between queries. The item 7 is there three times.
#[test]
fn many_queries_of_one_enrolment_are_right() {
    let mut set = set(1000, 3000);
    set.items.extend([7, 7, 7, 4000]);
    let client = testing::many_queries_are_right::<Cmdg21>(&params(set.items.len(), 3), &set);
    assert_eq!(client.asked, 4, "queries are counted across files");
}

#[test]
fn a_query_of_several_groups_and_parts_is_right() {
    let set = set(0, 5000);
    let params = params(5000, 700);
    assert!(params.shape.groups > 1, "{params:?}");
    let items: Vec<u128> = (4700..5400).collect();
    let server: Server = testing::prepared(&params, &set);
    two_party(
        |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
        |ch, rng| {
            let output = Client::enrol(&params, ch, rng)?.query(0, query(&items), ch, rng)?;
            assert_eq!(output.matches, (0..300).collect::<Vec<u32>>());
            check(&set, &items, &output);
            Ok(())
        },
    );
}

#[test]
fn a_replaced_set_reaches_clients_that_come_back() {
    testing::clients_move_over_to_a_replaced_set::<Cmdg21>(&params(10, 2), &params(10, 3), false);
}

#[test]
fn the_last_query_is_the_last() {
    let exhaust = |client: &mut Client| client.asked = QUERIES_AN_ENROLMENT - 1;
    let refused = testing::the_last_query_is_the_last::<Cmdg21>(&params(10, 1), &set(0, 10), exhaust);
    assert!(refused.to_string().contains("65536"), "{refused}");
}

/// An item all of whose limbs are in the set, but not of one item, is in it; one limb less, and it is
/// not: what a client marks.
#[test]
fn only_bins_whose_slots_are_all_zero_are_marked() {
    let shape = Shape { limbs: 3, ..params(10, 1).shape };
    let scheme = &ring().scheme;
    let slots = Slots::new(scheme, shape, &[[5, 6, 7]], &[1, 2, 3]).unwrap();
    let mut found = vec![0; shape.bins()];
    let mut values = vec![1; scheme.slots()];
    values[15..18].copy_from_slice(&[0, 0, 1]);
    slots.mark(scheme, &[Secret::new(scheme.encode(&values))], &mut found);
    assert_eq!((slots.matches(&found), found.iter().sum::<u8>()), (vec![], 0));
    // The item lies in one of its three bins.
    values[15..24].fill(0);
    slots.mark(scheme, &[Secret::new(scheme.encode(&values))], &mut found);
    assert_eq!((slots.matches(&found), found.iter().sum::<u8>()), (vec![0], 3));
}

/// Limbs are those bits of an output that come after its first 128.
#[test]
fn limbs_are_disjoint_parts_of_an_output() {
    let params = Params { shape: Shape { limbs: 15, ..params(10, 1).shape }, ..params(10, 1) };
    for bit in 0..8 * 64 {
        let mut output = [0; 64];
        output[bit / 8] = 1 << (bit % 8);
        let mut expected = vec![0; 15];
        if (128..128 + 255).contains(&bit) {
            expected[(bit - 128) / 17] = 1 << ((bit - 128) % 17);
        }
        assert_eq!(*params.limbs(&[output]), expected, "bit {bit}");
    }
}

/// Products under a key that does not belong to the powers are noise: an error, and never an empty
/// result.
#[test]
fn exhausted_noise_is_counted() {
    let params = params(10, 1);
    assert!(params.shape.powers().products() > 0);
    let server: Server = testing::prepared(&params, &set(0, 10));
    let ((), output) = two_party(
        |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.key = bfv::SecretKey::new(&ring().scheme, rng);
            client.query(0, query(&[7]), ch, rng)
        },
    );
    assert_eq!((&output.matches[..], output.unread), (&[0u32; 0][..], 1));
}

#[test]
fn malformed_polynomials_are_refused() {
    let params = params(10, 1);
    let server: Server = testing::prepared(&params, &set(0, 10));
    let (sent, _) = try_two_party(
        |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
        |ch, rng| {
            Client::enrol(&params, ch, rng)?;
            crate::recurrent::oprf::outputs::<Blinded, Evaluated>(&[7], ch, rng)?;
            ch.send_stream::<Question>(&[0; 32])?;
            ch.send_stream::<Question>(&vec![0xff; ring().half_bytes()])
        },
    );
    assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Question::STEP, _))), "{:?}", sent.result);
}

#[test]
fn what_is_not_served_is_refused() {
    let good = request(10, 1);
    for (request, says) in [
        (IntersectRequest { payload_bytes: 1025, ..good }, "payloads of 1025 bytes"),
        (IntersectRequest { both_learn: true, ..good }, "a sender that learns"),
        (IntersectRequest { security: Security::Malicious, ..good }, "cmdg21"),
        (IntersectRequest { receiver_items: 16_385, ..good }, "16385 items"),
    ] {
        let refused = Params::derive(&request).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
}

#[test]
fn damaged_states_are_refused() {
    let params = params(10, 1);
    let server: Server = testing::prepared(&params, &set(0, 10));
    let good = bytes_of(&server);
    assert!(read::<Server>(&good).is_ok());
    let mut bad = good.clone();
    let end = bad.len() - 4 * 4096;
    bad[end..end + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read::<Server>(&bad).is_err());
    assert!(read::<Server>(&good[..good.len() - 1]).is_err());
    for (a, b) in [(params, params), (params, self::params(11, 1)), (params, self::params(10, 2))] {
        assert_eq!(Cmdg21::terms(&a) == Cmdg21::terms(&b), a == b);
    }
}
