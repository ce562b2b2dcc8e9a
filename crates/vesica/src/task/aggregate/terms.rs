//! What the sides of an aggregate say and agree on.

use serde::{Deserialize, Serialize};
use vesica_protocols::tasks::{AggregateOutput, Over};

use crate::noise::NoiseScale;
use crate::table::{ExpectedRange, ValueColumn};

/// What a side says before it has read its table.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::task) struct Proposal {
    /// The columns that the side computes with.
    pub(super) values: Vec<ValueColumn>,
    /// Ranges of the partner's columns on which the side insists.
    pub(super) expected_ranges: Vec<ExpectedRange>,
    /// A group with fewer keys than this gives nothing: common ones, or for a union new ones.
    pub(super) at_least: u64,
    /// Sender: the epsilon of the noise that it adds to all results of the run together.
    pub(super) noise: Option<String>,
}

/// What a side says once it has read its table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::task) struct Measure {
    /// How many groups the keys are in; 1 without `--group-by`.
    pub(super) groups: u32,
}

/// What both sides agreed on.
#[derive(Debug)]
pub(in crate::task) struct Terms {
    pub(super) sender: Vec<ValueColumn>,
    pub(super) receiver: Vec<ValueColumn>,
    pub(super) groups: usize,
    /// Whether the number of groups is assumed, and is the most that the sender allows.
    pub(super) may_be_fewer: bool,
    pub(super) at_least: u64,
    /// The epsilon of the sender's noise.
    pub(super) noise: Option<String>,
    /// The noise of each result of a group; none without noise.
    pub(super) noise_scales: Vec<NoiseScale>,
    /// That a result may wrap around, if so.
    pub(super) may_wrap: Option<String>,
}

impl Terms {
    /// How many results a group has.
    pub(super) fn results(&self) -> usize {
        self.sender.len().max(1)
    }

    /// Numbers that a bucket gives of each group: a threshold goes by the last of them.
    fn numbers(&self) -> usize {
        self.results() + usize::from(!self.sender.is_empty() && self.at_least > 1)
    }

    /// What is shown of all groups, as numbers like those of a bucket: zeros for a group that is withheld, and the
    /// threshold itself in the place of a count that is not shown.
    pub(super) fn kept(&self, shown: &AggregateOutput) -> Vec<u64> {
        let withheld = vec![0; self.results()];
        let of_group = |group: &Option<Vec<u64>>| {
            let mut numbers = group.as_ref().unwrap_or(&withheld).clone();
            numbers.resize(self.numbers(), self.at_least * u64::from(group.is_some()));
            numbers
        };
        shown.groups.iter().flat_map(of_group).collect()
    }

    /// What these numbers say.
    pub(super) fn shown(&self, kept: &[u64]) -> AggregateOutput {
        let of_group = |numbers: &[u64]| {
            let is_shown = self.at_least <= 1 || numbers.last().is_some_and(|count| *count >= self.at_least);
            is_shown.then(|| numbers.iter().take(self.results()).copied().collect())
        };
        AggregateOutput { groups: kept.chunks(self.numbers()).map(of_group).collect() }
    }
}

/// That an exact result may tell of single keys, and the flag that prevents it; `None` where a threshold or noise
/// is agreed on. Both sides say it, since either can ask for the flag.
pub(super) fn tells_of_few_keys(over: Over, terms: &Terms) -> Option<String> {
    if terms.noise.is_some() || terms.at_least > 1 {
        return None;
    }
    Some(match over {
        Over::Common => {
            "a result about few common keys may tell the receiver about single keys: nothing withholds it. \
                         To withhold results about fewer than K keys, say --reveal-if-at-least K on both sides"
                .to_owned()
        }
        Over::New => "where the sender has few keys that the receiver lacks, a result may tell the receiver about \
                      single keys. To hide single keys in noise, the sender can say --epsilon"
            .to_owned(),
    })
}

pub(super) fn number_of_groups(terms: &Terms) -> String {
    format!("{}{} groups", if terms.may_be_fewer { "up to " } else { "" }, terms.groups)
}

pub(super) fn by_group(over: Over, terms: &Terms) -> String {
    let mut text = String::new();
    if terms.groups > 1 {
        text.push_str(&format!(", in each of {} of the receiver's keys", number_of_groups(terms)));
    }
    if terms.at_least > 1 {
        text.push_str(&format!(", where at least {} keys are {over}", terms.at_least));
    }
    text
}
