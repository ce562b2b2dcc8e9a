//! Runs of registry rows in which each party's threads are counted apart.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::ThreadPool;
use vesica::party::transport::memory;
use vesica::party::{Abort, Channel, ChannelOptions, Role, Security};
use vesica::plan::{SetTask, Terms};
use vesica::protocols::any::{AnyProtocol, ReceiverParty, SenderParty};
use vesica::protocols::tasks::{AggregateReceiverInput, AggregateSenderInput, IntersectReceiverInput, IntersectSenderInput, SharesInput};
use vesica_kernels::counting::Counting;
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party_over;

/// Bytes that each party held at a time, at most.
#[derive(Clone, Copy, Debug)]
pub struct Peaks {
    pub sender: usize,
    pub receiver: usize,
}

impl Peaks {
    pub fn of(self, role: Role) -> usize {
        match role {
            Role::Sender => self.sender,
            Role::Receiver => self.receiver,
        }
    }
}

/// How a run ended on either side.
pub type Ends = (Result<(), Abort>, Result<(), Abort>);

/// Counts are of the process: one run at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Every row and variant in each of its modes, in the registries' order.
pub fn rows() -> Vec<(AnyProtocol, SetTask, Security)> {
    let of = |task| {
        AnyProtocol::with_variants(task)
            .into_iter()
            .flat_map(move |row| row.entry().modes.iter().map(move |mode| (row, task, mode.security)))
    };
    SetTask::ALL.into_iter().flat_map(of).collect()
}

/// Rows that multiply points, and take microseconds an item.
pub fn is_on_a_curve(row: &AnyProtocol) -> bool {
    row.entry().modes.iter().any(|mode| mode.assumptions.iter().any(|assumption| assumption.starts_with("DDH")))
}

/// The task on so many items, with a column of values where it needs one.
pub fn terms(task: SetTask, security: Security, sender_items: usize, receiver_items: usize) -> Terms {
    let columns = usize::from(matches!(task, SetTask::Sum | SetTask::JoinAndCompute));
    Terms { columns, ..Terms::new(task, sender_items, receiver_items, security) }
}

/// Runs `row` with `sender` as the sender's terms and `receiver` as the receiver's: an honest run where they are the same.
pub fn run(row: AnyProtocol, sender: Terms, receiver: Terms) -> (Peaks, Ends) {
    counted(|ch, rng| send(row, &sender, ch, rng), |ch, rng| receive(row, &receiver, ch, rng))
}

/// Runs two parties, each on a thread of its own that is counted.
pub fn counted(
    sender: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<(), Abort> + Send,
    receiver: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<(), Abort> + Send,
) -> (Peaks, Ends) {
    let pools = [1, 2].map(party_threads);
    let before = [1, 2].map(|party| {
        Counting::restart(party);
        Counting::live(party)
    });
    let options = ChannelOptions { deadline: Some(Duration::from_secs(600)), ..ChannelOptions::default() };
    let (sent, received) = two_party_over(
        memory::pair(),
        options,
        |ch, rng| pools[0].install(|| sender(ch, rng)),
        |ch, rng| pools[1].install(|| receiver(ch, rng)),
    );
    let [sender, receiver] = [1, 2].map(|party| Counting::peak(party) - before[party - 1]);
    (Peaks { sender, receiver }, (sent.result, received.result))
}

/// The left column of `row`.
pub fn send(row: AnyProtocol, terms: &Terms, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    let items = items(terms.sender_items);
    let payloads = vec![7; items.len() * terms.payload_bytes];
    match row.sender(terms, ch, rng)? {
        SenderParty::Intersect(party) => party.run(IntersectSenderInput { items, payloads }, ch, rng).map(drop),
        SenderParty::Aggregate(party) => {
            let values = vec![7; items.len() * terms.columns];
            party.run(AggregateSenderInput { items, values, noise: Vec::new() }, ch, rng).map(drop)
        }
        SenderParty::Shares(party) => party.run(SharesInput { items, payloads }, ch, rng).map(drop),
    }
}

/// The right column of `row`.
pub fn receive(row: AnyProtocol, terms: &Terms, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    let items = items(terms.receiver_items);
    let payloads = vec![7; items.len() * terms.receiver_payload_bytes];
    match row.receiver(terms, ch, rng)? {
        ReceiverParty::Intersect(party) => party.run(IntersectReceiverInput { items }, ch, rng).map(drop),
        ReceiverParty::Aggregate(party) => {
            let values = vec![7; if terms.task == SetTask::JoinAndCompute { items.len() } else { 0 }];
            let group = |i| (i % terms.groups) as u32;
            let groups = (0..if terms.groups > 1 { items.len() } else { 0 }).map(group).collect();
            party.run(AggregateReceiverInput { items, values, groups }, ch, rng).map(drop)
        }
        ReceiverParty::Shares(party) => party.run(SharesInput { items, payloads }, ch, rng).map(drop),
    }
}

/// One thread that computes, as `--threads 1`, and is counted for `group`.
fn party_threads(group: usize) -> ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(move |_| Counting::join(group)).build();
    pool.expect("a thread")
}

/// Distinct items that are the same on both sides, so that the smaller set is a subset: most matches cost most.
fn items(count: usize) -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(7);
    (0..count).map(|_| rng.block()).collect()
}
