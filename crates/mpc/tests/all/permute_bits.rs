//! Bits come out in the receiver's order, as many as asked for, in shares that hide it and them.

use vesica_mpc::bits::Bits;
use vesica_mpc::permute_share::bits::circuit::SwitchCircuit;
use vesica_mpc::permute_share::bits::opv::PuncturedVectors;
use vesica_mpc::permute_share::bits::prf::WeakPrf;
use vesica_mpc::permute_share::bits::{Benes, BitNetwork};
use vesica_mpc::tasks::{BitsToPermute, PermuteBitsRequest, PermuteShareBits};
use vesica_party::{Abort, Party, Phase, Protocol, Security, Task};
use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;
use vesica_testkit::{assert_uniform, conformance, faults, row, transcript_of, try_two_party};

/// The bins of a circuit PSI of 2^20 items.
const BINS: usize = 1_300_235;

fn request(len: usize, kept: usize) -> PermuteBitsRequest {
    PermuteBitsRequest { len, kept, security: Security::SemiHonest }
}

/// Random bits with random shares, and a random order.
fn random(len: usize, kept: usize) -> (BitsToPermute, Vec<u32>) {
    let rng = &mut SecretRng::insecure_from_seed(len as u64);
    (BitsToPermute { values: Bits::random(len, rng), shares: Bits::random(kept, rng) }, random_order(len, rng))
}

/// Any size, whatever part comes out.
fn permutes<P: Protocol<Task = PermuteShareBits>>() {
    for len in [0usize, 1, 2, 3, 4, 5, 17, 63, 64, 65, 130, 1000, 5003] {
        for kept in [len, 0, len.div_ceil(2), len.saturating_sub(1)] {
            let (sent, order) = random(len, kept);
            conformance::<P>(&request(len, kept), sent, order);
        }
    }
    for (len, kept) in [(1 << 14, 1 << 14), (70_001, 60_000)] {
        let (sent, order) = random(len, kept);
        conformance::<P>(&request(len, kept), sent, order);
    }
}

#[test]
fn switches_by_ot_permute() {
    permutes::<BitNetwork>();
    permutes::<BitNetwork<Benes>>();
}

#[test]
fn punctured_vectors_permute() {
    permutes::<PuncturedVectors>();
}

#[test]
fn switches_in_a_circuit_permute() {
    permutes::<SwitchCircuit>();
    permutes::<SwitchCircuit<Benes>>();
}

#[test]
fn a_weak_prf_permutes() {
    permutes::<WeakPrf>();
}

/// The receiver's shares under zero shares of the sender: the bits in the order.
fn opened<P: Protocol<Task = PermuteShareBits>>(order: &[u32]) -> Vec<u32> {
    let len = order.len();
    let planes = (0..u32::BITS).take_while(|plane| len > 1 << plane).map(|plane| {
        let values = (0..len).map(|i| i >> plane & 1 == 1).collect();
        let sent = BitsToPermute { values, shares: Bits::zeros(len) };
        (plane, conformance::<P>(&request(len, len), sent, order.to_vec()).receiver)
    });
    let mut places = vec![0; len];
    for (plane, bits) in planes {
        places.iter_mut().zip(bits.iter()).for_each(|(place, bit)| *place |= u32::from(bit) << plane);
    }
    places
}

/// All 24 orders of four values, so that a uniform order leads to each of them alike.
fn reaches_every_order_of_four<P: Protocol<Task = PermuteShareBits>>() {
    let mut reached = 0;
    for code in 0..256u32 {
        let order = [0, 2, 4, 6].map(|shift| code >> shift & 3);
        if (0..4).all(|wire| order.contains(&wire)) {
            assert_eq!(opened::<P>(&order), order);
            reached += 1;
        }
    }
    assert_eq!(reached, 24);
}

#[test]
fn every_order_of_four_bits_is_reached() {
    reaches_every_order_of_four::<BitNetwork>();
    reaches_every_order_of_four::<BitNetwork<Benes>>();
    reaches_every_order_of_four::<PuncturedVectors>();
    reaches_every_order_of_four::<SwitchCircuit>();
    reaches_every_order_of_four::<SwitchCircuit<Benes>>();
}

/// The order alone says what the receiver's shares are if the sender's are zero.
#[test]
fn shares_of_zero_leave_the_bits_in_the_receivers_order() {
    let (mut sent, order) = random(3000, 2000);
    sent.shares = Bits::zeros(2000);
    let permuted: Bits = order[..2000].iter().map(|&i| sent.values.get(i as usize)).collect();
    assert!(conformance::<BitNetwork>(&request(3000, 2000), sent, order).receiver == permuted);
}

#[test]
fn the_receivers_shares_are_uniform_if_the_senders_are() {
    let (len, rng) = (100_000, &mut SecretRng::insecure_from_seed(5));
    let sent = BitsToPermute { values: Bits::ones(len), shares: Bits::random(len, rng) };
    let ones = conformance::<BitNetwork>(&request(len, len), sent, (0..len as u32).collect()).receiver.count_ones();
    // 50000 on average, with a deviation of 158: eight of them are passed once in 2^50 runs.
    assert!((48_735..51_265).contains(&ones), "{ones}");
}

#[test]
fn the_bytes_are_those_of_the_formula() {
    let bytes = |len, kept| *row::<BitNetwork>().predicted_bytes(&request(len, kept)).unwrap().end();
    assert_eq!((bytes(0, 0), bytes(1, 0), bytes(1, 1)), (0, 0, 1));
    // 17 switches take 3 bytes each way.
    assert_eq!(bytes(8, 8) - bytes(8, 0), 1);
    let megabytes = bytes(BINS, 1 << 20) as f64 / 1e6;
    assert!((7.5..8.5).contains(&megabytes), "{megabytes}");
    let benes = |len, kept| *row::<BitNetwork<Benes>>().predicted_bytes(&request(len, kept)).unwrap().end();
    // 352 switches instead of 321: 44 bytes each way instead of 41.
    assert_eq!(benes(64, 64) - bytes(64, 64), 6);

    let bytes = |len, kept| *row::<PuncturedVectors>().predicted_bytes(&request(len, kept)).unwrap().end();
    // Three layers of eight vectors: 6 bytes each way, and 24 links.
    assert_eq!((bytes(0, 0), bytes(1, 0), bytes(1, 1), bytes(8, 8) - bytes(8, 0)), (0, 0, 1, 1));
    let megabytes = bytes(BINS, BINS) as f64 / 1e6;
    assert!((19.0..21.0).contains(&megabytes), "{megabytes}");

    let bytes = |len, kept| *row::<SwitchCircuit>().predicted_bytes(&request(len, kept)).unwrap().end();
    assert_eq!((bytes(0, 0), bytes(1, 0), bytes(1, 1), bytes(8, 8) - bytes(8, 0)), (0, 0, 1, 1));
    let megabytes = bytes(BINS, BINS) as f64 / 1e6;
    assert!((17.0..20.0).contains(&megabytes), "{megabytes}");
    let benes = |len, kept| *row::<SwitchCircuit<Benes>>().predicted_bytes(&request(len, kept)).unwrap().end();
    // One layer has 80 switches instead of 64: five words more.
    assert_eq!(benes(160, 160) - bytes(160, 160), 40);

    let bytes = |len, kept| *row::<WeakPrf>().predicted_bytes(&request(len, kept)).unwrap().end();
    // A bit of each value and of each that comes out, once any does; evaluations are filled up to 320.
    assert_eq!((bytes(0, 0), bytes(800, 0), bytes(800, 8) - bytes(800, 1)), (0, 0, 0));
    assert_eq!((bytes(1600, 8) - bytes(800, 8), bytes(800, 320) - bytes(800, 8)), (100, 39));
    let megabytes = bytes(BINS, BINS) as f64 / 1e6;
    assert!((176.0..188.0).contains(&megabytes), "{megabytes}");
}

#[test]
fn what_cannot_be_served_is_refused() {
    refuses::<BitNetwork>();
    refuses::<BitNetwork<Benes>>();
    refuses::<PuncturedVectors>();
    refuses::<SwitchCircuit>();
    refuses::<SwitchCircuit<Benes>>();
    refuses::<WeakPrf>();
}

fn refuses<P: Protocol<Task = PermuteShareBits>>() {
    let refused = |request| assert!(P::derive(&request).is_err(), "{request:?}");
    refused(request(9, 10));
    refused(request(1 << 24, 8));
    refused(PermuteBitsRequest { security: Security::Malicious, ..request(9, 8) });

    let ends = |sent: BitsToPermute, order: Vec<u32>| {
        let row = row::<P>();
        let (sent, received) = try_two_party(
            |ch, rng| row.sender(&request(3, 2), ch, rng)?.run(sent, ch, rng),
            |ch, rng| row.receiver(&request(3, 2), ch, rng)?.run(order, ch, rng),
        );
        (sent.result.err(), received.result.err())
    };
    let fine = BitsToPermute { values: Bits::ones(3), shares: Bits::ones(2) };
    assert!(matches!(ends(fine.clone(), vec![2, 1, 0]), (None, None)));
    for (values, shares) in [(2, 2), (3, 3), (4, 2), (3, 1)] {
        let wrong = BitsToPermute { values: Bits::ones(values), shares: Bits::ones(shares) };
        assert!(matches!(ends(wrong, vec![2, 1, 0]).0, Some(Abort::Unsupported(_))));
    }
    for order in [vec![0, 0, 1], vec![0, 1], vec![0, 1, 3], vec![0, 1, 2, 3]] {
        assert!(matches!(ends(fine.clone(), order).1, Some(Abort::Unsupported(_))));
    }
}

#[test]
fn faults_end_both_sides() {
    let (sent, order) = random(70, 50);
    faults::<BitNetwork>(&request(70, 50), &sent, &order);
    faults::<PuncturedVectors>(&request(70, 50), &sent, &order);
    faults::<SwitchCircuit>(&request(7, 5), &random(7, 5).0, &random(7, 5).1);
    faults::<WeakPrf>(&request(70, 50), &sent, &order);
}

/// Whatever the bits and the order are: here all are zero, and stay where they are.
#[test]
fn all_messages_look_random() {
    let (of, rng) = (request(40_000, 40_000), &mut SecretRng::insecure_from_seed(6));
    let sent = BitsToPermute { values: Bits::zeros(of.len), shares: Bits::random(of.kept, rng) };
    let order: Vec<u32> = (0..of.len as u32).collect();
    let transcript = transcript_of(row::<BitNetwork>(), &of, sent.clone(), order.clone());
    for step in 1..=3 {
        assert_uniform(&transcript.of("permute-share", step), &format!("step {step}"));
    }
    let transcript = transcript_of(row::<PuncturedVectors>(), &of, sent.clone(), order.clone());
    for step in 1..=3 {
        assert_uniform(&transcript.of("permute-share-1-opv", step), &format!("punctured vectors, step {step}"));
    }
    let transcript = transcript_of(row::<SwitchCircuit>(), &of, sent.clone(), order.clone());
    assert_uniform(&transcript.of("permute-share-1-circuit", 1), "the last step of the circuit");
    let transcript = transcript_of(row::<WeakPrf>(), &of, sent, order);
    for step in 2..=4 {
        assert_uniform(&transcript.of("permute-share-1-prf", step), &format!("weak PRF, step {step}"));
    }
    // Step 1 is of numbers below 243, each for a lane of one key bit.
    let mut counts = [0u32; 256];
    let numbers = transcript.of("permute-share-1-prf", 1);
    numbers.iter().for_each(|&number| counts[usize::from(number)] += 1);
    let expected = numbers.len() as f64 / 243.0;
    let square: f64 = counts[..243].iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    // 242 degrees of freedom: a mean of 242 and a deviation of 22.
    assert!((104.0..380.0).contains(&square) && counts[243..] == [0; 13], "{square}");
}

/// Prints what docs/parameters/permutations.md says of the bits of 2^20 items.
#[test]
#[ignore = "measures: cargo test --release --locked --workspace --test all -- --ignored --nocapture million_bits"]
fn a_million_bits_take_this_long() {
    for _ in 0..3 {
        takes_this_long::<BitNetwork>();
        takes_this_long::<BitNetwork<Benes>>();
        takes_this_long::<PuncturedVectors>();
        takes_this_long::<SwitchCircuit>();
        takes_this_long::<SwitchCircuit<Benes>>();
        takes_this_long::<WeakPrf>();
    }
}

fn takes_this_long<P: Protocol<Task = PermuteShareBits>>() {
    let of = request(BINS, BINS);
    let (sent, order) = random(of.len, of.kept);
    let params = P::derive(&of).unwrap();
    let (sent_run, order_run) = (sent.clone(), order.clone());
    let one_thread = || rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (sender, receiver) = try_two_party(
        |ch, rng| one_thread().install(|| P::Sender::setup(&params, ch, rng)?.run(sent_run, ch, rng)),
        |ch, rng| one_thread().install(|| P::Receiver::setup(&params, ch, rng)?.run(order_run, ch, rng)),
    );
    for (side, tally) in [("sender", &sender.tally), ("receiver", &receiver.tally)] {
        let seconds = |phase| tally.phase(phase).seconds;
        eprintln!(
            "{}, {side}: base {:.2} s, expansion {:.2} s, permutation {:.2} s, {} bytes sent",
            P::ENTRY.id,
            seconds(Phase::BaseOt) + seconds(Phase::OtExtension),
            seconds(Phase::Expand),
            seconds(Phase::Permute),
            tally.total().sent_payload
        );
    }
    PermuteShareBits::holds(&sent, &order, &sender.result.unwrap(), &receiver.result.unwrap()).unwrap();
}
