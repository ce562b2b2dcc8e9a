//! What either side sees of the other one's set.

use std::collections::HashSet;

use vesica_mpc::bits::Bits;
use vesica_party::{Party, Protocol, Security};
use vesica_testkit::{conformance, two_party};

use super::*;
use vesica_protocols::tasks::{UnionReceiverInput, UnionRequest, UnionSenderInput};

const N: usize = 500;
const RECORD_BYTES: usize = 20;

fn params(receiver_items: usize) -> Params {
    let security = Security::SemiHonest;
    let request = UnionRequest {
        sender_items: N,
        receiver_items,
        security,
        record_bytes: RECORD_BYTES,
        both_learn: false,
        runs: 1,
    };
    Jsz22S::derive(&request).unwrap()
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

/// The leak: after step 3 the sender knows how many items are common, in any run. It does not know
/// which: as many of the bins where it sees a match hold a common item as chance has it, 44 for a
/// third of 500 items, with a deviation of 5.
#[test]
fn the_sender_learns_the_number_of_common_items() {
    let params = params(N);
    for common in [0, 1, N / 3, N] {
        let ((seen, in_its_bin), ()) = two_party(
            |ch, rng| {
                let set_up = Sender::setup(&params, ch, rng)?.set_up.unwrap();
                let compared = set_up.compare(&params, &sent().items, ch, rng)?;
                let holds_common = |bin| compared.table.bin(bin).is_some_and(|entry| (entry.item as usize) < common);
                let in_its_bin = (0..params.bins).filter(|&bin| compared.common.get(bin) && holds_common(bin)).count();
                Ok((compared.common.count_ones(), in_its_bin))
            },
            |ch, rng| {
                let set_up = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
                set_up.answer(&params, &own(common), ch, rng).map(drop)
            },
        );
        assert_eq!(seen, common);
        assert!(common != N / 3 || in_its_bin < 90, "{in_its_bin} matches in the bins of common items");
    }
}

/// What a receiver has after the last arrow: the keys of arrow 4, and the opened records.
fn opened(sent: UnionSenderInput, common: usize) -> (Vec<u128>, Bits, Vec<Vec<u8>>) {
    let params = params(N);
    let (_, (keys, (records, new))) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let set_up = Receiver::setup(&params, ch, rng)?.set_up.unwrap();
            let answered = set_up.answer(&params, &own(common), ch, rng)?;
            let keys = receiver::keys(answered, ch, rng)?.to_vec();
            let taken = receiver::take(&params, &keys, ch)?;
            Ok((keys, taken))
        },
    );
    (keys, new, records.chunks(RECORD_BYTES).map(<[u8]>::to_vec).collect())
}

/// New records open, in another order than the sender's. A common one stays closed: what the receiver
/// makes of it is in nobody's list, and no two are alike, even if all records are.
#[test]
fn the_receiver_opens_new_records_only() {
    let common = N / 2;
    let (keys, new, records) = opened(sent(), common);
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
    let of = |is_new: bool| -> Vec<Vec<u8>> {
        new.iter().zip(&records).filter(|(new, _)| *new == is_new).map(|(_, record)| record.clone()).collect()
    };
    let all: Vec<Vec<u8>> = sent().records.chunks(RECORD_BYTES).map(<[u8]>::to_vec).collect();
    let mut expected = all[common..].to_vec();
    let mut got = of(true);
    assert_ne!(got, expected, "the sender's order");
    got.sort_unstable();
    expected.sort_unstable();
    assert_eq!(got, expected);
    assert!(of(false).iter().all(|record| !all.contains(record)));

    let (_, new, records) = opened(UnionSenderInput { records: vec![0; N * RECORD_BYTES], ..sent() }, common);
    let closed: Vec<&Vec<u8>> = new.iter().zip(&records).filter(|(new, _)| !new).map(|(_, record)| record).collect();
    assert!(closed.len() == common && closed.iter().collect::<HashSet<_>>().len() == common);
}

/// A receiver without items gets all records, in another order than the sender's, and no more bytes
/// than these.
#[test]
fn an_empty_receiver_gets_all_records_in_a_random_order() {
    let run = conformance::<Jsz22S>(&params(0).request, sent(), UnionReceiverInput::default());
    assert_ne!(run.receiver.records.open(), sent().records);
}
