//! Requests, and inputs with a chosen overlap.

use vesica_party::variants::with_variants;
use vesica_party::{Security, Task};
use vesica_protocols::tasks::{
    AggregateOutput, AggregateReceiverInput, AggregateRequest, AggregateSenderInput, Intersect, IntersectReceiverInput, IntersectRequest,
    IntersectSenderInput,
};
use vesica_structures::rng::SecretRng;
use vesica_testkit::Runnable;

/// A row of the registry of intersections.
pub(crate) type Row = Runnable<Intersect>;

/// Rows and their variants.
pub(crate) fn every<T: Task>(rows: &[Runnable<T>]) -> Vec<Runnable<T>> {
    with_variants(rows.iter().copied()).collect()
}

/// A request without payload in which only the receiver learns.
pub(crate) fn request(sender_items: usize, receiver_items: usize, security: Security) -> IntersectRequest {
    IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false }
}

/// What cardinality, sum, and join and compute have in common.
pub(crate) trait Aggregate:
    Task<
        Request = AggregateRequest,
        SenderInput = AggregateSenderInput,
        ReceiverInput = AggregateReceiverInput,
        SenderOutput = (),
        ReceiverOutput = AggregateOutput,
    >
{
}

impl<T> Aggregate for T where
    T: Task<
            Request = AggregateRequest,
            SenderInput = AggregateSenderInput,
            ReceiverInput = AggregateReceiverInput,
            SenderOutput = (),
            ReceiverOutput = AggregateOutput,
        >
{
}

/// A request for one total, which is shown whatever it is.
pub(crate) fn total(sender_items: usize, receiver_items: usize, columns: usize, security: Security) -> AggregateRequest {
    AggregateRequest { sender_items, receiver_items, security, columns, groups: 1, at_least: 0, noisy: false }
}

/// Distinct random items, `overlap` of them on both sides, each side in an order of its own.
fn sets(sender_items: usize, receiver_items: usize, overlap: usize, rng: &mut SecretRng) -> (Vec<u128>, Vec<u128>) {
    let common: Vec<u128> = (0..overlap).map(|_| rng.block()).collect();
    let mut side = |count: usize| {
        let mut items = common.clone();
        items.extend((overlap..count).map(|_| rng.block()));
        for last in (1..items.len()).rev() {
            items.swap(last, (rng.block() % (last as u128 + 1)) as usize);
        }
        items
    };
    (side(sender_items), side(receiver_items))
}

/// Sets with random payloads.
pub(crate) fn inputs(request: &IntersectRequest, overlap: usize, seed: u64) -> (IntersectSenderInput, IntersectReceiverInput) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    let (sent, asked) = sets(request.sender_items, request.receiver_items, overlap, &mut rng);
    let mut payloads = vec![0; sent.len() * request.payload_bytes];
    rand_core::Rng::fill_bytes(&mut rng, &mut payloads);
    (IntersectSenderInput { items: sent, payloads }, IntersectReceiverInput { items: asked })
}

/// Sets with values of which a third are 0 and a third the largest, `valued` ones on the receiver's side too; random groups, noise if asked for.
pub(crate) fn aggregate_inputs(
    request: &AggregateRequest,
    valued: bool,
    overlap: usize,
    seed: u64,
) -> (AggregateSenderInput, AggregateReceiverInput) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    let (sent, asked) = sets(request.sender_items, request.receiver_items, overlap, &mut rng);
    let mut values = |count: usize| {
        let value = |_| match rng.block() {
            draw if draw % 3 == 0 => 0,
            draw if draw % 3 == 1 => u64::MAX,
            draw => (draw >> 64) as u64,
        };
        (0..count).map(value).collect::<Vec<u64>>()
    };
    let (of_sender, of_receiver) = (values(sent.len() * request.columns), values(if valued { asked.len() } else { 0 }));
    let groups = (0..if request.groups > 1 { asked.len() } else { 0 }).map(|_| (rng.block() % request.groups as u128) as u32).collect();
    // Another for each result.
    let noise = (0..if request.noisy { request.groups * request.results() } else { 0 }).map(|i| u64::MAX - 1 - 999 * i as u64).collect();
    let sent = AggregateSenderInput { items: sent, values: of_sender, noise };
    (sent, AggregateReceiverInput { items: asked, values: of_receiver, groups })
}
