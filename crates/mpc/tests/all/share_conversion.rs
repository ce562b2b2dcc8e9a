//! Shared bits become additive shares and multiply rows.

use vesica_mpc::OtSource;
use vesica_mpc::share_conversion::{
    BitsToRing, MultiplexParams, MultiplexReceiver, MultiplexSender, Multiplexer, count_bits,
};
use vesica_mpc::tasks::{BitsToRingRequest, Multiplex, MultiplexRequest, Share, SharedBits, SharedRows};
use vesica_party::{Party, Protocol, Security, Task};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{Run, conformance, faults, row, two_party};

fn random_bits(rng: &mut SecretRng, len: usize) -> Vec<bool> {
    (0..len).map(|_| rng.block() & 1 == 1).collect()
}

fn bits_request(len: usize, bits: u32) -> BitsToRingRequest {
    BitsToRingRequest { len, bits, security: Security::SemiHonest }
}

/// Of `width` elements, the first `masked` of which are masked.
fn rows_request(len: usize, masked: usize, width: usize, bits: u32) -> MultiplexRequest {
    MultiplexRequest { len, masked, width, bits, security: Security::SemiHonest }
}

/// Runs the conversion on random shares of random bits.
fn convert(len: usize, bits: u32) -> (Run<vesica_mpc::tasks::BitsToRing>, u64) {
    let rng = &mut SecretRng::insecure_from_seed(len as u64);
    let (sent, asked) = (SharedBits { bits: random_bits(rng, len) }, SharedBits { bits: random_bits(rng, len) });
    let count = sent.bits.iter().zip(&asked.bits).filter(|(s, r)| s != r).count();
    (conformance::<BitsToRing>(&bits_request(len, bits), sent, asked), count as u64)
}

#[test]
fn shares_of_bits_add_up_to_their_count() {
    for len in [0, 1, 2, 7, 8, 9, 1000, 5003] {
        for bits in [count_bits(len), 33, 64] {
            let (run, count) = convert(len, bits);
            let [sender, receiver] = [run.sender.column_sums()[0], run.receiver.column_sums()[0]];
            assert_eq!(sender.plus(receiver).low(bits), count, "{len} bits modulo 2^{bits}");
            assert_eq!(run.payload_bytes == 0, len == 0);
        }
    }
    assert_eq!([0, 1, 2, 3, 4, 7, 8].map(count_bits), [1, 1, 2, 2, 3, 3, 4]);
}

#[test]
fn all_bits_set_are_counted_without_wrapping() {
    let len = 4095;
    let (sent, asked) = (SharedBits { bits: vec![true; len] }, SharedBits { bits: vec![false; len] });
    let run = conformance::<BitsToRing>(&bits_request(len, count_bits(len)), sent, asked);
    let sum = run.sender.column_sums()[0].plus(run.receiver.column_sums()[0]);
    assert_eq!(sum.low(run.sender.bits), len as u64);
}

/// Multiplexes random rows and, first, ones of extremes, under all four combinations of shares of a
/// bit.
fn multiplex<E: Share>(len: usize, masked: usize, width: usize, bits: u32) -> Run<vesica_mpc::tasks::Multiplex<E>> {
    let rng = &mut SecretRng::insecure_from_seed((len * width) as u64);
    let mut values = vec![E::default(); len * width];
    for (i, value) in values.iter_mut().enumerate() {
        let bytes = if i / width < 8 { [[0; 16], [0xff; 16]][i / width / 4] } else { rng.block().to_le_bytes() };
        bytemuck::bytes_of_mut(value).copy_from_slice(&bytes[..size_of::<E>()]);
    }
    let [sent, asked] =
        [0, 1].map(|party| (0..len).map(|i| if i < 8 { i >> party & 1 == 1 } else { rng.block() & 1 == 1 }).collect());
    let run = conformance::<Multiplexer<E>>(
        &rows_request(len, masked, width, bits),
        SharedBits { bits: sent },
        SharedRows { bits: asked, values },
    );
    assert_eq!(run.sender.masks.len(), masked * len);
    assert!(run.sender.masks.iter().all(|&mask| mask == mask.low(bits)), "masks of {bits} bits");
    run
}

#[test]
fn rows_of_numbers_are_multiplied() {
    for len in [0, 1, 2, 8, 9, 1000] {
        for (width, bits) in [(1, 64), (2, 64), (3, 64), (5, 64), (1, 1), (1, 40), (3, 21)] {
            for masked in [0, 1, width / 2, width] {
                multiplex::<u64>(len, masked, width, bits);
            }
        }
    }
}

#[test]
fn rows_of_bytes_are_multiplied() {
    for len in [0, 1, 2, 8, 9, 1000] {
        for (masked, width) in [(1, 1), (0, 8), (8, 8), (3, 15), (16, 16), (16, 17), (17, 33)] {
            multiplex::<u8>(len, masked, width, 8);
        }
    }
}

#[test]
fn rows_are_multiplied_on_ots_without_lpn() {
    let request = rows_request(200_000, 3, 5, 8);
    let params = MultiplexParams::<u8>::with_ots_from(&request, OtSource::SOFT_SPOKEN).unwrap();
    let rng = &mut SecretRng::insecure_from_seed(1);
    let sent = SharedBits { bits: random_bits(rng, request.len) };
    let values = (0..request.len * request.width).map(|_| rng.block() as u8).collect();
    let asked = SharedRows { bits: random_bits(rng, request.len), values };
    let ((sender, sender_bytes), (receiver, receiver_bytes)) = two_party(
        |ch, rng| {
            let output = MultiplexSender::setup(&params, ch, rng)?.run(sent.clone(), ch, rng)?;
            Ok((output, ch.tally().total().sent_payload))
        },
        |ch, rng| {
            let output = MultiplexReceiver::setup(&params, ch, rng)?.run(asked.clone(), ch, rng)?;
            Ok((output, ch.tally().total().sent_payload))
        },
    );
    assert_eq!(Multiplex::<u8>::holds(&sent, &asked, &sender, &receiver), Ok(()));
    let bytes = *Multiplexer::<u8>::predicted_bytes(&params).end();
    assert_eq!(sender_bytes + receiver_bytes, bytes);
    // Twice 200,000 OTs of 1.875 bytes, their flips, base OTs and trees; five bytes a row.
    assert_eq!(bytes, 2 * (1563 * 240 + 25_000 + 11_808) + 5 * 200_000);
    // Silent OT sends less where there are many.
    let many = rows_request(1 << 22, 3, 5, 8);
    let [silent, without_lpn] = [OtSource::SILENT, OtSource::SOFT_SPOKEN].map(|source| {
        let params = MultiplexParams::<u8>::with_ots_from(&many, source).unwrap();
        *Multiplexer::<u8>::predicted_bytes(&params).end()
    });
    assert!(silent < without_lpn);
}

#[test]
fn several_pieces_are_multiplied() {
    multiplex::<u8>(20, 1 << 16, 1 << 17, 8);
    multiplex::<u64>(70_001, 3, 4, 64);
    // 289262 bits of 29 fit a piece, and are no whole bytes.
    convert(300_000, 29);
}

/// Ones among the bits of the shares within eight standard deviations of half of them.
fn assert_balanced(shares: &[u8], whose: &str) {
    if shares.is_empty() {
        return;
    }
    let ones: u32 = shares.iter().map(|byte| byte.count_ones()).sum();
    let bits = 8.0 * shares.len() as f64;
    assert!((f64::from(ones) - bits / 2.0).abs() < 4.0 * bits.sqrt(), "{ones} ones among {bits} bits of the {whose}'s");
}

#[test]
fn a_side_s_shares_alone_are_uniform() {
    let len = 4000;
    // Nothing is random in the inputs.
    let bits = |bit| SharedBits { bits: vec![bit; len] };
    for masked in [0, 2, 3] {
        let rows = SharedRows { bits: vec![false; len], values: vec![3u64; 3 * len] };
        let run = conformance::<Multiplexer<u64>>(&rows_request(len, masked, 3, 64), bits(true), rows);
        assert_balanced(bytemuck::cast_slice(&run.sender.masks), "sender");
        assert_balanced(bytemuck::cast_slice(&run.sender.shares.values), "sender");
        assert_balanced(bytemuck::cast_slice(&run.receiver.values), "receiver");
        let rows = SharedRows { bits: vec![true; len], values: vec![5u8; 20 * len] };
        let run = conformance::<Multiplexer<u8>>(&rows_request(len, 6 * masked, 20, 8), bits(true), rows);
        assert_balanced(&run.sender.masks, "sender");
        assert_balanced(&run.sender.shares.values, "sender");
        assert_balanced(&run.receiver.values, "receiver");
    }
    let bits = bits(true);
    let run = conformance::<BitsToRing>(&bits_request(len, 64), bits.clone(), bits);
    assert_balanced(bytemuck::cast_slice(&run.sender.values), "sender");
    assert_balanced(bytemuck::cast_slice(&run.receiver.values), "receiver");
}

#[test]
fn the_bytes_are_those_of_the_formula() {
    let bytes = |range: std::ops::RangeInclusive<u64>| {
        assert_eq!(range.start(), range.end());
        *range.end()
    };
    let converted = |bits| bytes(row::<BitsToRing>().predicted_bytes(&bits_request(5000, bits)).unwrap());
    let multiplexed = |masked, width| {
        bytes(row::<Multiplexer<u64>>().predicted_bytes(&rows_request(5000, masked, width, 64)).unwrap())
    };
    assert_eq!(converted(21) - converted(1), 5000 * 20 / 8);
    assert_eq!(multiplexed(1, 3) - multiplexed(1, 1), 5000 * 2 * 8);
    assert_eq!(multiplexed(3, 3), multiplexed(1, 3));
    // A second direction of OTs and flips, and nothing more.
    assert_eq!(multiplexed(0, 1), converted(64));
    assert_eq!(multiplexed(1, 1), 2 * converted(64) - 5000 * 8);
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refused = |request| assert!(BitsToRing::derive(&request).is_err(), "{request:?}");
    refused(bits_request(9, 0));
    refused(bits_request(9, 65));
    refused(bits_request((1 << 26) + 1, 8));
    refused(BitsToRingRequest { security: Security::Malicious, ..bits_request(9, 8) });
    assert!(Multiplexer::<u8>::derive(&rows_request(9, 1, 1, 7)).is_err());
    assert!(Multiplexer::<u8>::derive(&rows_request(9, 0, 0, 8)).is_err());
    assert!(Multiplexer::<u8>::derive(&rows_request(9, 2, 1, 8)).is_err());
    assert!(Multiplexer::<u64>::derive(&rows_request(9, 1, 1 << 20, 8)).is_err());
}

#[test]
fn faults_end_both_sides() {
    let bits = SharedBits { bits: vec![true; 100] };
    faults::<BitsToRing>(&bits_request(100, 7), &bits, &bits);
    let rows = SharedRows { bits: vec![true; 100], values: vec![7u64; 300] };
    faults::<Multiplexer<u64>>(&rows_request(100, 2, 3, 64), &bits, &rows);
}
