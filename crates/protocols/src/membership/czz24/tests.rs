//! What a receiver sees beyond its output.

use vesica_party::{Abort, Party, Protocol, Security, Stream};
use vesica_testkit::{Side, try_two_party, two_party};

use super::messages::{Items, Totals, Values};
use super::*;
use crate::tasks::{
    AggregateReceiverInput, AggregateRequest, AggregateSenderInput, Intersect, IntersectReceiverInput, IntersectReceiverOutput,
    IntersectRequest, IntersectSenderInput, Sum,
};

const N: usize = 40;

fn intersection() -> Params {
    let security = Security::SemiHonest;
    let request = IntersectRequest { sender_items: N, receiver_items: N, security, payload_bytes: 0, both_learn: false };
    Czz24::<Intersect>::derive(&request).unwrap()
}

/// A sender of intersections that sends `items` where the common ones belong.
fn told(items: impl FnOnce(Vec<u128>) -> Vec<u128> + Send) -> Side<IntersectReceiverOutput> {
    let own: Vec<u128> = (0..N as u128).collect();
    let asked = IntersectReceiverInput { items: own.clone() };
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let sender = Sender::<Intersect>::setup(&intersection(), ch, rng)?;
            let order = sender.ask(&own, ch, rng)?;
            let items = items(order.iter().map(|&item| own[item as usize]).collect());
            let padded: Vec<u128> = sender.pads(ch)?.iter().zip(items).map(|([_, pad], item)| pad ^ item).collect();
            ch.send_stream::<Items>(&padded)
        },
        |ch, rng| Receiver::<Intersect>::setup(&intersection(), ch, rng)?.run(asked, ch, rng),
    );
    receiver
}

#[test]
fn items_that_are_not_the_receivers_or_come_twice_are_caught() {
    assert_eq!(told(|items| items).result.unwrap().matches.len(), N);
    let foreign = told(|mut items| {
        items[3] = 1 << 100;
        items
    });
    assert!(matches!(foreign.result, Err(Abort::PeerMisbehaved(Items::STEP, _))));
    let twice = told(|mut items| {
        items[3] = items[4];
        items
    });
    assert!(matches!(twice.result, Err(Abort::PeerMisbehaved(Items::STEP, _))));
}

/// Where everything is common, the receiver of an intersection sees all items in the order in which it was asked about them.
#[test]
fn the_order_of_the_senders_table_does_not_show() {
    let own: Vec<u128> = (0..N as u128).collect();
    let sent = IntersectSenderInput { items: own.clone(), payloads: Vec::new() };
    let (_, seen) = two_party(
        |ch, rng| Sender::<Intersect>::setup(&intersection(), ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let receiver = Receiver::<Intersect>::setup(&intersection(), ch, rng)?;
            let found = receiver.test(&own, ch)?;
            receiver.choose(&found, ch)?;
            let mut padded = vec![0; N];
            ch.recv_stream::<Items>(&mut padded)?;
            Ok(receiver.opened(&padded))
        },
    );
    assert_ne!(seen, own);
    let mut sorted = seen;
    sorted.sort_unstable();
    assert_eq!(sorted, own);
}

/// What a receiver of sums takes for an item says nothing of its value: it differs for equal values, and from the values.
#[test]
fn single_values_are_masked() {
    let security = Security::SemiHonest;
    let request = AggregateRequest { sender_items: N, receiver_items: N, security, columns: 1, groups: 1, at_least: 0, noisy: false };
    let params = Czz24::<Sum>::derive(&request).unwrap();
    let own: Vec<u128> = (0..N as u128).collect();
    let sent = AggregateSenderInput { items: own.clone(), values: vec![9; N], noise: vec![] };
    let asked = AggregateReceiverInput { items: own, ..AggregateReceiverInput::default() };
    let ((), (seen, total)) = two_party(
        |ch, rng| Sender::<Sum>::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let receiver = Receiver::<Sum>::setup(&params, ch, rng)?;
            let found = receiver.test(&asked.items, ch)?;
            receiver.choose(&found, ch)?;
            let (mut padded, mut total) = (vec![0; N], [0]);
            ch.recv_stream::<Values>(&mut padded)?;
            ch.recv_stream::<Totals>(&mut total)?;
            let key = pad_key(&ch.session());
            let masked = |(padded, &pad): (&u64, &u128)| {
                let mut own = [0];
                fill_pad(&key, pad, &mut own);
                padded.wrapping_add(own[0])
            };
            Ok((padded.iter().zip(&receiver.pads.chosen).map(masked).collect::<Vec<u64>>(), total[0]))
        },
    );
    let sum = seen.iter().fold(total, |sum, seen| sum.wrapping_add(*seen));
    assert_eq!(sum, 9 * N as u64);
    let distinct: std::collections::HashSet<u64> = seen.into_iter().collect();
    assert!(distinct.len() == N && !distinct.contains(&9));
}
