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

/// A variant resists no more than its row does, but for the one that is made for that: a value that a row gets later cannot
/// raise what it resists unseen.
#[test]
fn no_variant_resists_more_than_its_row_but_the_one_of_theorem_2() {
    let is_theorem_2 = |id: &str| id.starts_with("spot-low:") && id.contains("oracle=random");
    let mut raised = 0;
    for row in vesica_papers::registry::entries().filter(|entry| !entry.is_variant()) {
        for variant in row.combinations() {
            for mode in variant.modes {
                let own = row.mode(mode.security).expect("a mode of the row");
                let is_more = mode.corrupt_sender > own.corrupt_sender || mode.corrupt_receiver > own.corrupt_receiver;
                assert!(!is_more || is_theorem_2(variant.id), "{}", variant.id);
                assert!(mode.corrupt_receiver <= own.corrupt_receiver, "{}", variant.id);
                raised += usize::from(is_more);
            }
        }
    }
    assert!(raised > 0, "or this tests nothing");
}
