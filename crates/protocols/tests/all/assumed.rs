//! What a row assumes is what its parts assume.

use vesica_mpc::ot_extension::OFFSET_SEARCH;
use vesica_mpc::silent::EXPANDER_LPN;
use vesica_party::{CostClass, Entry};
use vesica_testkit::{Runnable, Transcript, Trials, transcript_of};

use crate::inputs::{Example, Suite};
use crate::registry::trials_of;

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
    let mut suite = Assumed { trials: trials_of("assumptions"), using: 0 };
    suite.all();
    let tried = suite.trials.ran();
    assert!(suite.using >= 10 || tried < 20, "{} modes of {tried} were seen to use the code", suite.using);
    suite.trials.end();
}
