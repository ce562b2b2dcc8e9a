//! What places show: section 4.5 of Chandran, Schneider, Stillger, Weinert (ASIACCS 2025), by
//! experiment. Each item has three bins and lies in one of them. The receiver learns which *places*
//! hold a common item, a new one or none, and knows bins of items. Without an order a place is a bin.
//!
//! [`View`] is all of that. [`largest_score`] measures whether it depends on which of the receiver's
//! items are common. The rows pass, and what leaves out a step does not, but for one:
//!
//! | | order | OPRF | what the receiver sees |
//! |---|---|---|---|
//! | `cssw25`, `vesica-union` | yes | yes | nothing, unless tables often cannot be built |
//! | `jszg24`, `tcl23` | yes | no | the same |
//! | `Nothing` INSECURE | no | no | items that are certainly not common |
//! | `OprfOnly` INSECURE | no | yes | the same, for it has the OPRF at its own items |
//! | `FullBinsInOrder` INSECURE | no | yes | less clearly, that a place is near to its bin |
//! | `OrderOnly` INSECURE | yes | no | nothing, unless tables often cannot be built |

use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;

/// The sets of a run.
pub struct Sets {
    /// `X`.
    pub sender: Vec<u128>,
    /// `Y`.
    pub receiver: Vec<u128>,
    /// Which of `X` are common.
    pub is_common_of_sender: Vec<bool>,
    /// Which of `Y` are.
    pub is_common: Vec<bool>,
}

impl Sets {
    /// Random sets of these sizes; the common items stand anywhere in either of them.
    pub fn random(sender_items: usize, receiver_items: usize, common: usize, rng: &mut SecretRng) -> Self {
        let shared: Vec<u128> = (0..common).map(|_| rng.block()).collect();
        let mut side = |count: usize| {
            let numbers = random_order(count, rng);
            let items =
                numbers.iter().map(|&number| shared.get(number as usize).copied().unwrap_or_else(|| rng.block()));
            let items: Vec<u128> = items.collect();
            (items, numbers.iter().map(|&number| (number as usize) < common).collect())
        };
        let (sender, is_common_of_sender) = side(sender_items);
        let (receiver, is_common) = side(receiver_items);
        Self { sender, receiver, is_common_of_sender, is_common }
    }

    /// `X` without `Y`.
    pub fn new_items(&self) -> Vec<u128> {
        let items = self.sender.iter().zip(&self.is_common_of_sender);
        items.filter(|(_, is_common)| !*is_common).map(|(&item, _)| item).collect()
    }
}

/// What the receiver knows of a place in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It holds a common item.
    Common,
    /// It holds a new item.
    New,
    /// It holds no item.
    Empty,
}

/// What the receiver has besides its set and the new items.
pub struct View {
    /// How many bins there are.
    pub bins: usize,
    pub shown: Vec<Shown>,
    /// The bins of its own items.
    pub own_bins: Vec<[u32; 3]>,
    /// The bins of the new items, as far as it can compute them.
    pub new_bins: Vec<[u32; 3]>,
}

impl View {
    /// How many places show this among those that may be an item's bins, and as many as `reach` on
    /// either side of each. Where there are fewer places than bins, they are taken to be bins in their
    /// order.
    pub fn count(&self, bins: &[u32; 3], kind: Shown, reach: usize) -> usize {
        let near = bins.iter().flat_map(|&bin| {
            let place = bin as usize * self.shown.len() / self.bins;
            &self.shown[place.saturating_sub(reach)..(place + reach + 1).min(self.shown.len())]
        });
        near.filter(|&&shown| shown == kind).count()
    }

    /// For each of the receiver's items, what it can count: places of each kind that are the item's
    /// bins or near to them, new items that have one of these bins, and its own items that do.
    pub fn statistics(&self) -> [Vec<usize>; STATISTICS] {
        let met = |others: &[[u32; 3]]| {
            let mut loads = vec![0; self.bins];
            others.iter().flatten().for_each(|&bin| loads[bin as usize] += 1);
            self.own_bins.iter().map(|bins| bins.iter().map(|&bin| loads[bin as usize]).sum()).collect()
        };
        let of_kind = |kind, reach| self.own_bins.iter().map(|bins| self.count(bins, kind, reach)).collect();
        [
            of_kind(Shown::Common, 0),
            of_kind(Shown::New, 0),
            of_kind(Shown::Empty, 0),
            of_kind(Shown::Common, REACH),
            of_kind(Shown::New, REACH),
            met(&self.new_bins),
            met(&self.own_bins),
        ]
    }
}

/// How many statistics there are.
pub const STATISTICS: usize = 7;

/// How far full bins of a set of [`N`] items are off their places if empty ones are left out.
const REACH: usize = 6;

/// The difference of a statistic's means at common and at other items, in standard deviations.
fn score(statistic: &[usize], is_common: &[bool]) -> f64 {
    let [(mean, variance), (other_mean, other_variance)] = [true, false].map(|kind| {
        let values = statistic.iter().zip(is_common).filter(|(_, is_common)| **is_common == kind);
        let values: Vec<f64> = values.map(|(&value, _)| value as f64).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64).powi(2))
    });
    let difference = (mean - other_mean).abs();
    if difference == 0.0 { 0.0 } else { difference / (variance + other_variance).sqrt() }
}

/// The score of each statistic, over the items of all runs together.
pub fn scores(runs: &[(Sets, View)]) -> [f64; STATISTICS] {
    let is_common: Vec<bool> = runs.iter().flat_map(|(sets, _)| sets.is_common.iter().copied()).collect();
    let mut statistics = [const { Vec::new() }; STATISTICS];
    for (_, view) in runs {
        statistics.iter_mut().zip(view.statistics()).for_each(|(all, of_run)| all.extend(of_run));
    }
    statistics.map(|statistic| score(&statistic, &is_common))
}

/// The largest of them.
pub fn largest_score(runs: &[(Sets, View)]) -> f64 {
    scores(runs).into_iter().fold(0.0, f64::max)
}

/// A score that views without any dependence pass once in 2^26 tests: seven statistics, each of which
/// is six deviations off with a probability of `2^-28.9`.
pub const MOST: f64 = 6.0;

/// Items of a run.
pub const N: usize = 500;
/// Runs whose items are counted together.
pub const RUNS: usize = 16;

pub fn half_common(rng: &mut SecretRng) -> Sets {
    Sets::random(N, N, N / 2, rng)
}

/// Views of runs.
pub fn real(count: usize, rng: &mut SecretRng, view: impl Fn(&Sets) -> View) -> Vec<(Sets, View)> {
    let run = || {
        let sets = half_common(rng);
        let view = view(&sets);
        (sets, view)
    };
    std::iter::repeat_with(run).take(count).collect()
}
