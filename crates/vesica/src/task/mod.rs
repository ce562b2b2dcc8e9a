//! The tasks: one module a task, which holds all that the engine knows of it.
//!
//! [`TASKS`] is the list that the command line, the handshake, plans, benchmarks, receipts and tests walk over. A new task has two modules: its ideal
//! functionality, request and options in `vesica_protocols::tasks`, and its [`job::Job`] here. `aggregate` is what cardinality, sum and join-and-compute share.

mod aggregate;
mod agreed;
mod amounts;
mod cardinality;
mod intersect;
mod job;
mod join_and_compute;
mod result;
mod sample;
mod settings;
mod shares;
mod sum;

use std::fmt;
use std::marker::PhantomData;

use vesica_party::{Entry, Role, Task, variants};
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;

pub use agreed::{AnyAgreed, AnyJob, SampleWorkload};
pub use amounts::Amounts;
pub use result::{Disclosure, Finished, ResultSet, Unopened};
pub use sample::{Sample, SampleOutput, SampleRun};
pub use settings::{Columns, Flags, ResultKind, Settings, Side};

use agreed::{Configured, TypedWorkload, rows, rows_with_variants};
use job::Job;

use crate::failure::Failure;

/// The tasks, in the order in which documents list them.
pub static TASKS: &[&dyn AnyTask] = &[
    &Face::<intersect::IntersectJob>::new(),
    &Face::<aggregate::AggregateJob<cardinality::CardinalityKind>>::new(),
    &Face::<aggregate::AggregateJob<sum::SumKind>>::new(),
    &Face::<aggregate::AggregateJob<join_and_compute::JoinAndComputeKind>>::new(),
    &Face::<shares::SharesJob>::new(),
];

/// A task without its types: a row of [`TASKS`].
pub trait AnyTask: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;
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
    /// The protocol of this name: an id or alias, and choices behind a colon for a variant. `None` if
    /// there is no such protocol.
    ///
    /// # Errors
    /// If the protocol has no such variant.
    pub fn find(&self, name: &str) -> Result<Option<&'static Entry>, Unsupported> {
        variants::find(&self.entries_with_variants(), name)
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

/// All tasks: [`TASKS`], and in tests of the engine the INSECURE ones.
pub fn all() -> impl Iterator<Item = &'static dyn AnyTask> {
    TASKS.iter().copied()
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

/// A job without its types.
struct Face<J>(PhantomData<fn() -> J>);

impl<J> Face<J> {
    const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<J: Job> AnyTask for Face<J> {
    fn name(&self) -> &'static str {
        J::Functionality::NAME
    }

    fn entries(&self) -> Vec<&'static Entry> {
        rows::<J>().map(|row| row.entry()).collect()
    }

    fn entries_with_variants(&self) -> Vec<&'static Entry> {
        rows_with_variants::<J>().map(|row| row.entry()).collect()
    }

    #[cfg(test)]
    fn shipped_entries(&self) -> Vec<&'static Entry> {
        J::registry().iter().map(|row| row.entry()).collect()
    }

    fn settings(&self, role: Role, flags: &Flags) -> Result<Settings, Failure> {
        J::settings(role, flags)
    }

    fn result_kind(&self, role: Role, settings: &Settings) -> Option<ResultKind> {
        J::result_kind(role, settings)
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

    #[test]
    fn every_task_has_its_name_and_its_registry() {
        for task in all() {
            assert_eq!(find(task.name()).map(|found| found.name()), Ok(task.name()));
            for entry in task.entries_with_variants() {
                assert_eq!(entry.task, task.name());
                assert!(task.find(entry.id).is_ok_and(|found| found.is_some_and(|found| found.id == entry.id)), "{}", entry.id);
            }
        }
        assert!(find("no-such-task").unwrap_err().mend.contains("join-and-compute"));
    }
}
