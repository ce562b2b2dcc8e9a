//! What either side sees of the other one's set.

use std::collections::HashSet;

use vesica_mpc::bits::Bits;
use vesica_party::{Party, Protocol, Security};
use vesica_testkit::{conformance, two_party};

use super::messages::{Records, Tags};
use super::*;
use crate::tasks::{UnionReceiverInput, UnionSenderInput};
use crate::union::leakage::{MOST, RUNS, Sets, Shown, View, largest_score, real};

const RECORD_BYTES: usize = 20;

fn params(sender_items: usize, receiver_items: usize) -> Params {
    let security = Security::SemiHonest;
    let request =
        UnionRequest { sender_items, receiver_items, security, record_bytes: RECORD_BYTES, both_learn: false, runs: 1 };
    VesicaUnion::derive(&request).unwrap()
}

/// `n` items, each with a record of its number.
fn sent(n: usize) -> UnionSenderInput {
    let records = (0..n as u32).flat_map(|i| i.to_le_bytes().repeat(RECORD_BYTES / 4)).collect();
    UnionSenderInput { items: (0..n as u128).collect(), records, dummies: 0 }
}

/// As many items, the first `common` of which are the sender's first ones.
fn own(n: usize, common: usize) -> Vec<u128> {
    (0..common as u128).chain((1 << 64..).take(n - common)).collect()
}

/// The sender's view: the item at each place, its own share, and the flip that came.
fn flips(n: usize, common: usize) -> (Vec<u32>, Bits, Bits) {
    let params = params(n, n);
    let (seen, ()) = two_party(
        |ch, rng| {
            let set_up = Sender::setup(&params, ch, rng)?.set_up.unwrap();
            let placed = set_up.place(&sent(n).items, ch, rng)?;
            Ok((placed.items.to_vec(), placed.shares.clone(), sender::receive_flips(n, ch)?))
        },
        |ch, rng| {
            let set_up = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
            set_up.share(&params, &own(n, common), ch, rng)?.flip(ch).map(drop)
        },
    );
    seen
}

/// What a receiver has after arrow 4 that uses the pad that it has at every place: the item that the
/// strings would open to, which places end in zeros, and the records.
fn opened(n: usize, common: usize) -> (Bits, Vec<Vec<u8>>) {
    let params = params(n, n);
    let (_, (records, new)) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(sent(n), ch, rng),
        |ch, rng| {
            let set_up = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
            let ots = set_up.share(&params, &own(n, common), ch, rng)?.flip(ch)?;
            receiver::take(&params, &ots, ch)
        },
    );
    (new, records.chunks(RECORD_BYTES).map(<[u8]>::to_vec).collect())
}

const N: usize = 4000;

/// Ones among the flips, the sender's shares and their sums, at common and at new items: each count
/// is within six deviations of a half, which random bits pass by once in 2^26 runs of this test. If
/// the flips did not depend on the random choices, the sums would be the bits of what is common.
#[test]
fn the_sender_sees_uniform_flips_whatever_is_common() {
    for common in [0, N / 2, N] {
        let (items, shares, flips) = flips(N, common);
        let mut sums = flips.clone();
        sums ^= &shares;
        for (what, bits) in [("flips", &flips), ("shares", &shares), ("sums", &sums)] {
            for is_common in [true, false] {
                let places: Vec<usize> = (0..N).filter(|&i| ((items[i] as usize) < common) == is_common).collect();
                let ones = places.iter().filter(|&&i| bits.get(i)).count() as f64;
                let (mean, deviation) = (places.len() as f64 / 2.0, (places.len() as f64).sqrt() / 2.0);
                assert!((ones - mean).abs() <= 6.0 * deviation, "{what}: {ones} of {}, {common} common", places.len());
            }
        }
    }
}

/// The receiver opens the new records, and at a common item its pad gives noise: no tag is valid, no
/// record comes out, and no two places are alike.
#[test]
fn the_pad_that_the_receiver_has_opens_new_items_only() {
    let common = N / 2;
    let (new, records) = opened(N, common);
    let expected: HashSet<Vec<u8>> = sent(N).records.chunks(RECORD_BYTES).skip(common).map(<[u8]>::to_vec).collect();
    let of = |is_new: bool| -> Vec<&Vec<u8>> {
        new.iter().zip(&records).filter(|(new, _)| *new == is_new).map(|(_, record)| record).collect()
    };
    assert_eq!(of(true).len(), N - common);
    assert_eq!(of(true).into_iter().cloned().collect::<HashSet<_>>(), expected);
    let closed: Vec<u8> = of(false).into_iter().flatten().copied().collect();
    vesica_testkit::assert_uniform(&closed, "records of common items");
    let all: HashSet<Vec<u8>> = sent(N).records.chunks(RECORD_BYTES).map(<[u8]>::to_vec).collect();
    assert!(of(false).into_iter().all(|record| !all.contains(record)));
}

/// Where new records stand does not depend on which items they are of. New items have the greatest
/// numbers; in half of the places there are a quarter of all, with a deviation of a sixteenth of
/// `sqrt(4 n)`: seven of them are passed once in 2^38 runs. So are the ascents of the records.
#[test]
fn new_records_stand_at_random_places_in_a_random_order() {
    let (new, records) = opened(N, N / 2);
    let first_half = new.iter().take(N / 2).filter(|new| *new).count() as f64;
    // Hypergeometric: N/2 draws, half of N marked.
    let deviation = (N as f64 / 16.0).sqrt();
    assert!((first_half - N as f64 / 4.0).abs() <= 7.0 * deviation, "{first_half}");
    let numbers: Vec<u32> = new
        .iter()
        .zip(&records)
        .filter(|(new, _)| *new)
        .map(|(_, record)| u32::from_le_bytes(record[..4].try_into().unwrap()))
        .collect();
    let ascents = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
    let (mean, deviation) = ((numbers.len() - 1) as f64 / 2.0, ((numbers.len() + 1) as f64 / 12.0).sqrt());
    assert!((ascents - mean).abs() <= 7.0 * deviation, "{ascents} ascents of {}", numbers.len());
}

/// Strings of equal records are all different, and look random: no pad is used twice.
#[test]
fn strings_of_equal_records_differ() {
    let n = 500;
    let params = params(n, n);
    let equal = UnionSenderInput { records: vec![0; n * RECORD_BYTES], ..sent(n) };
    let (_, (records, tags)) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(equal, ch, rng),
        |ch, rng| {
            let set_up = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
            set_up.share(&params, &own(n, 0), ch, rng)?.flip(ch)?;
            let mut records = vec![0; n * RECORD_BYTES];
            ch.recv_stream::<Records>(&mut records)?;
            let mut tags = vec![0; vesica_structures::packing::packed_len(n, params.tag_bits)];
            ch.recv_stream::<Tags>(&mut tags)?;
            Ok((records, tags))
        },
    );
    assert_eq!(records.chunks(RECORD_BYTES).collect::<HashSet<_>>().len(), n);
    vesica_testkit::assert_uniform(&records, "records");
    vesica_testkit::assert_uniform(&tags, "tags");
}

/// The receiver's view of a run on these sets: places that open hold new items, and others common ones.
pub fn view(sets: &Sets) -> View {
    let params = params(sets.sender.len(), sets.receiver.len());
    let sent = UnionSenderInput { items: sets.sender.clone(), ..sent(sets.sender.len()) };
    let (_, view) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let receiver::SetUp { oprf, rest } = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
            let values = oprf.ask(&sets.receiver, ch)?;
            // At new items it has no value of the OPRF: it can take the items themselves.
            let [own_bins, new_bins] = [&values[..], &sets.new_items()].map(|items| rest.circuit.positions(items));
            let ots = rest.share(&params, &values, ch, rng)?.flip(ch)?;
            let (_, new) = receiver::take(&params, &ots, ch)?;
            let shown = new.iter().map(|is_new| if is_new { Shown::New } else { Shown::Common });
            Ok(View { bins: params.parts.as_ref().unwrap().circuit.bins, shown: shown.collect(), own_bins, new_bins })
        },
    );
    view
}

/// A receiver without items gets all records, in another order than the sender's, and no more bytes
/// than these.
#[test]
fn an_empty_receiver_gets_all_records_in_a_random_order() {
    let request = UnionRequest { receiver_items: 0, ..params(40, 1).request };
    let run = conformance::<VesicaUnion>(&request, sent(40), UnionReceiverInput::default());
    assert_ne!(run.receiver.records.open(), sent(40).records);
}

/// Without an order of its full bins, so many runs are needed to see it.
#[test]
fn places_show_nothing() {
    let score = largest_score(&real(4 * RUNS, &mut vesica_structures::rng::SecretRng::insecure_from_seed(1), view));
    assert!(score <= MOST, "{score}");
}
