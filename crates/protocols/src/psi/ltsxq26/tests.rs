use vesica_party::{Party, Security};
use vesica_testkit::two_party;

use super::*;
use crate::tasks::{IntersectReceiverInput, IntersectSenderInput};

/// The sender's mask inputs are `A(x) + (s & delta(x))` with what the receiver's view gives, and one `s`: the equation of the attack.
fn the_view_explains_the_masks<V: Variant>(security: Security) {
    let sent: Vec<u128> = (0..200).map(|i| i * i + 3).collect();
    let asked: Vec<u128> = (150..450).map(|i| i * i + 3).collect();
    let request = IntersectRequest { sender_items: sent.len(), receiver_items: asked.len(), security, payload_bytes: 0, both_learn: false };
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
    assert_eq!((view.masks.len(), view.transfers.len()), (sent.len(), params.width));
    let (mut inputs, delta) = view.a_and_delta(&sent).expect("served");
    assert_eq!(delta.iter().filter(|&&delta| delta == Default::default()).count(), 50);
    let s: Bits<V> = oracle::from_bits(s.into_iter());
    oracle::add_masked(&mut inputs, &s, &delta);
    let (mut expected, mut seen) = (view.masks_of(&inputs, &sent), view.masks);
    expected.sort_unstable();
    seen.sort_unstable();
    assert_eq!(expected, seen);
}

#[test]
fn the_sender_evaluates_what_the_receiver_knows_but_for_s() {
    for security in [Security::SemiHonest, Security::Malicious] {
        the_view_explains_the_masks::<Sha>(security);
        the_view_explains_the_masks::<AesBand>(security);
    }
}
