//! What each row sends for fixed seeds and inputs, against files in the tree, and in how many rounds.

use std::path::PathBuf;

use vesica_testkit::{Runnable, Trials, golden};

use crate::examples::{Example, Suite};

struct Golden(Trials);

impl Suite for Golden {
    fn rows<T: Example>(&mut self, rows: &'static [Runnable<T>]) {
        self.0.modes(rows, |row, mode| {
            let (request, sent, asked) = T::example(mode.security, 20);
            let file = format!("tests/golden/{}.{}.txt", row.entry().id, mode.security);
            let rounds = golden(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file), row, &request, sent, asked);
            for n in [300, 20000] {
            let (request, sent, asked) = T::example(mode.security, n);
            let run = vesica_testkit::conformance_of(row, &request, sent, asked);
            println!("ROUNDS {} {} {n} {} {}", row.entry().id, mode.security, rounds, run.rounds);
            }
        });
    }
}

#[test]
fn transcripts_are_those_in_the_tree() {
    let mut suite = Golden(Trials::of("golden"));
    suite.all();
    suite.0.end();
}
