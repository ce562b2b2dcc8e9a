use vesica_party::{Abort, Security};
use vesica_structures::facts::FailureEvent;
use vesica_structures::hashing::{hall_bound, simple_capacity};
use vesica_structures::rlwe::bfv::{Ciphertext, PublicKey, SecretKey, SwitchKey, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_testkit::{try_two_party, two_party};

use super::codewords::{Codewords, WEIGHT, columns};
use super::equality::{EQUAL, PLAIN, equal};
use super::rows::Rows;
use super::sender::{Masks, kept, masked};
use super::*;
use crate::bfv_testing::{correlation, deviation};
use vesica_protocols::bfv::drown;
use vesica_protocols::circuit_psi::bins::Hashes;

fn request(sender_items: usize, receiver_items: usize, carried_bytes: usize) -> MatchingRequest {
    let (security, exchangeable) = (Security::SemiHonest, Exchangeable::new(peqt::Variant::Cubic));
    MatchingRequest { sender_items, receiver_items, security, carried_bytes, exchangeable, runs: 1 }
}

fn params(sender_items: usize, receiver_items: usize, carried_bytes: usize) -> Params<Parts> {
    params::derive(&request(sender_items, receiver_items, carried_bytes)).unwrap()
}

/// Carries zeros for any item in any bin.
fn zeros(_: usize, _: usize, out: &mut [u8]) {
    out.fill(0);
}

/// A receiver's keys, as both sides have them.
struct Keys {
    secret: SecretKey,
    public: PublicKey,
    product: SwitchKey,
}

fn keys(parts: &Parts, rng: &mut SecretRng) -> Keys {
    let scheme = &parts.form.ring().scheme;
    let secret = SecretKey::new(scheme, rng);
    let mut encryptor = secret.encryptor(scheme, rng);
    let seed = encryptor.seed();
    let public = PublicKey::new(scheme, &seed, 0, encryptor.public_key(rng));
    let product = SwitchKey::new(scheme, &seed, 1, encryptor.product_key(rng));
    Keys { secret, public, product }
}

fn encrypt(parts: &Parts, keys: &Keys, slots: &[u64], rng: &mut SecretRng) -> Ciphertext<Values> {
    let scheme = &parts.form.ring().scheme;
    let mut encryptor = keys.secret.encryptor(scheme, rng);
    let half = encryptor.encrypt(&scheme.encode(slots), rng);
    scheme.expand(&encryptor.seed(), 0, half)
}

fn decrypt(parts: &Parts, keys: &Keys, sum: &Ciphertext<Values>) -> Vec<u64> {
    let scheme = &parts.form.ring().scheme;
    let plain = scheme.decrypt(&scheme.ciphertext_coefficients(sum.clone()), &keys.secret).unwrap();
    scheme.decode(&plain)
}

#[test]
fn every_number_of_common_ones_is_told_from_sixteen() {
    let parts = params(1, 1, 0).parts.unwrap().0;
    let mut rng = SecretRng::from_os().unwrap();
    let keys = keys(&parts, &mut rng);
    let scheme = &parts.form.ring().scheme;
    let slots: Vec<u64> = (0..scheme.slots()).map(|slot| (slot % (WEIGHT + 1)) as u64).collect();
    let s = encrypt(&parts, &keys, &slots, &mut rng);
    let found = scheme.relinearise(equal(scheme, &keys.product, &s), &keys.product);
    let found = decrypt(&parts, &keys, &found);
    assert!(found.iter().zip(&slots).all(|(&found, &s)| found == if s == WEIGHT as u64 { EQUAL } else { 0 }));
}

/// Sizes from none to many: budgets hold, and one bit or one place less would not do.
#[test]
fn parameters_hold_their_bounds() {
    let table = FailureEvent::HashTable.bits() + 1;
    for (n_s, n_r) in
        [(1, 1), (1000, 3), (3, 1000), (3000, 300), (1 << 14, 1 << 14), (1 << 20, 1 << 10), (1 << 20, 1 << 20)]
    {
        for carried_bytes in [0, 1, 24, params::MOST_CARRIED_BYTES] {
            let params = params(n_s, n_r, carried_bytes);
            let parts = &params.parts.as_ref().unwrap().0;
            let distance = noise::distance(parts);
            println!(
                "{n_s} x {n_r}, {carried_bytes} bytes: {} bins, {parts:?}, distance 2^-{distance:.1}",
                params.bins
            );
            assert!(n_r <= 3 || hall_bound(n_r, params.bins) <= -f64::from(table));
            assert!(parts.capacity >= simple_capacity(n_s, params.bins, table));
            assert!(parts.rows * parts.replicas >= parts.capacity);
            let slots = parts.form.ring().scheme.slots();
            assert!(parts.batches * slots >= params.bins * parts.replicas);
            assert!(parts.replicas == 1 || parts.batches == 1);
            let events = (n_r as f64 * parts.capacity as f64).min(3.0 * n_s as f64).log2();
            let wrong = |bits: u32| events - f64::from(bits) <= -f64::from(FailureEvent::TagCollision.bits());
            assert!(wrong(parts.item_bits) && !wrong(parts.item_bits - 1), "{parts:?}");
            assert!(noise::is_within(parts) && distance >= noise::least_distance());
            let every: Vec<_> = (0..parts.batches * slots)
                .filter_map(|slot| parts.place(params.bins, slot / slots, slot % slots))
                .collect();
            assert_eq!(every.len(), params.bins * parts.replicas);
            assert!(every.iter().all(|&(bin, replica)| bin < params.bins && replica < parts.replicas));
        }
    }
}

#[test]
fn what_is_not_served_is_refused() {
    let good = request(1000, 100, 8);
    for (request, says) in [
        // docs/parameters/pepsi.md states what is served.
        (
            MatchingRequest { sender_items: 1 << 24, receiver_items: 1 << 10, carried_bytes: 0, ..good },
            "have more noise",
        ),
        (MatchingRequest { runs: 2, ..good }, "2 runs"),
        (MatchingRequest { security: Security::Malicious, ..good }, "--security semi-honest"),
        (MatchingRequest { carried_bytes: params::MOST_CARRIED_BYTES + 1, ..good }, "65 bytes"),
        (MatchingRequest { sender_items: (1 << 28) + 1, ..good }, "268435457 items"),
        (MatchingRequest { sender_items: 1 << 28, receiver_items: 10, carried_bytes: 0, ..good }, "have more noise"),
    ] {
        let refused = params::derive(&request).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
    for (n_s, n_r, carried) in [(1 << 23, 1 << 16, 0), (1 << 20, 1 << 20, 0), (1 << 26, 1 << 20, 64)] {
        assert!(params::derive(&request(n_s, n_r, carried)).is_ok(), "{n_s} x {n_r}");
    }
    for empty in [request(0, 5, 1), request(5, 0, 1)] {
        assert!(params::derive(&empty).unwrap().is_empty());
    }
}

/// The sums of a batch at these items, as the sender has them before it masks and hides them.
struct Evaluated {
    params: Params<Parts>,
    keys: Keys,
    masks: Masks,
    /// The bins of the receiver's items.
    bins: Vec<Option<u32>>,
    sums: Vec<Ciphertext<Values>>,
    rng: SecretRng,
}

/// What is carried is zero for all items.
fn evaluated(params: Params<Parts>, sent: &[u128], asked: &[u128]) -> Evaluated {
    let parts = params.parts.clone().unwrap().0;
    let mut rng = SecretRng::from_os().unwrap();
    let (hashes, ()) = two_party(|ch, _| Ok(Hashes::derive(ch, &params, &[7; 32])), |_, _| Ok(()));
    let keys = keys(&parts, &mut rng);
    let masks = Masks::new(&params, &parts, &mut rng);
    let rows = Rows::new(&params, &parts, &hashes, sent, &zeros).unwrap();
    let (bins, in_bins) = vesica_protocols::circuit_psi::matching::place(&hashes, asked, params.bins).unwrap();
    let codewords = Codewords::new(parts.item_bits).all(&in_bins.keys);
    let slots = parts.form.ring().scheme.slots();
    let codeword = |slot: usize| {
        let (bin, _) = parts.place(params.bins, 0, slot)?;
        codewords.get(in_bins.bins.iter().position(|&full| full as usize == bin)?)
    };
    let columns = columns(0, parts.codeword_bits, slots, codeword);
    let bits: Vec<_> = columns.iter().map(|column| encrypt(&parts, &keys, column, &mut rng)).collect();
    let sums = rows.sums(0, &bits, &keys.product, &masks);
    Evaluated { params, keys, masks, bins, sums, rng }
}

/// Answers give the receiver shares of what is common, within the noise that is predicted, and show
/// nothing else: neither their noise nor their second half tells what was computed. An honest run fails
/// with probability 10^-6.
#[test]
fn answers_show_shares_alone() {
    for carried_bytes in [0, 3] {
        // Bins of 8192 or 16,384 slots, repeated; several rows.
        let asked: Vec<u128> = (0..400).collect();
        let sent: Vec<u128> = (200..5200).collect();
        let params = params(sent.len(), asked.len(), carried_bytes);
        let on = evaluated(params, &sent, &asked);
        let (parts, mut rng) = (&on.params.parts.as_ref().unwrap().0, on.rng);
        assert!(parts.replicas > 1 && parts.rows > 1, "{parts:?}");
        let ring = parts.form.ring();
        let scheme = &ring.scheme;

        // Before masks: 16! in the bins of common items, once in all copies.
        let found = decrypt(parts, &on.keys, &on.sums[0]);
        for (bin, item) in on.bins.iter().enumerate() {
            let copies: Vec<u64> = (0..parts.replicas).map(|copy| found[copy * on.params.bins + bin]).collect();
            let common = item.is_some_and(|item| asked[item as usize] >= 200);
            assert_eq!(copies.iter().sum::<u64>(), if common { EQUAL } else { 0 }, "bin {bin}");
        }

        let (drowned, full) = (noise::of_drowned(parts), noise::of_answer(parts));
        let (mut sum, mut count) = (0.0, 0.0);
        let all_masked = masked(parts, 0, on.sums.clone(), &on.masks);
        for (number, (bare, value)) in on.sums.iter().zip(all_masked).enumerate() {
            let bare_noise = scheme.noise_of(&scheme.ciphertext_coefficients(bare.clone()), &on.keys.secret);
            let measured = deviation(&bare_noise) / full;
            println!(
                "{carried_bytes} bytes, answer {number}: noise 2^{:.1}, predicted 2^{:.1}",
                deviation(&bare_noise).log2(),
                full.log2()
            );
            // The first answer carries no payload, and is within what is predicted of those that do.
            let least = if carried_bytes > 0 && number == 0 { 0.0 } else { 0.02 };
            assert!((least..1.0).contains(&measured), "{measured}");
            let value = kept(parts, value);
            let guess = scheme.noise_of(&value, &on.keys.secret);
            assert!(deviation(&guess) < drowned, "{}", deviation(&guess) / drowned);
            let seen = drown(ring, &on.keys.public, &value, &mut rng);
            let noise = scheme.noise_of(&seen, &on.keys.secret);
            sum += correlation(&noise, &guess);
            count += 1.0;
            // Four uniform numbers of b bits have a variance of 4^b / 3.
            let width = (deviation(&noise) / 2f64.powi(ring.flood_bits as i32)).powi(2);
            assert!((width - 1.0 / 3.0).abs() < 0.03, "{width}");
            // The second half is fresh.
            let mixed = Ciphertext { c0: seen.c0.clone(), c1: value.c1.clone() };
            assert!(
                scheme.decrypt(&value, &on.keys.secret).is_ok() && scheme.decrypt(&mixed, &on.keys.secret).is_err()
            );
            let mut short = seen;
            scheme.switch_down(&mut short, ring.sent_primes);
            assert!(scheme.noise_bits(&short, &on.keys.secret) < scheme.room_bits(ring.sent_primes));
            let slots = scheme.decode(&scheme.decrypt(&short, &on.keys.secret).unwrap());
            // Uniform residues, with the mean t / 2: in all slots, those without a bin among them.
            let mean = slots.iter().map(|&x| x as f64).sum::<f64>() / slots.len() as f64 / PLAIN as f64;
            assert!((mean - 0.5).abs() < 6.0 * 0.289 / (slots.len() as f64).sqrt(), "{mean}");
        }
        assert!((sum / f64::sqrt(count)).abs() < 5.0, "{sum} of {count}");
    }
}

/// A run of both sides. What the receiver holds of a common item is zero, and anything else is random.
fn run(n_s: u128, n_r: u128, carried_bytes: usize) -> (Params<Parts>, Bits, Matched) {
    let params = params(n_s as usize, n_r as usize, carried_bytes);
    let (sent, asked): (Vec<u128>, Vec<u128>) = ((0..n_s).collect(), (n_s - 1..n_s - 1 + n_r).collect());
    let (sender, receiver) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(&sent, &zeros, ch, rng),
        |ch, rng| Receiver::setup(&params, ch, rng)?.run(&asked, ch, rng),
    );
    (params, sender, receiver)
}

/// One item is common. What the receiver has in all other bins is uniform, in every byte of a payload of
/// an odd length.
#[test]
fn payloads_of_bins_without_a_match_are_random() {
    for carried_bytes in [1, 3, 8] {
        let (params, sender, receiver) = run(300, 900, carried_bytes);
        let mut random = Vec::new();
        for bin in 0..params.bins {
            let carried = &receiver.carried[bin * carried_bytes..][..carried_bytes];
            let common = receiver.items[bin] == Some(0);
            assert_eq!(sender.get(bin) != receiver.membership.get(bin), common, "bin {bin}");
            if common {
                assert_eq!(carried, &vec![0; carried_bytes]);
            } else {
                random.extend_from_slice(carried);
            }
        }
        for byte in 0..carried_bytes {
            let own: Vec<u8> = random.iter().skip(byte).step_by(carried_bytes).copied().collect();
            let ones: u32 = own.iter().map(|byte| byte.count_ones()).sum();
            let away = (f64::from(ones) - 4.0 * own.len() as f64).abs() / (2.0 * own.len() as f64).sqrt();
            assert!(away < 6.0, "byte {byte} of {carried_bytes}: {ones} ones in {}", own.len());
        }
    }
}

/// What a limb is masked by is as wide as the limb: the high byte of a last limb of one byte is zero
/// in either case.
#[test]
fn numbers_of_bins_without_a_match_are_as_wide_as_limbs() {
    let params = params(300, 900, 3);
    let parts = &params.parts.as_ref().unwrap().0;
    let masks = Masks::new(&params, parts, &mut SecretRng::from_os().unwrap());
    let [most_first, most_last] =
        [0, 1].map(|limb| masks.unmatched.iter().skip(limb).step_by(2).copied().max().unwrap_or_default());
    assert!((1 << 15..1 << 16).contains(&most_first) && (1 << 7..1 << 8).contains(&most_last));
    for bin in 0..params.bins {
        for limb in 0..2 {
            let addends = (0..parts.replicas).map(|copy| masks.limbs[(copy * params.bins + bin) * 2 + limb]);
            assert_eq!(addends.sum::<u64>() % PLAIN, masks.unmatched[bin * 2 + limb]);
        }
    }
}

/// More bins than slots.
#[test]
fn tables_of_several_batches_are_right() {
    let (params, sender, receiver) = run(50, 8000, 0);
    assert!(params.parts.as_ref().unwrap().0.batches > 1);
    let common: Vec<_> = (0..params.bins).filter(|&bin| sender.get(bin) != receiver.membership.get(bin)).collect();
    assert_eq!(common.len(), 1);
    assert_eq!(receiver.items[common[0]], Some(0));
}

/// Answers under another key are noise: an error, and never shares of nothing.
#[test]
fn exhausted_noise_ends_the_run() {
    let params = params(10, 2, 0);
    let items: Vec<u128> = (0..10).collect();
    let (_, asked) = try_two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(&items, &zeros, ch, rng),
        |ch, rng| {
            let mut receiver = Receiver::setup(&params, ch, rng)?;
            let scheme = &Form::Matches.ring().scheme;
            if let Some((.., key)) = &mut receiver.parts {
                *key = SecretKey::new(scheme, rng);
            }
            receiver.run(&items[..2], ch, rng)
        },
    );
    assert!(
        matches!(&asked.result, Err(Abort::PeerMisbehaved(_, fault)) if fault.contains("exhausted")),
        "an abort that names the noise"
    );
}

/// The sender's shares alone are uniform residues, in all bins.
#[test]
fn targets_are_uniform_and_differ_from_run_to_run() {
    let params = params(100, 3000, 0);
    let parts = &params.parts.as_ref().unwrap().0;
    let mut rng = SecretRng::from_os().unwrap();
    let [first, second] = [(); 2].map(|()| Masks::new(&params, parts, &mut rng).targets(params.bins, parts.replicas));
    let mean = first.iter().map(|&x| x as f64).sum::<f64>() / first.len() as f64 / PLAIN as f64;
    assert!((mean - 0.5).abs() < 6.0 * 0.289 / (first.len() as f64).sqrt(), "{mean}");
    let equal = first.iter().zip(second.iter()).filter(|(x, y)| x == y).count();
    assert!(equal < 10, "{equal}");
    let _: Secret<Vec<u64>> = first;
}
