//! Footnote 1's variant: that its outputs are right, and what the sender learns of the printed form.

use super::super::params::FLOOD_BITS_MULTIPLIED;
use super::*;
use crate::bfv_testing::deviation;

struct Counting {
    sender: CountingSender,
    receiver: CountingReceiver,
    items: Vec<u128>,
    rng: SecretRng,
}

fn counting(params: &Params) -> Counting {
    check_counted(params).unwrap();
    let mut rng = SecretRng::insecure_from_seed(1);
    let items = items_of(params, &mut rng);
    let sender = CountingSender::prepare(params, &items, &mut rng).unwrap();
    let receiver = CountingReceiver::new(params, sender.setup().clone());
    Counting { sender, receiver, items, rng }
}

impl Counting {
    fn found(&mut self, items: &[u128]) -> Vec<bool> {
        let (questions, order) = self.receiver.ask(items, &mut self.rng);
        self.receiver.read(&self.sender.answer(&questions).unwrap(), &order)
    }

    /// The partition, the slot and the packing modulus of each zero that the sender sees of an item.
    fn zeros(&mut self, item: u128) -> Vec<(usize, usize, usize)> {
        let scheme = self.sender.sender.scheme;
        let (questions, _) = self.receiver.ask(&[item], &mut self.rng);
        let of_partition = |(partition, limbs): (usize, &Vec<_>)| {
            let slots = slots::decrypted(scheme, limbs, &self.sender.sender.key).unwrap();
            slots::zeros(scheme, &slots).into_iter().map(move |(slot, modulus)| (partition, slot, modulus))
        };
        questions[0].iter().enumerate().flat_map(of_partition).collect()
    }
}

fn params(configuration: Configuration, form: Form, count: usize, partitions: usize) -> Params {
    let params = match form {
        Form::Faithful => Params::compressed(configuration, form, 4, count),
        Form::Repaired => Params::new(configuration, form, 4, count, 40),
    };
    params.unwrap().with_partitions([partitions; 2]).unwrap()
}

/// Configurations, forms and partitions that are served.
const SERVED: [(Configuration, Form, usize); 5] = [
    (Configuration::FastIntersection, Form::Faithful, 1),
    (Configuration::FastIntersection, Form::Faithful, 2),
    (Configuration::FastIntersection, Form::Faithful, 4),
    (Configuration::FastSetup, Form::Faithful, 4),
    (Configuration::FastIntersection, Form::Repaired, 1),
];

#[test]
fn members_are_found_and_strangers_are_not() {
    for (configuration, form, partitions) in SERVED {
        // The larger set has several blocks of bins.
        for count in [1, 9000] {
            let mut on = counting(&params(configuration, form, count, partitions));
            let strangers = [(); 2].map(|()| stranger(&on.receiver.tables.hash, &on.items, &mut on.rng));
            let members = [on.items[0], on.items[count / 2]];
            let found = on.found(&[members[0], strangers[0], strangers[1], members[1], members[0]]);
            assert_eq!(found, [true, false, false, true, true], "{configuration:?} {form:?} {partitions} {count}");
            assert_eq!(on.found(&[]), [false; 0]);
            // Functions of different partitions may share a bin of a small table.
            assert!(count == 1 || on.zeros(members[1]).len() == 1);
        }
    }
}

#[test]
fn what_the_modulus_has_no_room_for_is_refused() {
    let refused = |configuration, form, partitions| {
        let params = params(configuration, form, 100, partitions);
        (check_counted(&params).unwrap_err(), params)
    };
    for partitions in [2, 3] {
        let (refused, params) = refused(Configuration::FastSetup, Form::Faithful, partitions);
        assert!(refused.mend.contains("four partitions"), "{refused}");
        // And would not decrypt.
        let mut rng = SecretRng::insecure_from_seed(1);
        let items = items_of(&params, &mut rng);
        let sender = CountingSender::prepare_unchecked(&params, &items, &mut rng).unwrap();
        let (questions, _) =
            CountingReceiver::new_unchecked(&params, sender.setup().clone()).ask(&items[..1], &mut rng);
        assert!(sender.answer(&questions).is_err());
    }
    let (refused_setup, _) = refused(Configuration::FastSetup, Form::Repaired, 2);
    let (refused_partitions, _) = refused(Configuration::FastIntersection, Form::Repaired, 2);
    assert!([refused_setup, refused_partitions].iter().all(|refused| refused.mend.contains("one partition")));
}

/// The items of the set that the sender is left with, of which one is what the receiver asked about.
fn candidates(on: &Counting, (partition, slot, table): (usize, usize, usize)) -> Vec<u128> {
    let Params { shape, scheme, partitions, .. } = &on.receiver.tables.params;
    let tables = PermutedTables::build_vartime(&on.receiver.tables.hash, &on.items).unwrap();
    let cells = (slot..shape.bins()).step_by(scheme.degree).filter_map(|bin| tables.cell(table, bin));
    let of_partition = cells.filter(|cell| usize::from(cell.function) * partitions[0] / 4 == partition);
    of_partition.map(|cell| on.items[cell.item as usize]).collect()
}

#[test]
fn zeros_of_the_printed_form_tell_items() {
    for (configuration, form, partitions) in SERVED.into_iter().filter(|served| served.1 == Form::Faithful) {
        let mut on = counting(&params(configuration, form, 9000, partitions));
        let blocks = on.receiver.tables.params.blocks();
        let mut left = 0;
        for member in [3, 500, 4000, 8500].map(|number| on.items[number]) {
            let zeros = on.zeros(member);
            let candidates = candidates(&on, zeros[0]);
            assert!(candidates.contains(&member) && candidates.len() <= blocks, "{configuration:?} {partitions}");
            left += candidates.len();
        }
        // Two blocks or four, of which a partition of one function has a part.
        assert!(left < if partitions == 4 { 10 } else { 16 }, "{left} items for four");
    }
    // One of 9000 items a block. At the paper's sizes, for all slots of one table, and of one of two:
    assert_eq!((911_705 / 4096, 904_934 / 2 / 4096), (222, 110));
}

#[test]
fn zeros_of_the_repaired_form_come_to_all_slots() {
    let mut on = counting(&params(Configuration::FastIntersection, Form::Repaired, 1000, 1));
    let member = on.items[3];
    let slots: std::collections::HashSet<usize> = (0..24)
        .map(|_| match on.zeros(member)[..] {
            [(0, slot, 0)] => slot,
            ref zeros => panic!("{zeros:?}"),
        })
        .collect();
    // Fewer with probability below 2^-17; in one row only with 2^-23.
    let half = on.sender.sender.scheme.slots() / 2;
    assert!(slots.len() >= 22, "{slots:?}");
    assert!(slots.iter().any(|&slot| slot < half) && slots.iter().any(|&slot| slot >= half), "{slots:?}");
}

/// The sender's test of a guess that is not in its set. It decrypts the product `M` that the guess would
/// have, has all factors from the slots of `D` then, and computes the second half that `D` must have.
fn recognises(on: &Counting, question: &CountedQuestion, guess: u128) -> bool {
    let (tables, key) = (&on.receiver.tables, &on.sender.sender.key);
    let (scheme, t) = (tables.scheme, tables.scheme.plain_modulus());
    let product = tables.products(guess).remove(0).remove(0);
    let decrypted = |ciphertext| slots::decrypted(scheme, &[ciphertext], key).unwrap().remove(0);
    let supposed = decrypted(scheme.ciphertext_coefficients(product.clone()));
    let sent = decrypted(question[0][0].clone());
    let factors: Vec<u64> =
        sent.iter().zip(&*supposed).map(|(d, &m)| d * vesica_protocols::bfv::inverse(m, t) % t).collect();
    let factors = scheme.multiplier(&scheme.encode(&factors), scheme.all_primes());
    let mut expected = scheme.ciphertext_coefficients(scheme.combine(&[(&product, &factors)]));
    scheme.switch_down(&mut expected, tables.params.primes_of_d());
    expected.c1 == question[0][0].c1
}

#[test]
fn the_sender_of_the_printed_form_recognises_what_is_not_in_its_set() {
    let mut on = counting(&params(Configuration::FastIntersection, Form::Faithful, 3000, 1));
    let guesses = [(); 3].map(|()| stranger(&on.receiver.tables.hash, &on.items, &mut on.rng));
    for place in 0..guesses.len() {
        let (questions, _) = on.receiver.ask(&[guesses[place]], &mut on.rng);
        let recognised: Vec<usize> = (0..3).filter(|&guess| recognises(&on, &questions[0], guesses[guess])).collect();
        assert_eq!(recognised, [place]);
    }
}

/// Even a sender that is told the item, the factors and the turn does not know the second half of `D` of the
/// repaired form, and knows that of the printed one.
#[test]
fn sums_of_the_repaired_form_are_fresh_ciphertexts() {
    for form in FORMS {
        let on = counting(&params(Configuration::FastIntersection, form, 3000, 1));
        let (questions, _) = on.receiver.ask(&on.items[7..8], &mut SecretRng::insecure_from_seed(9));
        let (tables, rng) = (&on.receiver.tables, &mut SecretRng::insecure_from_seed(9));
        let limbs = tables.products(on.items[7]).remove(0);
        let mut limb = slots::mixed(tables.scheme, &limbs.iter().collect::<Vec<_>>(), rng).remove(0);
        if let Some(turns) = &on.receiver.turns {
            limb = turns.turned(tables.scheme, limb, rng.block());
        }
        let mut expected = tables.scheme.ciphertext_coefficients(limb);
        tables.scheme.switch_down(&mut expected, tables.params.primes_of_d());
        assert_eq!(expected.c1 == questions[0][0][0].c1, form == Form::Faithful, "{form:?}");
    }
}

#[test]
fn the_order_of_questions_of_the_repaired_form_says_nothing() {
    for form in FORMS {
        let mut on = counting(&params(Configuration::FastIntersection, form, 100, 1));
        let strangers = [(); 3].map(|()| stranger(&on.receiver.tables.hash, &on.items, &mut on.rng));
        let query = [strangers[0], on.items[5], strangers[1], strangers[2]];
        let places: std::collections::HashSet<usize> = (0..8)
            .map(|_| {
                let (questions, order) = on.receiver.ask(&query, &mut on.rng);
                let answers = on.sender.answer(&questions).unwrap();
                assert_eq!(on.receiver.read(&answers, &order), [false, true, false, false]);
                answers.iter().position(|&answer| answer).unwrap()
            })
            .collect();
        match form {
            Form::Faithful => assert_eq!(places, [1].into()),
            // All 8 at one place with probability 2^-14.
            Form::Repaired => assert!(places.len() > 1, "{places:?}"),
        }
    }
}

/// What the flood of the repaired form rests on, and that it is there: docs/parameters/cm25.md.
#[test]
fn noise_below_the_flood_and_above_is_as_stated() {
    let params = Params::new(Configuration::FastIntersection, Form::Repaired, 4, 3000, 80).unwrap();
    let mut on = counting(&params);
    let tables = &on.receiver.tables;
    let scheme = tables.scheme;
    assert!(46.0 + 58.0 <= f64::from(FLOOD_BITS_MULTIPLIED));
    assert!(f64::from(FLOOD_BITS_MULTIPLIED + 1) < scheme.room_bits(params.primes_flooded_d()));
    let limbs = tables.products(on.items[0]).remove(0);
    let mixed = slots::mixed(scheme, &limbs.iter().collect::<Vec<_>>(), &mut on.rng).remove(0);
    let turned = on.receiver.turns.as_ref().unwrap().turned(scheme, mixed, u128::MAX);
    let mut drowned = scheme.ciphertext_coefficients(turned);
    scheme.switch_down(&mut drowned, params.primes_flooded_d());
    let noise = deviation(&scheme.noise_of(&drowned, &on.sender.sender.key)).log2();
    println!("2^{noise:.1} of 2^46");
    assert!(noise < 45.0, "2^{noise}");
    // A sum of four, after a prime of 41 bits is dropped; 8192 draws come within 1.5 bits of the most.
    let most = f64::from(FLOOD_BITS_MULTIPLIED) + 1.0 - 41.0;
    let (questions, _) = on.receiver.ask(&on.items[..1], &mut on.rng);
    for sum in questions.iter().flatten().flatten() {
        let noise = scheme.noise_bits(sum, &on.sender.sender.key);
        assert!((most - 1.5..most).contains(&noise), "2^{noise}");
    }
}
