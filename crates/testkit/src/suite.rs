//! How much of each row the suites try: every row in full in the nightly run; with each change the
//! rows of the product in full, and less of the others.

use std::collections::BTreeSet;

use vesica_party::variants::{split, with_variants};
use vesica_party::{Entry, Status, Task};

use crate::conformance::Runnable;

/// Environment variable: with the value `whole` every row is tried in full, with `first` none is.
pub const SUITE: &str = "VESICA_SUITE";

/// Environment variable that chooses the trials whose names contain its value.
pub const TRIAL: &str = "VESICA_TRIAL";

/// Whether a building block or a row is in use, and not only kept for comparison.
pub fn is_in_use(entry: &Entry) -> bool {
    entry.status == Status::Recommended && !entry.is_variant()
}

/// These rows, each followed by the variants that the suites try: for each value of a choice that of the first row which
/// has it, since rows share the code of their values. In the nightly run, and where trials are chosen by name, each row's.
pub fn tried<T: Task>(rows: &[Runnable<T>]) -> Vec<Runnable<T>> {
    let each = Depth::asked() == Some(Depth::Full) || std::env::var_os(TRIAL).is_some();
    let mut seen = BTreeSet::new();
    let is_new = |row: &Runnable<T>| {
        let Some((name, value)) = split(row.entry().id).1.and_then(|choice| choice.split_once('=')) else {
            return true;
        };
        let choice = row.entry().variants.iter().find(|choice| choice.name == name);
        each || seen.insert((name, value, choice.map(|choice| choice.what)))
    };
    with_variants(rows.iter().copied()).filter(is_new).collect()
}

/// How much of a row is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All sizes, overlaps and options.
    Full,
    /// One of each.
    Once,
}

impl Depth {
    /// How much of this row the suites try now.
    ///
    /// # Panics
    /// As [`Self::asked`].
    pub fn of(entry: &Entry) -> Self {
        Self::asked().unwrap_or(if is_in_use(entry) { Self::Full } else { Self::Once })
    }

    /// How much of every row is tried, if `VESICA_SUITE` says it.
    ///
    /// # Panics
    /// If it has a value that says nothing.
    pub fn asked() -> Option<Self> {
        match std::env::var(SUITE).ok()?.as_str() {
            "whole" => Some(Self::Full),
            "first" => Some(Self::Once),
            other => panic!("{SUITE}={other}: the values are whole and first"),
        }
    }

    /// All of these, or the last one.
    pub fn take<T>(self, all: &[T]) -> &[T] {
        match self {
            Self::Full => all,
            Self::Once => &all[all.len().saturating_sub(1)..],
        }
    }
}
