//! What a receiver sees beyond its output, on either test.

use std::collections::HashSet;

use vesica_party::{Abort, Party, Protocol, Security, Stream};
use vesica_testkit::{Side, conformance, try_two_party, two_party};

use super::czz24::Czz24;
use super::gmr21::Gmr21;
use super::transfer::Pad;
use super::*;
use crate::tasks::{
    AggregateReceiverInput, AggregateSenderInput, IntersectReceiverInput, IntersectReceiverOutput, IntersectSenderInput,
};

const N: usize = 40;

type Items<M> = messages::Items<<M as MembershipTest>::Arrows>;
type Values<M> = messages::Values<<M as MembershipTest>::Arrows>;
type Totals<M> = messages::Totals<<M as MembershipTest>::Arrows>;

fn intersection<M: For<Intersect>>() -> Params<M> {
    let security = Security::SemiHonest;
    let request =
        IntersectRequest { sender_items: N, receiver_items: N, security, payload_bytes: 0, both_learn: false };
    Membership::<M, Intersect>::derive(&request).unwrap()
}

/// A sender of intersections that sends `items` where the common ones belong.
fn told<M: For<Intersect>>(items: impl FnOnce(Vec<u128>) -> Vec<u128> + Send) -> Side<IntersectReceiverOutput> {
    let own: Vec<u128> = (0..N as u128).collect();
    let asked = IntersectReceiverInput { items: own.clone() };
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let Sender { test, ot_sender, .. } = Sender::<M, Intersect>::setup(&intersection(), ch, rng)?;
            let order = M::ask(test, &own, ch, rng)?;
            let items = items(order.iter().map(|&item| own.get(item as usize).copied().unwrap_or(0)).collect());
            ot_sender.give_items(|place| items[place], ch)
        },
        |ch, rng| Receiver::<M, Intersect>::setup(&intersection(), ch, rng)?.run(asked, ch, rng),
    );
    receiver
}

fn lies_are_caught<M: For<Intersect>>() {
    assert_eq!(told::<M>(|items| items).result.unwrap().matches.len(), N);
    // Whatever place is full, its item is not the receiver's.
    let foreign = told::<M>(|items| vec![1 << 100; items.len()]);
    assert!(matches!(foreign.result, Err(Abort::PeerMisbehaved(step, _)) if step == Items::<M>::STEP));
    let twice = told::<M>(|items| vec![7; items.len()]);
    assert!(matches!(twice.result, Err(Abort::PeerMisbehaved(step, _)) if step == Items::<M>::STEP));
}

#[test]
fn items_that_are_not_the_receivers_or_come_twice_are_caught() {
    lies_are_caught::<Czz24>();
    lies_are_caught::<Gmr21>();
}

/// Where everything is common, the receiver of an intersection sees all items in the order in which
/// it was asked about them.
fn the_order_is_hidden<M: For<Intersect>>() {
    let own: Vec<u128> = (0..N as u128).collect();
    let sent = IntersectSenderInput { items: own.clone(), payloads: Vec::new() };
    let (_, seen) = two_party(
        |ch, rng| Sender::<M, Intersect>::setup(&intersection(), ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let Receiver { test, ot_receiver, .. } = Receiver::<M, Intersect>::setup(&intersection(), ch, rng)?;
            let found = M::test(test, &own, ch, rng)?;
            let opened = ot_receiver.take_items(&found, ch)?;
            Ok(found.iter().zip(opened).filter(|(common, _)| *common).map(|(_, item)| item).collect::<Vec<u128>>())
        },
    );
    assert_ne!(seen, own);
    let mut sorted = seen;
    sorted.sort_unstable();
    assert_eq!(sorted, own);
}

#[test]
fn the_order_of_the_senders_table_does_not_show() {
    the_order_is_hidden::<Czz24>();
    the_order_is_hidden::<Gmr21>();
}

/// What a receiver of sums takes for an item says nothing of its value: it differs for equal
/// values, and from the values.
fn values_are_masked<M: For<Sum>>() {
    let security = Security::SemiHonest;
    let request = AggregateRequest {
        sender_items: N,
        receiver_items: N,
        security,
        columns: 1,
        groups: 1,
        at_least: 0,
        noisy: false,
    };
    let params = Membership::<M, Sum>::derive(&request).unwrap();
    let own: Vec<u128> = (0..N as u128).collect();
    let sent = AggregateSenderInput { items: own.clone(), values: vec![9; N], noise: vec![] };
    let asked = AggregateReceiverInput { items: own, ..AggregateReceiverInput::default() };
    let ((), (seen, total)) = two_party(
        |ch, rng| Sender::<M, Sum>::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let Receiver { test, ot_receiver, .. } = Receiver::<M, Sum>::setup(&params, ch, rng)?;
            let found = M::test(test, &asked.items, ch, rng)?;
            let common = ot_receiver.choose(&found, ch)?;
            let (mut padded, mut total) = (vec![0; common.len()], [0]);
            ch.recv_stream::<Values<M>>(&mut padded)?;
            ch.recv_stream::<Totals<M>>(&mut total)?;
            let pad = Pad::new::<M::Arrows>(ch);
            let masked = |((&padded, &block), common): ((&u64, &u128), bool)| {
                let mut own = [0];
                pad.fill(block, &mut own);
                if common { own[0].wrapping_add(padded) } else { own[0] }
            };
            Ok((padded.iter().zip(ot_receiver.chosen()).zip(common).map(masked).collect::<Vec<u64>>(), total[0]))
        },
    );
    let sum = seen.iter().fold(total, |sum, seen| sum.wrapping_add(*seen));
    assert_eq!(sum, 9 * N as u64);
    let (places, distinct) = (seen.len(), seen.into_iter().collect::<HashSet<u64>>());
    assert!(distinct.len() == places && !distinct.contains(&9));
}

#[test]
fn single_values_are_masked() {
    values_are_masked::<Czz24>();
    values_are_masked::<Gmr21>();
}

/// So many that all correlations are silent ones, whose halves wait for each other.
#[test]
fn values_of_many_items_are_summed() {
    let security = Security::SemiHonest;
    let (n_s, n_r) = (12_000, 9_000);
    let request = AggregateRequest {
        sender_items: n_s,
        receiver_items: n_r,
        security,
        columns: 1,
        groups: 1,
        at_least: 0,
        noisy: false,
    };
    let sent =
        AggregateSenderInput { items: (0..n_s as u128).collect(), values: (0..n_s as u64).collect(), noise: vec![] };
    let asked =
        AggregateReceiverInput { items: (5_000..5_000 + n_r as u128).collect(), ..AggregateReceiverInput::default() };
    conformance::<Membership<Gmr21, Sum>>(&request, sent, asked);
}
