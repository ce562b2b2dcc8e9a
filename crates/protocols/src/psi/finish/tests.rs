//! The figure around a pseudo-random function that both sides know.

use vesica_party::{Abort, Security, Stream, Task};
use vesica_structures::filters::{Demand, Kind};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{try_two_party, two_party};

use super::compare::Filter;
use super::{Params, Receiver, Sender, StoredOutputs};
use crate::tags::{TagCoding, tag_bits};
use crate::tasks::{Intersect, IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

const DOMAIN: &[u8; 16] = b"a test of finish";

vesica_party::arrows! { "test" =>
    stream Tags[u8] = 1, Sender, "outputs";
    stream Payloads[u8] = 2, Sender, "outputs";
    stream Proofs[u128] = 3, Receiver, "outputs";
}

type TestArrows = (Tags, Payloads, Proofs);

/// Tag, proof and key of an item in its place `b`.
fn outputs(item: u128, b: usize) -> [u128; 3] {
    let mut hash = [0; 48];
    blake3::Hasher::new().update(&item.to_le_bytes()).update(&[b as u8]).finalize_xof().fill(&mut hash);
    bytemuck::cast(hash)
}

/// Hands the outputs of these evaluations over in two parts, the last ones first, as rows do that
/// evaluate bins or parts of a table.
fn evaluate(
    params: &Params,
    evaluations: &[(u32, u128, usize)],
    mut add: impl FnMut(&[u128], std::vec::IntoIter<u32>),
) -> StoredOutputs {
    let mut stored = StoredOutputs::new(params, evaluations.len(), DOMAIN);
    let (first, last) = evaluations.split_at(evaluations.len() / 3);
    for part in [last, first] {
        let made: Vec<[u128; 3]> = part.iter().map(|&(_, item, b)| outputs(item, b)).collect();
        let of =
            |which: usize, wanted: bool| made.iter().filter(|_| wanted).map(|made| made[which]).collect::<Vec<_>>();
        let numbers: Vec<u32> = part.iter().map(|&(number, ..)| number).collect();
        add(&of(0, true), numbers.clone().into_iter());
        stored.put(&of(1, params.both_learn), &of(2, params.payload_bytes > 0), numbers.into_iter());
    }
    stored
}

fn check(params: &Params, common: usize) {
    let mut rng = SecretRng::insecure_from_seed(common as u64);
    let sent: Vec<u128> = (0..params.sender_items).map(|_| rng.block()).collect();
    let foreign = (common..params.receiver_items).map(|_| rng.block());
    let asked: Vec<u128> = sent[..common].iter().rev().copied().chain(foreign).collect();
    let payloads = (0..params.sender_items * params.payload_bytes).map(|place| place as u8).collect();
    let (sent, asked) = (IntersectSenderInput { items: sent, payloads }, IntersectReceiverInput { items: asked });
    let per_item = params.tags_per_item;
    let ((sender, bytes_of_sender), (receiver, bytes_of_receiver)) = two_party(
        |ch, rng| {
            let mut tags = Sender::new(params);
            let numbered = (0..).zip(sent.items.iter().flat_map(|&item| (0..per_item).map(move |b| (item, b))));
            let evaluations: Vec<_> = numbered.map(|(number, (item, b))| (number, item, b)).collect();
            let stored = evaluate(params, &evaluations, |outputs, numbers| tags.add(outputs, numbers));
            Ok((tags.finish::<TestArrows>(&sent, stored, ch, rng)?, ch.tally().total().sent_payload))
        },
        |ch, _| {
            let mut tags = Receiver::new(params);
            let evaluations: Vec<_> =
                (0..).zip(&asked.items).map(|(number, &item)| (number, item, item as usize % per_item)).collect();
            let stored = evaluate(params, &evaluations, |outputs, numbers| tags.add(outputs, numbers));
            Ok((tags.finish::<TestArrows>(asked.clone(), stored, ch)?, ch.tally().total().sent_payload))
        },
    );
    Intersect::holds(&sent, &asked, &sender, &receiver).unwrap_or_else(|wrong| panic!("{params:?}: {wrong}"));
    assert_eq!((receiver.matches.len(), sender.matches.is_some()), (common, params.both_learn), "{params:?}");
    assert!(params.predicted_bytes().contains(&(bytes_of_sender + bytes_of_receiver)), "{params:?}");
}

#[test]
fn tags_payloads_and_proofs_belong_to_their_items() {
    for coding in [TagCoding::SortedCoded, TagCoding::Shuffled] {
        for (payload_bytes, both_learn) in [(0, false), (5, false), (0, true), (5, true)] {
            for (sender_items, receiver_items, common) in
                [(0, 3, 0), (3, 0, 0), (1, 1, 1), (40, 300, 17), (300, 40, 17)]
            {
                let security = Security::SemiHonest;
                let request =
                    IntersectRequest { sender_items, receiver_items, security, payload_bytes, both_learn, runs: 1 };
                let params = Params::new(&request, tag_bits(sender_items, receiver_items), coding);
                check(&params, common);
                // Where an item has two tags, the receiver returns no proofs.
                if !both_learn {
                    let mut two_tags = params;
                    two_tags.tags_per_item = 2;
                    check(&two_tags, common);
                }
            }
        }
    }
}

#[test]
fn filters_find_the_same_matches() {
    for kind in Kind::ALL {
        for (sender_items, receiver_items, common) in
            [(0, 3, 0), (3, 0, 0), (1, 1, 1), (40, 300, 17), (300, 40, 17), (5000, 3000, 1500)]
        {
            let security = Security::SemiHonest;
            let request = IntersectRequest {
                sender_items,
                receiver_items,
                security,
                payload_bytes: 0,
                both_learn: false,
                runs: 1,
            };
            for tags in [1, 2] {
                let params = Params::new(&request, 60, TagCoding::SortedCoded).with_tags_per_item(tags);
                let params = params.and_then(|params| params.with_filter(Some(kind))).expect("served");
                assert_eq!(params.tag_bits, 128);
                check(&params, common);
            }
            let malicious = Security::Malicious;
            for (payload_bytes, both_learn, security, said) in
                [(1, false, security, "payloads"), (0, true, security, "learns"), (0, false, malicious, "malicious")]
            {
                let request = IntersectRequest { payload_bytes, both_learn, security, ..request };
                let params = Params::new(&request, 60, TagCoding::SortedCoded);
                let refusal = params.with_filter(Some(kind)).expect_err("refused");
                assert!(refusal.what.contains(said) && refusal.mend.contains("compare=list"), "{refusal}");
            }
        }
    }
}

/// A filter that its builder cannot have made, and one that ends early.
#[test]
fn a_malformed_filter_is_refused() {
    for kind in Kind::ALL {
        let request = IntersectRequest {
            sender_items: 10,
            receiver_items: 10,
            security: Security::SemiHonest,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let params = Params::new(&request, 60, TagCoding::SortedCoded).with_filter(Some(kind)).expect("served");
        let length = *params.predicted_bytes().end() as usize;
        // The number of no attempt; a byte less; and more than any set fills, which a fuse filter cannot tell.
        let mut full = vec![255; length];
        full[length - 1] = 0;
        let bodies = [Some(vec![255; length]), Some(vec![255; length - 1]), (kind != Kind::Fuse).then_some(full)];
        for body in bodies.into_iter().flatten() {
            let sent = body.len();
            let (_, receiver) = try_two_party(
                |ch, _| ch.send_stream::<Tags>(&body),
                |ch, _| {
                    let input = IntersectReceiverInput { items: (0..10).collect() };
                    let stored = StoredOutputs::new(&params, 10, DOMAIN);
                    Receiver::new(&params).finish::<TestArrows>(input, stored, ch)
                },
            );
            let refused = receiver.result.expect_err("refused");
            let is_blamed = matches!(refused, Abort::PeerMisbehaved(step, _) if step == Tags::STEP);
            assert!(is_blamed || sent < length, "{kind:?}: {refused:?}");
        }
    }
}

/// A look-up errs with `2^-42` over the number of look-ups, 42 being the tags' share of the budget: of
/// a filter that is asked once, this is as much as a run's filter has.
#[test]
fn all_look_ups_of_a_run_share_the_budget_of_the_tags() {
    for kind in Kind::ALL {
        for (look_ups, log) in [(1, 0), (2, 1), (1000, 10), (1 << 16, 16), ((1 << 16) + 1, 17), (1 << 20, 20)] {
            let tags = 3000;
            let asked_once = |error_bits| kind.bytes(&Demand { tags, look_ups: 1, error_bits }).expect("served") as u64;
            let of_run = Filter::new(kind, tags, look_ups).expect("served").bytes();
            assert_eq!(of_run, asked_once(42 + log), "{kind:?}, {look_ups} look-ups");
            assert!(of_run > asked_once(41 + log), "{kind:?}: a bit less is shorter");
        }
    }
}

/// It holds all of the sender's tags, and is asked for each of the receiver's items.
#[test]
fn a_filter_is_as_long_as_the_senders_tags_and_the_receivers_items_ask() {
    for kind in Kind::ALL {
        for (sender_items, receiver_items) in [(1000, 50_000), (50_000, 1000), (20_000, 20_000)] {
            for tags_per_item in [1, 3] {
                let security = Security::SemiHonest;
                let request = IntersectRequest {
                    sender_items,
                    receiver_items,
                    security,
                    payload_bytes: 0,
                    both_learn: false,
                    runs: 1,
                };
                let params = Params::new(&request, 60, TagCoding::SortedCoded).with_tags_per_item(tags_per_item);
                let params = params.and_then(|params| params.with_filter(Some(kind))).expect("served");
                let demand = Demand { tags: tags_per_item * sender_items, look_ups: receiver_items, error_bits: 42 };
                let bytes = kind.bytes(&demand).expect("served") as u64;
                assert_eq!(params.predicted_bytes(), bytes..=bytes, "{kind:?}: {demand:?}");
                assert_eq!((params.tags(), params.tag_bits), (tags_per_item * sender_items, 128));
            }
        }
        let request = IntersectRequest {
            sender_items: 10,
            receiver_items: 10,
            security: Security::SemiHonest,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let list = Params::new(&request, 60, TagCoding::SortedCoded);
        assert_eq!(list.clone().with_filter(None).expect("the list"), list);
    }
}

/// Longer than what is received at a time.
#[test]
fn a_long_filter_comes_in_pieces() {
    let request = IntersectRequest {
        sender_items: 100_000,
        receiver_items: 100,
        security: Security::SemiHonest,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    };
    let params = Params::new(&request, 60, TagCoding::SortedCoded).with_filter(Some(Kind::Vacuum)).expect("served");
    assert!(*params.predicted_bytes().end() > 2 << 18, "three pieces");
    check(&params, 40);
}
