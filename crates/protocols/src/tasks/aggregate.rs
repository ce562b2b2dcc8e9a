//! What all aggregates over the intersection share: the receiver learns numbers, or some for each
//! group of its items, and nothing of single items.

use std::collections::HashMap;

use vesica_party::Security;
use vesica_structures::facts::Unsupported;

use super::{Extent, IntersectRequest, differ};

/// What both sides agree on for an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregateOptions {
    /// Values of each of the sender's items; 0 for a cardinality, which counts.
    pub columns: usize,
    /// Groups of the receiver's items, at least 1.
    pub groups: usize,
    /// A group with fewer common items than this gives nothing; 0 and 1 give all.
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
    /// Groups of the receiver's items, at least 1.
    pub groups: usize,
    /// A group with fewer common items than this gives nothing; 0 and 1 give all.
    pub at_least: u64,
    /// Whether the sender adds noise to the results.
    pub noisy: bool,
}

/// The sender's set and values. It must be fixed before the set-up begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateSenderInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
    /// `items.len() * columns` elements of `Z_2^64`; item `i` has those from `i * columns`.
    pub values: Vec<u64>,
    /// If agreed: what is added to each result in `Z_2^64`, group by group, to hide single items;
    /// else empty.
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
    /// threshold.
    pub groups: Vec<Option<Vec<u64>>>,
}

impl AggregateRequest {
    /// The request of any aggregate.
    pub(super) const fn new(extent: &Extent, options: &AggregateOptions) -> Self {
        let Extent { sender_items, receiver_items, security } = *extent;
        let AggregateOptions { columns, groups, at_least, noisy } = *options;
        Self { sender_items, receiver_items, security, columns, groups, at_least, noisy }
    }

    /// Most groups: each costs a product of its own.
    pub const MOST_GROUPS: usize = 1 << 10;
    /// Most columns.
    pub const MOST_COLUMNS: usize = 64;

    /// Results of a group.
    pub fn results(&self) -> usize {
        self.columns.max(1)
    }

    /// Refuses sizes beyond the bounds above and those of an intersection.
    pub fn check_sizes(&self) -> Result<(), Unsupported> {
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
        let Self { sender_items, receiver_items, security, .. } = *self;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false }.check_sizes()
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
                "{} groups, shown from {} common items on, by a protocol that gives one total",
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
    /// Refuses an input that is not of the agreed sizes.
    pub fn check(&self, request: &AggregateRequest) -> Result<(), Unsupported> {
        let results = if request.noisy { request.groups * request.results() } else { 0 };
        if self.items.len() == request.sender_items
            && self.values.len() == request.sender_items * request.columns
            && self.noise.len() == results
        {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!(
                "the sender's input has {} items, {} values and noise for {} results",
                self.items.len(),
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

/// The results, one list a group, and how many items are common in it.
fn expected(sent: &AggregateSenderInput, asked: &AggregateReceiverInput, groups: usize) -> (Vec<Vec<u64>>, Vec<u64>) {
    let columns = sent.values.len().checked_div(sent.items.len()).unwrap_or(0);
    let mut sums = vec![vec![0u64; columns.max(1)]; groups];
    let mut counts = vec![0; groups];
    let at_sender: HashMap<u128, usize> = sent.items.iter().enumerate().map(|(i, &x)| (x, i)).collect();
    for (j, y) in asked.items.iter().enumerate() {
        let Some(&i) = at_sender.get(y) else { continue };
        let group = asked.groups.get(j).map_or(0, |&group| group as usize);
        let factor = asked.values.get(j).copied().unwrap_or(1);
        counts[group] += 1;
        if columns == 0 {
            sums[group][0] += 1;
        }
        for (sum, value) in sums[group].iter_mut().zip(&sent.values[i * columns..][..columns]) {
            *sum = sum.wrapping_add(value.wrapping_mul(factor));
        }
    }
    for (sum, noise) in sums.iter_mut().flatten().zip(&sent.noise) {
        *sum = sum.wrapping_add(*noise);
    }
    (sums, counts)
}

/// All three tasks: a group that is kept back is accepted if another group with more common items
/// is not shown; how many must be common is not among the inputs.
pub(super) fn holds(
    sent: &AggregateSenderInput,
    asked: &AggregateReceiverInput,
    out: &AggregateOutput,
) -> Result<(), String> {
    let (sums, counts) = expected(sent, asked, out.groups.len());
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
                return Err(format!("group {g} of {} common items is kept back, a smaller one is shown", counts[g]));
            }
            None => {}
        }
    }
    Ok(())
}

/// Makes `$task` an aggregate of this name.
macro_rules! aggregate_task {
    ($task:ident, $name:literal) => {
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
                $crate::tasks::aggregate::holds(sent, asked, out)
            }
        }

        impl $crate::tasks::SetFunctionality for $task {
            type Options = $crate::tasks::AggregateOptions;

            fn request(extent: &$crate::tasks::Extent, options: &Self::Options) -> Self::Request {
                $crate::tasks::AggregateRequest::new(extent, options)
            }
        }
    };
}
pub(super) use aggregate_task;

#[cfg(test)]
mod tests {
    use vesica_party::Task;

    use super::*;
    use crate::tasks::{Cardinality, JoinAndCompute};

    #[test]
    fn sums_wrap_and_groups_and_noise_are_checked() {
        let sent = AggregateSenderInput {
            items: vec![1, 2, 3],
            values: vec![u64::MAX, 5, 2, 7, 9, 9],
            noise: vec![0, 1, 0, 0],
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
        };
        let sent = AggregateSenderInput { items: vec![1], values: vec![1], noise: vec![] };
        assert!(sent.check(&request).is_ok());
        assert!(AggregateSenderInput { noise: vec![1, 2], ..sent.clone() }.check(&request).is_err());
        assert!(
            AggregateSenderInput { noise: vec![1, 2], ..sent.clone() }
                .check(&AggregateRequest { noisy: true, ..request })
                .is_ok()
        );
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
