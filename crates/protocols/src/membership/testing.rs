//! What a receiver sees beyond its output, for any membership test. The tests of papers are held against the same.

use std::collections::HashSet;

use vesica_party::{Abort, Party, Protocol, Security, Stream};
use vesica_testkit::{Side, conformance, try_two_party, two_party};

use vesica_protocols::membership::transfer::Pad;
use vesica_protocols::membership::{For, Membership, MembershipTest, Params, Receiver, Sender, messages};
use vesica_protocols::tasks::{
    Aggregate, AggregateReceiverInput, AggregateRequest, AggregateSenderInput, Intersect, IntersectReceiverInput,
    IntersectReceiverOutput, IntersectRequest, IntersectSenderInput, Over, Union, UnionReceiverInput, UnionRequest,
    UnionSenderInput,
};

pub const N: usize = 40;

type Items<M> = messages::Items<<M as MembershipTest>::Arrows>;
type Records<M> = messages::Records<<M as MembershipTest>::Arrows>;
type Values<M> = messages::Values<<M as MembershipTest>::Arrows>;
type Totals<M> = messages::Totals<<M as MembershipTest>::Arrows>;

pub fn intersection<M: For<Intersect>>() -> Params<M> {
    let security = Security::SemiHonest;
    let request =
        IntersectRequest { sender_items: N, receiver_items: N, security, payload_bytes: 0, both_learn: false, runs: 1 };
    Membership::<M, Intersect>::derive(&request).unwrap()
}

/// A sender of intersections that sends `items` where the common ones belong.
pub fn told<M: For<Intersect>>(items: impl FnOnce(Vec<u128>) -> Vec<u128> + Send) -> Side<IntersectReceiverOutput> {
    let own: Vec<u128> = (0..N as u128).collect();
    let asked = IntersectReceiverInput { items: own.clone() };
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let Sender { test, ot_sender, .. } = Sender::<M, Intersect>::setup(&intersection(), ch, rng)?;
            let order = M::ask(test.unwrap(), &own, ch, rng)?;
            let items = items(order.iter().map(|&item| own.get(item as usize).copied().unwrap_or(0)).collect());
            ot_sender.give_items(|place| items[place], ch)
        },
        |ch, rng| Receiver::<M, Intersect>::setup(&intersection(), ch, rng)?.run(asked, ch, rng),
    );
    receiver
}

pub fn lies_are_caught<M: For<Intersect>>() {
    assert_eq!(told::<M>(|items| items).result.unwrap().matches.len(), N);
    // Whatever place is full, its item is not the receiver's.
    let foreign = told::<M>(|items| vec![1 << 100; items.len()]);
    assert!(matches!(foreign.result, Err(Abort::PeerMisbehaved(step, _)) if step == Items::<M>::STEP));
    let twice = told::<M>(|items| vec![7; items.len()]);
    assert!(matches!(twice.result, Err(Abort::PeerMisbehaved(step, _)) if step == Items::<M>::STEP));
}

/// Where everything is common, the receiver of an intersection sees all items in the order in which
/// it was asked about them.
pub fn the_order_is_hidden<M: For<Intersect>>() {
    let own: Vec<u128> = (0..N as u128).collect();
    let sent = IntersectSenderInput { items: own.clone(), payloads: Vec::new() };
    let (_, seen) = two_party(
        |ch, rng| Sender::<M, Intersect>::setup(&intersection(), ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let Receiver { test, ot_receiver, .. } = Receiver::<M, Intersect>::setup(&intersection(), ch, rng)?;
            let found = M::test(test.unwrap(), &own, ch, rng)?;
            let opened = ot_receiver.take_items(&found, ch)?;
            Ok(found.iter().zip(opened).filter(|(common, _)| *common).map(|(_, item)| item).collect::<Vec<u128>>())
        },
    );
    assert_ne!(seen, own);
    let mut sorted = seen;
    sorted.sort_unstable();
    assert_eq!(sorted, own);
}

pub const RECORD_BYTES: usize = 20;

pub fn union<M: For<Union>>(sender_items: usize, receiver_items: usize) -> Params<M> {
    let security = Security::SemiHonest;
    let request =
        UnionRequest { sender_items, receiver_items, security, record_bytes: RECORD_BYTES, both_learn: false, runs: 1 };
    Membership::<M, Union>::derive(&request).unwrap()
}

/// Items from `first` on, each with a record of its lowest byte.
pub fn records(first: u128) -> UnionSenderInput {
    let items: Vec<u128> = (first..first + N as u128).collect();
    let records = items.iter().flat_map(|&item| [item as u8 + 1; RECORD_BYTES]).collect();
    UnionSenderInput { items, records, dummies: 0 }
}

/// The bits and the opened cells of a union's receiver that looks at all of them.
pub fn cells_of<M: For<Union>>(sent: UnionSenderInput) -> (Vec<bool>, Vec<Vec<u8>>) {
    let params = union::<M>(N, N);
    let place_bytes = params.place_bytes;
    let own: Vec<u128> = (0..N as u128).collect();
    let (_, seen) = two_party(
        |ch, rng| Sender::<M, Union>::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let Receiver { test, ot_receiver, .. } = Receiver::<M, Union>::setup(&params, ch, rng)?;
            let found = M::test(test.unwrap(), &own, ch, rng)?;
            let cells = ot_receiver.take_records(&found, place_bytes, ch)?;
            Ok((found.iter().collect(), cells.chunks(place_bytes).map(<[u8]>::to_vec).collect()))
        },
    );
    seen
}

/// A common item's record is noise, even where all records are alike; a new item's is there, in
/// another order than the sender's; a place without an item holds zeros.
pub fn common_records_stay_closed<M: For<Union>>() {
    let half = N / 2;
    let sent = records(half as u128);
    let (found, cells) = cells_of::<M>(sent.clone());
    assert_eq!(found.iter().filter(|found| **found).count(), half);
    let (mut opened, mut closed) = (Vec::new(), HashSet::new());
    for (found, cell) in found.into_iter().zip(cells) {
        if found {
            assert!(closed.insert(cell.clone()), "one pad for two records");
            assert!(cell.iter().collect::<HashSet<_>>().len() > 4, "a common record is open");
        } else if M::HAS_EMPTY_PLACES && cell[RECORD_BYTES] == 0 {
            assert_eq!(cell, [0; RECORD_BYTES + 1]);
        } else {
            opened.extend_from_slice(&cell[..RECORD_BYTES]);
        }
    }
    let expected = &sent.records[half * RECORD_BYTES..];
    assert_ne!(opened, expected, "the order of the sender's table");
    opened.sort_unstable();
    assert_eq!(opened, expected);
}

/// Pads of one kind of record are not those of another: strings of equal records all differ.
pub fn no_pad_is_used_twice<M: For<Union>>() {
    let params = union::<M>(N, N);
    let place_bytes = params.place_bytes;
    let sent = UnionSenderInput { items: (0..N as u128).collect(), records: vec![0; N * RECORD_BYTES], dummies: 0 };
    let (_, strings) = two_party(
        |ch, rng| Sender::<M, Union>::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let Receiver { test, ot_receiver, .. } = Receiver::<M, Union>::setup(&params, ch, rng)?;
            let others: Vec<u128> = (0..N).map(|_| rng.block()).collect();
            let found = M::test(test.unwrap(), &others, ch, rng)?;
            ot_receiver.choose(&found, ch)?;
            let mut strings = vec![0; found.len() * place_bytes];
            ch.recv_stream::<Records<M>>(&mut strings)?;
            Ok(strings.chunks(place_bytes).map(<[u8]>::to_vec).collect::<Vec<_>>())
        },
    );
    let places = strings.len();
    assert_eq!(strings.into_iter().collect::<HashSet<_>>().len(), places);
}

/// A receiver without items gets all records, in another order than the sender's, and no more
/// bytes than these and their marks; nothing is sent to one whose partner has no items.
pub fn an_empty_receiver_gets_all<M: For<Union>>() {
    let sent = records(0);
    let request = UnionRequest {
        sender_items: N,
        receiver_items: 0,
        security: Security::SemiHonest,
        record_bytes: RECORD_BYTES,
        both_learn: false,
        runs: 1,
    };
    let run = conformance::<Membership<M, Union>>(&request, sent.clone(), UnionReceiverInput::default());
    assert_ne!(run.receiver.records.open(), sent.records);
    let bytes = (N * (RECORD_BYTES + usize::from(M::HAS_EMPTY_PLACES))) as u64;
    assert_eq!(union::<M>(N, 0).predicted_bytes(), bytes..=bytes);
    assert_eq!(union::<M>(0, N).predicted_bytes(), 0..=0);
}

/// A request for the sum of one column.
pub fn sum_of(sender_items: usize, receiver_items: usize, security: Security) -> AggregateRequest {
    AggregateRequest {
        sender_items,
        receiver_items,
        security,
        columns: 1,
        groups: 1,
        at_least: 0,
        noisy: false,
        runs: 1,
    }
}

/// What a receiver of sums takes for an item says nothing of its value: it differs for equal
/// values, and from the values. Nor does the total of all values show.
pub fn values_are_masked<M: For<T>, T: Aggregate>() {
    let request = sum_of(N, N, Security::SemiHonest);
    let params = Params::<M>::sum::<T>(&request, &<M as For<T>>::ENTRY).unwrap();
    let own: Vec<u128> = (0..N as u128).collect();
    let sent = AggregateSenderInput { items: own.clone(), values: vec![9; N], ..AggregateSenderInput::default() };
    let asked = AggregateReceiverInput { items: own, ..AggregateReceiverInput::default() };
    let ((), (seen, total)) = two_party(
        |ch, rng| Sender::<M, T>::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| {
            let Receiver { test, ot_receiver, .. } = Receiver::<M, T>::setup(&params, ch, rng)?;
            let found = M::test(test.unwrap(), &asked.items, ch, rng)?;
            let common = ot_receiver.choose(&found, ch)?;
            let (mut padded, mut total) = (vec![0; common.len()], [0]);
            ch.recv_stream::<Values<M>>(&mut padded)?;
            ch.recv_stream::<Totals<M>>(&mut total)?;
            let pad = Pad::new::<M::Arrows>(ch);
            let masked = |((&padded, &block), common): ((&u64, &u128), bool)| {
                let mut own = [0u64];
                pad.fill(block, &mut own);
                if common { own[0].wrapping_add(padded) } else { own[0] }
            };
            Ok((padded.iter().zip(ot_receiver.chosen()).zip(common).map(masked).collect::<Vec<u64>>(), total[0]))
        },
    );
    let sum = seen.iter().fold(total, |sum, seen| sum.wrapping_add(T::OVER.receiver_share(*seen)));
    let all = 9 * N as u64;
    assert_eq!(sum, if T::OVER == Over::Common { all } else { 0 });
    let (places, distinct) = (seen.len(), seen.into_iter().collect::<HashSet<u64>>());
    assert!(distinct.len() == places && !distinct.contains(&9) && total.wrapping_add(all) != all && total != all);
}
