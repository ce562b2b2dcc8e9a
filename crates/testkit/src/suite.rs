//! How much of each row the suites try: every row in full in the nightly run; with each change the
//! rows in use in full, and less of the others.

use vesica_party::{Entry, Status};

/// Environment variable: with the value `whole` every row is tried in full.
pub const SUITE: &str = "VESICA_SUITE";

/// Rows in use although they are not recommended, by what takes them. Tests look whether a list lacks a row.
const ALSO_IN_USE: [(Use, &[&str]); 3] = [
    (
        Use::Automatic,
        &[
            "vesica-union-both",
            "pt26",
            "vesica-union-cardinality",
            "gmr21-union-cardinality",
            "vesica-union-sum",
            "gmr21-union-sum",
        ],
    ),
    (Use::Service, &["oprf-rfc9497", "oprf-pir", "cmdg21", "oprf-buckets", "cm25-select"]),
    (
        Use::OtherAssumption,
        &[
            "oprf-rfc9497",
            "rr16",
            "rr17-de",
            "rr17-ec",
            "rt21",
            "prty20",
            "psty19:ot=softspoken",
            "cgs22:ot=softspoken",
            "czz24-union-cardinality",
            "czz24-union-sum",
        ],
    ),
];

/// What takes a row that is not recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// `--protocol auto`, where no recommended row serves: all rows of such a task or option.
    Automatic,
    /// `vesica serve`.
    Service,
    /// A user who does without the assumption of our own, in a task and mode in which no recommended
    /// row does. A variant is listed where no row does either.
    OtherAssumption,
}

/// Whether a row is in use, and not only kept for comparison.
pub fn is_in_use(entry: &Entry) -> bool {
    let is_recommended = entry.status == Status::Recommended && !entry.is_variant();
    is_recommended || ALSO_IN_USE.iter().any(|(_, ids)| ids.contains(&entry.id))
}

/// The rows that are in use for this reason.
///
/// # Panics
/// If there is no list of it.
pub fn also_in_use(reason: Use) -> &'static [&'static str] {
    ALSO_IN_USE.iter().find(|(of, _)| *of == reason).map(|(_, ids)| *ids).expect("a list for each reason")
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
    /// If `VESICA_SUITE` has another value than `whole`.
    pub fn of(entry: &Entry) -> Self {
        let is_whole = match std::env::var(SUITE) {
            Ok(suite) => {
                assert!(suite == "whole", "{SUITE}={suite}: the one value is whole");
                true
            }
            Err(_) => false,
        };
        if is_whole || is_in_use(entry) { Self::Full } else { Self::Once }
    }

    /// All of these, or the last one.
    pub fn take<T>(self, all: &[T]) -> &[T] {
        match self {
            Self::Full => all,
            Self::Once => &all[all.len().saturating_sub(1)..],
        }
    }
}
