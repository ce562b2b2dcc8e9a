use std::iter::repeat_with;

use vesica_structures::facts::{FailureEvent, LAMBDA};
use vesica_structures::hashing::{hall_bound, simple_capacity};
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Scheme, SecretKey, SwitchKey, Values};
use vesica_structures::rng::SecretRng;

use super::evaluation::{all_powers, label, shorten, value};
use super::polynomials::Polynomials;
use super::powers::BASES;
use super::ring::{ANSWER_BITS, LIMB_BITS, NO_LIMB, PLAIN, Ring};
use super::shape::MOST_QUERY_ITEMS;
use super::*;
use crate::bfv::noise::{distance_bits, rounded};
use crate::bfv::testing::deviation;

fn ring() -> &'static Ring {
    Form::Together.ring()
}

fn scheme() -> &'static Scheme {
    &ring().scheme
}

fn limbs(count: usize, rng: &mut SecretRng) -> Vec<u64> {
    repeat_with(|| rng.block() as u64 & ((1 << LIMB_BITS) - 1)).take(count).collect()
}

/// A group of bins with two limbs each, of which each is full, and a client's slots.
struct On {
    shape: Shape,
    key: SecretKey,
    product_key: SwitchKey,
    /// For each item of the set, its limbs; items `i` of all bins come after each other.
    set: Vec<u64>,
    /// For each item the limbs of its label.
    labels: Vec<u32>,
    polynomials: Polynomials,
    rng: SecretRng,
}

impl On {
    fn new(basis: usize, parts: usize) -> Self {
        Self::with_payloads(basis, parts, 0)
    }

    fn with_payloads(basis: usize, parts: usize, payload_bytes: usize) -> Self {
        let degree = BASES[basis].reach;
        let form = Form::Together;
        let shape = Shape { form, limbs: 2, groups: 1, capacity: parts * degree, parts, degree, basis, payload_bytes };
        let mut rng = SecretRng::from_os().unwrap();
        let bins = shape.bins() as u32;
        // Each item is in three bins, and each bin is full.
        let items = shape.capacity * shape.bins() / 3;
        let positions: Vec<[u32; 3]> =
            (0..items as u32).map(|item| [0, 1, 2].map(|choice| (3 * item + choice) % bins)).collect();
        let set = limbs(2 * items, &mut rng);
        let labels: Vec<u32> =
            limbs(2 * shape.labels() * items, &mut rng).into_iter().map(|limb| limb as u32).collect();
        let polynomials = if payload_bytes > 0 {
            Polynomials::with_labels(scheme(), shape, &positions, &set, &labels, &mut rng).unwrap()
        } else {
            Polynomials::new(scheme(), shape, &positions, &set, None).unwrap()
        };
        let key = SecretKey::new(scheme(), &mut rng);
        let mut encryptor = key.encryptor(scheme(), &mut rng);
        let halves = encryptor.product_key(&mut rng);
        let product_key = SwitchKey::new(scheme(), &encryptor.seed(), 0, halves);
        Self { shape, key, product_key, set, labels, polynomials, rng }
    }

    /// Values of all parts at these slots.
    fn values(&mut self, slots: &[u64]) -> Vec<Ciphertext<Values>> {
        let powers = self.powers(slots);
        (0..self.shape.parts).map(|part| value(ring(), &self.polynomials, 0, part, &powers)).collect()
    }

    fn powers(&mut self, slots: &[u64]) -> Vec<Ciphertext<Values>> {
        let scheme = scheme();
        let powers = self.shape.powers();
        let mut encryptor = self.key.encryptor(scheme, &mut self.rng);
        let seed = encryptor.seed();
        let sent = powers.sent.iter().zip(0..).map(|(&exponent, number)| {
            let plain = scheme.encode_powers(slots, exponent as u64);
            scheme.expand(&seed, number, encryptor.encrypt(&plain, &mut self.rng))
        });
        let sent = sent.collect();
        all_powers(ring(), &powers, sent, &self.product_key)
    }

    /// What a client reads of an answer.
    fn read(&self, value: Ciphertext<Values>) -> Vec<u64> {
        scheme().decode(&scheme().decrypt(&received(&shorten(ring(), value)), &self.key).unwrap())
    }

    fn noise(&self, value: &Ciphertext<Coefficients>) -> Vec<f64> {
        scheme().noise_of(value, &self.key)
    }
}

/// Bases of either depth, the longest ones among them. What is predicted is for coefficients of
/// plaintexts of `t / 2`, those of full polynomials are uniform: half a bit to one bit less.
#[test]
fn noise_is_what_is_predicted() {
    for basis in [0, 5, 15, 16, 19, 22] {
        let mut on = On::new(basis, 3);
        let slots = limbs(scheme().slots(), &mut on.rng);
        let (degree, depth) = (on.shape.degree, on.shape.powers().depth());
        assert!(noise::is_within(&on.shape, depth));
        let value = noise::of_value(ring(), degree, depth);
        for ciphertext in on.values(&slots) {
            let answer = shorten(ring(), ciphertext.clone());
            let ciphertext = scheme().ciphertext_coefficients(ciphertext);
            let measured = deviation(&on.noise(&ciphertext));
            assert!((0.2..1.0).contains(&(measured / value)), "{degree}: {measured} for {value}");
            let most = scheme().noise_bits(&ciphertext, &on.key);
            assert!(most < (10.0 * value).log2() && most < scheme().room_bits(ring().kept_primes), "{degree}: {most}");
            let (measured, predicted) = (deviation(&on.noise(&answer)), noise::of_answer(ring(), degree, depth));
            assert!((0.2..1.05).contains(&(measured / predicted)), "{degree}: {measured} for {predicted}");
            let (received, most) = (received(&answer), rounded(scheme(), predicted, ANSWER_BITS));
            let measured = scheme().noise_bits(&received, &on.key);
            assert!(
                measured < most.log2() && most.log2() < scheme().room_bits(ring().sent_primes),
                "{degree}: {measured}"
            );
            // A tenth of what is ruled out would be a single deviation.
            assert!(measured > most.log2() - 2.0, "{degree}: {measured} where {} is ruled out", most.log2());
        }
    }
}

/// An answer as it comes to a client.
fn received(answer: &Ciphertext<Coefficients>) -> Ciphertext<Coefficients> {
    let mut bytes = Vec::new();
    scheme().write_rounded(answer, ANSWER_BITS, &mut bytes);
    assert_eq!(bytes.len(), Form::Together.answer_bytes());
    scheme().read_rounded(&bytes, ANSWER_BITS).unwrap()
}

/// Answers with the most noise of all bases leave no room for coarser roundings.
#[test]
fn answers_have_no_bit_too_many() {
    let noisiest = noise::of_answer(ring(), 162, 2);
    let fits = |bits| rounded(scheme(), noisiest, bits).log2() < scheme().room_bits(ring().sent_primes);
    let [first, second] = ANSWER_BITS;
    assert!(fits([first, second]) && !fits([first - 1, second]) && !fits([first, second - 1]));
}

/// Labels have no more noise than the other values: a lower degree, and coefficients as large.
#[test]
fn noise_of_labels_is_that_of_values() {
    for basis in [0, 15, 22] {
        let mut on = On::with_payloads(basis, 4, 5);
        assert_eq!(on.shape.labels(), 2);
        let slots = limbs(scheme().slots(), &mut on.rng);
        let (degree, powers) = (on.shape.degree, on.powers(&slots));
        let predicted = noise::of_value(ring(), degree, on.shape.powers().depth());
        for number in [1, 2] {
            let value = label(ring(), &on.polynomials, 0, 0, number, &powers);
            let answer = shorten(ring(), value.clone());
            let measured = deviation(&on.noise(&scheme().ciphertext_coefficients(value)));
            assert!((0.1..1.0).contains(&(measured / predicted)), "{degree}: {measured} for {predicted}");
            assert!(scheme().noise_bits(&received(&answer), &on.key) < scheme().room_bits(ring().sent_primes));
        }
    }
}

/// In the part where an item is, the slots of its labels hold its own; in all others, and for limbs of
/// nobody, they are spread over the whole field.
#[test]
fn labels_are_read_where_the_item_is_and_nowhere_else() {
    for basis in [0, 3] {
        let mut on = On::with_payloads(basis, 4, 5);
        let (bins, labels) = (on.shape.bins(), on.shape.labels());
        // Every other bin asks for its first item, the others for nobody.
        let items = on.set.len() / 2;
        let first = |bin: usize| (0..items).find(|item| (0..3).any(|j| (3 * item + j) % bins == bin)).unwrap();
        let mut slots = limbs(scheme().slots(), &mut SecretRng::from_os().unwrap());
        for bin in (0..bins).step_by(2) {
            slots[2 * bin..][..2].copy_from_slice(&on.set[2 * first(bin)..][..2]);
        }
        let powers = on.powers(&slots);
        let (mut right, mut others) = (0, Vec::new());
        for part in 0..on.shape.parts {
            let roots = on.read(value(ring(), &on.polynomials, 0, part, &powers));
            for number in 1..=labels {
                let read = on.read(label(ring(), &on.polynomials, 0, part, number, &powers));
                for bin in 0..bins {
                    let (slots, own) = (&read[2 * bin..][..2], 2 * (labels * first(bin) + number - 1));
                    let expected = on.labels[own..][..2].iter().map(|&limb| u64::from(limb));
                    if roots[2 * bin..][..2] == [0, 0] {
                        assert!(bin % 2 == 0 && slots.iter().copied().eq(expected), "part {part}, bin {bin}");
                        right += 1;
                    } else {
                        others.extend_from_slice(slots);
                    }
                }
            }
        }
        assert_eq!(right, bins.div_ceil(2) * labels, "each item that was asked about, once a label");
        // A bit more than a tenth is no limb, and the mean is that of the field, within six deviations.
        let (count, no_limbs) = (others.len() as f64, others.iter().filter(|&&slot| slot >> LIMB_BITS != 0).count());
        assert!((no_limbs as f64 / count - 16_385.0 / 147_457.0).abs() < 6.0 * (0.1 / count).sqrt(), "{no_limbs}");
        let mean = others.iter().sum::<u64>() as f64 / count / PLAIN as f64;
        assert!((mean - 0.5).abs() < 6.0 * (1.0 / 12.0 / count).sqrt(), "{mean}");
    }
}

/// Items of a bin that share a limb have labels of their own all the same: they are in different parts.
#[test]
fn items_with_a_common_limb_have_their_own_labels() {
    let shape = Shape { limbs: 2, degree: 2, parts: 4, capacity: 8, basis: 0, payload_bytes: 3, ..on_one_limb() };
    let mut rng = SecretRng::from_os().unwrap();
    // Dealt in turn, items 0 and 4 would be in one part, and so on.
    let set: Vec<u64> = (0..8).flat_map(|item| [item % 4, 100 + item]).collect();
    let labels: Vec<u32> = (0..16).map(|limb| 1000 + limb).collect();
    let polynomials = Polynomials::with_labels(scheme(), shape, &[[0, 1, 2]; 8], &set, &labels, &mut rng).unwrap();
    let mut found = Vec::new();
    for part in 0..shape.parts {
        let slots = |number| -> Vec<Vec<u64>> {
            polynomials.of_part(scheme(), 0, part, number).map(|plain| scheme().decode(&plain)).collect()
        };
        let (roots, of_labels) = (slots(0), slots(1));
        for item in 0..8 {
            let at = |coefficients: &[Vec<u64>], slot: usize, highest: u64| {
                let point = set[2 * item + slot];
                coefficients.iter().rev().fold(highest, |value, slots| (value * point + slots[slot]) % PLAIN)
            };
            if [0, 1].map(|slot| at(&roots, slot, 1)) == [0, 0] {
                assert_eq!([0, 1].map(|slot| at(&of_labels, slot, 0) as u32), labels[2 * item..][..2], "item {item}");
                found.push(item);
            }
        }
    }
    found.sort_unstable();
    assert_eq!(found, (0..8).collect::<Vec<_>>());
}

/// The same work and the same degrees, whatever is in a bin: those of an empty set read as those of
/// others do.
#[test]
fn labels_of_an_empty_bin_are_spread_over_the_field() {
    let shape = Shape { limbs: 2, degree: 8, parts: 2, capacity: 16, basis: 2, payload_bytes: 5, ..on_one_limb() };
    let mut on = On::new(2, 2);
    on.polynomials = Polynomials::with_labels(scheme(), shape, &[], &[], &[], &mut on.rng).unwrap();
    on.shape = shape;
    let slots = limbs(scheme().slots(), &mut on.rng);
    let powers = on.powers(&slots);
    let mut seen = std::collections::HashSet::new();
    for (part, number) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
        let read = on.read(label(ring(), &on.polynomials, 0, part, number, &powers));
        let mean = read.iter().sum::<u64>() as f64 / 4096.0 / PLAIN as f64;
        assert!((mean - 0.5).abs() < 6.0 / (12.0f64 * 4096.0).sqrt(), "{mean}");
        assert!(seen.insert(read), "two labels have the same padding");
    }
}

#[test]
fn values_are_those_of_the_polynomials() {
    for basis in [0, 3, 17] {
        let mut on = On::new(basis, 3);
        let bins = on.shape.bins();
        // Every other bin asks for an item of its own, the others for limbs of different ones.
        let set = on.set.clone();
        let entries = |bin: usize| (0..set.len() / 2).filter(move |item| (0..3).any(|j| (3 * item + j) % bins == bin));
        let mut slots = Vec::new();
        for bin in 0..bins {
            let own: Vec<usize> = entries(bin).collect();
            assert_eq!(own.len(), on.shape.capacity);
            let (first, second) = if bin % 2 == 0 { (own[1], own[1]) } else { (own[0], own[2 % own.len()] ^ 1) };
            slots.extend([set[2 * first], set[2 * second + 1]]);
        }
        let found = on.values(&slots);
        for (part, value) in found.into_iter().enumerate() {
            let answer = shorten(ring(), value);
            let decrypted = scheme().decode(&scheme().decrypt(&answer, &on.key).unwrap());
            for bin in 0..bins {
                for limb in 0..2 {
                    let own = entries(bin).skip(part).step_by(3);
                    let slot = 2 * bin + limb;
                    let product =
                        own.fold(1, |product, item| product * (slots[slot] + PLAIN - set[2 * item + limb]) % PLAIN);
                    assert_eq!(decrypted[slot], product, "part {part}, bin {bin}, limb {limb}");
                }
            }
        }
    }
}

fn on_one_limb() -> Shape {
    let form = Form::Together;
    Shape { form, limbs: 1, groups: 1, capacity: 1, parts: 1, degree: 1, basis: 0, payload_bytes: 0 }
}

/// Free places of a part are never zero: those of an empty set are not for any limb.
#[test]
fn an_empty_set_matches_no_limb() {
    let shape = on_one_limb();
    let mut on = On::new(0, 3);
    on.polynomials = Polynomials::new(scheme(), shape, &[], &[], None).unwrap();
    on.shape = shape;
    let slots: Vec<u64> = (0..4096).map(|slot| (slot * 32 + slot % 32) as u64).collect();
    assert!(slots.iter().all(|&slot| slot < 1 << LIMB_BITS) && NO_LIMB >= 1 << LIMB_BITS);
    for value in on.values(&slots) {
        let answer = shorten(ring(), value);
        let decrypted = scheme().decode(&scheme().decrypt(&answer, &on.key).unwrap());
        assert!(decrypted.iter().zip(&slots).all(|(&value, &slot)| value == (slot + PLAIN - NO_LIMB) % PLAIN));
    }
}

const SIZES: [(usize, usize); 11] = [
    (0, 0),
    (0, 1),
    (1, 1),
    (3, 7),
    (1000, 3),
    (1 << 14, 3),
    (1 << 14, 1 << 14),
    (1 << 16, 100),
    (1 << 20, 1),
    (1 << 20, 1 << 10),
    (1 << 24, 1 << 12),
];

#[test]
fn shapes_with_payloads_hold_their_bounds() {
    let table = FailureEvent::HashTable.bits() + 2;
    for (set_items, query_items) in SIZES {
        for payload_bytes in [1, 16, 100, 1024] {
            let shape = Shape::with_payloads(set_items, query_items, 16, payload_bytes).unwrap();
            println!(
                "{set_items} {query_items} {shape:?} {} labels, {} {}",
                shape.labels(),
                shape.question_bytes(),
                shape.answer_bytes()
            );
            assert!(shape.labels() * shape.limbs * LIMB_BITS as usize >= 8 * payload_bytes);
            assert!(shape.false_match_bits(query_items, 16) >= 42.0 && shape.places() >= shape.capacity);
            assert!(noise::is_within(&shape, shape.powers().depth()));
            // All bins, and any of the items of one.
            let (parts, capacity) = (shape.parts, shape.capacity);
            let mut bound = (3.0 * set_items as f64).log2();
            let mut others = 0;
            while 2 * others < parts + 1 {
                others += 1;
                let shares = shape.limbs as f64 / 131_072.0;
                bound += (shares * (capacity.saturating_sub(others)) as f64 / others as f64).log2();
            }
            assert!(parts >= capacity || bound <= -f64::from(table), "{bound}");
            if query_items > 0 {
                assert!(hall_bound(query_items, shape.bins()) <= -f64::from(table - 1 + 16));
                assert!(capacity >= simple_capacity(set_items, shape.bins(), table));
            }
        }
    }
    let refused = Shape::with_payloads(10, 1, 16, 1025).unwrap_err();
    assert!(refused.to_string().contains("1025 bytes"), "{refused}");
}

#[test]
fn shapes_hold_their_bounds() {
    let table = FailureEvent::HashTable.bits() + 1;
    for (set_items, query_items) in SIZES {
        for form in [Form::Together, Form::Apart, Form::Masked] {
            let shape = Shape::new(form, set_items, query_items, 16).unwrap();
            println!("{set_items} {query_items} {shape:?} {} {}", shape.question_bytes(), shape.answer_bytes());
            let depth = shape.powers().depth();
            assert!(shape.false_match_bits(query_items, 16) >= 42.0);
            assert!(shape.limbs as u32 * LIMB_BITS <= 255 && shape.places() >= shape.capacity);
            assert!(noise::is_within(&shape, depth));
            if form == Form::Apart {
                let drowned = noise::of_scrambled(form.ring(), shape.degree, depth, shape.limbs);
                assert!(distance_bits(form.ring(), noise::ANSWERS_OF_A_SET, drowned) >= f64::from(LAMBDA));
                assert!(shape.limbs as u32 * LIMB_BITS <= 128);
            }
            if form == Form::Masked {
                let drowned = noise::of_masked(form.ring(), shape.degree, depth);
                assert!(distance_bits(form.ring(), noise::ANSWERS_OF_A_SET, drowned) >= f64::from(LAMBDA));
                assert!(shape.limbs as u32 * LIMB_BITS <= 128);
            }
            if query_items > 0 {
                assert!(hall_bound(query_items, shape.bins()) <= -f64::from(table + 16));
                assert!(shape.capacity >= simple_capacity(set_items, shape.bins(), table));
            } else {
                assert_eq!(shape.groups, 0);
            }
        }
    }
    let refused = Shape::new(Form::Together, 1, MOST_QUERY_ITEMS + 1, 16).unwrap_err();
    assert!(refused.mend.contains("16384"), "{refused}");
}

/// `L` limbs with `B` roots each, by counting.
#[test]
fn false_matches_are_bounded_by_what_is_counted() {
    let shape = Shape { limbs: 2, capacity: 12, parts: 3, degree: 4, basis: 1, ..on_one_limb() };
    let exact = (5.0 * 3.0 * 1024.0) * (4.0 / 131_072.0f64).powi(2);
    assert!((shape.false_match_bits(5, 10) + exact.log2()).abs() < 1e-9);
}
