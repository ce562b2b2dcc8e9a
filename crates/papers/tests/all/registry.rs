//! The rows that the suites of the product's crate go through here: those of papers, one size of each, or all of it with
//! `VESICA_SUITE=whole`.

pub(crate) use vesica_papers::registry::*;
use vesica_party::Registered;
use vesica_party::fuzzing::AnyMessage;
use vesica_party::variants::with_variants;
use vesica_protocols::registry as product;
use vesica_protocols::tasks::{Intersect, Shares};
use vesica_testkit::Trials;

/// Trials in which a row is tried at one size, or in full in the nightly run.
pub(crate) fn trials_of(suite: &'static str) -> Trials {
    Trials::of(suite)
}

/// The messages of all rows that the suites go through, variants of the product's rows among them.
pub(crate) fn all_messages() -> impl Iterator<Item = &'static AnyMessage> {
    product::messages().chain(messages())
}

/// The rows of the product and of papers, with all variants.
pub(crate) fn all_intersect() -> Vec<&'static dyn Registered<Intersect>> {
    with_variants(product::intersect().iter().chain(intersect()).copied()).collect()
}

/// The same for shares.
pub(crate) fn all_shares() -> Vec<&'static dyn Registered<Shares>> {
    with_variants(product::shares().iter().chain(shares()).copied()).collect()
}
