//! What a row assumes is what its parts assume.

use std::collections::BTreeSet;

use vesica_mpc::ot_extension::OFFSET_SEARCH;
use vesica_mpc::silent::EXPANDER_LPN;
use vesica_party::{CostClass, Entry, Security, Status};
use vesica_testkit::{Runnable, Transcript, Trials, Use, also_in_use, transcript_of};

use crate::inputs::{Example, Suite};

/// Enough items for vectors that are made by trees and the code, in a row that makes any.
fn items(entry: &Entry) -> usize {
    // Shares that come from lattices are tested for equality on few bits.
    if entry.cost == CostClass::Lattice { 1 << 14 } else { 1 << 12 }
}

/// Whether the seed of a code was sent: step 5 of silent VOLE.
fn uses_the_expander(transcript: &Transcript) -> bool {
    !transcript.of("silent-vole", 5).is_empty()
}

/// Rows in which what they send is held against what their entries say.
struct Assumed {
    trials: Trials,
    /// Modes that were seen to use the code.
    using: usize,
}

impl Suite for Assumed {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        let using = &mut self.using;
        let rows = self.trials.in_full(rows);
        self.trials.modes(&rows, |row, mode| {
            let (request, sent, asked) = T::example(row, mode.security, [items(row.entry()); 2], 20, 2);
            let uses = uses_the_expander(&transcript_of(row, &request, sent, asked));
            let says = mode.assumptions.contains(&EXPANDER_LPN);
            assert_eq!(says, uses, "the code is used: {uses}; the entry says so: {says}");
            assert!(
                mode.assumptions.contains(&OFFSET_SEARCH) || !uses,
                "the entry does not say what a search for the offset takes"
            );
            *using += usize::from(uses);
        });
    }
}

/// From what rows send, not from what they are called.
#[test]
fn what_stands_on_the_expander_says_so_in_every_mode() {
    let mut suite = Assumed { trials: Trials::of("assumptions"), using: 0 };
    suite.all();
    assert!(suite.using >= 10 || suite.trials.are_chosen(), "{} modes were seen to use the code", suite.using);
    suite.trials.end();
}

/// For each task and mode whose recommended rows all stand on the expander: the sound rows that do not,
/// or else the variants.
#[derive(Default)]
struct WithoutIt(BTreeSet<&'static str>);

impl Suite for WithoutIt {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        for security in [Security::SemiHonest, Security::Malicious] {
            let is_without = |entry: &&Entry| {
                entry.mode(security).is_some_and(|mode| !mode.assumptions.contains(&EXPANDER_LPN))
                    && entry.broken().is_none()
            };
            let without: Vec<&'static Entry> = rows.iter().map(|row| row.entry()).filter(is_without).collect();
            let (variants, rows): (Vec<&Entry>, Vec<&Entry>) =
                without.into_iter().partition(|entry| entry.is_variant());
            if rows.iter().all(|entry| entry.status != Status::Recommended) {
                self.0.extend(if rows.is_empty() { variants } else { rows }.into_iter().map(|entry| entry.id));
            }
        }
    }
}

#[test]
fn what_a_user_takes_who_does_without_the_expander_is_tried_in_full() {
    let mut without = WithoutIt::default();
    without.all();
    assert_eq!(without.0, also_in_use(Use::OtherAssumption).iter().copied().collect());
}
