//! What each row sends for fixed seeds and inputs, against files in the tree, and in how many
//! rounds.

use std::path::PathBuf;

use vesica_mpc::registry::messages;
use vesica_mpc::tasks::RandomOt;
use vesica_party::{CostClass, Task};
use vesica_testkit::{Goldens, Runnable, Trials, assert_all_listed, most_rounds};

use crate::examples::{Example, Suite};

impl Suite for Goldens {
    fn rows<T: Example>(&mut self, rows: &'static [Runnable<T>]) {
        self.check(rows, |row, security| {
            // What depends on sizes goes by the widths of tests and by whether trees make a vector.
            let is_costly = match row.entry().cost {
                CostClass::GroupOperations => true,
                CostClass::Lattice => row.entry().task == RandomOt::NAME,
                _ => false,
            };
            let many = if is_costly { 1000 } else { 20_000 };
            [20, 300, many].map(|len| T::example(security, len))
        });
    }
}

#[test]
fn transcripts_and_rounds_are_those_in_the_tree() {
    let mut suite =
        Goldens::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"), Trials::of("golden"), messages());
    suite.all();
    suite.end();
}

/// The upper ends of the entries' rounds, where they depend on sizes.
struct Largest(Trials);

impl Suite for Largest {
    fn rows<T: Example>(&mut self, rows: &'static [Runnable<T>]) {
        most_rounds(&mut self.0, rows, |_, security| T::example(security, 1 << 20));
    }
}

#[test]
#[ignore = "runs at 2^20 take minutes; cargo test --release --locked --workspace --test all -- --ignored rounds"]
fn rounds_at_a_million_are_the_most() {
    let mut suite = Largest(Trials::of("rounds at 2^20"));
    suite.all();
    suite.0.end();
}

#[test]
fn every_message_is_in_the_list() {
    assert_all_listed(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"), messages());
}
