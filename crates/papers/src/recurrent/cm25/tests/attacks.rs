//! What breaks the faithful forms, run against both.

use vesica_structures::fields::Gf64;
use vesica_structures::packing::pack;
use vesica_structures::rlwe::bfv::{Poly, Scheme};

use super::*;

/// The second half of a ciphertext as it travels.
fn second_half(scheme: &Scheme, mut ciphertext: Ciphertext<Coefficients>, primes: usize) -> Poly<Coefficients> {
    scheme.switch_down(&mut ciphertext, primes);
    ciphertext.c1
}

/// The sender's test of a guess: which of these items the question is about. A mask changes the first
/// half of `D` alone; the second one is a function of tables, item and keys.
pub(super) fn recognised(on: &Sender, question: &Question, guesses: &[u128]) -> Vec<usize> {
    let mut rng = SecretRng::insecure_from_seed(7);
    let shadow = Receiver::new(&on.params, on.setup().clone(), &mut rng);
    let looks_like = |&guess: &usize| {
        let product = shadow.tables.products(guesses[guess])[0][0].clone();
        let product = on.scheme.ciphertext_coefficients(product);
        let sent = &question.sums[0][0].c1;
        second_half(on.scheme, product, on.params.primes_of_d()) == *sent
    };
    (0..guesses.len()).filter(looks_like).collect()
}

#[test]
fn the_sender_recognises_the_item_of_faithful_forms_only() {
    for configuration in CONFIGURATIONS {
        for form in FORMS {
            let mut on = parties(configuration, form, 3000, NARROW);
            // Neither member nor stranger is safe.
            let guesses = [on.stranger(), on.member(), on.stranger(), on.member()];
            for place in [1, 2] {
                let question = on.receiver.ask(guesses[place], &mut on.rng);
                let expected = if form == Form::Faithful { vec![place] } else { vec![] };
                assert_eq!(recognised(&on.sender, &question, &guesses), expected, "{configuration:?} {form:?}");
            }
        }
    }
}

/// What the slots of the answer before masks would be if the sender had these items: the product of all
/// differences, negated, of one table and one block.
fn supposed(hash: &PermutedHash, params: &Params, items: &[u128], asked: u128) -> Vec<u64> {
    let (t, tables, place) =
        (params.scheme.plain[0], PermutedTables::build_vartime(hash, items).unwrap(), hash.place(asked));
    let slot = |slot: usize| {
        let cell = tables.cell(0, slot).map_or(params.empty(), |cell| cell.right as u64);
        let product = place.bins.iter().fold(1, |product, &bin| {
            let other = if bin as usize == slot { place.right as u64 } else { params.unasked() };
            product * (cell + t - other) % t
        });
        t - product
    };
    let filled = 1 << params.shape.bin_bits;
    (0..params.scheme.degree)
        .map(|at| if at < filled { slot(at) } else { t - (params.empty() + t - params.unasked()).pow(4) % t })
        .collect()
}

/// Whether an answer comes from a sender with these items, to a receiver that asked about none of them. It
/// decrypts `e = rho n` in each slot, supposes `n`, has all factors `rho` of step 5d then, and computes the
/// second half that `E` must have. `turn` is tried as well: one of `2^12`.
fn comes_from(on: &Parties, question: &Question, answer: &Answer, items: &[u128], asked: u128, turn: u128) -> bool {
    let (scheme, params) = (on.receiver.scheme, &on.receiver.tables.params);
    let slots = scheme.decode(&scheme.decrypt(&answer.results[0][0], &on.receiver.key).unwrap());
    let half = scheme.slots() / 2;
    let (steps, swap) = (turn as usize % half, turn >> half.ilog2() & 1 == 1);
    let t = params.scheme.plain[0];
    let mut factors = vec![0; scheme.slots()];
    for (slot, supposed) in supposed(&on.receiver.tables.hash, params, items, asked).into_iter().enumerate() {
        let row = (slot / half) ^ usize::from(swap);
        let came_to = row * half + (slot % half + half - steps) % half;
        factors[slot] = slots[came_to] * vesica_protocols::bfv::inverse(supposed, t) % t;
    }
    let factors = scheme.multiplier(&scheme.encode(&factors), scheme.all_primes());
    let mask = scheme.expand(&question.seed, 0, question.masks[0][0].clone());
    let result = on.keys.turns.turned(scheme, scheme.combine(&[(&mask, &factors)]), turn);
    let expected = second_half(scheme, scheme.ciphertext_coefficients(result), params.primes_of_e());
    expected == answer.results[0][0].c1
}

#[test]
fn the_receiver_tells_tables_of_equal_answers_of_faithful_forms() {
    let mut on = parties(Configuration::FastIntersection, Form::Faithful, 3000, NARROW);
    let asked = on.stranger();
    let question = on.receiver.ask(asked, &mut on.rng);
    let answer = on.sender.answer(&on.keys, &question, &mut SecretRng::insecure_from_seed(9)).unwrap();
    // The turn that the sender drew.
    let rng = &mut SecretRng::insecure_from_seed(9);
    slots::invertible(on.sender.scheme, 1, rng);
    let turn = rng.block() % (1 << 12);
    // The same set but for one item.
    let mut other = on.items.clone();
    other[17] ^= 1;
    assert!(comes_from(&on, &question, &answer, &on.items, asked, turn));
    assert!(!comes_from(&on, &question, &answer, &other, asked, turn));
    assert!(!comes_from(&on, &question, &answer, &on.items, asked, turn ^ 4));
}

/// Even a receiver who is told the sender's factors and its turn does not know the second half of `E` of
/// repaired forms, and knows that of faithful ones.
#[test]
fn results_of_repaired_forms_are_fresh_ciphertexts() {
    for configuration in CONFIGURATIONS {
        for form in FORMS {
            let mut on = parties(configuration, form, 3000, NARROW);
            let question = on.receiver.ask(on.items[0], &mut on.rng);
            let answer = on.sender.answer(&on.keys, &question, &mut SecretRng::insecure_from_seed(9)).unwrap();
            let (scheme, limbs, rng) =
                (on.sender.scheme, on.sender.params.limbs, &mut SecretRng::insecure_from_seed(9));
            let factors: Vec<_> = slots::invertible(scheme, limbs, rng)
                .iter()
                .map(|plain| scheme.multiplier(plain, scheme.all_primes()))
                .collect();
            let turn = rng.block();
            let masks: Vec<_> = (0..limbs)
                .map(|limb| scheme.expand(&question.seed, limb as u64, question.masks[0][limb].clone()))
                .collect();
            let products: Vec<_> = masks.iter().zip(&factors).collect();
            let result = on.keys.turns.turned(scheme, scheme.combine(&products), turn);
            let expected = second_half(scheme, scheme.ciphertext_coefficients(result), on.sender.params.primes_of_e());
            let is_known = answer.results.iter().any(|results| results[0].c1 == expected);
            assert_eq!(is_known, form == Form::Faithful, "{configuration:?} {form:?}");
        }
    }
}

/// With two partitions, the one that has the zero tells which functions placed the item, unless the sender
/// permutes them.
#[test]
fn partitions_tell_the_function_of_faithful_forms_only() {
    for form in FORMS {
        let mut on = parties(Configuration::FastSetup, form, 3000, NARROW);
        let tables = on.tables();
        let place = on.receiver.tables.hash.place(on.items[3]);
        let holds = |bin: u32| tables.cell(place.table as usize, bin as usize).filter(|cell| cell.item == 3);
        let function = place.bins.into_iter().find_map(holds).unwrap().function;
        let question = on.receiver.ask(on.items[3], &mut on.rng);
        let mut right = 0;
        for _ in 0..8 {
            let answer = on.sender.answer(&on.keys, &question, &mut on.rng).unwrap();
            right += usize::from(on.receiver.places(&answer).unwrap()[0].0 == usize::from(function) / 2);
        }
        match form {
            Form::Faithful => assert_eq!(right, 8),
            // All 8 alike, either way, has probability 2^-7.
            Form::Repaired => assert!((1..8).contains(&right), "{right} of 8"),
        }
    }
}

/// The zero comes to a slot that says nothing of the bin.
#[test]
fn zeros_come_to_many_slots() {
    for form in FORMS {
        let mut on = parties(Configuration::FastIntersection, form, 1000, NARROW);
        let question = on.receiver.ask(on.items[3], &mut on.rng);
        let places: std::collections::HashSet<_> = (0..8)
            .map(|_| {
                let answer = on.sender.answer(&on.keys, &question, &mut on.rng).unwrap();
                on.receiver.places(&answer).unwrap()[0].1
            })
            .collect();
        let half = on.receiver.scheme.slots() / 2;
        assert!(places.len() >= 7, "{places:?}");
        // In one row only with probability 2^-7.
        assert!(places.iter().any(|&slot| slot < half) && places.iter().any(|&slot| slot >= half), "{places:?}");
    }
}

/// An item whose right part another function brought to one of its bins.
#[test]
fn another_functions_item_matches_in_faithful_forms_only() {
    for form in FORMS {
        let mut on = parties(Configuration::FastIntersection, form, 3000, NARROW);
        let tables = on.tables();
        let stranger = (0..1 << NARROW)
            .find(|item| {
                let place = on.receiver.tables.hash.place(*item);
                let holds = |&bin: &u32| tables.cell(0, bin as usize).is_some_and(|cell| cell.right == place.right);
                place.bins.iter().any(holds) && on.items.binary_search(item).is_err()
            })
            .unwrap();
        let answer = on.answer(stranger);
        assert_eq!(on.receiver.read(&answer).unwrap(), form == Form::Faithful);
    }
}

/// The polynomial with these coefficients, of few that are not zero.
fn polynomial(scheme: &Scheme, primes: usize, coefficients: &[(usize, u128)]) -> Poly<Coefficients> {
    let mut bytes = Vec::new();
    for &p in &scheme.params().primes[..primes] {
        let mut row = vec![0; scheme.slots()];
        coefficients.iter().for_each(|&(place, x)| row[place] = (x % u128::from(p)) as u64);
        pack::<Gf64>(bytemuck::cast_slice(&row), u64::BITS - p.leading_zeros(), &mut bytes);
    }
    scheme.read_poly(&bytes, primes).unwrap()
}

/// The sender as a decryption oracle: whether it refuses made-up sums tells a coefficient of its key in two
/// questions. No form is against receivers that do not follow the protocol.
#[test]
fn made_up_questions_read_the_senders_key_of_every_form() {
    for form in FORMS {
        let mut on = parties(Configuration::FastIntersection, form, 3000, NARROW);
        let (scheme, limbs) = (on.sender.scheme, on.sender.params.limbs);
        let primes = on.sender.params.primes_of_d();
        let q: u128 = scheme.params().primes[..primes].iter().map(|&p| u128::from(p)).product();
        let step = q / u128::from(scheme.plain_modulus()) / 10;
        let question = on.receiver.ask(on.items[0], &mut on.rng);
        let nothing = Ciphertext { c0: polynomial(scheme, primes, &[]), c1: polynomial(scheme, primes, &[]) };
        let mut refuses = |place: usize, second: u128| {
            // 0.2 and 0.1 s of the way to the next message: 0.25 is too far.
            let c0 = polynomial(scheme, primes, &[(place, 2 * step)]);
            let made_up = Ciphertext { c0, c1: polynomial(scheme, primes, &[(0, second)]) };
            let mut sums = vec![nothing.clone(); limbs];
            sums[0] = made_up;
            let question = Question { sums: vec![sums], ..question.clone() };
            on.sender.answer(&on.keys, &question, &mut on.rng).is_err()
        };
        // The key, from a measurement of noise that only its owner can make.
        let with_key =
            Ciphertext { c0: polynomial(scheme, primes, &[]), c1: polynomial(scheme, primes, &[(0, 1 << 10)]) };
        let key = scheme.noise_of(&with_key, &on.sender.key);
        for (place, scaled) in key.into_iter().enumerate().take(5) {
            let read = i32::from(refuses(place, step)) - i32::from(refuses(place, q - step));
            assert_eq!(f64::from(read) * 1024.0, scaled.round(), "coefficient {place} of {form:?}");
        }
    }
}
