//! Partitions and rings other than those of the two configurations.

use super::*;
use crate::bfv_testing::deviation;

/// All `[eta_s + 1, eta_r + 1]`.
const PARTITIONS: [[usize; 2]; 10] = [[1, 1], [2, 1], [2, 2], [3, 1], [3, 2], [3, 3], [4, 1], [4, 2], [4, 3], [4, 4]];

fn params(configuration: Configuration, form: Form) -> Params {
    let item_bits = if form == Form::Faithful { NARROW } else { 40 };
    Params::new(configuration, form, 4, 3000, item_bits).unwrap()
}

/// A member and a stranger, and for the member the number of zeros.
fn are_told_apart(params: Params) {
    let mut on = parties_of(params);
    let params = on.sender.params.clone();
    let (member, stranger) = (on.member(), on.stranger());
    let question = on.receiver.ask(member, &mut on.rng);
    assert_eq!(question.sums.len() * question.sums[0].len(), params.sums());
    assert_eq!(question.masks.iter().flatten().count(), params.masks());
    let answer = on.sender.answer(&on.keys, &question, &mut on.rng).unwrap();
    assert_eq!(answer.results.iter().flatten().count(), params.results());
    assert_eq!(on.receiver.places(&answer).unwrap().len(), 1, "one zero: {:?}", params.partitions);
    let answer = on.answer(stranger);
    assert!(!on.receiver.read(&answer).unwrap(), "{:?}", params.partitions);
}

#[test]
fn all_partitions_that_fit_tell_members_from_strangers() {
    for form in FORMS {
        for partitions in PARTITIONS {
            are_told_apart(params(Configuration::FastIntersection, form).with_partitions(partitions).unwrap());
            let fast_setup = params(Configuration::FastSetup, form).with_partitions(partitions);
            assert_eq!(fast_setup.is_ok(), partitions[0] == partitions[1] && partitions[0] > 1, "{partitions:?}");
            fast_setup.into_iter().for_each(are_told_apart);
        }
    }
    for partitions in [[0, 0], [5, 5], [1, 2], [2, 0]] {
        let refused = params(Configuration::FastIntersection, Form::Repaired).with_partitions(partitions).unwrap_err();
        assert!(refused.mend.contains("1 to 4"), "{refused}");
    }
}

/// What Fast Setup is refused for: at the paper's modulus, and at ours with its flood.
#[test]
fn fast_setup_has_no_room_for_more_products() {
    for form in FORMS {
        let fits = params(Configuration::FastSetup, form);
        let mut on = parties_of(Params { partitions: [2, 1], ..fits.clone() });
        let question = on.receiver.ask(on.items[0], &mut on.rng);
        let answer = on.sender.answer(&on.keys, &question, &mut on.rng).unwrap();
        assert!(on.receiver.read(&answer).is_err(), "exhausted: {form:?}");
        let mut on = parties_of(Params { partitions: [1, 1], ..fits });
        let question = on.receiver.ask(on.items[0], &mut on.rng);
        let noise = on.sender.scheme.noise_bits(&question.sums[0][0], &on.sender.key);
        match form {
            Form::Faithful => assert!(on.sender.answer(&on.keys, &question, &mut on.rng).is_err()),
            // What is to be flooded has more than 2^46, and a flood on it no room.
            Form::Repaired => {
                let mut product =
                    on.sender.scheme.ciphertext_coefficients(on.receiver.tables.products(on.items[0])[0].remove(0));
                on.sender.scheme.switch_down(&mut product, 3);
                let drowned = on.sender.scheme.noise_bits(&product, &on.sender.key);
                let room = on.sender.scheme.room_bits(3);
                assert!(drowned + 58.0 > room, "2^{drowned} in a room of 2^{room}; as sent 2^{noise}");
            }
        }
    }
}

/// Which of the partitions has the zero, and which chunk, says nothing.
#[test]
fn zeros_come_to_all_results() {
    let params = params(Configuration::FastIntersection, Form::Repaired);
    for params in [
        params.clone().with_partitions([4, 4]).unwrap(),
        params.clone().with_partitions([3, 2]).unwrap(),
        params.with_receivers_degree(4096).unwrap(),
    ] {
        let mut on = parties_of(params);
        let question = on.receiver.ask(on.items[3], &mut on.rng);
        let mut met = std::collections::HashMap::new();
        let mut slots = std::collections::HashSet::new();
        for _ in 0..24 {
            let answer = on.sender.answer(&on.keys, &question, &mut on.rng).unwrap();
            let places = on.receiver.places(&answer).unwrap();
            assert_eq!(places.len(), 1);
            *met.entry(places[0].0).or_insert(0) += 1;
            slots.insert(places[0].1);
        }
        let results = on.sender.params.partitions[1] * on.sender.params.chunks();
        // One of 2 is missing with probability 2^-23, one of 4 with 2^-8.
        assert!(met.len() == results || results == 4 && met.len() == 3, "{met:?}");
        assert!(slots.len() >= 22, "{slots:?}");
    }
}

/// `n_s > n_r`: masks and results are two ciphertexts for each of the sender's.
#[test]
fn a_smaller_ring_of_the_receiver_is_served() {
    for count in [3000, 9000] {
        let same = Params::new(Configuration::FastIntersection, Form::Repaired, 4, count, 80).unwrap();
        let small = same.clone().with_receivers_degree(4096).unwrap();
        assert_eq!((small.chunks(), small.masks(), small.results()), (2, 2 * same.masks(), 2 * same.results()));
        are_told_apart(small);
    }
}

/// `n_s < n_r` is forbidden (section V). The slots that no table fills have to hold something: uniform
/// numbers are zero with probability `1 / t` each, far too often.
#[test]
fn a_larger_ring_of_the_receiver_is_refused() {
    let fitting = params(Configuration::FastIntersection, Form::Faithful);
    let refused = fitting.clone().with_receivers_degree(8192).unwrap_err();
    assert!(refused.mend.contains("n_s >= n_r"), "{refused}");
    let (t, empty, draws) = (40_961, 4096, 600);
    let rng = &mut SecretRng::insecure_from_seed(3);
    let matches = (0..draws).filter(|_| slots::uniform(t, empty, rng).contains(&0)).count();
    let expected = 1.0 - (1.0 - 1.0 / t as f64).powi(empty as i32);
    assert!((expected.log2() + 3.4).abs() < 0.05);
    let deviation = (f64::from(draws) * expected * (1.0 - expected)).sqrt();
    assert!((matches as f64 - f64::from(draws) * expected).abs() < 6.0 * deviation, "{matches} of {draws}");
    for degree in [1024, 2048] {
        assert!(fitting.clone().with_receivers_degree(degree).is_err());
    }
}

/// What floods of results rest on, root mean squares: docs/parameters/cm25.md.
#[test]
fn noise_of_results_below_the_floods_is_as_stated() {
    let params = Params::new(Configuration::FastIntersection, Form::Repaired, 4, 3000, 80).unwrap();
    let cases = [
        (params.clone().with_partitions([4, 2]).unwrap(), 32.0),
        (params.clone().with_partitions([4, 1]).unwrap(), 46.0),
        (params.with_receivers_degree(4096).unwrap(), 26.0),
    ];
    for (params, most) in cases {
        assert!(most + 58.0 <= f64::from(params.flood_bits_e()));
        let mut on = parties_of(params);
        let (scheme, params) = (on.receiver.scheme, on.sender.params.clone());
        assert!(f64::from(params.flood_bits_e() + 1) < scheme.room_bits(params.primes_flooded_e()));
        let question = on.receiver.ask(on.items[0], &mut on.rng);
        let multiplied = on.sender.multiplied(&on.sender.differences(&question).unwrap(), &on.keys);
        let limbs: Vec<_> = multiplied[0].iter().step_by(params.chunks()).collect();
        let factors = slots::multipliers(scheme, limbs.len(), &mut on.rng);
        let products: Vec<_> = limbs.iter().copied().zip(&factors).collect();
        let turned = on.keys.turns.turned(scheme, scheme.combine(&products), u128::MAX);
        let mut result = scheme.ciphertext_coefficients(turned);
        scheme.switch_down(&mut result, params.primes_flooded_e());
        let noise = deviation(&scheme.noise_of(&result, &on.receiver.key)).log2();
        println!("{:?}, {} chunks: 2^{noise:.1} of 2^{most}", params.partitions, params.chunks());
        assert!(noise < most - 1.0, "{:?}: 2^{noise}", params.partitions);
    }
}
