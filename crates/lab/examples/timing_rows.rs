//! Whether a partner can time what matched: for each protocol, the time from the sender's last message to the receiver's
//! goodbye where all items match is compared with that where none does, by Welch's t-test (Reparaz, Balasch, Verbauwhede,
//! "Dude, is my code constant time?", 2017).
//!
//! `cargo run --release --locked -p vesica-lab --example timing_rows -- [SECONDS [ROW...]]`, on a quiet machine: SECONDS for each row,
//! and the names of rows, all by default. Both parties run in this process, on one computing thread each, over memory. A coin
//! decides for each run whether all items match or none. Sets and random numbers are new in each. While the receiver does its
//! last work, the sender waits for it. The program fails if its two controls do not come out as they are named.
//!
//! All other gaps between messages of the two sides are compared too, and the one that differs most is shown. What a side can
//! be timed by beside its matches (docs/tasks.md, *Time*) does not show here, since all sets are random.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use vesica::task::{Amounts, AnyTask, MadeUp, Sample, SampleWorkload, TASKS};
use vesica::threads;
use vesica_papers::registry as papers;
use vesica_party::transport::{Connection, memory};
use vesica_party::{Abort, Channel, ChannelOptions, CostClass, Entry, Role, Security, Step};
use vesica_protocols::registry;
use vesica_protocols::tasks::{Extent, Intersect};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{Answer, Comparison, DIFFERS_BEYOND_DOUBT, Gaps, Times, watch};

/// Items of either side.
const ITEMS: usize = 512;
/// Items of a receiver whose items take a row tens of milliseconds each.
const FEW_ITEMS: usize = 4;
/// Bytes of a payload, where payloads are measured.
const PAYLOAD_BYTES: usize = 256;
/// Runs of each class whose outputs are checked, before any is counted.
const WARM_UP: usize = 3;
/// Counted runs at most.
const MOST_RUNS: usize = 4000;
/// Counted runs below which a row takes longer than it should.
const LEAST_RUNS: usize = 120;
/// How many times longer.
const PATIENCE: u32 = 6;
/// What part of the runs must have had a gap for it to be compared: how streams are cut depends on time.
const COMMON: f64 = 0.9;
/// The row of the controls.
const CONTROL: &str = "vole-fast";

/// What is done to a row, to see whether the test sees it.
#[derive(Clone, Copy, PartialEq)]
enum Planted {
    /// Nothing.
    Nothing,
    /// The receiver copies each of its matches before its goodbye.
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
        let is_slow = task.name() == vesica::task::DEFAULT && entry.cost == CostClass::Lattice;
        let items = [ITEMS, if is_slow { FEW_ITEMS } else { ITEMS }];
        let workload = task.workload(&Extent::new(items[0], items[1], security), amounts).ok()?;
        workload.predicted_bytes(entry).ok()?;
        let payload_bytes = [amounts.payload_bytes, amounts.receiver_payload_bytes];
        let name = format!("`{}`", entry.id);
        Some(Self { name, security, entry, workload, items, payload_bytes, planted: Planted::Nothing })
    }

    /// Runs both parties once; what either of them could time.
    fn run(&self, pools: &[ThreadPool; 2], matching: bool, checked: bool, round: u64) -> Gaps {
        let [sender_items, receiver_items] = self.items;
        let matches = matching && self.planted != Planted::NoMatches;
        let common = if matches { sender_items.min(receiver_items) } else { 0 };
        let made = MadeUp { sender_items, receiver_items, common, item_bytes: 16 };
        let sample = |role: Role| made.sample(role, self.payload_bytes[role as usize], round);
        let samples = [Role::Sender, Role::Receiver].map(sample);
        let ((sender_end, receiver_end), watch) = watch(memory::pair());
        let side = |end, sample| {
            let played = self.side(end, sample, pools, checked);
            played.unwrap_or_else(|abort| panic!("{}: {abort}", self.name));
        };
        thread::scope(|scope| {
            let sender = scope.spawn(|| side(sender_end, &samples[0]));
            side(receiver_end, &samples[1]);
            sender.join().expect("the sender");
        });
        watch.gaps()
    }

    /// One party, up to its goodbye.
    fn side(&self, end: Connection, sample: &Sample, pools: &[ThreadPool; 2], checked: bool) -> Result<(), Abort> {
        let mut channel = Channel::open(end, sample.role, ChannelOptions::default())?;
        let mut rng = SecretRng::from_os().expect("random numbers");
        let role = sample.role;
        pools[role as usize].install(move || {
            let party = self.workload.set_up(role, self.entry, &mut channel, &mut rng)?;
            let output = party(sample, &mut channel, &mut rng)?;
            if self.planted == Planted::Copies && role == Role::Receiver {
                sample.common.iter().for_each(|&place| drop(black_box(sample.item(place).to_vec())));
            }
            // A check may have both sides speak once more.
            let unchecked = if checked {
                assert!(output(sample, &mut channel)?, "{}: the {role} has another result", self.name);
                None
            } else {
                Some(output)
            };
            channel.finish()?;
            drop(unchecked);
            Ok(())
        })
    }

    /// Runs the row as long as `seconds` says, and longer if there were few runs.
    fn measure(&self, pools: &[ThreadPool; 2], seconds: Duration, coins: &mut SecretRng) -> BTreeMap<Gap, Times> {
        let mut round = || coins.block();
        for _ in 0..WARM_UP {
            for matching in [false, true] {
                self.run(pools, matching, true, round() as u64 >> 2);
            }
        }
        let mut times: BTreeMap<Gap, Times> = BTreeMap::new();
        let began = Instant::now();
        for runs in 0..MOST_RUNS {
            let limit = if runs < LEAST_RUNS { seconds * PATIENCE } else { seconds };
            if began.elapsed() > limit {
                break;
            }
            let draw = round();
            let matching = draw >> 127 == 1;
            for (gap, time) in self.run(pools, matching, false, draw as u64 >> 2) {
                times.entry(gap).or_default().add(matching, time);
            }
        }
        times
    }
}

/// Who answered with what.
type Gap = (Role, Answer);

const GOODBYE: Gap = (Role::Receiver, Answer::Goodbye);

/// Names of the protocols that messages belong to, by their tags.
fn names() -> BTreeMap<u16, &'static str> {
    let of_messages = registry::messages().chain(papers::messages());
    let named = of_messages.map(|message| message.step.protocol).chain(papers::entries().map(|entry| entry.id));
    let tag = |protocol| Step { protocol, number: 0, from: Role::Sender, carries: "" }.tag();
    named.map(|protocol| (tag(protocol), protocol)).collect()
}

/// The gap but for the receiver's goodbye whose times differ most.
fn most_of_others(times: &BTreeMap<Gap, Times>, names: &BTreeMap<u16, &str>) -> String {
    let runs = times.get(&GOODBYE).map_or(0, Times::len) as f64;
    let others = times.iter().filter(|(gap, times)| **gap != GOODBYE && times.len() as f64 >= COMMON * runs);
    let compared = others.map(|(gap, times)| (gap, times.compare()));
    let Some(((from, answer), most)) = compared.max_by(|a, b| a.1.t().total_cmp(&b.1.t())) else {
        return "none".into();
    };
    let what = match answer {
        Answer::Goodbye => "goodbye".into(),
        Answer::Message { tag, step, earlier } => {
            let protocol = names.get(tag).map_or_else(|| format!("{tag:#06x}"), |name| format!("`{name}`"));
            let again = if *earlier > 0 { format!(" again ({earlier})") } else { String::new() };
            format!("{protocol}, arrow {step}{again}")
        }
    };
    format!("{:.1} ({:.0} ns; {from}: {what})", most.t(), most.difference)
}

/// Prints a line; the comparison of the receiver's goodbye.
fn show(row: &Row, times: &BTreeMap<Gap, Times>, names: &BTreeMap<u16, &str>) -> Comparison {
    let compared = times.get(&GOODBYE).cloned().unwrap_or_default().compare();
    let [all, none] = compared.medians.map(|median| median / 1000.0);
    println!(
        "| {} | {} | {} : {} | {} | {all:.1} | {none:.1} | {:.0} | {:.1} | {:.0} | {} |",
        row.name,
        row.security,
        row.items[0],
        row.items[1],
        compared.runs,
        compared.difference,
        compared.t(),
        compared.least_seen(),
        most_of_others(times, names),
    );
    compared
}

/// Both controls, then every protocol of every task, and those of the product with payloads as well.
fn rows(chosen: &[String]) -> Vec<Row> {
    let is_chosen = |entry: &Entry| chosen.is_empty() || chosen.iter().any(|name| name == entry.id);
    let mut rows = Vec::new();
    let intersect = vesica::task::find(<Intersect as vesica_party::Task>::NAME).expect("the task");
    let control = |name: &str, planted| {
        let entry = intersect.find(CONTROL).expect("a name").expect("a row");
        let row = Row::new(intersect, entry, &Amounts::NONE).expect("sizes that it serves");
        Row { name: format!("control: {name}"), planted, ..row }
    };
    rows.push(control(&format!("`{CONTROL}`, none match in either class"), Planted::NoMatches));
    rows.push(control(&format!("`{CONTROL}` whose receiver copies each match"), Planted::Copies));
    for task in TASKS {
        for entry in task.entries_with_variants() {
            if is_chosen(entry) && (!chosen.is_empty() || !entry.is_variant()) {
                let row = Row::new(*task, entry, &task.least_amounts_of(entry));
                rows.push(row.unwrap_or_else(|| panic!("{} does not serve {ITEMS} items", entry.id)));
            }
        }
    }
    let with_payload = Amounts { payload_bytes: PAYLOAD_BYTES, ..Amounts::NONE };
    for entry in registry::intersect().iter().map(|row| row.entry()).filter(|entry| is_chosen(entry)) {
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
    let names = names();
    println!(
        "| protocol | mode | items, sender : receiver | runs | all match, µs | none matches, µs | difference, ns | \\|t\\| | \
         seen from, ns | most \\|t\\| of another gap |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|"
    );
    let mut holds = true;
    for row in rows(&chosen) {
        let times = row.measure(&pools, Duration::from_secs(seconds), &mut coins);
        let compared = show(&row, &times, &names);
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
