//! Protocol 1: that its outputs are right, and what breaks it.

use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Poly};
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

use super::super::basic::{MOST_ITEMS, Question, Receiver, Sender, check_set, scheme};
use vesica_protocols::bfv::inverse;

/// Modulus of items.
const T: u64 = 65_537;

/// Distinct items of all bits, the least and the largest among them.
fn items(count: usize) -> Vec<u16> {
    (0..count as u16).map(|i| if i == 1 { u16::MAX } else { i.wrapping_mul(40_503) }).collect()
}

/// Members and strangers by turns; some strangers come twice.
fn asked(set: &[u16], count: usize) -> Vec<u16> {
    let item = |i: usize| match set.get(i / 2) {
        Some(&member) if i.is_multiple_of(2) => member,
        _ => 7 + (i % 5) as u16,
    };
    (0..count).map(item).collect()
}

#[test]
fn outputs_are_those_of_a_plain_computation() {
    let sizes = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 2), (3, 16), (16, 0), (16, 1), (16, 2), (16, 16)];
    for (set, questions) in sizes {
        let set = items(set);
        let questions = asked(&set, questions);
        let sender = Sender::new(&set, &mut SecretRng::insecure_from_seed(1)).unwrap();
        let ((), found) = two_party(
            |ch, rng| sender.run(questions.len(), ch, rng),
            |ch, rng| Receiver::run(set.len(), &questions, ch, rng),
        );
        let plain: Vec<bool> = questions.iter().map(|item| set.contains(item)).collect();
        assert_eq!(found, plain, "{set:?} and {questions:?}");
    }
}

#[test]
fn sixteen_items_leave_a_level_of_room_and_more_are_refused() {
    let refused = check_set(MOST_ITEMS + 1).unwrap_err();
    assert!(refused.what.contains("17 items") && refused.mend.contains("16"), "{refused}");
    assert!(Sender::new(&items(17), &mut SecretRng::insecure_from_seed(1)).is_err());
    // A level more takes 2^27 to 2^30.
    let (sender, receiver, _) = parties(MOST_ITEMS);
    let product = scheme().ciphertext_coefficients(receiver.product(3));
    let room = scheme().room_bits(scheme().all_primes()) - scheme().noise_bits(&product, &sender.key);
    assert!((30.0..34.0).contains(&room), "2^{room} are left");
}

/// Both sides after step 2.
fn parties(count: usize) -> (Sender, Receiver, SecretRng) {
    let mut rng = SecretRng::insecure_from_seed(2);
    let sender = Sender::new(&items(count), &mut rng).unwrap();
    let receiver = Receiver::new(sender.set.clone(), &mut rng);
    (sender, receiver, rng)
}

/// Equal ones of 65,537 values have a probability of 2^-16 each.
#[test]
fn masks_and_factors_are_fresh() {
    let (sender, receiver, mut rng) = parties(2);
    let questions = [(); 2].map(|()| receiver.ask(3, &mut rng));
    let first_slot = |ciphertext, key| scheme().decode(&scheme().decrypt(ciphertext, key).unwrap())[0];
    let [first, second] = [0, 1].map(|i: usize| first_slot(&questions[i].sum, &sender.key));
    assert_ne!(first, second);
    let [first, second] = [(); 2].map(|()| sender.answer(&questions[0], &mut rng).unwrap());
    assert_ne!(first_slot(&first, &receiver.key), first_slot(&second, &receiver.key));
}

#[test]
fn the_sender_recognises_the_item() {
    let (sender, receiver, mut rng) = parties(4);
    let shadow = Receiver::new(sender.set.clone(), &mut SecretRng::insecure_from_seed(7));
    let guesses = [3, items(4)[2], 4, items(4)[3]];
    for asked in 0..guesses.len() {
        let question = receiver.ask(guesses[asked], &mut rng);
        let second_half = |guess: u16| scheme().ciphertext_coefficients(shadow.product(guess)).c1;
        let looks_like = |&guess: &usize| second_half(guesses[guess]) == question.sum.c1;
        assert_eq!((0..guesses.len()).filter(looks_like).collect::<Vec<_>>(), [asked]);
    }
}

/// The first coefficient modulo the first prime.
fn first_residue(poly: &Poly<Coefficients>) -> u128 {
    let mut bytes = Vec::new();
    scheme().write_poly(poly, &mut bytes);
    let width = u64::BITS - scheme().params().primes[0].leading_zeros();
    u128::from_le_bytes(bytes[..16].try_into().unwrap()) & ((1 << width) - 1)
}

/// `x / y` modulo a prime of less than 64 bits.
fn quotient(x: u128, y: u128, p: u128) -> u128 {
    let (mut power, mut square, mut exponent) = (x % p, y % p, p - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * square % p;
        }
        square = square * square % p;
        exponent >>= 1;
    }
    power
}

/// What a receiver has from a result: the product of the differences between all items and its own. The
/// second half of the result is `rho` times that of the receiver's own ciphertext.
fn product_of_differences(receiver: &Receiver, question: &Question, result: &Ciphertext<Coefficients>) -> u64 {
    let scheme = scheme();
    let own = scheme.ciphertext_coefficients(scheme.expand(&question.seed, 0, question.mask.clone()));
    let p = u128::from(scheme.params().primes[0]);
    let ratio = quotient(first_residue(&result.c1), first_residue(&own.c1), p);
    // Factors are taken next to zero.
    let factor = if ratio > p / 2 { T - (p - ratio) as u64 } else { ratio as u64 };
    let slots = scheme.decode(&scheme.decrypt(result, &receiver.key).unwrap());
    (T - slots[0] * inverse(factor, T) % T) % T
}

#[test]
fn the_receiver_reads_the_set_after_as_many_questions_as_it_has_items() {
    let count = 4;
    let (sender, receiver, mut rng) = parties(count);
    let points: Vec<u64> = (0..count as u64).map(|i| 5 + 11 * i).collect();
    // Without the leading term, which is known: (-1)^count y^count.
    let leading = |y: u64| y * y % T * (y * y % T) % T;
    let values: Vec<u64> = points
        .iter()
        .map(|&y| {
            let question = receiver.ask(y as u16, &mut rng);
            let result = sender.answer(&question, &mut rng).unwrap();
            assert!(!receiver.read(&result).unwrap(), "asked about none of the set");
            (product_of_differences(&receiver, &question, &result) + T - leading(y)) % T
        })
        .collect();
    // Lagrange's interpolation, at every possible item.
    let at = |z: u64| {
        let term = |i: usize| {
            let others = points.iter().filter(|&&y| y != points[i]);
            let (above, below) = others.fold((1, 1), |(above, below), &y| {
                (above * ((z + T - y) % T) % T, below * ((points[i] + T - y) % T) % T)
            });
            values[i] * above % T * inverse(below, T) % T
        };
        ((0..count).map(term).sum::<u64>() + leading(z)) % T
    };
    let read: Vec<u16> = (0..=u16::MAX).filter(|&z| at(z.into()) == 0).collect();
    let mut set = items(count);
    set.sort_unstable();
    assert_eq!(read, set);
}
