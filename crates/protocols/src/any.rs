//! The set tasks by name and the protocols of all of them under one type: what a session or a benchmark chooses among.

use std::fmt;
use std::ops::RangeInclusive;

use vesica_party::variants::{resolve, with_variants};
use vesica_party::{Abort, AnyReceiver, AnySender, Channel, Entry, Registered, Security, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::registry;
use crate::tasks::{AggregateRequest, Cardinality, Intersect, IntersectRequest, JoinAndCompute, Shares, SharesRequest, Sum};

/// A task on two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetTask {
    /// [`Intersect`].
    Intersect,
    /// [`Cardinality`].
    Cardinality,
    /// [`Sum`].
    Sum,
    /// [`JoinAndCompute`].
    JoinAndCompute,
    /// [`Shares`].
    Shares,
}

impl SetTask {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Intersect, Self::Cardinality, Self::Sum, Self::JoinAndCompute, Self::Shares];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intersect => Intersect::NAME,
            Self::Cardinality => Cardinality::NAME,
            Self::Sum => Sum::NAME,
            Self::JoinAndCompute => JoinAndCompute::NAME,
            Self::Shares => Shares::NAME,
        }
    }

    /// The task of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn parse(name: &str) -> Result<Self, Unsupported> {
        Self::ALL.into_iter().find(|task| task.name() == name).ok_or_else(|| {
            let all = Self::ALL.map(Self::name).join(", ");
            Unsupported::new(format_args!("the task {name:?} is not available in this release"), format_args!("choose one of {all}"))
        })
    }

    /// Whether the receiver learns numbers about the intersection, and nothing of single items.
    pub fn is_aggregate(self) -> bool {
        matches!(self, Self::Cardinality | Self::Sum | Self::JoinAndCompute)
    }
}

impl fmt::Display for SetTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a run is about, in numbers that both sides know. Which of them count depends on the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The task.
    pub task: SetTask,
    /// Distinct items of the sender.
    pub sender_items: usize,
    /// Distinct items of the receiver.
    pub receiver_items: usize,
    /// The least resistance asked for.
    pub security: Security,
    /// Bytes that go with each of the sender's items (intersect, shares).
    pub payload_bytes: usize,
    /// Bytes that go with each of the receiver's items (shares).
    pub receiver_payload_bytes: usize,
    /// Whether the sender learns its matches too (intersect).
    pub both_learn: bool,
    /// Values of each of the sender's items (sum, join and compute).
    pub columns: usize,
    /// Groups of the receiver's items (aggregates).
    pub groups: usize,
    /// The least number of common items of a group that is shown (aggregates).
    pub at_least: u64,
    /// Whether the sender adds noise to the results (aggregates).
    pub noisy: bool,
}

impl Terms {
    /// The task on sets of these sizes, without payloads, in one group.
    pub const fn new(task: SetTask, sender_items: usize, receiver_items: usize, security: Security) -> Self {
        Self {
            task,
            sender_items,
            receiver_items,
            security,
            payload_bytes: 0,
            receiver_payload_bytes: 0,
            both_learn: false,
            columns: 0,
            groups: 1,
            at_least: 0,
            noisy: false,
        }
    }

    /// As the request of an intersection.
    pub const fn intersect(&self) -> IntersectRequest {
        let Self { sender_items, receiver_items, security, payload_bytes, both_learn, .. } = *self;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes, both_learn }
    }

    /// As the request of an aggregate.
    pub const fn aggregate(&self) -> AggregateRequest {
        let Self { sender_items, receiver_items, security, columns, groups, at_least, noisy, .. } = *self;
        AggregateRequest { sender_items, receiver_items, security, columns, groups, at_least, noisy }
    }

    /// As the request of a circuit PSI.
    pub const fn shares(&self) -> SharesRequest {
        let Self { sender_items, receiver_items, security, payload_bytes, receiver_payload_bytes, .. } = *self;
        SharesRequest { sender_items, receiver_items, security, sender_payload_bytes: payload_bytes, receiver_payload_bytes }
    }
}

/// A protocol for one of the set tasks.
#[derive(Clone, Copy)]
pub enum AnyProtocol {
    /// Of the registry of [`Intersect`].
    Intersect(&'static dyn Registered<Intersect>),
    /// Of the registry of [`Cardinality`].
    Cardinality(&'static dyn Registered<Cardinality>),
    /// Of the registry of [`Sum`].
    Sum(&'static dyn Registered<Sum>),
    /// Of the registry of [`JoinAndCompute`].
    JoinAndCompute(&'static dyn Registered<JoinAndCompute>),
    /// Of the registry of [`Shares`].
    Shares(&'static dyn Registered<Shares>),
}

/// A sender, set up. The aggregates share their inputs and outputs, so that one boxed type holds all three.
pub enum SenderParty {
    /// For an intersection.
    Intersect(AnySender<Intersect>),
    /// For an aggregate.
    Aggregate(AnySender<Sum>),
    /// For a circuit PSI.
    Shares(AnySender<Shares>),
}

/// A receiver, set up.
pub enum ReceiverParty {
    /// For an intersection.
    Intersect(AnyReceiver<Intersect>),
    /// For an aggregate.
    Aggregate(AnyReceiver<Sum>),
    /// For a circuit PSI.
    Shares(AnyReceiver<Shares>),
}

impl AnyProtocol {
    /// The registry of `task`, in its order.
    pub fn of(task: SetTask) -> Vec<Self> {
        match task {
            SetTask::Intersect => registry::intersect().iter().copied().map(Self::Intersect).collect(),
            SetTask::Cardinality => registry::cardinality().iter().copied().map(Self::Cardinality).collect(),
            SetTask::Sum => registry::sum().iter().copied().map(Self::Sum).collect(),
            SetTask::JoinAndCompute => registry::join_and_compute().iter().copied().map(Self::JoinAndCompute).collect(),
            SetTask::Shares => registry::shares().iter().copied().map(Self::Shares).collect(),
        }
    }

    /// The registry of `task`, each row followed by its variants.
    pub fn with_variants(task: SetTask) -> Vec<Self> {
        match task {
            SetTask::Intersect => with_variants(registry::intersect().iter().copied()).map(Self::Intersect).collect(),
            SetTask::Cardinality => with_variants(registry::cardinality().iter().copied()).map(Self::Cardinality).collect(),
            SetTask::Sum => with_variants(registry::sum().iter().copied()).map(Self::Sum).collect(),
            SetTask::JoinAndCompute => with_variants(registry::join_and_compute().iter().copied()).map(Self::JoinAndCompute).collect(),
            SetTask::Shares => with_variants(registry::shares().iter().copied()).map(Self::Shares).collect(),
        }
    }

    /// The protocol of `task` that `name` names: a row by its id or an alias, or a variant of a row
    /// by its choices.
    ///
    /// # Errors
    /// If the row has no such variant.
    pub fn resolve(task: SetTask, name: &str) -> Result<Option<Self>, Unsupported> {
        Ok(match task {
            SetTask::Intersect => resolve(registry::intersect().iter().copied(), name)?.map(Self::Intersect),
            SetTask::Cardinality => resolve(registry::cardinality().iter().copied(), name)?.map(Self::Cardinality),
            SetTask::Sum => resolve(registry::sum().iter().copied(), name)?.map(Self::Sum),
            SetTask::JoinAndCompute => resolve(registry::join_and_compute().iter().copied(), name)?.map(Self::JoinAndCompute),
            SetTask::Shares => resolve(registry::shares().iter().copied(), name)?.map(Self::Shares),
        })
    }

    /// The protocol of `task` of this name, if there is one.
    pub fn find(task: SetTask, name: &str) -> Option<Self> {
        Self::resolve(task, name).ok().flatten()
    }

    /// Whether `name` is its id or an alias.
    pub fn answers_to(&self, name: &str) -> bool {
        self.entry().answers_to(name)
    }

    /// Its description.
    pub fn entry(&self) -> &'static Entry {
        match self {
            Self::Intersect(row) => row.entry(),
            Self::Cardinality(row) => row.entry(),
            Self::Sum(row) => row.entry(),
            Self::JoinAndCompute(row) => row.entry(),
            Self::Shares(row) => row.entry(),
        }
    }

    /// Whether it serves the terms, and if so the bytes that its formula predicts.
    ///
    /// # Errors
    /// If it does not serve them.
    pub fn predicted_bytes(&self, terms: &Terms) -> Result<RangeInclusive<u64>, Unsupported> {
        match self {
            Self::Intersect(row) => row.predicted_bytes(&terms.intersect()),
            Self::Cardinality(row) => row.predicted_bytes(&terms.aggregate()),
            Self::Sum(row) => row.predicted_bytes(&terms.aggregate()),
            Self::JoinAndCompute(row) => row.predicted_bytes(&terms.aggregate()),
            Self::Shares(row) => row.predicted_bytes(&terms.shares()),
        }
    }

    /// The sender's set-up.
    ///
    /// # Errors
    /// If it does not serve the terms, or the run fails.
    pub fn sender(&self, terms: &Terms, ch: &mut Channel, rng: &mut SecretRng) -> Result<SenderParty, Abort> {
        Ok(match self {
            Self::Intersect(row) => SenderParty::Intersect(row.sender(&terms.intersect(), ch, rng)?),
            Self::Cardinality(row) => SenderParty::Aggregate(row.sender(&terms.aggregate(), ch, rng)?),
            Self::Sum(row) => SenderParty::Aggregate(row.sender(&terms.aggregate(), ch, rng)?),
            Self::JoinAndCompute(row) => SenderParty::Aggregate(row.sender(&terms.aggregate(), ch, rng)?),
            Self::Shares(row) => SenderParty::Shares(row.sender(&terms.shares(), ch, rng)?),
        })
    }

    /// The receiver's set-up.
    ///
    /// # Errors
    /// If it does not serve the terms, or the run fails.
    pub fn receiver(&self, terms: &Terms, ch: &mut Channel, rng: &mut SecretRng) -> Result<ReceiverParty, Abort> {
        Ok(match self {
            Self::Intersect(row) => ReceiverParty::Intersect(row.receiver(&terms.intersect(), ch, rng)?),
            Self::Cardinality(row) => ReceiverParty::Aggregate(row.receiver(&terms.aggregate(), ch, rng)?),
            Self::Sum(row) => ReceiverParty::Aggregate(row.receiver(&terms.aggregate(), ch, rng)?),
            Self::JoinAndCompute(row) => ReceiverParty::Aggregate(row.receiver(&terms.aggregate(), ch, rng)?),
            Self::Shares(row) => ReceiverParty::Shares(row.receiver(&terms.shares(), ch, rng)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_its_name_and_its_registry() {
        for task in SetTask::ALL {
            assert_eq!(SetTask::parse(task.name()), Ok(task));
            for row in AnyProtocol::of(task) {
                assert_eq!(row.entry().task, task.name());
                assert_eq!(AnyProtocol::find(task, row.entry().id).map(|found| found.entry()), Some(row.entry()));
            }
        }
        assert!(SetTask::parse("union").unwrap_err().mend.contains("join-and-compute"));
    }
}
