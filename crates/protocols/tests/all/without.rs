//! Which rows a user takes who does without the assumption of our own code for silent VOLE.

use std::collections::BTreeMap;

use vesica_mpc::silent::EXPANDER_LPN;
use vesica_party::{Entry, Security};
use vesica_testkit::Runnable;

use crate::inputs::{Example, Suite};

/// For each task and mode, the rows that do not stand on the expander, or else the variants.
#[derive(Default)]
struct WithoutIt(BTreeMap<(&'static str, &'static str), Vec<&'static str>>);

impl Suite for WithoutIt {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        for (security, name) in [(Security::SemiHonest, "semi-honest"), (Security::Malicious, "malicious")] {
            let modes = rows.iter().filter(|row| row.entry().mode(security).is_some());
            let is_without =
                |entry: &&Entry| entry.mode(security).is_some_and(|mode| !mode.assumptions.contains(&EXPANDER_LPN));
            let without: Vec<&'static Entry> = modes.clone().map(|row| row.entry()).filter(is_without).collect();
            let (variants, own): (Vec<&Entry>, Vec<&Entry>) = without.into_iter().partition(|entry| entry.is_variant());
            if modes.count() > 0 {
                let ids = if own.is_empty() { variants } else { own }.into_iter().map(|entry| entry.id).collect();
                self.0.insert((T::NAME, name), ids);
            }
        }
    }
}

/// The rule of the registry: there is one in every task and mode, where the field has one.
#[test]
fn every_task_and_mode_has_a_row_without_the_expander() {
    let mut without = WithoutIt::default();
    without.all();
    let expected: &[((&str, &str), &[&str])] = &[
        (("cardinality", "semi-honest"), &["czz24-cardinality", "ecdh-ca-cgt12"]),
        (("intersect", "malicious"), &["oprf-rfc9497", "prty20"]),
        (
            ("intersect", "semi-honest"),
            &["ecdh-hfh99", "oprf-rfc9497", "oprf-pir", "oprf-buckets", "cm25-select", "cmdg21", "prty20"],
        ),
        // No paper has one.
        (("join-and-compute", "semi-honest"), &[]),
        (("shares", "semi-honest"), &["psty19:ot=softspoken"]),
        (("sum", "semi-honest"), &["czz24-sum"]),
        (("union", "semi-honest"), &["czz24-union"]),
        (("union-cardinality", "semi-honest"), &["czz24-union-cardinality"]),
        (("union-sum", "semi-honest"), &["czz24-union-sum"]),
    ];
    assert_eq!(without.0, expected.iter().map(|(key, ids)| (*key, ids.to_vec())).collect());
}
