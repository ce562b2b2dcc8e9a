//! The rows that the suites of this folder go through: all of the product's, each in full. The crate of papers has a module
//! of this name for the same suites.

use vesica_mpc::tasks::{RandomOneOfNOt, RandomOt};
use vesica_party::Registered;
use vesica_party::fuzzing::AnyMessage;
use vesica_party::variants::with_variants;
pub(crate) use vesica_protocols::registry::*;
use vesica_protocols::tasks::Shares;
use vesica_testkit::Trials;

/// The messages of all rows that the suites go through.
pub(crate) fn all_messages() -> impl Iterator<Item = &'static AnyMessage> {
    messages()
}

/// The rows for shares that are known here, with all variants.
pub(crate) fn all_shares() -> Vec<&'static dyn Registered<Shares>> {
    with_variants(shares().iter().copied()).collect()
}

/// The OTs of the product have suites of their own, in `mpc`.
pub(crate) fn random_ot() -> &'static [&'static dyn Registered<RandomOt>] {
    &[]
}

/// The same for tables.
pub(crate) fn random_tables() -> &'static [&'static dyn Registered<RandomOneOfNOt>] {
    &[]
}

/// Trials in which every row is tried in full.
pub(crate) fn trials_of(suite: &'static str) -> Trials {
    Trials::in_full_of(suite)
}
