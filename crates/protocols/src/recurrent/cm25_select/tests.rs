use vesica_party::service::{Client as _, Server as _, Standing};
use vesica_party::{Abort, Security, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_testkit::{try_two_party, two_party};

use vesica_structures::hashing::{Parts, SubTables};
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Values};

use super::hashing::Hashing;
use super::messages::{Answers, ClientKeys, Differences, MaskSeed, Masks, Seeds, ServerKey};
use super::params::{DEGREE, SENT_PRIMES, half_bytes, scheme, sent_bytes};
use super::server::{drown, hide};
use super::*;
use crate::bfv::ciphertexts::send_short;
use crate::bfv::testing::{correlation, deviation};
use crate::recurrent::scramble::{PLAIN, ROOT, Scramble};
use crate::recurrent::testing::{self, admit, answer, bytes_of, check, query, read};
use crate::tasks::IntersectSenderInput;

fn params(set_items: usize, query_items: usize) -> Params {
    Params::derive(&request(set_items, query_items)).unwrap()
}

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

fn set(first: u128, count: usize) -> IntersectSenderInput {
    IntersectSenderInput { items: (first..first + count as u128).collect(), payloads: Vec::new() }
}

fn prepared(params: &Params, set: &IntersectSenderInput) -> Server {
    testing::prepared(params, set)
}

/// Both sides go through files between queries.
#[test]
fn many_queries_of_one_enrolment_are_right() {
    // Two groups of bins; the item 7 is there twice.
    let mut set = set(1000, 4000);
    set.items.extend([7, 7]);
    let params = params(set.items.len(), 3);
    assert_eq!((params.groups(), params.limbs()), (2, 4));
    let server = prepared(&params, &set);
    let queries = [[1, 2, 3], [1000, 4999, 5000], [7, 999, 17_384], [1000, 1001, 1002]];
    let ((), client) = two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            let stored: Server = read(&bytes_of(&server)).unwrap();
            assert_eq!(stored.state_id(), server.state_id());
            queries.iter().try_for_each(|_| answer(&stored, &mut session, ch, rng))
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
    assert_eq!(client.asked, 12, "queries are counted across files");
}

#[test]
fn a_replaced_set_reaches_clients_that_come_back() {
    let (old, new) = (set(0, 10), set(5, 10));
    let params = params(10, 2);
    let (before, after) = (prepared(&params, &old), prepared(&params, &new));
    two_party(
        |ch, rng| {
            let mut session = admit(&before, Standing::New, ch, rng)?;
            answer(&before, &mut session, ch, rng)?;
            admit(&after, Standing::Outdated(before.state_id()), ch, rng)?;
            let mut session = admit(&after, Standing::Current, ch, rng)?;
            answer(&after, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            check(&old, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            client.rejoin(&params, Standing::Outdated(before.state_id()), ch, rng)?;
            assert_eq!(client.asked, 0, "a new set has a budget of its own");
            let other = Params { query_items: 3, ..params };
            assert!(client.rejoin(&other, Standing::Current, ch, rng).is_err(), "other parameters");
            client.rejoin(&params, Standing::Current, ch, rng)?;
            check(&new, &[0, 12], &client.query(0, query(&[0, 12]), ch, rng)?);
            Ok(())
        },
    );
}

/// Both sides after an enrolment.
struct Enrolled {
    server: Server,
    session: Session,
    client: Client,
    rng: SecretRng,
}

fn enrolled(set: &IntersectSenderInput) -> Enrolled {
    enrolled_with(params(set.items.len(), 1), set)
}

fn enrolled_with(params: Params, set: &IntersectSenderInput) -> Enrolled {
    let server = prepared(&params, set);
    let (session, client) =
        two_party(|ch, rng| admit(&server, Standing::New, ch, rng), |ch, rng| Client::enrol(&params, ch, rng));
    Enrolled { server, session, client, rng: SecretRng::from_os().unwrap() }
}

impl Enrolled {
    fn parts(&self, item: u128) -> Parts {
        Hashing::new(&self.client.params, self.client.hash_seed()).parts(&[item])[0]
    }

    /// `E` of an item before it is hidden, by limbs.
    fn compared(&mut self, item: u128) -> Vec<Ciphertext<Values>> {
        let (scheme, parts) = (scheme(), self.parts(item));
        let mut masks = self.client.key.encryptor(scheme, &mut self.rng);
        let (differences, halves) = self.client.differences(parts, &mut masks, &mut self.rng).unwrap();
        let seed = masks.seed();
        let masks = (0..).zip(halves).map(|(number, half)| scheme.expand(&seed, number, half)).collect();
        self.server.compare(&mut self.session, &differences, masks, &mut self.rng).unwrap()
    }
}

fn coefficients(ciphertext: &Ciphertext<Values>) -> Ciphertext<Coefficients> {
    scheme().ciphertext_coefficients(ciphertext.clone())
}

/// Issue 15: the sender cannot tell an item from another by `D`. It guesses, computes what the client
/// would have selected, and looks for it in the second half and in the noise. Both succeed on what is
/// not hidden. On `D` before primes are dropped, which shows more than what travels, the correlations
/// of 16 trials together stay within five deviations: an honest run fails with probability 10^-6.
#[test]
fn the_server_does_not_recognise_an_item() {
    let mut on = enrolled(&set(0, 50));
    let (scheme, key) = (scheme(), &on.server.key);
    let (item, other) = (on.parts(7), on.parts(1000));
    let select = |on: &mut SecretRng, client: &Client, parts: Parts| {
        client.select(scheme, &client.selections(scheme, parts), 0, on).unwrap().0
    };
    let guesses = [item, other].map(|parts| coefficients(&select(&mut on.rng, &on.client, parts)));
    let guessed = guesses.each_ref().map(|guess| scheme.noise_of(guess, key));
    // Whether the second half of a guess belongs to the first half that was seen.
    let fits = |seen: &Ciphertext<Coefficients>, guess: &Ciphertext<Coefficients>| {
        scheme.decrypt(&Ciphertext { c0: seen.c0.clone(), c1: guess.c1.clone() }, key).is_ok()
    };

    let bare = coefficients(&select(&mut on.rng, &on.client, item));
    assert_eq!(guesses.each_ref().map(|guess| fits(&bare, guess)), [true, false]);
    let noise = scheme.noise_of(&bare, key);
    let found = guessed.each_ref().map(|guess| correlation(&noise, guess));
    assert!(found[0] > 60.0 && found[1].abs() < 10.0, "{found:?}");

    const TRIALS: usize = 16;
    let mut sums = [0.0; 2];
    for _ in 0..TRIALS {
        let selected = select(&mut on.rng, &on.client, item);
        let drowned = drown(scheme, &on.client.server, selected, &mut on.rng);
        assert_eq!(guesses.each_ref().map(|guess| fits(&drowned, guess)), [false; 2]);
        let noise = scheme.noise_of(&drowned, key);
        for (sum, guess) in sums.iter_mut().zip(&guessed) {
            *sum += correlation(&noise, guess) / (TRIALS as f64).sqrt();
        }
    }
    assert!(sums.iter().all(|sum| sum.abs() < 5.0), "{sums:?}");
}

/// Issue 15: the receiver cannot tell two tables of equal answers by `E`. Before it is hidden, the
/// second half and the noise of `E` are those of what the server computed; after that, they are not,
/// and noise is as wide for one table as for another.
#[test]
fn a_client_does_not_tell_two_tables_with_equal_answers() {
    const TRIALS: usize = 3;
    let mut widths = Vec::new();
    for first in [0, 5000] {
        let mut set = set(first, 300);
        set.items.push(7 + first);
        set.items[0] = 777;
        let mut on = enrolled(&set);
        let scheme = scheme();
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..TRIALS {
            for limb in on.compared(777) {
                let bare = coefficients(&limb);
                let seen = drown(scheme, &on.session.public, limb, &mut on.rng);
                let (guess, noise) = (scheme.noise_of(&bare, &on.client.key), scheme.noise_of(&seen, &on.client.key));
                let key = &on.client.key;
                let mixed = |c0: &Ciphertext<Coefficients>| Ciphertext { c0: c0.c0.clone(), c1: bare.c1.clone() };
                assert!(scheme.decrypt(&mixed(&bare), key).is_ok() && scheme.decrypt(&mixed(&seen), key).is_err());
                sum += correlation(&noise, &guess);
                squares += deviation(&noise).powi(2);
            }
        }
        let count = (TRIALS * 4) as f64;
        assert!((sum / count.sqrt()).abs() < 5.0, "{sum}");
        widths.push(squares / count / 2f64.powi(174));
    }
    // A third, of which an estimate from 12 * 4096 coefficients deviates by 0.002.
    assert!(widths.iter().all(|width| (width - 1.0 / 3.0).abs() < 0.011), "{widths:?}");
}

/// Few items in so many classes.
fn in_classes(classes: usize) -> Enrolled {
    let params = Params { tables: SubTables { bins: 1024, classes }, ..params(10, 1) };
    assert_eq!(4usize.pow(params.moves()) * classes, DEGREE);
    enrolled_with(params, &set(0, 10))
}

/// The client's own numbers of slots, encrypted.
fn numbered_slots(on: &mut Enrolled) -> Ciphertext<Values> {
    let slots: Vec<u64> = (0..DEGREE as u64).collect();
    let mut encryptor = on.client.key.encryptor(scheme(), &mut on.rng);
    let half = encryptor.encrypt(&scheme().encode(&slots), &mut on.rng);
    scheme().expand(&encryptor.seed(), 0, half)
}

/// The four slots of an item are of one class, the number of a slot modulo the number of classes.
/// The match comes to every place of the class alike, whatever the hash function: eight parts of the
/// slots, eight of 64 expected in each. A chi-square of seven degrees exceeds 42 with probability 5 10^-7.
#[test]
fn a_match_comes_to_any_place_of_its_class() {
    let mut on = in_classes(16);
    let (scheme, mut rng) = (scheme(), SecretRng::from_os().unwrap());
    for item in 0..100 {
        let places = Hashing::new(&on.client.params, on.client.hash_seed()).places(on.parts(item));
        assert!(places.iter().all(|place| place.slot % 16 == places[0].slot % 16), "{places:?}");
    }
    for slot in [3, 4000] {
        let mut slots = vec![1; DEGREE];
        slots[slot] = 0;
        let mut encryptor = on.client.key.encryptor(scheme, &mut rng);
        let half = encryptor.encrypt(&scheme.encode(&slots), &mut rng);
        let encrypted = scheme.expand(&encryptor.seed(), 0, half);
        let mut parts = [0u32; 8];
        for _ in 0..64 {
            let moved = on.session.shuffle(scheme, vec![encrypted.clone()], &mut on.rng);
            let slots = scheme.decode(&scheme.decrypt(&coefficients(&moved[0]), &on.client.key).unwrap());
            let zeros: Vec<usize> = (0..DEGREE).filter(|&slot| slots[slot] == 0).collect();
            assert!(zeros.len() == 1 && zeros[0] % 16 == slot % 16, "{zeros:?}");
            parts[zeros[0] / (DEGREE / 8)] += 1;
        }
        let chi: f64 = parts.iter().map(|&count| (f64::from(count) - 8.0).powi(2) / 8.0).sum();
        assert!(chi < 42.0, "{parts:?}");
    }
}

/// Each bit of the number that is drawn moves slots in a way of its own, two bits of a digit move
/// them in both ways, and the numbers bring a slot to all places of its class.
#[test]
fn every_number_brings_a_slot_to_another_place() {
    for classes in [1, 4, 256, 1024] {
        let mut on = in_classes(classes);
        let (scheme, bits) = (scheme(), 2 * on.client.params.moves());
        let encrypted = numbered_slots(&mut on);
        // For each slot, from where its content came.
        let mut moved = |draw: u32| {
            let mut limbs = [encrypted.clone()];
            on.session.shuffle_by(scheme, &mut limbs, &Secret::new(draw));
            scheme.decode(&scheme.decrypt(&coefficients(&limbs[0]), &on.client.key).unwrap())
        };
        assert!(moved(0).iter().zip(0..).all(|(&slot, own)| slot == own));
        let by_bit: Vec<Vec<u64>> = (0..bits).map(|bit| moved(1 << bit)).collect();
        let origin = |slot: u64, draw: u32| {
            let bits = (0..bits).filter(|bit| draw >> bit & 1 == 1);
            bits.fold(slot, |slot, bit| by_bit[bit as usize][slot as usize])
        };
        for draw in (0..bits / 2).map(|digit| 3 << (2 * digit)).chain([0x555, 0xaaa, 0xfff]) {
            let draw = draw & ((1 << bits) - 1);
            let expected: Vec<u64> = (0..DEGREE as u64).map(|slot| origin(slot, draw)).collect();
            assert_eq!(moved(draw), expected, "{draw:#x} of {classes} classes");
        }
        let origins: std::collections::HashSet<u64> = (0..1 << bits).map(|draw| origin(0, draw)).collect();
        assert!(origins.len() == DEGREE / classes && origins.iter().all(|slot| slot % classes as u64 == 0));
    }
}

/// The variance that moves add is that of one key switch for each: 15% are six deviations of the
/// measurement from 4096 coefficients, and five moves more than four by 25%.
#[test]
fn moves_add_the_noise_of_as_many_key_switches() {
    for classes in [4, 256] {
        let mut on = in_classes(classes);
        let mut limbs = [numbered_slots(&mut on)];
        // No digit is zero.
        on.session.shuffle_by(scheme(), &mut limbs, &Secret::new(0x555));
        let measured = deviation(&scheme().noise_of(&coefficients(&limbs[0]), &on.client.key)).powi(2);
        // Six digits, uniform in 18 bits, times errors of the key.
        let switch = 6.0 * DEGREE as f64 * 2f64.powi(36) / 12.0 * 10.5;
        let ratio = measured / (switch * f64::from(on.client.params.moves()));
        assert!((ratio - 1.0).abs() < 0.15, "{classes} classes: {ratio}");
    }
}

/// Items of one limb: no false match, though all neighbours of the set's items are asked about, which
/// share right parts with them.
#[test]
fn integers_are_told_from_their_neighbours() {
    let mut set = set((1 << 33) - 200, 200);
    set.items.extend([0, 1, 5_000_000_000, 0]);
    let params = Params::derive_for_integers(&request(set.items.len(), 4), 33).unwrap();
    let server = prepared(&params, &set);
    let first = (1 << 33) - 202;
    let queries =
        [[0, 1, 2, 3], [first, first + 1, first + 2, first + 3], [5_000_000_000, 4_999_999_999, 7, (1 << 33) - 1]];
    let ((), client) = two_party(
        |ch, rng| {
            let stored: Server = read(&bytes_of(&server)).unwrap();
            let mut session = admit(&stored, Standing::New, ch, rng)?;
            queries.iter().try_for_each(|_| answer(&stored, &mut session, ch, rng))
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            for (number, items) in (0..).zip(&queries) {
                check(&set, items, &client.query(number, query(items), ch, rng)?);
                client = read(&bytes_of(&client)).unwrap();
            }
            Ok(client)
        },
    );
    assert_eq!(client.params, params);
}

/// Bins that nothing lies in match nothing, and the ciphertexts are as many as agreed.
#[test]
fn a_set_may_have_fewer_items_than_agreed() {
    let all = [Params::derive_for_integers(&request(3000, 4), 3).unwrap(), params(3000, 4)];
    for params in all {
        for set in [set(2, 3), set(0, 0)] {
            let server = prepared(&params, &set);
            two_party(
                |ch, rng| {
                    let mut session = admit(&server, Standing::New, ch, rng)?;
                    (0..2).try_for_each(|_| answer(&server, &mut session, ch, rng))
                },
                |ch, rng| {
                    let mut client = Client::enrol(&params, ch, rng)?;
                    for items in [[0, 1, 2, 3], [4, 5, 6, 7]] {
                        check(&set, &items, &client.query(0, query(&items), ch, rng)?);
                    }
                    Ok(())
                },
            );
        }
        let refused = Server::prepare(&params, set(0, 3001), &mut SecretRng::from_os().unwrap()).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("3000 items") || refused.contains("3 bits"), "{refused}");
    }
}

/// A state says what was answered when it was written; who has counted on raises it.
#[test]
fn a_count_of_answered_items_is_raised_and_never_lowered() {
    let server = prepared(&params(10, 1), &set(0, 10));
    let answered = |server: &Server| server.answered.load(std::sync::atomic::Ordering::Relaxed);
    server.raise_answered(100);
    server.raise_answered(7);
    assert_eq!(answered(&server), 100);
    assert_eq!(answered(&read(&bytes_of(&server)).unwrap()), 100);
}

#[test]
fn integers_that_are_too_wide_are_refused_on_both_sides() {
    let params = Params::derive_for_integers(&request(3, 2), 33).unwrap();
    let wide = IntersectSenderInput { items: vec![1, 2, 1 << 33], payloads: Vec::new() };
    let refused = Server::prepare(&params, wide, &mut SecretRng::from_os().unwrap()).unwrap_err();
    assert!(refused.to_string().contains("33 bits that both sides agreed on"), "{refused}");
    let server = prepared(&params, &set(0, 3));
    let (_, client) = try_two_party(
        |ch, rng| admit(&server, Standing::New, ch, rng),
        |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[1, 1 << 33]), ch, rng),
    );
    let refused = client.result.unwrap_err().to_string();
    assert!(refused.contains("33 bits that both sides agreed on"), "{refused}");
    for bits in [0, 65, u32::MAX] {
        assert!(Params::derive_for_integers(&request(3, 2), bits).is_err());
    }
    for bits in [1, 16, 17, 33, 35, 48, 63, 64] {
        for items in [0, 1000, 1 << 20, 1 << 24] {
            let params = Params::derive_for_integers(&request(items, 2), bits).unwrap();
            assert!((params.tables.bins as u128) << (17 * params.limbs()) >= 1 << bits, "{params:?}");
            assert_eq!(Params::from_words(params.to_words()), Some(params));
        }
    }
}

/// Noise before and after hiding is within the bounds of docs/parameters/bfv.md, for a full group
/// of bins; the bounds on what is decrypted hold with certainty.
#[test]
fn noise_is_within_its_bounds_over_many_queries() {
    let mut on = enrolled(&set(0, 3000));
    let scheme = scheme();
    let room = scheme.room_bits(SENT_PRIMES);
    for item in [0, 2999, 3000, 4000] {
        let parts = on.parts(item);
        let selections = on.client.selections(scheme, parts);
        for index in 0..on.client.params.limbs() {
            let (selected, _) = on.client.select(scheme, &selections, index, &mut on.rng).unwrap();
            let noise = scheme.noise_of(&coefficients(&selected), &on.server.key);
            assert!(deviation(&noise).log2() < 24.9, "{}", deviation(&noise).log2());
            let sent = hide(scheme, &on.client.server, selected, &mut on.rng);
            assert!(scheme.noise_bits(&sent, &on.server.key) < room - 0.7);
        }
        for limb in on.compared(item) {
            let noise = scheme.noise_of(&coefficients(&limb), &on.client.key);
            assert!(deviation(&noise).log2() < 27.4, "{}", deviation(&noise).log2());
            let sent = hide(scheme, &on.session.public, limb, &mut on.rng);
            assert!(scheme.noise_bits(&sent, &on.client.key) < room - 0.7);
        }
    }
}

/// The multiplication is that of a field: what is not zero has no product that is zero.
#[test]
fn what_does_not_match_becomes_uniform_and_not_zero() {
    let power = |exponent: u64| (0..exponent).fold(1, |power, _| power * ROOT % PLAIN);
    assert_eq!(PLAIN - 1, 2u64.pow(14) * 9);
    assert!(power((PLAIN - 1) / 2) != 1 && power((PLAIN - 1) / 3) != 1, "a primitive root");
    let on = enrolled(&set(0, 1));
    let (scheme, mut rng) = (scheme(), SecretRng::from_os().unwrap());
    for limbs in [3, 4, 6] {
        let encrypted: Vec<_> = (0..limbs)
            .map(|limb| {
                // Slots by eights: zero, and what is zero in all limbs but one.
                let slots: Vec<u64> = (0..DEGREE).map(|slot| u64::from(slot % 8 == limb + 1)).collect();
                let mut encryptor = on.client.key.encryptor(scheme, &mut rng);
                let half = encryptor.encrypt(&scheme.encode(&slots), &mut rng);
                scheme.expand(&encryptor.seed(), 0, half)
            })
            .collect();
        let scrambled = Scramble::new(scheme, limbs, scheme.all_primes(), &mut rng).apply(scheme, &encrypted);
        let slots: Vec<Vec<u64>> = scrambled
            .iter()
            .map(|limb| scheme.decode(&scheme.decrypt(&coefficients(limb), &on.client.key).unwrap()))
            .collect();
        for slot in 0..DEGREE {
            let is_zero = slots.iter().all(|limb| limb[slot] == 0);
            assert_eq!(is_zero, !(1..=limbs).contains(&(slot % 8)), "slot {slot} of {limbs} limbs");
        }
        for limb in slots {
            let filled: Vec<f64> = limb.iter().filter(|&&slot| slot != 0).map(|&slot| slot as f64).collect();
            // Nearly all of 4096 L / 8, with the mean t / 2 (deviation t / 12^(1/2) by root of the count).
            assert!(filled.len() > DEGREE * limbs / 8 - 5);
            let mean = filled.iter().sum::<f64>() / filled.len() as f64 / PLAIN as f64;
            assert!((mean - 0.5).abs() < 6.0 * 0.289 / (filled.len() as f64).sqrt(), "{mean}");
        }
    }
}

#[test]
fn exhausted_noise_ends_the_server_and_is_counted_by_the_client() {
    let params = params(10, 1);
    let (server, scheme) = (prepared(&params, &set(0, 10)), scheme());
    let (sent, _) = try_two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            answer(&server, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            // First halves that no longer fit the second ones.
            client.table.fill(0);
            client.query(0, query(&[7]), ch, rng)
        },
    );
    assert!(
        matches!(sent.result, Err(Abort::PeerMisbehaved(Differences::STEP, what)) if what.contains("exhausted")),
        "{:?}",
        sent.result
    );
    let ((), output) = two_party(
        |ch, rng| {
            let session = admit(&server, Standing::New, ch, rng)?;
            ch.recv_stream::<MaskSeed>(&mut [0; 32])?;
            ch.recv_stream::<Differences>(&mut vec![0; params.limbs() * sent_bytes()])?;
            ch.recv_stream::<Masks>(&mut vec![0; params.limbs() * half_bytes()])?;
            (0..params.limbs()).try_for_each(|_| {
                let zero = session.public.zero(scheme, rng);
                let mut noisy = scheme.ciphertext_coefficients(zero);
                scheme.flood(&mut noisy, super::params::FLOOD_BITS + 3, rng);
                scheme.switch_down(&mut noisy, SENT_PRIMES);
                send_short::<Answers>(scheme, &noisy, ch)
            })
        },
        |ch, rng| Client::enrol(&params, ch, rng)?.query(0, query(&[7]), ch, rng),
    );
    assert_eq!((&output.matches[..], output.unread), (&[0u32; 0][..], 1));
}

#[test]
fn malformed_polynomials_are_refused_on_both_sides() {
    let params = params(1, 1);
    let server = prepared(&params, &set(0, 1));
    let bad = vec![0xff; 1 << 16];
    let (_, received) = try_two_party(
        |ch, _| {
            ch.send_stream::<Seeds>(&[0; 48])?;
            ch.send_stream::<ServerKey>(&bad)
        },
        |ch, rng| Client::enrol(&params, ch, rng),
    );
    assert!(matches!(received.result, Err(Abort::PeerMisbehaved(ServerKey::STEP, _))), "{:?}", received.result);
    let (sent, _) =
        try_two_party(|ch, rng| admit(&server, Standing::Current, ch, rng), |ch, _| ch.send_stream::<ClientKeys>(&bad));
    assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(ClientKeys::STEP, _))), "{:?}", sent.result);
}

/// The next item is refused before anything leaves.
#[test]
fn a_client_stops_when_its_budget_is_used_up() {
    let (set, params) = (set(0, 10), params(10, 1));
    let server = prepared(&params, &set);
    let (_, client) = try_two_party(
        |ch, rng| {
            let mut session = admit(&server, Standing::New, ch, rng)?;
            answer(&server, &mut session, ch, rng)
        },
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.asked = ITEMS_AN_ENROLMENT - 1;
            check(&set, &[3], &client.query(0, query(&[3]), ch, rng)?);
            let sent = ch.tally().total().sent_payload;
            let refused = client.query(1, query(&[3]), ch, rng).map(drop);
            Ok((refused, ch.tally().total().sent_payload - sent))
        },
    );
    let (refused, left) = client.result.unwrap();
    let Err(Abort::Local { fault, .. }) = refused else { panic!("{refused:?}") };
    assert!(fault.contains("262144") && left == 0, "{fault}");
}

#[test]
fn a_set_stops_when_its_budget_is_used_up() {
    let params = params(10, 2);
    let server = prepared(&params, &set(0, 10));
    server.answered.store(ITEMS_OF_A_SET - 3, std::sync::atomic::Ordering::Relaxed);
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
    assert!(fault.contains("4194303 items of at most 4194304"), "{fault}");
    assert!(matches!(client.result, Err(Abort::PeerAborted(_))), "{:?}", client.result);
}

#[test]
fn states_that_were_never_written_are_refused() {
    let params = params(5, 2);
    let words = params.to_words();
    assert_eq!(Params::from_words(words), Some(params));
    for place in 0..words.len() {
        let mut words = words;
        words[place] ^= 1 << 40;
        assert_eq!(Params::from_words(words), None, "place {place}");
    }
    assert!(read::<Client>(&bytes_of(&prepared(&params, &set(0, 5)))).is_err(), "a server's state is no client's");
}

#[test]
fn parameters_are_those_of_the_page_and_what_is_not_served_is_refused() {
    let million = params(1 << 20, 4);
    assert_eq!((million.tables.bins, million.right_bits, million.limbs()), (353 << 10, 62, 4));
    assert_eq!((million.ciphertexts(), million.moves()), (1412, 2));
    let one = params(1, 1);
    assert_eq!((one.tables.bins, one.right_bits, one.limbs(), one.moves()), (1024, 50, 3, 5));
    let integers = Params::derive_for_integers(&request(911_705, 4), 33).unwrap();
    assert_eq!((integers.ciphertexts(), integers.right_bits, integers.moves()), (310, 15, 2));
    // More bins, for the sake of one limb.
    let few = Params::derive_for_integers(&request(1 << 16, 4), 33).unwrap();
    assert_eq!((few.groups(), few.limbs(), few.moves()), (64, 1, 2));
    assert_eq!(params(0, 0).query_bytes(), 0);
    let refused = |request: IntersectRequest| Params::derive(&request).unwrap_err();
    assert!(Params::derive(&request(1 << 24, 4)).is_ok());
    refused(request((1 << 24) + 1, 4));
    refused(request(4, (1 << 18) + 1));
    refused(IntersectRequest { payload_bytes: 1, ..request(4, 4) });
    refused(IntersectRequest { both_learn: true, ..request(4, 4) });
    refused(IntersectRequest { security: Security::Malicious, ..request(4, 4) });
}
