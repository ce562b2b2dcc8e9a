use vesica_party::{Abort, Message, Party, Security};
use vesica_testkit::{try_two_party, two_party};

use super::messages::Omega;
use super::*;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectSenderInput};

/// The sender's tag inputs are `A(x) + (s & delta(x))` with what the receiver's view gives, and one
/// `s`: the equation of the attack.
fn the_view_explains_the_tags<V: Variant>(security: Security) {
    let sent: Vec<u128> = (0..200).map(|i| i * i + 3).collect();
    let asked: Vec<u128> = (150..450).map(|i| i * i + 3).collect();
    let request = IntersectRequest {
        sender_items: sent.len(),
        receiver_items: asked.len(),
        security,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    };
    let params = Params::derive::<V>(&request).expect("served");
    let (s, (output, view)) = two_party(
        |ch, rng| {
            let sender = Sender::<V>::setup(&params, ch, rng)?;
            let s = sender.choices();
            sender.run(IntersectSenderInput { items: sent.clone(), payloads: Vec::new() }, ch, rng)?;
            Ok(s)
        },
        |ch, rng| {
            let receiver = Receiver::<V>::setup(&params, ch, rng)?;
            let own = receiver.hash(IntersectReceiverInput { items: asked.clone() })?;
            receiver.run_observed(own, ch, rng)
        },
    );
    assert!(output.matches.iter().copied().eq(0..50));
    assert_eq!((view.tags.len(), view.transfers.len()), (sent.len(), params.width));
    let (mut inputs, delta) = view.a_and_delta(&sent).expect("served");
    assert_eq!(delta.iter().filter(|&&delta| delta == Default::default()).count(), 50);
    let s: Bits<V> = oracle::from_bits(s.into_iter());
    oracle::add_masked(&mut inputs, &s, &delta);
    let (mut expected, mut seen) = (view.tags_of(&inputs, &sent), view.tags);
    expected.sort_unstable();
    seen.sort_unstable();
    assert_eq!(expected, seen);
}

#[test]
fn the_sender_evaluates_what_the_receiver_knows_but_for_s() {
    for security in [Security::SemiHonest, Security::Malicious] {
        the_view_explains_the_tags::<Sha>(security);
        the_view_explains_the_tags::<AesBand>(security);
    }
}

/// As docs/parameters/bitwise-and-oprf.md and docs/ltsxq26.md have them.
#[test]
fn widths_are_the_documented_ones() {
    let of = |log: u32| Wide::widths(1 << log, 1 << log).expect("served");
    assert_eq!([10, 16, 20, 24].map(of), [(418, 62), (430, 74), (438, 82), (446, 90)]);
    let of = |log: u32| Sha::widths(1 << log, 1 << log).expect("served");
    assert_eq!([16, 20, 24].map(of), [(72, 72), (80, 80), (88, 88)]);
}

/// Figure 15, step 6: a sender that has seen `w_2` cannot choose `w` by it.
#[test]
fn an_offset_that_was_not_committed_to_is_refused() {
    let sizes = IntersectRequest {
        sender_items: 5,
        receiver_items: 9,
        security: Security::Malicious,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    };
    for (security, refused) in [(Security::Malicious, true), (Security::SemiHonest, false)] {
        let params = Params::derive::<Aes>(&IntersectRequest { security, ..sizes }).expect("served");
        let (_, receiver) = try_two_party(
            |ch, rng| {
                let mut sender = Sender::<Aes>::setup(&params, ch, rng)?;
                sender.change_omega();
                sender.run(IntersectSenderInput { items: (1..6).collect(), payloads: Vec::new() }, ch, rng)
            },
            |ch, rng| {
                Receiver::<Aes>::setup(&params, ch, rng)?.run(
                    IntersectReceiverInput { items: (1..10).collect() },
                    ch,
                    rng,
                )
            },
        );
        match receiver.result {
            Ok(output) => assert!(!refused && output.matches.len() == 5, "{security:?}"),
            Err(abort) => {
                assert!(refused && matches!(abort, Abort::PeerMisbehaved(step, _) if step == Omega::STEP), "{abort:?}")
            }
        }
    }
}

/// The receiver's view has the bits that were sent and no others.
#[test]
fn a_view_has_no_more_bits_than_the_table() {
    let request = IntersectRequest {
        sender_items: 5,
        receiver_items: 200,
        security: Security::SemiHonest,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    };
    let params = Params::derive::<Sha>(&request).expect("served");
    let (_, (_, view)) = two_party(
        |ch, rng| {
            Sender::<Sha>::setup(&params, ch, rng)?.run(
                IntersectSenderInput { items: (1..6).collect(), payloads: Vec::new() },
                ch,
                rng,
            )
        },
        |ch, rng| {
            let receiver = Receiver::<Sha>::setup(&params, ch, rng)?;
            let own = receiver.hash(IntersectReceiverInput { items: (1..201).collect() })?;
            receiver.run_observed(own, ch, rng)
        },
    );
    assert!(view.table.iter().any(|cell| cell.0 != 0) && view.table.iter().all(|cell| cell.0 >> params.width == 0));
}
