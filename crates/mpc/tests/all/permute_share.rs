//! Values come out in the receiver's order, in shares that hide it and them.

use vesica_mpc::permute_share::SwitchingNetwork;
use vesica_mpc::tasks::{PermuteShare, PermuteShareRequest, ToPermute};
use vesica_party::{Abort, Protocol, Security};
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;
use vesica_testkit::{Run, assert_uniform, conformance, faults, row, transcript_of, try_two_party};

fn request(len: usize, bits: u32) -> PermuteShareRequest {
    PermuteShareRequest { len, bits, security: Security::SemiHonest }
}

fn random<V: Value>(len: usize, bits: u32, rng: &mut SecretRng) -> Vec<V> {
    (0..len).map(|_| V::from_bits(rng.block() >> (128 - bits))).collect()
}

/// A random order of random values, with shares that are random or zero.
fn permute<V: Value>(len: usize, bits: u32, hidden: bool) -> (Vec<V>, Run<PermuteShare<V>>) {
    let rng = &mut SecretRng::insecure_from_seed(len as u64);
    let (values, order) = (random::<V>(len, bits, rng), random_order(len, rng));
    let shares = if hidden { random(len, bits, rng) } else { vec![V::default(); len] };
    let permuted = order.iter().map(|&i| values[i as usize]).collect();
    (permuted, conformance::<SwitchingNetwork<V>>(&request(len, bits), ToPermute { values, shares }, order))
}

#[test]
fn values_of_every_number_and_width_are_permuted() {
    for (len, bits) in [(0, 62), (1, 62), (2, 1), (3, 64), (4, 62), (5, 1), (1000, 63)] {
        permute::<Gf64>(len, bits, true);
    }
    for (len, bits) in [(0, 128), (1, 1), (2, 65), (9, 63), (1000, 128)] {
        permute::<Gf128>(len, bits, true);
    }
}

/// More switches than a piece of a message has, and more values.
#[test]
fn many_values_are_permuted() {
    let (permuted, run) = permute::<Gf64>(70_001, 61, false);
    assert_eq!(run.receiver.shares, permuted);
    permute::<Gf128>(10_000, 127, true);
}

#[test]
fn the_receivers_shares_are_uniform_if_the_senders_are() {
    // Nothing is random in the values.
    let (len, rng) = (4000, &mut SecretRng::insecure_from_seed(5));
    let sent = ToPermute { values: vec![Gf64(3); len], shares: random(len, 64, rng) };
    let run = conformance::<SwitchingNetwork<Gf64>>(&request(len, 64), sent, (0..len as u32).collect());
    let ones: u32 = run.receiver.shares.iter().map(|share| share.0.count_ones()).sum();
    // 128000 on average, with a deviation of 253.
    assert!((126_000..130_000).contains(&ones), "{ones}");
}

#[test]
fn the_bytes_are_those_of_the_formula() {
    let bytes = |len, bits| *row::<SwitchingNetwork<Gf64>>().predicted_bytes(&request(len, bits)).unwrap().end();
    // 8 values, 17 switches.
    assert_eq!(bytes(8, 48) - bytes(8, 8), (17 + 8) * 5);
    assert_eq!((bytes(0, 8), bytes(1, 8)), (0, 1));
    // The bins of 2^20 items.
    let megabytes = bytes(1_300_235, 62) as f64 / 1e6;
    assert!((208.0..213.0).contains(&megabytes), "{megabytes}");
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refused = |request| assert!(SwitchingNetwork::<Gf64>::derive(&request).is_err(), "{request:?}");
    refused(request(9, 0));
    refused(request(9, 65));
    refused(request(1 << 24, 8));
    refused(PermuteShareRequest { security: Security::Malicious, ..request(9, 8) });

    let ends = |sent: ToPermute<Gf64>, order: Vec<u32>| {
        let row = row::<SwitchingNetwork<Gf64>>();
        let (sent, received) = try_two_party(
            |ch, rng| row.sender(&request(2, 8), ch, rng)?.run(sent, ch, rng),
            |ch, rng| row.receiver(&request(2, 8), ch, rng)?.run(order, ch, rng),
        );
        (sent.result.err(), received.result.err())
    };
    let fine = ToPermute { values: vec![Gf64(1); 2], shares: vec![Gf64(255); 2] };
    assert!(matches!(ends(fine.clone(), vec![1, 0]), (None, None)));
    assert!(matches!(
        ends(ToPermute { values: vec![Gf64(1); 2], shares: vec![Gf64(256); 2] }, vec![1, 0]).0,
        Some(Abort::Unsupported(_))
    ));
    for order in [vec![0, 0], vec![0], vec![0, 2], vec![0, 1, 2]] {
        assert!(matches!(ends(fine.clone(), order).1, Some(Abort::Unsupported(_))));
    }
}

#[test]
fn faults_end_both_sides() {
    let sent = ToPermute { values: vec![Gf128(1); 20], shares: vec![Gf128(2); 20] };
    faults::<SwitchingNetwork<Gf128>>(&request(20, 100), &sent, &(0..20).collect());
}

/// Whatever the values and the order are: here all are zero, and stay where they are.
#[test]
fn all_messages_look_random() {
    let (of, rng) = (request(2000, 64), &mut SecretRng::insecure_from_seed(6));
    let sent = ToPermute { values: vec![Gf64(0); of.len], shares: random(of.len, of.bits, rng) };
    let transcript = transcript_of(row::<SwitchingNetwork<Gf64>>(), &of, sent, (0..of.len as u32).collect());
    for step in 1..=3 {
        assert_uniform(&transcript.of("permute-share", step), &format!("step {step}"));
    }
}
