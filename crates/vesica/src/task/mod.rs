//! The tasks: one module a task, which holds all that the engine knows of it.
//!
//! [`TASKS`] is the list that the command line, the handshake, plans, benchmarks, receipts and
//! tests walk over. ARCHITECTURE.md says how to add a task.
//!
//! `aggregate` is what all tasks share whose result is numbers. `insecure_new_rows` is a toy
//! task of the tests.

mod aggregate;
mod agreed;
mod amounts;
mod cardinality;
#[cfg(test)]
mod insecure_new_rows;
mod intersect;
mod job;
mod join_and_compute;
mod result;
mod sample;
mod settings;
mod shares;
mod sum;
mod totals;
mod union;
mod union_cardinality;
mod union_sum;
mod words;

use std::fmt;
use std::marker::PhantomData;

use vesica_party::{Entry, Role, Security, Task, variants};
use vesica_protocols::tasks::{Extent, Intersect};
use vesica_structures::facts::Unsupported;

pub use agreed::{AnyAgreed, AnyJob, SampleWorkload};
pub use amounts::Amounts;
pub use result::{Disclosure, Finished, MatchesInWorkFolder, ResultSet, Unopened, dummy_matched, refuse_unread};
pub use sample::{MadeUp, Sample, SampleOutput, SampleRun};
pub use settings::{Columns, Flags, Settings, Side};
pub use words::{Example, Words};

pub use crate::table::ResultKind;

use agreed::{Configured, no_buckets, rows};
use job::{Job, TypedWorkload};

use crate::failure::Failure;

/// The tasks, in the order in which documents list them.
pub static TASKS: &[&dyn AnyTask] = &[
    &TaskOf::<intersect::IntersectJob>::new(),
    &TaskOf::<union::UnionJob>::new(),
    &TaskOf::<aggregate::AggregateJob<cardinality::CardinalityKind>>::new(),
    &TaskOf::<aggregate::AggregateJob<sum::SumKind>>::new(),
    &TaskOf::<aggregate::AggregateJob<join_and_compute::JoinAndComputeKind>>::new(),
    &TaskOf::<aggregate::AggregateJob<union_cardinality::UnionCardinalityKind>>::new(),
    &TaskOf::<aggregate::AggregateJob<union_sum::UnionSumKind>>::new(),
    &TaskOf::<shares::SharesJob>::new(),
];

/// The name of the task where nobody names one.
pub const DEFAULT: &str = Intersect::NAME;

/// The descriptions of all protocols, task by task, and of building blocks: the product's, then what was added.
pub fn entries() -> Vec<&'static Entry> {
    let mut all: Vec<&'static Entry> = TASKS.iter().flat_map(|task| task.entries()).collect();
    all.extend(crate::rows::blocks());
    all
}

/// A task without its types: a row of [`TASKS`].
pub trait AnyTask: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;
    /// What people read of it.
    fn words(&self) -> &'static Words;
    /// The protocols, in the registry's order.
    fn entries(&self) -> Vec<&'static Entry>;
    /// The protocols, each followed by its variants.
    fn entries_with_variants(&self) -> Vec<&'static Entry>;
    /// The protocols without the tests' INSECURE stand-ins.
    #[cfg(test)]
    fn shipped_entries(&self) -> Vec<&'static Entry>;
    /// What the flags of a side say to this task.
    ///
    /// # Errors
    /// If they do not say what they should.
    fn settings(&self, role: Role, flags: &Flags) -> Result<Settings, Failure>;
    /// The kind of result of a side; `None` for one that learns nothing.
    fn result_kind(&self, role: Role, settings: &Settings) -> Option<ResultKind>;
    /// Whether the task takes a key with alternatives (`--or-key`).
    fn takes_or_keys(&self) -> bool;
    /// The most buckets; 1 for a task that does not run in buckets.
    fn most_buckets(&self) -> u32;
    /// Refuses more buckets (`--buckets`) than the task runs in.
    ///
    /// # Errors
    /// If it does not.
    fn check_buckets(&self, buckets: u32) -> Result<(), Unsupported>;
    /// One side of the task, if its settings are what the task takes.
    ///
    /// # Errors
    /// If they are not.
    fn configure(&self, side: &Side<'_>) -> Result<Box<dyn AnyJob>, Failure>;
    /// The least that must go with the items.
    fn least_amounts(&self) -> Amounts;
    /// Examples of what else may go with the items. A protocol may serve only some.
    fn richer_amounts(&self) -> Vec<Amounts>;
    /// The task on sets of this extent with these amounts.
    ///
    /// # Errors
    /// If the task does not take these amounts.
    fn workload(&self, extent: &Extent, amounts: &Amounts) -> Result<Box<dyn SampleWorkload>, Unsupported>;
}

impl dyn AnyTask {
    /// The protocol of this name: an id or alias, and choices behind a colon for a variant. `None`
    /// if there is no such protocol.
    ///
    /// # Errors
    /// If the protocol has no such variant.
    pub fn find(&self, name: &str) -> Result<Option<&'static Entry>, Unsupported> {
        variants::find(self.entries(), name)
    }

    /// The least that must go with the items for a protocol of this task: one that gives results to
    /// both sides serves nothing less.
    pub fn least_amounts_of(&self, entry: &Entry) -> Amounts {
        let least = self.least_amounts();
        let both = Amounts { both_learn: true, ..least };
        let serves = |amounts: &Amounts| {
            entry.modes.first().is_some_and(|mode| {
                let workload = self.workload(&Extent::new(1, 1, mode.security), amounts);
                workload.is_ok_and(|workload| workload.predicted_bytes(entry).is_ok())
            })
        };
        if !serves(&least) && serves(&both) { both } else { least }
    }
}

impl fmt::Debug for dyn AnyTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for dyn AnyTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// INSECURE tasks, in tests of the engine.
#[cfg(test)]
static TOY_TASKS: &[&dyn AnyTask] = &[&TaskOf::<insecure_new_rows::NewRowsJob>::new()];
#[cfg(not(test))]
static TOY_TASKS: &[&dyn AnyTask] = &[];

/// All tasks: [`TASKS`], and in tests of the engine the INSECURE ones.
pub fn all() -> impl Iterator<Item = &'static dyn AnyTask> {
    TASKS.iter().chain(TOY_TASKS).copied()
}

/// The task of this name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static dyn AnyTask, Unsupported> {
    all().find(|task| task.name() == name).ok_or_else(|| {
        Unsupported::new(
            format_args!("the task {name:?} is not available in this release"),
            format_args!("choose one of {}", names().join(", ")),
        )
    })
}

/// The names of all tasks.
pub fn names() -> Vec<&'static str> {
    all().map(|task| task.name()).collect()
}

/// Whether a task withholds results of few keys if it is asked to.
pub fn takes_threshold(task: &dyn AnyTask) -> bool {
    let amounts = Amounts { at_least: 2, ..task.least_amounts() };
    task.workload(&Extent::new(1, 1, Security::SemiHonest), &amounts).is_ok()
}

/// The task that a job runs, without the job's types.
struct TaskOf<J>(PhantomData<fn() -> J>);

impl<J> TaskOf<J> {
    const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<J: Job> AnyTask for TaskOf<J> {
    fn name(&self) -> &'static str {
        J::Functionality::NAME
    }

    fn words(&self) -> &'static Words {
        &J::WORDS
    }

    fn entries(&self) -> Vec<&'static Entry> {
        rows::<J>().map(|row| row.entry()).collect()
    }

    fn entries_with_variants(&self) -> Vec<&'static Entry> {
        rows::<J>().flat_map(|row| std::iter::once(row.entry()).chain(row.entry().alternatives())).collect()
    }

    #[cfg(test)]
    fn shipped_entries(&self) -> Vec<&'static Entry> {
        J::rows_of(&vesica_protocols::registry::rows()).iter().map(|row| row.entry()).collect()
    }

    fn settings(&self, role: Role, flags: &Flags) -> Result<Settings, Failure> {
        J::settings(role, flags)
    }

    fn result_kind(&self, role: Role, settings: &Settings) -> Option<ResultKind> {
        J::result_kind(role, settings)
    }

    fn takes_or_keys(&self) -> bool {
        J::TAKES_OR_KEYS
    }

    fn most_buckets(&self) -> u32 {
        J::IN_BUCKETS.map_or(1, |of| of.most)
    }

    fn check_buckets(&self, buckets: u32) -> Result<(), Unsupported> {
        match self.most_buckets() {
            1 if buckets != 1 => Err(no_buckets(J::Functionality::NAME)),
            most if buckets > most => {
                let what = format_args!("{buckets} buckets of the task {}", J::Functionality::NAME);
                Err(Unsupported::new(what, format_args!("say at most {most}")))
            }
            _ => Ok(()),
        }
    }

    fn configure(&self, side: &Side<'_>) -> Result<Box<dyn AnyJob>, Failure> {
        Ok(Box::new(Configured::<J>::new(side)?))
    }

    fn least_amounts(&self) -> Amounts {
        J::least_amounts()
    }

    fn richer_amounts(&self) -> Vec<Amounts> {
        J::richer_amounts()
    }

    fn workload(&self, extent: &Extent, amounts: &Amounts) -> Result<Box<dyn SampleWorkload>, Unsupported> {
        Ok(Box::new(TypedWorkload::<J> { extent: *extent, options: J::options_of(amounts)?, job: PhantomData }))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The least that the task of this name is run with on sets of this extent.
    pub fn workload(name: &str, extent: Extent) -> Box<dyn SampleWorkload> {
        let task = find(name).expect("a task");
        task.workload(&extent, &task.least_amounts()).expect("the least")
    }

    /// Two parties' made-up items, of which the first `common` are the same in another order.
    fn samples(amounts: &Amounts, common: usize) -> [Sample; 2] {
        let of = |role, payload_bytes, items: Vec<u32>| {
            let bytes: Vec<u8> = items
                .iter()
                .flat_map(|item| u128::from(*item).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
                .collect();
            let payloads = bytes.chunks_exact(16).flat_map(|item| Sample::payload(role, item, payload_bytes)).collect();
            let places = (0u32..).zip(&items).filter(|(_, item)| **item <= common as u32).map(|(place, _)| place);
            Sample { role, item_bytes: 16, payloads, common: places.collect(), bytes }
        };
        let theirs = (1..=common as u32).chain(1000..1010).collect();
        let ours = (1..=common as u32).rev().chain(2000..2015).collect();
        [of(Role::Sender, amounts.payload_bytes, theirs), of(Role::Receiver, amounts.receiver_payload_bytes, ours)]
    }

    /// Every task computes its plain function on made-up inputs, in all amounts that it names. The
    /// registries' protocols are run so by `vesica-lab`.
    #[test]
    fn every_task_checks_what_its_stand_ins_compute() {
        let mut names = Vec::new();
        for task in all() {
            for entry in task.entries().into_iter().filter(|entry| entry.id == "insecure-plain") {
                for amounts in task
                    .richer_amounts()
                    .into_iter()
                    .chain([task.least_amounts()])
                    .filter(|amounts| !amounts.both_learn)
                {
                    let [sent, asked] = samples(&amounts, 20);
                    let extent = Extent::new(30, 35, vesica_party::Security::SemiHonest);
                    let workload = task.workload(&extent, &amounts).expect("what the task takes");
                    let play = |sample: &Sample,
                                ch: &mut vesica_party::Channel,
                                rng: &mut vesica_structures::rng::SecretRng| {
                        let output = workload.set_up(sample.role, entry, ch, rng)?(sample, ch, rng)?;
                        output(sample, ch)
                    };
                    let (sent, received) =
                        vesica_testkit::try_two_party(|ch, rng| play(&sent, ch, rng), |ch, rng| play(&asked, ch, rng));
                    assert!(sent.result.expect("a run") && received.result.expect("a run"), "{task} with {amounts:?}");
                }
                names.push(task.name());
            }
        }
        assert_eq!(names, ["cardinality", "sum", "join-and-compute", "shares", "insecure-new-rows"]);
    }

    /// A peer's words as honest sides say them.
    const WORDS: [&str; 5] = [
        "{\"payload\":null,\"both_learn\":false}\n{\"payload\":null}",
        "{\"payload\":[\"a\"],\"both_learn\":false}\n{\"payload\":{\"fields\":[{\"name\":\"a\",\"kind\":\"text\"}],\"\
         width\":9}}",
        "{\"values\":[],\"expected_ranges\":[],\"at_least\":0,\"noise\":null}\n{\"groups\":1}",
        "{\"values\":[{\"name\":\"b\",\"scale\":2,\"clamp\":{\"least\":-5,\"most\":5}}],\"expected_ranges\":[],\"\
         at_least\":0,\"noise\":\"0.5\"}\n{\"groups\":1}",
        "{\"values\":[],\"expected_ranges\":[{\"name\":\"amount\",\"least\":\"-5\",\"most\":\"5\"}]}\n{}",
    ];

    #[test]
    fn honest_words_settle_and_damaged_ones_do_no_harm() {
        use crate::fuzzing::task_words;
        for words in WORDS {
            assert!(task_words(words.as_bytes()) > 0, "{words}");
            for place in 0..words.len() {
                for byte in [b'0', b'9', b'"', b'}', 0, 0xff] {
                    let mut damaged = words.as_bytes().to_vec();
                    damaged[place] = byte;
                    task_words(&damaged);
                }
                task_words(&words.as_bytes()[..place]);
            }
        }
    }

    /// What a task does not take is refused, and not passed over.
    #[test]
    fn amounts_that_a_task_does_not_take_are_refused() {
        let extent = Extent::new(30, 35, vesica_party::Security::SemiHonest);
        for task in all() {
            let plain = task.least_amounts();
            let fits = |amounts: Amounts| task.workload(&extent, &amounts).is_ok();
            assert!(fits(plain) && task.richer_amounts().into_iter().all(fits), "{task}");
            let has_groups = ["cardinality", "sum", "join-and-compute"].contains(&task.name());
            let is_aggregate = has_groups || ["union-cardinality", "union-sum"].contains(&task.name());
            assert_eq!(fits(Amounts { groups: 2, ..plain }), has_groups, "{task}");
            assert_eq!(fits(Amounts { at_least: 2, ..plain }), has_groups, "{task}");
            let gives_both = ["intersect", "union"].contains(&task.name());
            assert_eq!(fits(Amounts { both_learn: true, ..plain }), gives_both, "{task}");
            assert_eq!(fits(Amounts { payload_bytes: 7, ..plain }), !is_aggregate, "{task}");
            assert_eq!(fits(Amounts { receiver_payload_bytes: 7, ..plain }), task.name() == "shares", "{task}");
            assert_eq!(
                fits(Amounts { columns: 2, ..plain }),
                ["sum", "join-and-compute", "union-sum"].contains(&task.name()),
                "{task}"
            );
        }
    }

    #[test]
    fn every_task_has_its_name_and_its_registry() {
        for task in all() {
            assert_eq!(find(task.name()).map(|found| found.name()), Ok(task.name()));
            for entry in task.entries_with_variants() {
                assert_eq!(entry.task, task.name());
                assert!(
                    task.find(entry.id).is_ok_and(|found| found.is_some_and(|found| found.id == entry.id)),
                    "{}",
                    entry.id
                );
            }
        }
        assert!(find("no-such-task").unwrap_err().mend.contains("join-and-compute"));
    }
}
