//! Whether a partner can time what matched: for each protocol, the time from the sender's last message to the receiver's
//! goodbye where all items match is compared with that where none does, by Welch's t-test (Reparaz, Balasch, Verbauwhede,
//! "Dude, is my code constant time?", 2017).
//!
//! `cargo run --release --locked -p vesica-lab --example timing_rows -- [SECONDS [ROW...]]`, on Linux: SECONDS for each row, and the
//! names of rows, all by default (`ID+payload` with a payload). A coin decides for each pair of sets whether all items match or none; sets and random numbers
//! are new each time. Both parties run once over memory. Then the receiver runs a few times more with the same random numbers, and
//! gets what the sender sent; the last steps of it, to which it answers with its goodbye alone, only once it waits for them.
//! From there to the goodbye nothing else runs in the process, and the least time counts. The program fails if its two
//! controls do not come out as they are named.
//!
//! The time is the processor time of the process, which does not count other programs; that of a clock, which a partner sees, is
//! shown beside it. What a side can be timed by beside its matches (docs/tasks.md, *Time*) does not show here, since all sets
//! are random.

use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rustix::time::{ClockId, clock_gettime};
use vesica::task::{Amounts, AnyTask, MadeUp, Sample, SampleWorkload, TASKS};
use vesica::threads;
use vesica_party::transport::{Connection, memory};
use vesica_party::{Abort, Channel, ChannelOptions, CostClass, Entry, Role, Security};
use vesica_protocols::registry;
use vesica_protocols::tasks::{Extent, Intersect};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{Comparison, DIFFERS_BEYOND_DOUBT, Script, Times, keep_script};

/// Items of either side of a join on ciphers and hashes.
const ITEMS: usize = 1024;
/// Items of either side where each takes tens of microseconds, and in tasks other than joins, whose runs take long.
const FEWER_ITEMS: usize = 256;
/// Items of a sender where each item of the receiver takes tens of milliseconds.
const SERVED_ITEMS: usize = 512;
/// Items of the receiver then.
const FEW_ITEMS: usize = 4;
/// Bytes of a payload, where payloads are measured.
const PAYLOAD_BYTES: usize = 256;
/// Pairs of sets of each class whose outputs are checked, before any is counted.
const WARM_UP: usize = 2;
/// How often the receiver runs again on each pair.
const REPLAYS: usize = 4;
/// Most steps of the sender that the receiver gets at its end.
const MOST_HELD: usize = 6;
/// Counted pairs at most.
const MOST_PAIRS: usize = 2000;
/// Counted pairs below which a row takes longer than it should.
const LEAST_PAIRS: usize = 100;
/// How many times longer.
const PATIENCE: u32 = 3;
/// What the planted receiver writes for a match.
const PLANTED_BYTES: usize = 1024;
/// The row of the controls.
const CONTROL: &str = "vole-fast";

/// What is done to a row, to see whether the test sees it.
#[derive(Clone, Copy, PartialEq)]
enum Planted {
    /// Nothing.
    Nothing,
    /// The receiver writes [`PLANTED_BYTES`] for each of its matches before its goodbye.
    Copies,
    /// No item matches in either class.
    NoMatches,
}

/// A protocol on sets of a size.
struct Row {
    name: String,
    security: Security,
    entry: &'static Entry,
    workload: Box<dyn SampleWorkload>,
    items: [usize; 2],
    payload_bytes: [usize; 2],
    planted: Planted,
}

impl Row {
    /// The row in its strongest mode; none if it does not serve these amounts.
    fn new(task: &dyn AnyTask, entry: &'static Entry, amounts: &Amounts) -> Option<Self> {
        let security = entry.modes.iter().map(|mode| mode.security).max_by_key(|&of| of == Security::Malicious)?;
        let items = match entry.cost {
            CostClass::Lattice if task.name() == vesica::task::DEFAULT => [SERVED_ITEMS, FEW_ITEMS],
            CostClass::Symmetric | CostClass::Polynomials if task.name() == vesica::task::DEFAULT => [ITEMS; 2],
            _ => [FEWER_ITEMS; 2],
        };
        let workload = task.workload(&Extent::new(items[0], items[1], security), amounts).ok()?;
        workload.predicted_bytes(entry).ok()?;
        let payload_bytes = [amounts.payload_bytes, amounts.receiver_payload_bytes];
        let name = format!("`{}`", entry.id);
        Some(Self { name, security, entry, workload, items, payload_bytes, planted: Planted::Nothing })
    }

    /// The made-up sets of a pair.
    fn samples(&self, matching: bool, round: u64) -> [Sample; 2] {
        let [sender_items, receiver_items] = self.items;
        let matches = matching && self.planted != Planted::NoMatches;
        let common = if matches { sender_items.min(receiver_items) } else { 0 };
        let made = MadeUp { sender_items, receiver_items, common, item_bytes: 16 };
        [Role::Sender, Role::Receiver].map(|role| made.sample(role, self.payload_bytes[role as usize], round))
    }

    /// Runs both parties once; what the sender sent.
    fn run(&self, pools: &[ThreadPool; 2], samples: &[Sample; 2], seed: u64, checked: bool) -> Result<Script, String> {
        let ((sender_end, receiver_end), script) = keep_script(memory::pair());
        thread::scope(|scope| {
            let from_os = SecretRng::from_os().expect("random numbers");
            let sender = scope.spawn(move || self.side(sender_end, &samples[0], pools, from_os, checked));
            let received = self.side(receiver_end, &samples[1], pools, SecretRng::insecure_from_seed(seed), checked);
            received.and(sender.join().expect("the sender"))
        })?;
        Ok(script)
    }

    /// Runs the receiver alone. The times of its last work, and whether it had sent all its messages before.
    fn replay(
        &self,
        pools: &[ThreadPool; 2],
        sample: &Sample,
        seed: u64,
        script: &Script,
        held: usize,
    ) -> Result<([f64; CLOCKS], bool), String> {
        let (connection, replay) = script.replay(held, clocks);
        self.side(connection, sample, pools, SecretRng::insecure_from_seed(seed), false)?;
        Ok((replay.last_work().ok_or("no goodbye")?, replay.had_sent_all()))
    }

    /// One party, up to its goodbye.
    fn side(
        &self,
        end: Connection,
        sample: &Sample,
        pools: &[ThreadPool; 2],
        rng: SecretRng,
        checked: bool,
    ) -> Result<(), String> {
        let played = pools[sample.role as usize].install(|| self.play(end, sample, rng, checked));
        played.map_err(|abort| format!("the {} failed: {abort}", sample.role))
    }

    fn play(&self, end: Connection, sample: &Sample, mut rng: SecretRng, checked: bool) -> Result<(), Abort> {
        let mut channel = Channel::open(end, sample.role, ChannelOptions::default())?;
        let party = self.workload.set_up(sample.role, self.entry, &mut channel, &mut rng)?;
        let mut output = Some(party(sample, &mut channel, &mut rng)?);
        if self.planted == Planted::Copies && sample.role == Role::Receiver {
            sample.common.iter().for_each(|&place| drop(black_box(sample.item(place).repeat(PLANTED_BYTES / 16))));
        }
        // A check may have both sides speak once more.
        if let Some(output) = output.take_if(|_| checked) {
            assert!(output(sample, &mut channel)?, "{}: the {} has another result", self.name, sample.role);
        }
        channel.finish()?;
        drop(output);
        Ok(())
    }

    /// How many of the sender's last steps the receiver answers with its goodbye alone; 1 if it answers all of them.
    fn steps_at_the_end(&self, pools: &[ThreadPool; 2]) -> Result<usize, String> {
        let (samples, seed) = (self.samples(false, 1), 1);
        let script = self.run(pools, &samples, seed, false)?;
        let mut steps = 0;
        while steps < MOST_HELD && self.replay(pools, &samples[1], seed, &script, steps + 1)?.1 {
            steps += 1;
        }
        Ok(steps.max(1))
    }

    /// Measures pairs of sets as long as `seconds` says, and longer if there were few.
    fn measure(
        &self,
        pools: &[ThreadPool; 2],
        seconds: Duration,
        coins: &mut SecretRng,
    ) -> Result<[Times; CLOCKS], String> {
        let mut draw = || coins.block();
        for matching in [false, true].repeat(WARM_UP) {
            self.run(pools, &self.samples(matching, draw() as u64 >> 2), 1, true)?;
        }
        let held = self.steps_at_the_end(pools)?;
        let mut times: [Times; CLOCKS] = Default::default();
        let began = Instant::now();
        for pairs in 0..MOST_PAIRS {
            let limit = if pairs < LEAST_PAIRS { seconds * PATIENCE } else { seconds };
            if began.elapsed() > limit {
                break;
            }
            let drawn = draw();
            let (matching, seed) = (drawn >> 127 == 1, drawn as u64 >> 2);
            let samples = self.samples(matching, seed);
            let script = self.run(pools, &samples, seed, false)?;
            let mut least = [f64::INFINITY; CLOCKS];
            for _ in 0..REPLAYS {
                let (last, _) = self.replay(pools, &samples[1], seed, &script, held)?;
                least = std::array::from_fn(|clock| least[clock].min(last[clock]));
            }
            times.iter_mut().zip(least).for_each(|(times, least)| times.add(matching, least));
        }
        Ok(times)
    }
}

/// Clocks that are looked at.
const CLOCKS: usize = 2;

/// Nanoseconds of this process's processor time, and of a clock.
fn clocks() -> [f64; CLOCKS] {
    [ClockId::ProcessCPUTime, ClockId::Monotonic].map(|clock| {
        let time = clock_gettime(clock);
        time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
    })
}

/// Prints a line; the comparison by the processor's time.
fn show(row: &Row, times: &[Times; CLOCKS]) -> Comparison {
    let [compared, by_clock] = [0, 1].map(|clock| times[clock].compare());
    let [all, none] = compared.medians.map(|median| median / 1000.0);
    println!(
        "| {} | {} | {} : {} | {} | {all:.1} | {none:.1} | {:.0} | {:.1} | {:.0} | {:.1} | {:.0} | {:.1} |",
        row.name,
        row.security,
        row.items[0],
        row.items[1],
        compared.runs,
        compared.difference,
        compared.t(),
        compared.least_seen(),
        by_clock.medians[1] / 1000.0,
        by_clock.difference,
        by_clock.t(),
    );
    compared
}

/// Both controls, then every protocol of every task, and those of the product with payloads as well.
fn rows(chosen: &[String]) -> Vec<Row> {
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    let mut rows = Vec::new();
    let intersect = vesica::task::find(<Intersect as vesica_party::Task>::NAME).expect("the task");
    let control = |name: &str, planted| {
        let entry = intersect.find(CONTROL).expect("a name").expect("a row");
        let row = Row::new(intersect, entry, &Amounts::NONE).expect("sizes that it serves");
        Row { name: format!("control: {name}"), planted, ..row }
    };
    rows.push(control(&format!("`{CONTROL}`, none match in either class"), Planted::NoMatches));
    rows.push(control(
        &format!("`{CONTROL}` whose receiver writes {PLANTED_BYTES} bytes for each match"),
        Planted::Copies,
    ));
    for task in TASKS {
        for entry in task.entries_with_variants() {
            if is_chosen(entry.id) && (!chosen.is_empty() || !entry.is_variant()) {
                let row = Row::new(*task, entry, &task.least_amounts_of(entry));
                rows.push(row.unwrap_or_else(|| panic!("{} does not serve {ITEMS} items", entry.id)));
            }
        }
    }
    let with_payload = Amounts { payload_bytes: PAYLOAD_BYTES, ..Amounts::NONE };
    for entry in registry::intersect().iter().map(|row| row.entry()) {
        if !is_chosen(&format!("{}+payload", entry.id)) {
            continue;
        }
        let row = Row::new(intersect, entry, &with_payload);
        rows.extend(row.map(|row| Row { name: format!("{}, payloads of {PAYLOAD_BYTES} bytes", row.name), ..row }));
    }
    rows
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(6, |seconds| seconds.parse().expect("whole seconds"));
    let chosen: Vec<String> = arguments.collect();
    vesica_lab::install();
    let pools = [(); 2].map(|()| threads::pool(1).expect("threads"));
    let mut coins = SecretRng::from_os().expect("random numbers");
    println!(
        "| protocol | mode | items, sender : receiver | pairs | all match, µs | none matches, µs | difference, ns | \\|t\\| | \
         seen from, ns | by the clock, µs | difference, ns | \\|t\\| |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    let mut holds = true;
    for row in rows(&chosen) {
        let compared = match row.measure(&pools, Duration::from_secs(seconds), &mut coins) {
            Ok(times) => show(&row, &times),
            Err(fault) => {
                eprintln!("error: {} was not measured: {fault}", row.name);
                holds = false;
                continue;
            }
        };
        holds &= match row.planted {
            Planted::Nothing => true,
            Planted::Copies => compared.t() > DIFFERS_BEYOND_DOUBT && compared.difference > 0.0,
            Planted::NoMatches => compared.t() < DIFFERS_BEYOND_DOUBT,
        };
    }
    if holds {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: the controls do not come out as they are named: the machine is too busy for this");
    ExitCode::FAILURE
}
