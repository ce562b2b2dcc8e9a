//! Runs of registry rows in which each party's threads are counted apart.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::ThreadPool;
use vesica::party::transport::memory;
use vesica::party::{Abort, Channel, ChannelOptions, CostClass, Entry, Role, Security};
use vesica::protocols::tasks::Extent;
use vesica::task::{Amounts, AnyTask, Sample, SampleWorkload, TASKS};
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
pub fn rows() -> Vec<(&'static dyn AnyTask, &'static Entry, Security)> {
    crate::begin();
    let of = |task: &'static dyn AnyTask| {
        task.entries_with_variants()
            .into_iter()
            .filter(|entry| crate::is_measured(entry))
            .flat_map(move |entry| entry.modes.iter().map(move |mode| (task, entry, mode.security)))
    };
    TASKS.iter().flat_map(|task| of(*task)).collect()
}

/// Rows that multiply points, and take microseconds an item.
pub fn is_on_a_curve(entry: &Entry) -> bool {
    entry.cost == CostClass::GroupOperations
}

/// A run of a row on so many items.
#[derive(Clone, Copy)]
pub struct Case {
    pub task: &'static dyn AnyTask,
    pub entry: &'static Entry,
    pub extent: Extent,
    pub amounts: Amounts,
}

impl Case {
    /// With the least that must go with the items.
    pub fn plain(task: &'static dyn AnyTask, entry: &'static Entry, extent: Extent) -> Self {
        Self { task, entry, extent, amounts: task.least_amounts_of(entry) }
    }

    pub fn workload(&self) -> Box<dyn SampleWorkload> {
        self.task.workload(&self.extent, &self.amounts).expect("what the task takes")
    }

    /// Whether the row serves it.
    pub fn is_served(&self) -> bool {
        self.workload().predicted_bytes(self.entry).is_ok()
    }

    /// The items of one side.
    pub fn sample(&self, role: Role) -> Sample {
        let (items, payload_bytes) = match role {
            Role::Sender => (self.extent.sender_items, self.amounts.payload_bytes),
            Role::Receiver => (self.extent.receiver_items, self.amounts.receiver_payload_bytes),
        };
        let bytes = items_of(items).into_iter().flat_map(u128::to_le_bytes).collect();
        Sample { role, bytes, item_bytes: 16, payloads: vec![7; items * payload_bytes], common: Vec::new() }
    }

    /// One column of the figure.
    pub fn play(&self, sample: &Sample, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let party = self.workload().set_up(sample.role, self.entry, ch, rng)?;
        party(sample, ch, rng).map(drop)
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {:?} and {:?}", self.entry.id, self.extent, self.amounts)
    }
}

/// Runs a row with `sender` as the sender's case and `receiver` as the receiver's: an honest run
/// where they are the same.
pub fn run(sender: Case, receiver: Case) -> (Peaks, Ends) {
    // Inputs are there before the run, and are not counted; what the parties make of them is.
    let (sent, asked) = (sender.sample(Role::Sender), receiver.sample(Role::Receiver));
    counted(|ch, rng| sender.play(&sent, ch, rng), |ch, rng| receiver.play(&asked, ch, rng))
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

/// One thread that computes, as `--threads 1`, and is counted for `group`.
fn party_threads(group: usize) -> ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).start_handler(move |_| Counting::join(group)).build();
    pool.expect("a thread")
}

/// Distinct items that are the same on both sides, so that the smaller set is a subset: most
/// matches cost most.
fn items_of(count: usize) -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(7);
    (0..count).map(|_| rng.block()).collect()
}
