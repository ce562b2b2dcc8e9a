//! What is special to two directions.

use vesica_party::{Party, Protocol, Security};
use vesica_testkit::{conformance, try_two_party};

use super::*;
use crate::tasks::{UnionReceiverInput, UnionSenderInput};

const RECORD_BYTES: usize = 8;

fn request(sender_items: usize, receiver_items: usize) -> UnionRequest {
    let security = Security::SemiHonest;
    UnionRequest { sender_items, receiver_items, security, record_bytes: RECORD_BYTES, both_learn: true, runs: 1 }
}

/// Items, each with a record of its number and the side's mark.
fn side(items: std::ops::Range<u64>, mark: u8) -> (Vec<u128>, Vec<u8>) {
    let record = |item: u64| [&item.to_le_bytes()[..7], &[mark]].concat();
    (items.clone().map(u128::from).collect(), items.flat_map(record).collect())
}

fn inputs(sent: std::ops::Range<u64>, asked: std::ops::Range<u64>) -> (UnionSenderInput, UnionReceiverInput) {
    let ((sent, of_sender), (asked, of_receiver)) = (side(sent, 1), side(asked, 2));
    let sent = UnionSenderInput { items: sent, records: of_sender, dummies: 0 };
    (sent, UnionReceiverInput { items: asked, records: of_receiver, dummies: 0 })
}

/// The numbers of records that all have this mark, ascending.
fn numbers(records: Vec<u8>, mark: u8) -> Vec<u64> {
    let number = |record: &[u8]| {
        assert_eq!(record[7], mark, "a record of the other side");
        record[..7].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    };
    let mut numbers: Vec<u64> = records.chunks(RECORD_BYTES).map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn each_side_gets_the_records_that_it_lacks_from_the_other() {
    for (sent, asked) in [(0..50, 30..100), (0..50, 0..50), (0..5, 50..60), (0..0, 3..9), (3..9, 0..0)] {
        let request = request(sent.clone().count(), asked.clone().count());
        let (sender, receiver) = inputs(sent.clone(), asked.clone());
        let run = conformance::<VesicaUnionBoth>(&request, sender, receiver);
        let at_receiver: Vec<u64> = sent.clone().filter(|item| !asked.contains(item)).collect();
        let at_sender: Vec<u64> = asked.clone().filter(|item| !sent.contains(item)).collect();
        assert_eq!(numbers(run.receiver.records.open(), 1), at_receiver);
        assert_eq!(numbers(run.sender.records.unwrap().open(), 2), at_sender);
    }
}

/// Records of the receiver that are not as many as agreed end the run before it sends anything of
/// its set.
#[test]
fn a_receiver_without_its_records_is_refused() {
    let params = VesicaUnionBoth::derive(&request(5, 5)).unwrap();
    let (sent, asked) = inputs(0..5, 3..8);
    let asked = UnionReceiverInput { records: Vec::new(), ..asked };
    let (_, receiver) = try_two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| Receiver::setup(&params, ch, rng)?.run(asked, ch, rng),
    );
    assert!(matches!(receiver.result, Err(vesica_party::Abort::Unsupported(_))));
}
