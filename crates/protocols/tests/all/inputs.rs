//! Requests, and inputs with a chosen overlap.

use vesica_party::Security;
use vesica_protocols::tasks::{Intersect, IntersectReceiverInput, IntersectRequest, IntersectSenderInput};
use vesica_structures::rng::SecretRng;
use vesica_testkit::Runnable;

/// A row of the registry of intersections.
pub(crate) type Row = Runnable<Intersect>;

/// A request without payload in which only the receiver learns.
pub(crate) fn request(sender_items: usize, receiver_items: usize, security: Security) -> IntersectRequest {
    IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false }
}

/// Distinct random items, `overlap` of them on both sides, each side in an order of its own; random payloads.
pub(crate) fn inputs(request: &IntersectRequest, overlap: usize, seed: u64) -> (IntersectSenderInput, IntersectReceiverInput) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    let common: Vec<u128> = (0..overlap).map(|_| rng.block()).collect();
    let mut side = |count: usize| {
        let mut items = common.clone();
        items.extend((overlap..count).map(|_| rng.block()));
        for last in (1..items.len()).rev() {
            items.swap(last, (rng.block() % (last as u128 + 1)) as usize);
        }
        items
    };
    let (sent, asked) = (side(request.sender_items), side(request.receiver_items));
    let mut payloads = vec![0; sent.len() * request.payload_bytes];
    rand_core::Rng::fill_bytes(&mut rng, &mut payloads);
    (IntersectSenderInput { items: sent, payloads }, IntersectReceiverInput { items: asked })
}
