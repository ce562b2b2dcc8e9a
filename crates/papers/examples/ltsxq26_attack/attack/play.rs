//! Runs of the protocol with an honest sender, for the receiver's view of them.

use rand_core::Rng;
use vesica_mpc::peqt;
use vesica_papers::circuit_psi::ltsxq26::{BinsView, BrokenOpprf};
use vesica_papers::psi::ltsxq26::{Ltsxq26, Receiver, Sender, Variant, View};
use vesica_party::transport::memory;
use vesica_party::{Abort, Channel, ChannelOptions, Party, Protocol, Security};
use vesica_protocols::circuit_psi::matching::masked;
use vesica_protocols::circuit_psi::{Exchangeable, Matching, MatchingRequest, OpprfMatching};
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};
use vesica_structures::fields::Cell;
use vesica_structures::okvs::Kind;
use vesica_structures::rng::SecretRng;
use vesica_testkit::{options, two_party_over};

use super::scene::Scene;

/// What the receiver does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// It follows the figure.
    Honest,
    /// It encodes each `D(y)` with one bit flipped: bit `i mod l` for its item number `i`. The
    /// sender cannot tell; `P` is as random as before.
    Flips,
}

/// A run of Figure 14 or 15. The view of a receiver that flips bits still has the right `A(y)`, so
/// that it finds its matches by two guesses an item.
pub fn psi<V: Variant>(scene: &Scene, security: Security, conduct: Conduct) -> View<V> {
    let (sender_items, receiver_items) = (scene.sent.len(), scene.asked.len());
    let request =
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 };
    let params = <Ltsxq26<V> as Protocol>::derive(&request).expect("sizes that are served");
    let sent = IntersectSenderInput { items: scene.sent.clone(), payloads: Vec::new() };
    let asked = IntersectReceiverInput { items: scene.asked.clone() };
    let receive = |ch: &mut Channel, rng: &mut SecretRng| -> Result<View<V>, Abort> {
        let receiver = Receiver::<V>::setup(&params, ch, rng)?;
        let mut own = receiver.hash(asked)?;
        if conduct == Conduct::Flips {
            for (i, d) in own.d.iter_mut().enumerate() {
                let bit = i % params.width;
                d.words_mut()[bit / 64] ^= 1 << (bit % 64);
            }
        }
        Ok(receiver.run_observed(own, ch, rng)?.1)
    };
    play(|ch, rng| Sender::<V>::setup(&params, ch, rng)?.run(sent, ch, rng).map(drop), receive)
}

/// Steps 1 to 8 of Figure 16.
pub type Broken = OpprfMatching<BrokenOpprf>;

/// Bits of a payload of Figure 16.
pub const PAYLOAD_BITS: u32 = u64::BITS;

/// The payload of an item of the sender.
pub fn payload(item: u128) -> u64 {
    (item >> 64) as u64
}

/// A run of Figure 16 with an honest receiver, up to the tests: `ltsxq26-circuit` with a payload of
/// the sender's, and its OKVS.
pub fn circuit(scene: &Scene, okvs: Kind) -> BinsView {
    let bytes = PAYLOAD_BITS as usize / 8;
    let request = MatchingRequest {
        sender_items: scene.sent.len(),
        receiver_items: scene.asked.len(),
        security: Security::SemiHonest,
        carried_bytes: bytes,
        exchangeable: Exchangeable::new(peqt::Variant::AndTree).on(okvs),
        runs: 1,
    };
    let params = Broken::derive(&request).expect("sizes that are served");
    let payloads: Vec<u8> = scene.sent.iter().flat_map(|&item| payload(item).to_le_bytes()).collect();
    let send = |ch: &mut Channel, rng: &mut SecretRng| {
        let sender = Broken::sender(&params, ch, rng)?;
        let mut tags = vec![0; params.bins * bytes];
        rng.fill_bytes(&mut tags);
        Broken::send(sender, &scene.sent, &masked(&payloads, bytes, &tags), ch, rng).map(drop)
    };
    play(send, |ch, rng| Ok(BinsView::observe(&params, &scene.asked, ch, rng)?.1)).expect("sets that are not empty")
}

fn play<T: Send>(
    sender: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<(), Abort> + Send,
    receiver: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<T, Abort> + Send,
) -> T {
    let (sender, receiver) =
        two_party_over(memory::pair(), ChannelOptions { deadline: None, ..options() }, sender, receiver);
    sender.result.expect("the sender succeeds");
    receiver.result.expect("the receiver succeeds")
}
