use vesica_structures::hashing::{PermutedHash, PermutedTables};
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients};
use vesica_structures::rng::SecretRng;

use super::sender::below;
use super::*;

mod attacks;
mod basic;
mod counted;
mod layouts;
mod rows;

const CONFIGURATIONS: [Configuration; 2] = [Configuration::FastSetup, Configuration::FastIntersection];
const FORMS: [Form; 2] = [Form::Faithful, Form::Repaired];
/// Width of items that the faithful forms have room for.
const NARROW: u32 = 26;

/// Both sides after the set-up.
struct Parties {
    sender: Sender,
    receiver: Receiver,
    keys: ReceiverKeys,
    items: Vec<u128>,
    rng: SecretRng,
}

fn parties(configuration: Configuration, form: Form, count: usize, item_bits: u32) -> Parties {
    parties_of(Params::new(configuration, form, 4, count, item_bits).unwrap())
}

fn parties_of(params: Params) -> Parties {
    let mut rng = SecretRng::insecure_from_seed(1);
    let items = items_of(&params, &mut rng);
    let sender = Sender::prepare(&params, &items, &mut rng).unwrap();
    let receiver = Receiver::new(&params, sender.setup().clone(), &mut rng);
    let keys = sender.receive(receiver.keys(&mut rng));
    Parties { sender, receiver, keys, items, rng }
}

/// Distinct random items.
fn items_of(params: &Params, rng: &mut SecretRng) -> Vec<u128> {
    let mut items: Vec<u128> = (0..params.set_items).map(|_| rng.block() >> (128 - params.shape.item_bits)).collect();
    items.sort_unstable();
    items.dedup();
    items
}

impl Parties {
    fn answer(&mut self, item: u128) -> Answer {
        let question = self.receiver.ask(item, &mut self.rng);
        self.sender.answer(&self.keys, &question, &mut self.rng).unwrap()
    }

    fn member(&mut self) -> u128 {
        self.items[below(self.items.len(), &mut self.rng)]
    }

    fn stranger(&mut self) -> u128 {
        stranger(&self.receiver.tables.hash, &self.items, &mut self.rng)
    }

    fn tables(&self) -> PermutedTables {
        PermutedTables::build_vartime(&self.receiver.tables.hash, &self.items).unwrap()
    }
}

/// An item outside of the set, which no bin's right part matches under any function.
fn stranger(hash: &PermutedHash, items: &[u128], rng: &mut SecretRng) -> u128 {
    let tables = PermutedTables::build_vartime(hash, items).unwrap();
    loop {
        let stranger = rng.block() >> (128 - hash.shape().item_bits);
        let place = hash.place(stranger);
        let holds =
            |&bin: &u32| tables.cell(place.table as usize, bin as usize).is_some_and(|cell| cell.right == place.right);
        if items.binary_search(&stranger).is_err() && !place.bins.iter().any(holds) {
            return stranger;
        }
    }
}

#[test]
fn members_are_found_and_strangers_are_not() {
    for configuration in CONFIGURATIONS {
        // The last one has two blocks of bins.
        for (form, count, item_bits) in
            [(Form::Faithful, 3000, NARROW), (Form::Repaired, 3000, 40), (Form::Faithful, 9000, 28)]
        {
            let mut on = parties(configuration, form, count, item_bits);
            let member = on.member();
            let answer = on.answer(member);
            assert_eq!(on.receiver.places(&answer).unwrap().len(), 1, "one zero");
            let stranger = on.stranger();
            let answer = on.answer(stranger);
            assert!(!on.receiver.read(&answer).unwrap());
        }
    }
}

/// Tables of three functions: each part of the answer is right, in both configurations and forms.
#[test]
fn three_functions_find_members_alone() {
    for (configuration, form) in CONFIGURATIONS.into_iter().flat_map(|one| FORMS.map(|form| (one, form))) {
        let params = Params::new(configuration, form, 3, 3000, NARROW).unwrap();
        assert_eq!(params.functions(), 3);
        let mut on = parties_of(params);
        let cells: Vec<u128> = (0..4).map(|_| on.member()).collect();
        for member in cells {
            let answer = on.answer(member);
            assert_eq!(on.receiver.places(&answer).unwrap().len(), 1, "one zero");
        }
        let stranger = on.stranger();
        let answer = on.answer(stranger);
        assert!(!on.receiver.read(&answer).unwrap());
    }
}

/// A load of 0.76 for three functions instead of 0.88; nothing is known of them in tables of 2^13 bins, and of two
/// functions at all.
#[test]
fn tables_are_as_large_as_their_functions_ask() {
    let bins = |functions, items| {
        let params = Params::compressed(Configuration::FastIntersection, Form::Repaired, functions, items).unwrap();
        params.shape.bins()
    };
    for (items, of_four, of_three) in [
        (790_000, 1 << 20, 1 << 20),
        (800_000, 1 << 20, 1 << 21),
        (923_000, 1 << 21, 1 << 21),
        (5000, 1 << 13, 1 << 14),
    ] {
        assert_eq!([bins(4, items), bins(3, items)], [of_four, of_three], "{items} items");
    }
    for functions in [0, 1, 2, 5] {
        let refused = Params::new(Configuration::FastSetup, Form::Faithful, functions, 3000, NARROW).unwrap_err();
        assert!(refused.what.contains("hash functions") && refused.mend.contains("3 or 4"), "{refused}");
    }
}

#[test]
fn items_of_128_bits_and_sets_of_one_are_served() {
    let mut on = parties(Configuration::FastIntersection, Form::Repaired, 1, 128);
    assert_eq!(on.sender.params.limbs, 9);
    let (member, stranger) = (on.items[0], on.items[0] ^ 1 << 127);
    let answers = [member, stranger].map(|item| on.answer(item));
    assert_eq!(answers.map(|answer| on.receiver.read(&answer).unwrap()), [true, false]);
}

#[test]
fn faithful_forms_refuse_items_that_do_not_fit() {
    for configuration in CONFIGURATIONS {
        let fits = |item_bits| Params::new(configuration, Form::Faithful, 4, 3000, item_bits);
        let refused = fits(28).unwrap_err();
        assert!(refused.what.contains("right parts of 1") && refused.mend.contains("repaired"), "{refused}");
        assert!(fits(26).is_ok());
        // 32 bits at the paper's sizes: 12 and 13 bits are left.
        let params = Params::new(configuration, Form::Faithful, 4, 900_000, 32).unwrap();
        assert_eq!((params.shape.bins() * params.shape.tables, params.blocks()), (1 << 20, 256 / params.shape.tables));
    }
    assert!(Params::new(Configuration::FastSetup, Form::Repaired, 4, 1 << 27, 128).is_err());
}

#[test]
fn a_cell_says_what_it_holds() {
    for (form, item_bits) in [(Form::Faithful, NARROW), (Form::Repaired, NARROW), (Form::Repaired, 128)] {
        let params = Params::new(Configuration::FastIntersection, form, 4, 3000, item_bits).unwrap();
        let right = u128::MAX >> (128 - params.shape.right_bits());
        let mut met = std::collections::HashSet::new();
        for bit in 0..=params.shape.right_bits() {
            let right = right ^ (1 << bit) & right;
            for function in 0..4 {
                let limbs = params.limbs_of(right, function);
                assert_eq!(limbs.len(), params.limbs);
                assert!(limbs.iter().all(|&limb| limb < params.empty()));
                met.insert(limbs);
            }
        }
        let rights = params.shape.right_bits() as usize + 1;
        assert_eq!(met.len(), if form == Form::Faithful { rights } else { 4 * rights }, "{form:?} {item_bits}");
    }
}

/// What the floods rest on: the noise that they drown, for each configuration.
#[test]
fn noise_below_the_floods_is_as_stated() {
    for (configuration, of_products, of_results) in
        [(Configuration::FastSetup, 12.0, 12.0), (Configuration::FastIntersection, 40.0, 12.0)]
    {
        let mut on = parties(configuration, Form::Repaired, 3000, 40);
        let scheme = on.receiver.scheme;
        let item = on.items[0];
        for partition in on.receiver.tables.products(item) {
            for product in partition {
                let mut product = scheme.ciphertext_coefficients(product);
                scheme.switch_down(&mut product, 3);
                let noise = scheme.noise_bits(&product, &on.sender.key);
                assert!(noise < of_products - 3.0, "{configuration:?}: D of 2^{noise}");
            }
        }
        // What a result has before its flood: masks times matrices, turned.
        let question = on.receiver.ask(item, &mut on.rng);
        let mask = scheme.expand(&question.seed, 0, question.masks[0][0].clone());
        let factors = slots::invertible(scheme, 2, &mut on.rng);
        let factors = [0, 1].map(|i| scheme.multiplier(&factors[i], scheme.all_primes()));
        let result = scheme.combine(&[(&mask, &factors[0]), (&mask, &factors[1])]);
        let mut result = scheme.ciphertext_coefficients(on.keys.turns.turned(scheme, result, u128::MAX));
        scheme.switch_down(&mut result, 3);
        let noise = scheme.noise_bits(&result, &on.receiver.key);
        assert!(noise < of_results - 3.0, "{configuration:?}: E of 2^{noise}");
    }
}

/// Whatever a query was about, what travels has the noise of its flood.
#[test]
fn what_travels_of_repaired_forms_has_the_noise_of_a_flood() {
    for configuration in CONFIGURATIONS {
        let mut on = parties(configuration, Form::Repaired, 100, 40);
        let question = on.receiver.ask(on.items[0], &mut on.rng);
        let answer = on.sender.answer(&on.keys, &question, &mut on.rng).unwrap();
        let scheme = on.receiver.scheme;
        // Sums of four, after a prime of 41 bits is dropped; 8192 draws come within 1.5 bits of the most.
        let flood = |bits: u32| f64::from(bits) + 1.0 - 41.0;
        let check = |noise: f64, bits: u32| assert!((flood(bits) - 1.5..flood(bits)).contains(&noise), "2^{noise}");
        for sum in question.sums.iter().flatten() {
            check(scheme.noise_bits(sum, &on.sender.key), on.sender.params.flood_bits_d());
        }
        for result in answer.results.iter().flatten() {
            check(scheme.noise_bits(result, &on.receiver.key), on.sender.params.flood_bits_e());
        }
    }
}

/// The figures of docs/parameters/cm25.md.
#[test]
#[ignore = "measures: cargo test --release --locked -p vesica-papers --lib print_costs -- --ignored --nocapture"]
fn print_costs() {
    let time = |start: std::time::Instant| start.elapsed().as_secs_f64() * 1e3;
    for configuration in CONFIGURATIONS {
        for (form, item_bits) in [(Form::Faithful, 32), (Form::Repaired, 32), (Form::Repaired, 80)] {
            let start = std::time::Instant::now();
            let mut on = parties(configuration, form, 900_000, item_bits);
            let prepared = time(start);
            let (scheme, params) = (on.receiver.scheme, &on.sender.params);
            let half = scheme.poly_bytes(scheme.all_primes());
            let setup = half * (params.blocks() * params.limbs + scheme.digits() + 1);
            let keys = half * (Turns::count(scheme) + 1);
            let travelling = params.sums();
            let question = travelling * (scheme.ciphertext_bytes(params.primes_of_d()) + half);
            let answer = travelling * scheme.ciphertext_bytes(params.primes_of_e());
            let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
            let mut product = scheme.ciphertext_coefficients(on.receiver.tables.products(on.items[0])[0][0].clone());
            let noise = scheme.noise_bits(&product, &on.sender.key);
            scheme.switch_down(&mut product, 3);
            let dropped = scheme.noise_bits(&product, &on.sender.key);
            let start = std::time::Instant::now();
            let asked = on.receiver.ask(on.items[0], &mut on.rng);
            let asking = time(start);
            let start = std::time::Instant::now();
            let answered = on.sender.answer(&on.keys, &asked, &mut on.rng).unwrap();
            let answering = time(start);
            assert!(on.receiver.read(&answered).unwrap());
            println!(
                "{configuration:?} {form:?} {item_bits} bits, {} limbs: both sides ready after {prepared:.0} ms; set-up \
                 {:.2} MiB, keys {:.2} MiB; an item: ask {asking:.0} ms, answer {answering:.0} ms, {:.2} + {:.2} MiB; \
                 product 2^{noise:.1}, with three primes 2^{dropped:.1}",
                params.limbs,
                mib(setup),
                mib(keys),
                mib(question),
                mib(answer),
            );
        }
    }
}
