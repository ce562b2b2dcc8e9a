use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Poly, SecretKey, Seed, Values};
use vesica_testkit::{try_two_party, two_party};

use super::cells::Functions;
use super::messages::{Answers, Question};
use super::params::ring;
use super::*;
use crate::bfv_testing::{correlation, deviation};
use crate::union::leakage::{Sets, Shown, View};
use crate::union::places::Order;
use vesica_protocols::bfv::ciphertexts::{receive_short, send_half};
use vesica_protocols::bfv::drown;
use vesica_protocols::membership::NO_ITEM;
use vesica_protocols::unbalanced::evaluation::{all_powers, value};
use vesica_protocols::unbalanced::noise;
use vesica_protocols::unbalanced::polynomials::Polynomials;
use vesica_protocols::unbalanced::query::Slots;
use vesica_protocols::unbalanced::ring::PLAIN;

/// The receiver's view of a run on these sets.
pub(crate) fn view(sets: &Sets, order: Order) -> View {
    let params = Params::derive(sets.sender.len(), sets.receiver.len()).unwrap();
    let (held, (found, own_bins, new_bins)) = two_party(
        |ch, rng| {
            let sender = Sender::setup(&params, ch, rng)?;
            match order {
                Order::Uniform => sender.ask(&sets.sender, ch, rng),
                Order::AsBins => {
                    let bins = Secret::new((0..params.shape.bins() as u32).collect());
                    sender.ask_in_order(&sets.sender, bins, ch, rng)
                }
            }
        },
        |ch, rng| {
            let receiver = Receiver::setup(&params, ch, rng)?;
            let [own, new] = [&sets.receiver[..], &sets.new_items()].map(|items| receiver.functions.hash(items).0);
            Ok((receiver.test(&sets.receiver, ch, rng)?, own, new))
        },
    );
    let shown = held.iter().zip(found.iter()).map(|(&item, is_common)| match item {
        _ if is_common => Shown::Common,
        NO_ITEM => Shown::Empty,
        _ => Shown::New,
    });
    View { bins: params.shape.bins(), shown: shown.collect(), own_bins, new_bins }
}

/// Every bin is a place, whatever is common, and which places hold an item of which kind is as it
/// should be. Of many items of the receiver there are several parts.
#[test]
fn places_of_each_kind_are_as_many_as_the_sizes_say() {
    let mut rng = SecretRng::insecure_from_seed(1);
    for (n_s, n_r, common) in [(1, 1, 1), (100, 150, 0), (100, 150, 40), (150, 100, 100), (7, 80_000, 5)] {
        let sets = Sets::random(n_s, n_r, common, &mut rng);
        let view = view(&sets, Order::Uniform);
        let count = |kind| view.shown.iter().filter(|&&shown| shown == kind).count();
        assert_eq!((count(Shown::Common), count(Shown::New)), (common, n_s - common), "{n_s} x {n_r}");
        assert_eq!(view.shown.len(), Params::derive(n_s, n_r).unwrap().shape.bins());
    }
    assert!(Params::derive(7, 80_000).unwrap().shape.parts > 1);
}

/// An item that the receiver has twice would lie in two parts of its bin, and be equal in both.
#[test]
fn an_item_twice_is_common_all_the_same() {
    let (sent, mut own): ([u128; 2], Vec<u128>) = ([90_000, 7], (0..80_000).collect());
    own[8] = 7;
    let params = Params::derive(sent.len(), own.len()).unwrap();
    assert!(params.shape.parts > 1);
    let (held, found) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.ask(&sent, ch, rng),
        |ch, rng| Receiver::setup(&params, ch, rng)?.test(&own, ch, rng),
    );
    for (&item, is_common) in held.iter().zip(found.iter()) {
        assert_eq!(is_common, item == 1);
    }
}

/// Both sides, set up, with arrow 3 and the powers that the receiver makes of it.
struct On {
    params: Params,
    sender: Sender,
    receiver: Receiver,
    functions: Functions,
    polynomials: Polynomials,
    slots: Slots,
    seed: [u8; 32],
    halves: Vec<Poly<Values>>,
    powers: Vec<Ciphertext<Values>>,
    rng: SecretRng,
}

impl On {
    fn new(sent: &[u128], own: &[u128]) -> Self {
        let params = Params::derive(sent.len(), own.len()).unwrap();
        let (sender, (receiver, polynomials, functions)) = two_party(
            |ch, rng| Sender::setup(&params, ch, rng),
            |ch, rng| {
                let receiver = Receiver::setup(&params, ch, rng)?;
                let polynomials = receiver.answerer.polynomials(&receiver.functions, own, ch)?;
                let functions = receiver.functions;
                Ok((receiver, polynomials, functions))
            },
        );
        let mut rng = SecretRng::from_os().unwrap();
        let (scheme, shape) = (&ring().scheme, params.shape);
        let (positions, limbs) = functions.hash(sent);
        let slots = Slots::new(scheme, shape, &positions, &limbs).unwrap();
        let mut encryptor = sender.asker.key.encryptor(scheme, &mut rng);
        let seed = encryptor.seed().to_bytes();
        let basis = shape.powers();
        let sent = basis.sent.iter();
        let halves: Vec<_> =
            sent.map(|&exponent| slots.encrypt(scheme, 0, exponent, &mut encryptor, &mut rng)).collect();
        let expand =
            |(half, number): (&Poly<Values>, u64)| scheme.expand(&Seed::from_bytes(seed), number, half.clone());
        let fresh = halves.iter().zip(0..).map(expand).collect();
        let powers = all_powers(ring(), &basis, fresh, &receiver.answerer.product);
        Self { params, sender, receiver, functions, polynomials, slots, seed, halves, powers, rng }
    }

    /// Arrow 4, as it travels.
    fn answers(&self) -> Vec<Ciphertext<Coefficients>> {
        let (scheme, shape) = (&ring().scheme, self.params.shape);
        let (answers, _) = two_party(
            |ch, _| {
                ch.send_stream::<Question>(&self.seed)?;
                self.halves.iter().try_for_each(|half| send_half::<Question>(scheme, half, ch))?;
                (0..shape.parts).map(|_| receive_short::<Answers>(scheme, ring().sent_primes, ch)).collect()
            },
            |ch, rng| self.receiver.answerer.answer(&self.functions, &self.polynomials, ch, rng),
        );
        answers
    }
}

/// What comes back of a part: uniform slots, whatever the values are, whose noise is within what is
/// predicted and shows none of the value's. Digests are equal for common items alone, in one part each.
/// An honest run fails with probability 10^-6.
#[test]
fn answers_show_nothing_and_digests_match_once() {
    let (sent, own): (Vec<u128>, Vec<u128>) = ((990..1030).collect(), (0..1000).collect());
    let mut on = On::new(&sent, &own);
    let (ring, shape) = (ring(), on.params.shape);
    let (scheme, key, public) = (&ring.scheme, &on.sender.asker.key, &on.receiver.answerer.public);
    assert_eq!(shape.groups, 1);
    let drowned = noise::of_masked(ring, shape.degree, shape.powers().depth());
    let held = on.slots.items(NO_ITEM);
    let mut equal = vec![0; shape.bins()];
    let (mut sum, mut squares) = (0.0, 0.0);
    for part in 0..shape.parts {
        let (masked, mask) = on.receiver.answerer.masked(&on.polynomials, 0, part, &on.powers, &mut on.rng);
        let bare = scheme.ciphertext_coefficients(masked);
        let guess = scheme.noise_of(&bare, key);
        assert!((0.05..1.0).contains(&(deviation(&guess) / drowned)), "{}", deviation(&guess) / drowned);
        let mut seen = drown(ring, public, &bare, &mut on.rng);
        let noise = scheme.noise_of(&seen, key);
        sum += correlation(&noise, &guess);
        squares += deviation(&noise).powi(2) / 2f64.powi(2 * ring.flood_bits as i32);
        // The second half is fresh.
        let mixed = Ciphertext { c0: seen.c0.clone(), c1: bare.c1.clone() };
        assert!(scheme.decrypt(&bare, key).is_ok() && scheme.decrypt(&mixed, key).is_err());
        scheme.switch_down(&mut seen, ring.sent_primes);
        assert!(scheme.noise_bits(&seen, key) < scheme.room_bits(ring.sent_primes) - 5.0);
        let slots = scheme.decode(&scheme.decrypt(&seen, key).unwrap());
        // Values of bins without an item are the same in all of them; under masks they are not.
        let mean = slots.iter().sum::<u64>() as f64 / slots.len() as f64 / PLAIN as f64;
        assert!((mean - 0.5).abs() < 6.0 * 0.289 / (slots.len() as f64).sqrt(), "{mean}");
        let high = slots.iter().filter(|&&slot| slot >= PLAIN / 2).count() as f64 / slots.len() as f64;
        assert!((high - 0.5).abs() < 6.0 * 0.5 / (slots.len() as f64).sqrt(), "{high}");
        for (bin, (u, r)) in on.functions.digests(&slots).zip(on.functions.digests(&mask)).enumerate() {
            equal[bin] += usize::from(u == r);
        }
    }
    for (&item, &equal) in held.iter().zip(&equal) {
        let is_common = item != NO_ITEM && sent[item as usize] < 1000;
        assert_eq!(equal, usize::from(is_common), "item {item}");
    }
    let parts = shape.parts as f64;
    assert!((sum / parts.sqrt()).abs() < 5.0, "{sum} of {parts}");
    // Four uniform numbers have the variance 1/3, in units of the square of their width.
    assert!((squares / parts - 1.0 / 3.0).abs() < 0.04, "{}", squares / parts);
}

/// What travels has the noise of a flood, and a second half that is not the one that the sender could
/// compute from the polynomials.
#[test]
fn answers_travel_flooded_and_fresh() {
    let own: Vec<u128> = (0..80_000).collect();
    let on = On::new(&[7, 8], &own);
    let (ring, shape) = (ring(), on.params.shape);
    assert!(shape.parts > 1);
    let lost: f64 = ring.scheme.params().primes[ring.sent_primes..ring.kept_primes].iter().map(|&p| p as f64).product();
    let flood = 2f64.powi(ring.flood_bits as i32) / lost / 3f64.sqrt();
    let key = &on.sender.asker.key;
    let slots = |value: &Ciphertext<Coefficients>| ring.scheme.decode(&ring.scheme.decrypt(value, key).unwrap());
    let mut masks = std::collections::HashSet::new();
    for (part, answer) in on.answers().into_iter().enumerate() {
        let measured = deviation(&ring.scheme.noise_of(&answer, &on.sender.asker.key)) / flood;
        assert!((0.9..1.1).contains(&measured), "part {part}: {measured}");
        let mut bare = ring.scheme.ciphertext_coefficients(value(ring, &on.polynomials, 0, part, &on.powers));
        ring.scheme.switch_down(&mut bare, ring.sent_primes);
        assert!(answer.c1 != bare.c1, "part {part}");
        let mask: Vec<u64> = slots(&answer).iter().zip(slots(&bare)).map(|(&u, p)| (u + PLAIN - p) % PLAIN).collect();
        assert!(masks.insert(mask), "part {part} has the mask of another");
    }
}

/// Ciphertexts that do not decrypt are an error, and never a bin without a match.
#[test]
fn exhausted_noise_is_an_error() {
    let params = Params::derive(2, 2).unwrap();
    let (sent, _) = try_two_party(
        |ch, rng| {
            let mut sender = Sender::setup(&params, ch, rng)?;
            sender.asker.key = SecretKey::new(&ring().scheme, rng);
            sender.ask(&[1, 2], ch, rng)
        },
        |ch, rng| Receiver::setup(&params, ch, rng)?.test(&[2, 3], ch, rng),
    );
    let says = "exhausted";
    assert!(matches!(&sent.result, Err(Abort::PeerMisbehaved(_, what)) if what.contains(says)), "{:?}", sent.result);
}

/// Different cells have different digests, as often as their width says: 2^16 pairs at 14 bits.
#[test]
fn digests_are_equal_as_often_as_their_width_says() {
    let On { mut functions, mut rng, .. } = On::new(&[1], &[2]);
    functions.low = (1 << 14) - 1;
    let limbs = Params::derive(1, 1).unwrap().shape.limbs;
    let mut cells = |count: usize| -> Vec<u64> {
        (0..count * limbs).map(|_| vesica_protocols::recurrent::scramble::uniform(&mut rng)).collect()
    };
    let (left, right) = (cells(1 << 16), cells(1 << 16));
    let equal = functions.digests(&left).zip(functions.digests(&right)).filter(|(x, y)| x == y).count();
    // Four on average, with a deviation of two.
    assert!(equal < 20, "{equal}");
    // In one limb alone.
    for limb in 0..limbs {
        let mut other = left.clone();
        other.iter_mut().skip(limb).step_by(limbs).for_each(|slot| *slot = (*slot + 1) % PLAIN);
        let equal = functions.digests(&left).zip(functions.digests(&other)).filter(|(x, y)| x == y).count();
        assert!(equal < 40, "limb {limb}: {equal}");
    }
}
