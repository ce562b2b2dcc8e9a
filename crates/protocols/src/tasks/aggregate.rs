//! What all aggregates share: the receiver learns numbers, or some for each group of its items, and
//! nothing of single items.
//!
//! # Aggregates over new items
//!
//! Every protocol for an aggregate over the common items ends with an additive share of each total
//! at either side, `a` at the sender and `b` at the receiver, and the sender's last message opens
//! `a`. The total over the sender's *new* items, which the receiver does not have, is `t - (a + b)`
//! for the total `t` of all items of the sender, which only the sender knows. So the sender sends
//! `t - a` instead of `a`, and the receiver takes `b` from it ([`Over::sender_share`],
//! [`Over::receiver_share`]). Neither `t` nor `a + b` is shown alone: given its `b`, the receiver
//! could make the message up from its result. All other messages are those of the protocol for
//! common items, and nothing that comes before depends on `t`. Noise is added to the same message,
//! and a threshold goes by the number of new items, shares of which come about in the same way.

use std::collections::{HashMap, HashSet};
use std::fmt;

use vesica_party::{Security, Task};
use vesica_structures::facts::Unsupported;

use super::{Extent, IntersectRequest, SetFunctionality, differ};

/// Which items an aggregate goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The items that both sides have.
    Common,
    /// The sender's items that the receiver does not have. The receiver adds what its own items
    /// give, and has the aggregate over the union.
    New,
}

impl Over {
    /// The sender's share of a total over these items, from its share of the total over the common
    /// ones and the total over all items of the sender.
    pub fn sender_share(self, of_common: u64, of_all: u64) -> u64 {
        match self {
            Self::Common => of_common,
            Self::New => of_all.wrapping_sub(of_common),
        }
    }

    /// The receiver's share of a total over these items, from its share of the total over the
    /// common ones.
    pub fn receiver_share(self, of_common: u64) -> u64 {
        match self {
            Self::Common => of_common,
            Self::New => of_common.wrapping_neg(),
        }
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Common => "common",
            Self::New => "new",
        })
    }
}

/// A task that is an aggregate.
pub trait Aggregate:
    SetFunctionality<Options = AggregateOptions>
    + Task<
        Request = AggregateRequest,
        SenderInput = AggregateSenderInput,
        ReceiverInput = AggregateReceiverInput,
        SenderOutput = (),
        ReceiverOutput = AggregateOutput,
    >
{
    /// Which items it goes over.
    const OVER: Over;
}

/// What both sides agree on for an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregateOptions {
    /// Values of each of the sender's items; 0 for a cardinality, which counts.
    pub columns: usize,
    /// Groups of the receiver's items, at least 1; 1 where the aggregate goes over new items, which
    /// are in no group of the receiver's.
    pub groups: usize,
    /// A group with fewer items than this that the aggregate goes over gives nothing; 0 and 1 give
    /// all.
    pub at_least: u64,
    /// Whether the sender adds noise to the results.
    pub noisy: bool,
}

impl Default for AggregateOptions {
    /// A count in one group, without a threshold or noise.
    fn default() -> Self {
        Self { columns: 0, groups: 1, at_least: 0, noisy: false }
    }
}

/// The public parameters of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregateRequest {
    /// Number of distinct items of the sender, `n_s`.
    pub sender_items: usize,
    /// Number of distinct items of the receiver, `n_r`.
    pub receiver_items: usize,
    /// The least resistance asked for.
    pub security: Security,
    /// Values of each of the sender's items; 0 for a cardinality, which counts.
    pub columns: usize,
    /// Groups of the receiver's items, as in [`AggregateOptions`].
    pub groups: usize,
    /// The threshold, as in [`AggregateOptions`].
    pub at_least: u64,
    /// Whether the sender adds noise to the results.
    pub noisy: bool,
    /// Runs of these sizes, one for each bucket, that share one failure budget. In several runs the
    /// sender adds a mask to each number that is opened, and a threshold goes by all runs together: none of
    /// them compares anything ([`Withheld`](crate::circuit_psi::aggregate::Withheld)).
    pub runs: usize,
}

/// The sender's set and values. It must be fixed before the set-up begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateSenderInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
    /// How many of the items, the last ones, are dummies. The receiver has none of them; as new
    /// items they do not count, and their values are left out.
    pub dummies: usize,
    /// `items.len() * columns` elements of `Z_2^64`; item `i` has those from `i * columns`.
    pub values: Vec<u64>,
    /// If agreed: what is added to each number that is opened in `Z_2^64`, group by group: noise that hides single items,
    /// or, in one of several runs, a mask; else empty.
    pub noise: Vec<u64>,
}

/// The receiver's set, values and groups, fixed before the set-up begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateReceiverInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
    /// Join and compute: an element of `Z_2^64` for each item; else empty.
    pub values: Vec<u64>,
    /// The group of each item, below `groups`; empty where there is one group.
    pub groups: Vec<u32>,
}

/// What the receiver learns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateOutput {
    /// For each group its results in `Z_2^64`, one a column (a cardinality has one); none below the
    /// threshold. In one of several runs all that is opened ([`AggregateRequest::opened`]), masked.
    pub groups: Vec<Option<Vec<u64>>>,
}

impl AggregateRequest {
    /// The request of any aggregate.
    pub const fn new(extent: &Extent, options: &AggregateOptions) -> Self {
        let Extent { sender_items, receiver_items, security, runs } = *extent;
        let AggregateOptions { columns, groups, at_least, noisy } = *options;
        Self { sender_items, receiver_items, security, columns, groups, at_least, noisy, runs }
    }

    /// Most groups: each costs a product of its own.
    pub const MOST_GROUPS: usize = 1 << 10;
    /// Most columns.
    pub const MOST_COLUMNS: usize = 64;

    /// Results of a group.
    pub fn results(&self) -> usize {
        self.columns.max(1)
    }

    /// Whether there is a threshold for what all of several runs give together.
    pub fn withholds_over_runs(&self) -> bool {
        self.runs > 1 && self.at_least > 1
    }

    /// Numbers of a group that a run opens: the results; and the count, where a threshold over several runs goes by it
    /// and it is none of the results.
    pub fn opened(&self) -> usize {
        self.results() + usize::from(self.columns > 0 && self.withholds_over_runs())
    }

    /// Whether the sender adds something to each number that is opened.
    pub fn is_masked(&self) -> bool {
        self.noisy || self.runs > 1
    }

    /// How many numbers the sender adds.
    pub fn added(&self) -> usize {
        if self.is_masked() { self.groups * self.opened() } else { 0 }
    }

    /// Refuses several runs, and sizes beyond the bounds above and those of an intersection.
    pub fn check_sizes(&self) -> Result<(), Unsupported> {
        if self.runs > 1 {
            return Err(Unsupported::new(
                format_args!("{} buckets by a protocol whose failure bounds are derived for one run", self.runs),
                "choose a protocol on circuit PSI, or omit --buckets",
            ));
        }
        self.check_sizes_of_runs()
    }

    /// For protocols that derive their parameters for [`Self::runs`] runs: refuses a threshold beside noise in several
    /// runs, and sizes beyond the bounds above and those of an intersection.
    pub fn check_sizes_of_runs(&self) -> Result<(), Unsupported> {
        if self.noisy && self.withholds_over_runs() {
            return Err(Unsupported::new(
                format_args!("noise, and results that are shown from {} counted items on, in buckets", self.at_least),
                "ask for one of both",
            ));
        }
        if !(1..=Self::MOST_GROUPS).contains(&self.groups) {
            return Err(Unsupported::new(
                format_args!("{} groups", self.groups),
                format_args!("use 1 to {}: merge rare groups into one", Self::MOST_GROUPS),
            ));
        }
        if self.columns > Self::MOST_COLUMNS {
            return Err(Unsupported::new(
                format_args!("{} columns of values", self.columns),
                format_args!("use at most {}", Self::MOST_COLUMNS),
            ));
        }
        let Self { sender_items, receiver_items, security, runs, .. } = *self;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs }
            .check_sizes_of_runs()
    }

    /// For protocols that give one total and show it whatever it is, and in which the receiver
    /// counts by itself: refuses groups, thresholds, noise (which an exact count beside
    /// it would make worthless), and what [`check_sizes`](Self::check_sizes) does.
    pub fn check_one_total(&self) -> Result<(), Unsupported> {
        self.check_sizes()?;
        if self.noisy {
            return Err(Unsupported::new(
                "noise where the receiver learns the exact number of common items",
                "choose a protocol on circuit PSI, or do without noise",
            ));
        }
        if self.groups == 1 && self.at_least <= 1 {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!(
                "{} groups, shown from {} counted items on, by a protocol that gives one total",
                self.groups, self.at_least
            ),
            "choose a protocol on circuit PSI, or ask for one group and no threshold",
        ))
    }

    /// For protocols that count, and nothing else: refuses columns of values, and what
    /// [`check_one_total`](Self::check_one_total) does.
    pub fn check_one_count(&self) -> Result<(), Unsupported> {
        self.check_one_total()?;
        if self.columns > 0 {
            return Err(Unsupported::new(
                format_args!("{} columns of values in a cardinality", self.columns),
                "ask for the task sum, or give no values",
            ));
        }
        Ok(())
    }
}

impl AggregateSenderInput {
    /// How many items are no dummies.
    pub fn counted(&self) -> u64 {
        self.items.len().saturating_sub(self.dummies) as u64
    }

    /// The sums of the values of all items but the dummies, column by column.
    pub fn sums(&self, columns: usize) -> Vec<u64> {
        let mut sums = vec![0u64; columns];
        let counted = self.counted();
        for (item, values) in (0..).zip(self.values.chunks_exact(columns.max(1))) {
            // How many dummies there are may be a secret, and how long this takes is not.
            let kept = u64::from(item < counted).wrapping_neg();
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.wrapping_add(value & kept));
        }
        sums
    }

    /// Refuses an input that is not of the agreed sizes.
    pub fn check(&self, request: &AggregateRequest) -> Result<(), Unsupported> {
        let results = request.added();
        if self.items.len() == request.sender_items
            && self.dummies <= self.items.len()
            && self.values.len() == request.sender_items * request.columns
            && self.noise.len() == results
        {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!(
                "the sender's input has {} items, {} dummies among them, {} values and noise for {} results",
                self.items.len(),
                self.dummies,
                self.values.len(),
                self.noise.len()
            ),
            format_args!(
                "give {} items with {} values each, and noise for {results} results",
                request.sender_items, request.columns
            ),
        ))
    }
}

impl AggregateOutput {
    /// One group's results.
    pub fn one(results: Vec<u64>) -> Self {
        Self { groups: vec![Some(results)] }
    }
}

impl AggregateReceiverInput {
    /// Refuses an input that is not of the agreed sizes; `valued` where the task takes values of
    /// the receiver.
    pub fn check(&self, request: &AggregateRequest, valued: bool) -> Result<(), Unsupported> {
        let items = request.receiver_items;
        let groups_fit = if self.groups.is_empty() {
            request.groups == 1 || items == 0
        } else {
            self.groups.len() == items && self.groups.iter().all(|&group| (group as usize) < request.groups)
        };
        if self.items.len() == items && self.values.len() == if valued { items } else { 0 } && groups_fit {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!(
                "the receiver's input has {} items, {} values and {} groups",
                self.items.len(),
                self.values.len(),
                self.groups.len()
            ),
            format_args!(
                "give {items} items, {} for each, and a group below {}",
                if valued { "a value" } else { "no value" },
                request.groups
            ),
        ))
    }
}

/// The results, one list a group, and over how many items each group goes.
fn expected(
    over: Over,
    sent: &AggregateSenderInput,
    asked: &AggregateReceiverInput,
    groups: usize,
) -> (Vec<Vec<u64>>, Vec<u64>) {
    let columns = sent.values.len().checked_div(sent.items.len()).unwrap_or(0);
    // The count comes last where it is opened beside the results.
    let opened = if sent.noise.is_empty() { columns.max(1) } else { sent.noise.len() / groups.max(1) };
    let mut sums = vec![vec![0u64; opened]; groups];
    let mut counts = vec![0; groups];
    let mut add = |i: usize, group: usize, factor: u64| {
        counts[group] += 1;
        if let Some(count) = sums[group].get_mut(columns) {
            *count += 1;
        }
        for (sum, value) in sums[group].iter_mut().zip(&sent.values[i * columns..][..columns]) {
            *sum = sum.wrapping_add(value.wrapping_mul(factor));
        }
    };
    match over {
        Over::Common => {
            let at_sender: HashMap<u128, usize> = sent.items.iter().enumerate().map(|(i, &x)| (x, i)).collect();
            for (j, y) in asked.items.iter().enumerate() {
                let Some(&i) = at_sender.get(y) else { continue };
                let group = asked.groups.get(j).map_or(0, |&group| group as usize);
                add(i, group, asked.values.get(j).copied().unwrap_or(1));
            }
        }
        Over::New => {
            let own: HashSet<&u128> = asked.items.iter().collect();
            let counted = sent.items.len() - sent.dummies;
            (0..counted).filter(|&i| !own.contains(&sent.items[i])).for_each(|i| add(i, 0, 1));
        }
    }
    for (sum, noise) in sums.iter_mut().flatten().zip(&sent.noise) {
        *sum = sum.wrapping_add(*noise);
    }
    (sums, counts)
}

/// All aggregates: a group that is kept back is accepted if no group of fewer or as many items is
/// shown; the threshold is not among the inputs.
pub fn holds(
    over: Over,
    sent: &AggregateSenderInput,
    asked: &AggregateReceiverInput,
    out: &AggregateOutput,
) -> Result<(), String> {
    let (sums, counts) = expected(over, sent, asked, out.groups.len());
    let least_shown =
        out.groups.iter().zip(&counts).filter(|(group, _)| group.is_some()).map(|(_, &count)| count).min();
    for (g, group) in out.groups.iter().enumerate() {
        match group {
            // Nothing else says how many columns there are where the sender's set is empty.
            Some(got) if sent.items.is_empty() && sent.noise.is_empty() => {
                differ(&format!("the results of group {g}"), &vec![0; got.len()], got)?
            }
            Some(got) => differ(&format!("the results of group {g}"), &sums[g], got)?,
            None if least_shown.is_some_and(|least| counts[g] >= least) => {
                return Err(format!("group {g} of {} {over} items is kept back, a smaller one is shown", counts[g]));
            }
            None => {}
        }
    }
    Ok(())
}

/// Makes `$task` an aggregate of this name over these items, which a sentence sums up.
macro_rules! aggregate_task {
    ($task:ident, $name:literal, $over:ident, $summary:literal) => {
        impl vesica_party::Task for $task {
            const NAME: &'static str = $name;
            type Request = $crate::tasks::AggregateRequest;
            type SenderInput = $crate::tasks::AggregateSenderInput;
            type ReceiverInput = $crate::tasks::AggregateReceiverInput;
            type SenderOutput = ();
            type ReceiverOutput = $crate::tasks::AggregateOutput;

            fn holds(
                sent: &Self::SenderInput,
                asked: &Self::ReceiverInput,
                (): &(),
                out: &Self::ReceiverOutput,
            ) -> Result<(), String> {
                $crate::tasks::aggregate::holds(<Self as $crate::tasks::Aggregate>::OVER, sent, asked, out)
            }
        }

        impl $crate::tasks::Aggregate for $task {
            const OVER: $crate::tasks::Over = $crate::tasks::Over::$over;
        }

        impl $crate::tasks::SetFunctionality for $task {
            const SUMMARY: &'static str = $summary;
            type Options = $crate::tasks::AggregateOptions;

            fn request(extent: &$crate::tasks::Extent, options: &Self::Options) -> Self::Request {
                $crate::tasks::AggregateRequest::new(extent, options)
            }
        }
    };
}
pub(crate) use aggregate_task;

#[cfg(test)]
mod tests {
    use vesica_party::Task;

    use super::*;
    use crate::tasks::{Cardinality, JoinAndCompute, UnionCardinality, UnionSum};

    #[test]
    fn sums_wrap_and_groups_and_noise_are_checked() {
        let sent = AggregateSenderInput {
            items: vec![1, 2, 3],
            values: vec![u64::MAX, 5, 2, 7, 9, 9],
            noise: vec![0, 1, 0, 0],
            dummies: 0,
        };
        let asked = AggregateReceiverInput { items: vec![2, 1, 9], values: vec![3, 2, 1], groups: vec![0, 0, 1] };
        // Group 0: 3 (2, 7) + 2 (-1, 5) + (0, 1).
        let right = AggregateOutput { groups: vec![Some(vec![4, 32]), Some(vec![0, 0])] };
        JoinAndCompute::holds(&sent, &asked, &(), &right).unwrap();
        let wrong = AggregateOutput { groups: vec![Some(vec![4, 31]), Some(vec![0, 0])] };
        assert!(JoinAndCompute::holds(&sent, &asked, &(), &wrong).unwrap_err().contains("group 0"));
        let kept_back = AggregateOutput { groups: vec![Some(vec![4, 32]), None] };
        JoinAndCompute::holds(&sent, &asked, &(), &kept_back).unwrap();
        let the_larger = AggregateOutput { groups: vec![None, Some(vec![0, 0])] };
        assert!(JoinAndCompute::holds(&sent, &asked, &(), &the_larger).unwrap_err().contains("kept back"));
    }

    #[test]
    fn a_cardinality_counts() {
        let sent = AggregateSenderInput { items: vec![1, 2, 3], ..AggregateSenderInput::default() };
        let asked = AggregateReceiverInput { items: vec![3, 1, 9], ..AggregateReceiverInput::default() };
        Cardinality::holds(&sent, &asked, &(), &AggregateOutput { groups: vec![Some(vec![2])] }).unwrap();
        assert!(Cardinality::holds(&sent, &asked, &(), &AggregateOutput { groups: vec![Some(vec![3])] }).is_err());
    }

    /// What the receiver adds to its own items: neither the common ones nor dummies.
    #[test]
    fn aggregates_of_unions_go_over_new_items_that_are_no_dummies() {
        let sent = AggregateSenderInput {
            items: vec![1, 2, 3, 4],
            dummies: 1,
            values: vec![10, 20, u64::MAX, 0],
            noise: vec![],
        };
        let asked = AggregateReceiverInput { items: vec![2, 8, 9], ..AggregateReceiverInput::default() };
        UnionSum::holds(&sent, &asked, &(), &AggregateOutput::one(vec![9])).unwrap();
        for wrong in [20, 29, 30] {
            assert!(UnionSum::holds(&sent, &asked, &(), &AggregateOutput::one(vec![wrong])).is_err(), "{wrong}");
        }
        let counted = AggregateSenderInput { values: vec![], ..sent.clone() };
        UnionCardinality::holds(&counted, &asked, &(), &AggregateOutput::one(vec![2])).unwrap();
        for wrong in [1, 3] {
            assert!(UnionCardinality::holds(&counted, &asked, &(), &AggregateOutput::one(vec![wrong])).is_err());
        }
        assert_eq!((sent.counted(), sent.sums(1), counted.sums(0)), (3, vec![29], vec![]));
    }

    #[test]
    fn inputs_of_other_sizes_are_refused() {
        let request = AggregateRequest {
            sender_items: 1,
            receiver_items: 1,
            security: Security::SemiHonest,
            columns: 1,
            groups: 2,
            at_least: 0,
            noisy: false,
            runs: 1,
        };
        let sent = AggregateSenderInput { items: vec![1], values: vec![1], ..AggregateSenderInput::default() };
        assert!(sent.check(&request).is_ok());
        assert!(AggregateSenderInput { noise: vec![1, 2], ..sent.clone() }.check(&request).is_err());
        assert!(
            AggregateSenderInput { noise: vec![1, 2], ..sent.clone() }
                .check(&AggregateRequest { noisy: true, ..request })
                .is_ok()
        );
        assert!(AggregateSenderInput { dummies: 2, ..sent.clone() }.check(&request).is_err());
        assert!(AggregateSenderInput { values: vec![], ..sent }.check(&request).is_err());
        let asked = AggregateReceiverInput { items: vec![1], values: vec![], groups: vec![1] };
        assert!(asked.check(&request, false).is_ok());
        assert!(asked.check(&request, true).is_err());
        assert!(AggregateReceiverInput { groups: vec![2], ..asked.clone() }.check(&request, false).is_err());
        assert!(AggregateReceiverInput { groups: vec![], ..asked }.check(&request, false).is_err());
        assert!(AggregateRequest { groups: 0, ..request }.check_sizes().is_err());
        assert!(AggregateRequest { columns: 65, ..request }.check_sizes().is_err());
    }

    #[test]
    fn what_one_total_cannot_give_is_refused() {
        let request = AggregateRequest {
            sender_items: 1,
            receiver_items: 1,
            security: Security::SemiHonest,
            columns: 0,
            groups: 1,
            at_least: 1,
            noisy: false,
            runs: 1,
        };
        assert!(request.check_one_count().is_ok());
        assert!(AggregateRequest { columns: 1, ..request }.check_one_total().is_ok());
        for refused in [AggregateRequest { groups: 2, ..request }, AggregateRequest { at_least: 2, ..request }] {
            assert!(refused.check_one_total().is_err());
        }
        assert!(AggregateRequest { columns: 1, ..request }.check_one_count().is_err());
        assert!(AggregateRequest { noisy: true, ..request }.check_one_total().is_err());
    }
}
