//! How much of each row the suites try: every row in full in the nightly run; with each change the
//! rows of the product in full, and less of the others.

use vesica_party::{Entry, Status};

/// Environment variable: with the value `whole` every row is tried in full, with `first` none is.
pub const SUITE: &str = "VESICA_SUITE";

/// Whether a building block or a row is in use, and not only kept for comparison.
pub fn is_in_use(entry: &Entry) -> bool {
    entry.status == Status::Recommended && !entry.is_variant()
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
