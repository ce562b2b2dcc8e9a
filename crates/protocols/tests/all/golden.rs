//! What each row sends for fixed seeds and inputs, against files in the tree, and in how many
//! rounds.

use std::path::PathBuf;

use vesica_party::variants::{resolve, with_variants};
use vesica_testkit::{Goldens, Runnable, Trials, assert_all_listed, most_rounds};

use crate::inputs::{Example, Suite};
use crate::registry;
use crate::registry::trials_of;

/// Combinations of values whose bytes are compared with files.
const COMBINED: [&str; 2] = ["rs21:okvs=band,tags=sorted", "rr22:okvs=band,tags=sorted"];

impl Suite for Goldens {
    fn every<T: Example>(rows: &[Runnable<T>]) -> Vec<Runnable<T>> {
        let combined = COMBINED.into_iter().filter_map(|name| resolve(rows.iter().copied(), name).ok().flatten());
        with_variants(rows.iter().copied()).chain(combined).collect()
    }

    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        self.check(rows, |row, security| {
            // What depends on sizes goes by the widths of tests and by whether trees make a vector.
            [[60, 50], [300, 300], [5000, 5000]].map(|sizes| T::example(row, security, sizes, 20, 2))
        });
    }
}

#[test]
fn transcripts_and_rounds_are_those_in_the_tree() {
    let listed = vesica_mpc::registry::messages().chain(registry::all_messages());
    let mut suite = Goldens::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"), trials_of("golden"), listed);
    suite.all();
    suite.end();
}

/// The upper ends of the entries' rounds, where they depend on sizes.
struct Largest(Trials);

impl Suite for Largest {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        most_rounds(&mut self.0, rows, |row, security| T::example(row, security, [1 << 20; 2], 1 << 19, 2));
    }
}

#[test]
#[ignore = "runs at 2^20 items take minutes; cargo test --release --locked --workspace --test all -- --ignored rounds"]
fn rounds_at_a_million_are_the_most() {
    let mut suite = Largest(trials_of("rounds at 2^20"));
    suite.all();
    suite.0.end();
}

#[test]
fn every_message_is_in_the_list() {
    assert_all_listed(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"), registry::messages());
}
