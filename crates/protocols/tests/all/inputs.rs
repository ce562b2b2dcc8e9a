//! Requests, and inputs with a chosen overlap.

use crate::registry;
use vesica_mpc::tasks::{CorrelationRequest, RandomOneOfNOt, RandomOt};
use vesica_party::{CostClass, Entry, Security, Task};
use vesica_protocols::tasks::{
    Aggregate, AggregateReceiverInput, AggregateRequest, AggregateSenderInput, Cardinality, Intersect,
    IntersectReceiverInput, IntersectRequest, IntersectSenderInput, JoinAndCompute, Over, Shares, SharesInput,
    SharesRequest, Sum, Union, UnionCardinality, UnionReceiverInput, UnionRequest, UnionSenderInput, UnionSum,
};
use vesica_structures::rng::SecretRng;
pub(crate) use vesica_testkit::tried as every;
use vesica_testkit::{ExampleOf, Runnable};

/// A row of the registry of intersections.
pub(crate) type Row = Runnable<Intersect>;

/// A request without payload in which only the receiver learns.
pub(crate) fn request(sender_items: usize, receiver_items: usize, security: Security) -> IntersectRequest {
    IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
}

/// A request for one total, which is shown whatever it is.
pub(crate) fn total(
    sender_items: usize,
    receiver_items: usize,
    columns: usize,
    security: Security,
) -> AggregateRequest {
    AggregateRequest { sender_items, receiver_items, security, columns, groups: 1, at_least: 0, noisy: false, runs: 1 }
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
pub(crate) fn inputs(
    request: &IntersectRequest,
    overlap: usize,
    seed: u64,
) -> (IntersectSenderInput, IntersectReceiverInput) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    let (sent, asked) = sets(request.sender_items, request.receiver_items, overlap, &mut rng);
    let mut payloads = vec![0; sent.len() * request.payload_bytes];
    rand_core::Rng::fill_bytes(&mut rng, &mut payloads);
    (IntersectSenderInput { items: sent, payloads }, IntersectReceiverInput { items: asked })
}

/// Sets with values of which a third are 0 and a third the largest, `valued` ones on the receiver's
/// side too; random groups, noise if asked for. Where new items are aggregated, a third of the
/// sender's items that are not common are dummies, with values.
pub(crate) fn aggregate_inputs<T: Aggregate>(
    request: &AggregateRequest,
    valued: bool,
    overlap: usize,
    seed: u64,
) -> (AggregateSenderInput, AggregateReceiverInput) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    let dummies = if T::OVER == Over::New { (request.sender_items - overlap) / 3 } else { 0 };
    let (mut sent, asked) = sets(request.sender_items - dummies, request.receiver_items, overlap, &mut rng);
    sent.extend((0..dummies).map(|_| rng.block()));
    let mut values = |count: usize| {
        let value = |_| match rng.block() {
            draw if draw % 3 == 0 => 0,
            draw if draw % 3 == 1 => u64::MAX,
            draw => (draw >> 64) as u64,
        };
        (0..count).map(value).collect::<Vec<u64>>()
    };
    let (of_sender, of_receiver) = (values(sent.len() * request.columns), values(if valued { asked.len() } else { 0 }));
    let groups = (0..if request.groups > 1 { asked.len() } else { 0 })
        .map(|_| (rng.block() % request.groups as u128) as u32)
        .collect();
    // Another for each result.
    let noise = (0..request.added()).map(|i| u64::MAX - 1 - 999 * i as u64).collect();
    let sent = AggregateSenderInput { items: sent, dummies, values: of_sender, noise };
    (sent, AggregateReceiverInput { items: asked, values: of_receiver, groups })
}

/// A request for shares.
pub(crate) fn shares_request(sender_items: usize, receiver_items: usize, payloads: [usize; 2]) -> SharesRequest {
    let [sender_payload_bytes, receiver_payload_bytes] = payloads;
    SharesRequest {
        sender_items,
        receiver_items,
        security: Security::SemiHonest,
        sender_payload_bytes,
        receiver_payload_bytes,
    }
}

/// Sets with payloads on both sides.
pub(crate) fn shares_inputs(of: &SharesRequest, overlap: usize) -> (SharesInput, SharesInput) {
    let sizes = request(of.sender_items, of.receiver_items, of.security);
    let (sent, asked) = inputs(&sizes, overlap, overlap as u64);
    let payloads = |items: &[u128], bytes: usize| {
        items.iter().flat_map(|item| (0..bytes).map(move |i| (item >> (i % 16)) as u8)).collect()
    };
    let (of_sender, of_receiver) =
        (payloads(&sent.items, of.sender_payload_bytes), payloads(&asked.items, of.receiver_payload_bytes));
    (
        SharesInput { items: sent.items.clone(), payloads: of_sender },
        SharesInput { items: asked.items, payloads: of_receiver },
    )
}

/// A request for a union.
pub(crate) fn union_request(
    sender_items: usize,
    receiver_items: usize,
    record_bytes: usize,
    security: Security,
) -> UnionRequest {
    UnionRequest { sender_items, receiver_items, security, record_bytes, both_learn: false, runs: 1 }
}

/// The request as `row` serves it: with the union for both sides where it gives it to both.
pub(crate) fn union_request_of(row: Runnable<Union>, request: UnionRequest) -> UnionRequest {
    let mutual = UnionRequest { both_learn: true, ..request };
    if row.predicted_bytes(&mutual).is_ok() { mutual } else { request }
}

/// Sets with random records.
pub(crate) fn union_inputs(of: &UnionRequest, overlap: usize, seed: u64) -> (UnionSenderInput, UnionReceiverInput) {
    let sizes = request(of.sender_items, of.receiver_items, of.security);
    let (sent, asked) = inputs(&IntersectRequest { payload_bytes: of.record_bytes, ..sizes }, overlap, seed);
    let mut records = vec![0; if of.both_learn { asked.items.len() * of.record_bytes } else { 0 }];
    rand_core::Rng::fill_bytes(&mut SecretRng::insecure_from_seed(seed + 1), &mut records);
    let sent = UnionSenderInput { items: sent.items, records: sent.payloads, dummies: 0 };
    (sent, UnionReceiverInput { items: asked.items, records, dummies: 0 })
}

/// A task of which a suite over all registries can run every row.
pub(crate) trait Example: Task {
    /// A request that `row` serves in the mode of `security`, with all that it offers and has a
    /// message for, and inputs to it.
    fn example(
        row: Runnable<Self>,
        security: Security,
        sizes: [usize; 2],
        overlap: usize,
        seed: u64,
    ) -> ExampleOf<Self>
    where
        Self: Sized;
}

/// Items that a receiver asks about, at most, where each takes tens of milliseconds.
pub(crate) const FEW_ITEMS: usize = 3;

/// Items of the sender of a union, at most, where they travel in ciphertexts that the receiver holds.
const MOST_IN_CIPHERTEXTS: usize = 1 << 14;

/// Whether a receiver's item takes a row tens of milliseconds.
pub(crate) fn is_for_few_items(entry: &Entry) -> bool {
    entry.task == Intersect::NAME && entry.cost == CostClass::Lattice
}

impl Example for Intersect {
    fn example(row: Row, security: Security, [n_s, n_r]: [usize; 2], overlap: usize, seed: u64) -> ExampleOf<Self> {
        let n_r = if is_for_few_items(row.entry()) { n_r.min(FEW_ITEMS) } else { n_r };
        let overlap = overlap.min(n_r);
        let plain = request(n_s, n_r, security);
        let labelled = IntersectRequest { payload_bytes: 4, both_learn: true, ..plain };
        let request = if row.predicted_bytes(&labelled).is_ok() { labelled } else { plain };
        let (sent, asked) = inputs(&request, overlap, seed);
        (request, sent, asked)
    }
}

impl Example for Union {
    fn example(
        row: Runnable<Self>,
        security: Security,
        [n_s, n_r]: [usize; 2],
        overlap: usize,
        seed: u64,
    ) -> ExampleOf<Self> {
        let n_s = if row.entry().cost == CostClass::Lattice { n_s.min(MOST_IN_CIPHERTEXTS) } else { n_s };
        let request = union_request_of(row, union_request(n_s, n_r, 20, security));
        let (sent, asked) = union_inputs(&request, overlap.min(n_s), seed);
        (request, sent, asked)
    }
}

impl Example for Shares {
    fn example(
        _: Runnable<Self>,
        security: Security,
        [n_s, n_r]: [usize; 2],
        overlap: usize,
        _: u64,
    ) -> ExampleOf<Self> {
        let request = SharesRequest { security, ..shares_request(n_s, n_r, [3, 1]) };
        let (sent, asked) = shares_inputs(&request, overlap);
        (request, sent, asked)
    }
}

/// The columns of an aggregate's example, and whether the receiver has values too.
macro_rules! aggregate_example {
    ($task:ident, $columns:literal, $valued:literal) => {
        impl Example for $task {
            fn example(
                _: Runnable<Self>,
                security: Security,
                [n_s, n_r]: [usize; 2],
                overlap: usize,
                seed: u64,
            ) -> ExampleOf<Self> {
                let request = total(n_s, n_r, $columns, security);
                let (sent, asked) = aggregate_inputs::<Self>(&request, $valued, overlap, seed);
                (request, sent, asked)
            }
        }
    };
}
aggregate_example!(Cardinality, 0, false);
aggregate_example!(UnionCardinality, 0, false);
aggregate_example!(Sum, 2, false);
aggregate_example!(UnionSum, 2, false);
aggregate_example!(JoinAndCompute, 2, true);

/// As many random OTs as there are items of one side, without inputs.
macro_rules! ot_example {
    ($task:ident, $width:expr) => {
        impl Example for $task {
            fn example(
                _: Runnable<Self>,
                security: Security,
                [len, _]: [usize; 2],
                _: usize,
                _: u64,
            ) -> ExampleOf<Self> {
                (CorrelationRequest { len, security, width: $width }, (), ())
            }
        }
    };
}
ot_example!(RandomOt, None);
ot_example!(RandomOneOfNOt, Some(3));

/// A suite over all rows and their variants.
pub(crate) trait Suite {
    /// Goes through the rows of one registry.
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]);

    /// These rows, and those of their variants that the suite goes through.
    fn every<T: Example>(rows: &[Runnable<T>]) -> Vec<Runnable<T>> {
        every(rows)
    }

    /// Goes through all registries, each row followed by its variants.
    fn all(&mut self) {
        self.rows(&Self::every(registry::intersect()));
        self.rows(&Self::every(registry::union()));
        self.rows(&Self::every(registry::shares()));
        self.rows(&Self::every(registry::cardinality()));
        self.rows(&Self::every(registry::union_cardinality()));
        self.rows(&Self::every(registry::sum()));
        self.rows(&Self::every(registry::union_sum()));
        self.rows(&Self::every(registry::join_and_compute()));
        self.rows(&Self::every(registry::random_ot()));
        self.rows(&Self::every(registry::random_tables()));
    }
}

#[test]
fn suites_go_through_every_row() {
    struct Ids(Vec<&'static str>);
    impl Suite for Ids {
        fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
            self.0.extend(rows.iter().map(|row| row.entry().id));
        }
    }
    let mut ids = Ids(Vec::new());
    ids.all();
    let rows = |ids: Vec<&'static str>| ids.into_iter().filter(|id| !id.contains(':')).collect::<Vec<_>>();
    assert_eq!(rows(ids.0), rows(registry::own_entries().map(|entry| entry.id).collect()));
}
