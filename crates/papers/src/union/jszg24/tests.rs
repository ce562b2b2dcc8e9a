//! What either side sees of the other one's set, and when.

use std::collections::HashSet;

use vesica_mpc::bits::Bits;
use vesica_party::transport::memory;
use vesica_party::{Party, Protocol, Security};
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;
use vesica_testkit::{assert_uniform, conformance, options, record, two_party, two_party_over};

use super::*;
use crate::union::leakage::{Sets, Shown, View};
use crate::union::places::Order;
use vesica_protocols::membership::NO_ITEM;
use vesica_protocols::tasks::{UnionReceiverInput, UnionSenderInput};

const RECORD_BYTES: usize = 20;
/// Items a side, such that the bins are whole words: the equality tests fill up words with zeros.
const N: usize = 2355;
/// Overlaps between which nothing may tell that comes before the last message.
const OVERLAPS: [usize; 3] = [0, N / 3, N];

fn params(sender_items: usize, receiver_items: usize) -> Params {
    let security = Security::SemiHonest;
    let request =
        UnionRequest { sender_items, receiver_items, security, record_bytes: RECORD_BYTES, both_learn: false, runs: 1 };
    Jszg24::derive(&request).unwrap()
}

/// Items, each with a record of its number.
fn sent() -> UnionSenderInput {
    let records = (0..N as u32).flat_map(|i| i.to_le_bytes().repeat(RECORD_BYTES / 4)).collect();
    UnionSenderInput { items: (0..N as u128).collect(), records, dummies: 0 }
}

/// As many items, the first `common` of which are the sender's first ones.
fn own(common: usize) -> Vec<u128> {
    (0..common as u128).chain((1 << 64..).take(N - common)).collect()
}

/// What a place or a bin holds.
fn kind(item: u32, common: usize) -> Shown {
    match item {
        NO_ITEM => Shown::Empty,
        item if (item as usize) < common => Shown::Common,
        _ => Shown::New,
    }
}

const KINDS: [Shown; 3] = [Shown::Common, Shown::New, Shown::Empty];

/// Both sides' shares of the equality tests, and what each bin holds.
fn shares(common: usize) -> (Vec<Shown>, Bits, Bits) {
    let params = params(N, N);
    let ((held, left), right) = two_party(
        |ch, rng| {
            let matched = Sender::setup(&params, ch, rng)?.set_up.unwrap().compare(&sent().items, ch, rng)?.matched;
            let held = matched.items.iter().map(|item| kind(item.unwrap_or(NO_ITEM), common)).collect();
            Ok((held, matched.membership))
        },
        |ch, rng| Ok(Receiver::setup(&params, ch, rng)?.set_up.unwrap().compare(&own(common), ch, rng)?.shares),
    );
    (held, left, right)
}

/// The receiver holds a bit for each bin before the last message: a share, in which there are as many
/// ones at bins of either kind as random bits have. Each count is within six deviations of a half, which
/// random bits pass by once in 2^25 runs of this test.
#[test]
fn the_receivers_bits_are_random_whatever_is_common() {
    for common in OVERLAPS {
        let (held, left, right) = shares(common);
        for of_kind in KINDS {
            let bins: Vec<usize> = (0..held.len()).filter(|&bin| held[bin] == of_kind).collect();
            assert!(bins.iter().all(|&bin| (left.get(bin) ^ right.get(bin)) == (of_kind == Shown::Common)));
            let (ones, count) = (bins.iter().filter(|&&bin| right.get(bin)).count() as f64, bins.len() as f64);
            assert!((ones - count / 2.0).abs() <= 3.0 * count.sqrt(), "{ones} of {count} {of_kind:?}, {common} common");
        }
    }
}

/// The strings `u_i` and `v_i`, and what each place holds.
fn randomness(common: usize) -> (Vec<Shown>, Vec<u128>, Vec<u128>) {
    let params = params(N, N);
    let ((held, left), right) = two_party(
        |ch, rng| {
            let order = Secret::new(random_order(params.bins, rng));
            let compared = Sender::setup(&params, ch, rng)?.set_up.unwrap().compare(&sent().items, ch, rng)?;
            let placed = compared.generate(&order, ch, rng)?;
            Ok((placed.items.iter().map(|&item| kind(item, common)).collect(), placed.keys.to_vec()))
        },
        |ch, rng| {
            let compared = Receiver::setup(&params, ch, rng)?.set_up.unwrap().compare(&own(common), ch, rng)?;
            Ok(compared.turn(ch)?.permute(ch, rng)?.to_vec())
        },
    );
    (held, left, right)
}

/// After step 5 both sides hold one string exactly where the item is new. Anywhere else the strings have
/// nothing to do with each other, and each side's own look random at places of every kind.
#[test]
fn the_sides_share_randomness_at_new_items_only() {
    for common in OVERLAPS {
        let (held, left, right) = randomness(common);
        let places = || held.iter().zip(left.iter().zip(&right));
        assert!(places().all(|(held, (left, right))| (left == right) == (*held == Shown::New)));
        for of_kind in KINDS.into_iter().filter(|kind| held.contains(kind)) {
            let of = |what: &dyn Fn(u128, u128) -> u128| -> Vec<u8> {
                let here = places().filter(|(held, _)| **held == of_kind);
                here.flat_map(|(_, (&left, &right))| what(left, right).to_le_bytes()).collect()
            };
            assert_uniform(&of(&|left, _| left), "the sender's strings");
            assert_uniform(&of(&|_, right| right), "the receiver's strings");
            if of_kind != Shown::New {
                assert_uniform(&of(&|left, right| left ^ right), "what the receiver lacks");
            }
        }
        assert_eq!(left.iter().collect::<HashSet<_>>().len(), left.len());
    }
}

/// What travels during the run before the last message: for either direction, its length is that of
/// the sizes, and its bytes are random, whatever is common. `assert_uniform` fails for random bytes
/// once in 2^24 runs; there are six of them for each overlap.
#[test]
fn messages_before_the_last_one_are_random_whatever_is_common() {
    let lengths: HashSet<Vec<usize>> = OVERLAPS
        .into_iter()
        .map(|common| {
            let params = params(N, N);
            assert!(params.bins.is_multiple_of(64));
            let (ends, recording) = record(memory::pair());
            let (sent, taken) = two_party_over(
                ends,
                options(),
                |ch, rng| Sender::setup(&params, ch, rng)?.run(sent(), ch, rng),
                |ch, rng| {
                    let input = UnionReceiverInput { items: own(common), ..Default::default() };
                    Receiver::setup(&params, ch, rng)?.run(input, ch, rng)
                },
            );
            let records = sent.result.and(taken.result).unwrap().records.open();
            assert_eq!(records.len(), (N - common) * RECORD_BYTES);
            let transcript = recording.transcript();
            // To the receiver: the table of the OPPRF, two steps of the equality tests, the flips of the
            // switches. To the sender: the hint, the other step of the tests, the wires of the switches;
            // of the flips of the OTs there are too few for this.
            let steps = [
                ("opprf", 2),
                ("opprf", 3),
                ("peqt", 1),
                ("peqt", 2),
                ("peqt", 3),
                ("permute-share", 1),
                ("permute-share", 2),
                ("permute-share", 3),
            ];
            let length = |(protocol, step)| {
                let said = transcript.of(protocol, step);
                assert_uniform(&said, protocol);
                said.len()
            };
            let mut lengths: Vec<usize> = steps.into_iter().map(length).collect();
            lengths.push(transcript.of("jszg24", 1).len());
            lengths
        })
        .collect();
    assert_eq!(lengths.len(), 1, "{lengths:?}");
}

/// Ones among the flips, the sender's shares and their sums, at bins of each kind: within six
/// deviations of a half, which random bits pass by once in 2^24 runs of this test. If the flips did not
/// depend on the random choices, the sums would be the bits of what is common.
#[test]
fn the_sender_sees_uniform_flips_whatever_is_common() {
    for common in OVERLAPS {
        let params = params(N, N);
        let ((held, shares, flips), ()) = two_party(
            |ch, rng| {
                let set_up = Sender::setup(&params, ch, rng)?.set_up.unwrap();
                let matched = set_up.compare(&sent().items, ch, rng)?.matched;
                let flips = vesica_protocols::union::bit_streams::receive::<messages::Flips>(params.bins, ch)?;
                Ok((matched.items, matched.membership, flips))
            },
            |ch, rng| {
                let set_up = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
                set_up.compare(&own(common), ch, rng)?.turn(ch).map(drop)
            },
        );
        let mut sums = flips.clone();
        sums ^= &shares;
        for (what, bits) in [("flips", &flips), ("shares", &shares), ("sums", &sums)] {
            for of_kind in KINDS {
                let here = |bin: &usize| kind(held[*bin].unwrap_or(NO_ITEM), common) == of_kind;
                let bins: Vec<usize> = (0..held.len()).filter(here).collect();
                let (ones, count) = (bins.iter().filter(|&&bin| bits.get(bin)).count() as f64, bins.len() as f64);
                assert!((ones - count / 2.0).abs() <= 3.0 * count.sqrt(), "{what}: {ones} of {count} {of_kind:?}");
            }
        }
    }
}

/// The receiver after the last message that uses its pad at every place: which places open, and what it
/// makes of each string.
fn opened(sent: UnionSenderInput, common: usize) -> (Bits, Vec<Vec<u8>>) {
    let params = params(N, N);
    let (_, (records, new)) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let compared = Receiver::setup(&params, ch, rng)?.set_up.unwrap().compare(&own(common), ch, rng)?;
            let keys = compared.turn(ch)?.permute(ch, rng)?;
            receiver::take(&params, &keys, ch)
        },
    );
    (new, records.chunks(RECORD_BYTES).map(<[u8]>::to_vec).collect())
}

/// New records open, each once. What the receiver makes of the other strings is noise, at common items
/// and at empty bins alike, even if all records are zeros as those of empty bins are.
#[test]
fn the_pad_of_a_common_item_and_of_an_empty_bin_opens_nothing() {
    let common = N / 3;
    let of = |new: &Bits, records: &[Vec<u8>], is_new: bool| -> Vec<Vec<u8>> {
        new.iter().zip(records).filter(|(new, _)| *new == is_new).map(|(_, record)| record.clone()).collect()
    };
    let zeros = UnionSenderInput { records: vec![0; N * RECORD_BYTES], ..sent() };
    for input in [sent(), zeros] {
        let mut expected: Vec<Vec<u8>> = input.records.chunks(RECORD_BYTES).skip(common).map(<[u8]>::to_vec).collect();
        let (new, records) = opened(input, common);
        let mut got = of(&new, &records, true);
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected);
        let closed = of(&new, &records, false);
        assert_eq!(closed.len(), params(N, N).bins - (N - common));
        assert_eq!(closed.iter().collect::<HashSet<_>>().len(), closed.len());
        assert_uniform(&closed.concat(), "records that stay closed");
    }
}

/// The receiver's view of a run on these sets: places that open hold new items; common items and empty
/// bins look alike.
pub(in crate::union) fn view(sets: &Sets, order: Order) -> View {
    let params = params(sets.sender.len(), sets.receiver.len());
    let (held, (keys, own_bins, new_bins)) = two_party(
        |ch, rng| {
            let compared = Sender::setup(&params, ch, rng)?.set_up.unwrap().compare(&sets.sender, ch, rng)?;
            let order = match order {
                Order::Uniform => random_order(params.bins, rng),
                Order::AsBins => (0..params.bins as u32).collect(),
            };
            Ok(compared.generate(&Secret::new(order), ch, rng)?.keys.to_vec())
        },
        |ch, rng| {
            let set_up = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
            let [own_bins, new_bins] = [&sets.receiver, &sets.new_items()].map(|items| set_up.circuit.positions(items));
            let keys = set_up.compare(&sets.receiver, ch, rng)?.turn(ch)?.permute(ch, rng)?.to_vec();
            Ok((keys, own_bins, new_bins))
        },
    );
    let shown = held.iter().zip(&keys).map(|(sent, own)| if sent == own { Shown::New } else { Shown::Common });
    View { bins: params.bins, shown: shown.collect(), own_bins, new_bins }
}

/// A receiver without items gets all records, in another order than the sender's, and no more bytes
/// than these.
#[test]
fn an_empty_receiver_gets_all_records_in_a_random_order() {
    let run = conformance::<Jszg24>(&params(N, 0).request, sent(), UnionReceiverInput::default());
    assert_ne!(run.receiver.records.open(), sent().records);
}
