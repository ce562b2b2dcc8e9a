use std::sync::atomic::Ordering;

use vesica_party::service::{Client as _, Standing};
use vesica_party::{Abort, Security};
use vesica_structures::hashing::SimpleTable;
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, SecretKey};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{try_two_party, two_party};

use super::params::ring;
use super::*;
use crate::bfv_testing::{correlation, deviation};
use crate::recurrent::testing::{self, admit, answer, bytes_of, check, query, read};
use vesica_protocols::bfv::drown;
use vesica_protocols::tasks::IntersectSenderInput;
use vesica_protocols::unbalanced::dealing::{FREE, deal};
use vesica_protocols::unbalanced::evaluation::all_powers;
use vesica_protocols::unbalanced::query::Slots;
use vesica_protocols::unbalanced::ring::PLAIN;
use vesica_protocols::unbalanced::{Shape, noise};

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
    let client = testing::many_queries_are_right::<Clr17>(&params(set.items.len(), 3), &set);
    assert_eq!(client.asked, 4, "queries are counted across files");
}

#[test]
fn a_query_of_many_items_is_right() {
    let set = set(0, 5000);
    let params = params(5000, 700);
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
    testing::clients_move_over_to_a_replaced_set::<Clr17>(&params(10, 2), &params(10, 3), false);
}

#[test]
fn the_last_query_is_the_last() {
    let exhaust = |client: &mut Client| client.asked = QUERIES_AN_ENROLMENT - 1;
    let refused = testing::the_last_query_is_the_last::<Clr17>(&params(10, 1), &set(0, 10), exhaust);
    assert!(refused.to_string().contains("65536"), "{refused}");
}

#[test]
fn a_set_answers_no_more_than_its_floods_are_for() {
    let params = params(10, 1);
    let server: Server = testing::prepared(&params, &set(0, 10));
    let a_query = params.shape.ciphertexts() as u64;
    server.answered.store(ANSWERS_OF_A_SET - a_query, Ordering::Relaxed);
    let (sent, _) = try_two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            answer(&server, &mut session, ch, rng)?;
            assert_eq!(read::<Server>(&bytes_of(&server)).unwrap().answered.load(Ordering::Relaxed), ANSWERS_OF_A_SET);
            answer(&server, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.query(0, query(&[7]), ch, rng)?;
            client.query(1, query(&[7]), ch, rng)
        },
    );
    assert!(matches!(&sent.result, Err(Abort::Local { fault, .. }) if fault.contains("16777216")), "{:?}", sent.result);
    assert_eq!(server.answered.load(Ordering::Relaxed), ANSWERS_OF_A_SET, "what is refused is not counted");
}

/// Products under a key that does not belong to the powers are noise: an error, and never an empty
/// result.
#[test]
fn exhausted_noise_is_counted() {
    let params = params(10, 1);
    let server: Server = testing::prepared(&params, &set(0, 10));
    let ((), output) = two_party(
        |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.key = SecretKey::new(&ring().scheme, rng);
            client.query(0, query(&[7]), ch, rng)
        },
    );
    assert_eq!((&output.matches[..], output.unread), (&[0u32; 0][..], 1));
}

/// A session, and the scrambled values of each part at these items.
fn scrambled(
    params: &Params,
    server: &Server,
    items: &[u128],
    rng: &mut SecretRng,
) -> (Session, Client, Slots, Vec<Vec<Ciphertext<vesica_structures::rlwe::bfv::Values>>>) {
    let (session, client) =
        two_party(|ch, rng| admit(server, Standing::New, ch, rng), |ch, rng| Client::enrol(params, ch, rng));
    let (ring, shape) = (ring(), params.shape);
    let (positions, limbs) = params.hash(&client.seeds, items);
    let slots = Slots::new(&ring.scheme, shape, &positions, &limbs).unwrap();
    let powers = shape.powers();
    let mut encryptor = client.key.encryptor(&ring.scheme, rng);
    let seed = encryptor.seed();
    let mut columns = Vec::new();
    for column in 0..shape.columns() {
        let mut sent = Vec::new();
        for &exponent in &powers.sent {
            let number = encryptor.next_number();
            let half = slots.encrypt(&ring.scheme, column, exponent, &mut encryptor, rng);
            sent.push(ring.scheme.expand(&seed, number, half));
        }
        columns.push(all_powers(ring, &powers, sent, &session.product));
    }
    let values = (0..shape.parts).map(|part| server.scrambled(0, part, &columns, rng)).collect();
    (session, client, slots, values)
}

fn coefficients(ciphertext: &Ciphertext<vesica_structures::rlwe::bfv::Values>) -> Ciphertext<Coefficients> {
    ring().scheme.ciphertext_coefficients(ciphertext.clone())
}

/// What comes back of a part: zero for a match in all limbs; otherwise uniform among what is not zero,
/// also where some limbs match. Noise is within what is predicted, and answers show none of it: an
/// honest run fails with probability 10^-6.
#[test]
fn answers_show_matches_alone() {
    let params = params(600, 40);
    let (ring, shape) = (ring(), params.shape);
    let server: Server = testing::prepared(&params, &set(0, 600));
    let mut rng = SecretRng::from_os().unwrap();
    let items: Vec<u128> = (580..620).collect();
    let (session, client, slots, values) = scrambled(&params, &server, &items, &mut rng);
    let drowned = noise::of_scrambled(ring, shape.degree, shape.powers().depth(), shape.limbs);
    assert!(noise::is_within(&shape, shape.powers().depth()));
    let mut found = vec![0; shape.bins()];
    let (mut sum, mut count, mut squares) = (0.0, 0.0, 0.0);
    for values in &values {
        let mut plains = Vec::new();
        for value in values {
            let bare = coefficients(value);
            let guess = ring.scheme.noise_of(&bare, &client.key);
            let measured = deviation(&guess) / drowned;
            assert!((0.05..1.0).contains(&measured), "{measured}");
            let seen = drown(ring, &session.public, &bare, &mut rng);
            let noise = ring.scheme.noise_of(&seen, &client.key);
            sum += correlation(&noise, &guess);
            squares += deviation(&noise).powi(2);
            count += 1.0;
            // The second half is fresh.
            let mixed = Ciphertext { c0: seen.c0.clone(), c1: bare.c1.clone() };
            assert!(
                ring.scheme.decrypt(&bare, &client.key).is_ok() && ring.scheme.decrypt(&mixed, &client.key).is_err()
            );
            let mut short = seen;
            ring.scheme.switch_down(&mut short, ring.sent_primes);
            assert!(ring.scheme.noise_bits(&short, &client.key) < ring.scheme.room_bits(ring.sent_primes) - 5.0);
            plains.push(vesica_structures::secret::Secret::new(ring.scheme.decrypt(&short, &client.key).unwrap()));
        }
        slots.mark(&ring.scheme, &plains, &mut found);
        // Slots that are not all zero are uniform, with the mean t / 2.
        let all: Vec<f64> =
            plains.iter().flat_map(|plain| ring.scheme.decode(plain)).filter(|&x| x != 0).map(|x| x as f64).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64 / PLAIN as f64;
        assert!((mean - 0.5).abs() < 6.0 * 0.289 / (all.len() as f64).sqrt(), "{mean}");
        assert!(all.len() as f64 > 0.99 * (8192 * shape.limbs) as f64);
    }
    assert_eq!(slots.matches(&found), (0..20).collect::<Vec<u32>>());
    assert!((sum / f64::sqrt(count)).abs() < 5.0, "{sum} of {count}");
    // Four uniform numbers of 116 bits have a variance of 4^116 / 3.
    let width = squares / count / 2f64.powi(232);
    assert!((width - 1.0 / 3.0).abs() < 0.02, "{width}");
}

/// The parts of the items that are dealt at random.
fn dealt_parts(shape: &Shape, positions: &[[u32; 3]], rng: &mut SecretRng) -> Vec<usize> {
    let table = SimpleTable::build_vartime(positions, shape.bins(), shape.capacity).unwrap();
    let dealt = deal(shape, &table, Some(rng));
    let items = dealt.iter().enumerate().filter(|(_, item)| **item != FREE);
    items.map(|(place, _)| place % shape.places() % shape.parts).collect()
}

/// An item's place in its bin is uniform, however few items the bin has: of 600 items in 8192 bins, in
/// one of the parts each. A chi-square of one degree exceeds 25 with probability 6 10^-7.
#[test]
fn items_lie_in_any_part_of_their_bins() {
    let params = params(600, 1);
    let shape = Shape { parts: 2, degree: params.shape.degree.max(2), basis: 1, ..params.shape };
    let shape = Shape { capacity: shape.parts * shape.degree, ..shape };
    let positions: Vec<[u32; 3]> = (0..600).map(|item| [3 * item, 3 * item + 1, 3 * item + 2]).collect();
    let rng = &mut SecretRng::from_os().unwrap();
    let dealt = dealt_parts(&shape, &positions, rng);
    assert_eq!(dealt.len(), 1800);
    let first = dealt.iter().filter(|&&part| part == 0).count() as f64;
    assert!((first - 900.0).powi(2) / 450.0 < 25.0, "{first}");
}

#[test]
fn what_is_not_served_is_refused() {
    let good = request(10, 1);
    for (request, says) in [
        (IntersectRequest { payload_bytes: 1, ..good }, "membership alone"),
        (IntersectRequest { both_learn: true, ..good }, "a sender that learns"),
        (IntersectRequest { security: Security::Malicious, ..good }, "clr17"),
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
    let end = bad.len() - 4 * 8192;
    bad[end..end + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read::<Server>(&bad).is_err());
    assert!(read::<Server>(&good[..good.len() - 1]).is_err());
    for (a, b) in [(params, params), (params, self::params(11, 1)), (params, self::params(10, 2))] {
        assert_eq!(Params::from_words(a.to_words()), Some(a));
        assert_eq!(Clr17::terms(&a) == Clr17::terms(&b), a == b);
    }
}
