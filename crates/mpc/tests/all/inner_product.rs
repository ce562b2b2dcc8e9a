//! Inner products of one side's vector with the other's.

use vesica_mpc::inner_product::messages::{Blocks, Key, Reply};
use vesica_mpc::inner_product::{InnerProduct, Params, Receiver, Sender};
use vesica_mpc::tasks::{InnerProductRequest, RingVector, RingVectors};
use vesica_party::{Abort, Message, Party, Protocol, Security, Stream};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{conformance, faults, try_two_party};

fn request(len: usize, vectors: usize, bits: u32) -> InnerProductRequest {
    InnerProductRequest { len, vectors, products: 1, bits, security: Security::SemiHonest }
}

fn run(u: Vec<u64>, vectors: Vec<Vec<u64>>, bits: u32) {
    conformance::<InnerProduct>(
        &request(u.len(), vectors.len(), bits),
        RingVector { values: u },
        RingVectors { vectors },
    );
}

#[test]
fn they_are_those_of_the_definition() {
    let rng = &mut SecretRng::insecure_from_seed(30);
    for len in [0, 1, 2, 8191, 8192, 8193, 20_000] {
        for vectors in 0..=3 {
            let mut vector = || (0..len).map(|_| rng.block() as u64).collect::<Vec<_>>();
            run(vector(), (0..vectors).map(|_| vector()).collect(), 63);
        }
    }
}

#[test]
fn extremes_and_small_entries_are_multiplied() {
    for len in [1, 8193, 70_000] {
        let y = vec![vec![u64::MAX; len], vec![1 << 63; len], vec![i64::MAX as u64; len], vec![0; len]];
        run(vec![u64::MAX; len], y.clone(), 63);
        run(vec![1 << 63; len], y, 63);
    }
    let signs: Vec<u64> = (0..9000).map(|i: u64| (i % 3).wrapping_sub(1)).collect();
    run((0..9000).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect(), vec![signs], 0);
    let payloads: Vec<u64> = (0..9000).map(|i| i << 18).collect();
    run(vec![u64::MAX - 2; 9000], vec![payloads], 32);
}

#[test]
fn shares_alone_are_uniform() {
    // Nothing but zeros, so that the shares of a side are masks.
    let (len, vectors) = (10, 100);
    let run = conformance::<InnerProduct>(
        &request(len, vectors, 63),
        RingVector { values: vec![0; len] },
        RingVectors { vectors: vec![vec![0; len]; vectors] },
    );
    for shares in [&run.sender.values, &run.receiver.values] {
        let ones: u32 = shares.iter().map(|share| share.count_ones()).sum();
        let bits = 64.0 * vectors as f64;
        assert!((f64::from(ones) - bits / 2.0).abs() < 4.0 * bits.sqrt(), "{ones} ones of {bits}");
    }
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refused = |request| assert!(InnerProduct::derive(&request).is_err(), "{request:?}");
    refused(InnerProductRequest { security: Security::Malicious, ..request(9, 1, 63) });
    refused(request(9, 1, 64));
    refused(request((1 << 26) + 1, 1, 63));
    refused(request(9, (1 << 10) + 1, 63));
    // An entry beyond the bound, which the other side's security does not rest on but the result does.
    let params = InnerProduct::derive(&request(2, 1, 5)).unwrap();
    let (_, receiver) = try_two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(RingVector { values: vec![1, 2] }, ch, rng),
        |ch, rng| Receiver::setup(&params, ch, rng)?.run(RingVectors { vectors: vec![vec![32, 33]] }, ch, rng),
    );
    assert!(matches!(receiver.result, Err(Abort::Unsupported(_))), "{:?}", receiver.result);
}

/// The receiver's end against a sender that sends these bytes.
fn received(params: Params, zero: u8, blocks: u8) -> Result<(), Abort> {
    let fake = Key { seed: [0; 32], zero: vec![zero; params.polynomial_bytes()] };
    let (_, receiver) = try_two_party(
        |ch, _| {
            ch.send(&fake)?;
            ch.send_stream::<Blocks>(&vec![blocks; params.polynomial_bytes()])?;
            ch.recv::<Reply>(params).map(drop)
        },
        |ch, rng| Receiver::setup(&params, ch, rng)?.run(RingVectors { vectors: vec![vec![1; 5]] }, ch, rng).map(drop),
    );
    receiver.result
}

#[test]
fn residues_beyond_their_prime_are_refused() {
    let params = InnerProduct::derive(&request(5, 1, 63)).unwrap();
    received(params, 0x55, 0x55).unwrap();
    assert!(matches!(received(params, 0xff, 0), Err(Abort::PeerMisbehaved(Key::STEP, _))));
    assert!(matches!(received(params, 0, 0xff), Err(Abort::PeerMisbehaved(Blocks::STEP, _))));
    for (a, b) in [(0xff, 0), (0, 0xff)] {
        let reply = Reply { a: vec![a; params.polynomial_bytes()], b: vec![b; params.number_bytes()] };
        let (sender, _) = try_two_party(
            |ch, rng| Sender::setup(&params, ch, rng)?.run(RingVector { values: vec![3; 5] }, ch, rng),
            |ch, _| {
                ch.recv::<Key>(params)?;
                ch.recv_stream::<Blocks>(&mut vec![0; params.polynomial_bytes()])?;
                ch.send(&reply)
            },
        );
        assert!(matches!(sender.result, Err(Abort::PeerMisbehaved(Reply::STEP, _))), "{:?}", sender.result);
    }
}

#[test]
fn faults_end_both_sides() {
    let (u, y) = (RingVector { values: vec![7; 9000] }, RingVectors { vectors: vec![vec![9; 9000]; 2] });
    faults::<InnerProduct>(&request(9000, 2, 8), &u, &y);
}
