//! What each row sends for fixed seeds and inputs, against files in the tree, and in how many
//! rounds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use vesica_party::transport::memory;
use vesica_party::{ChannelOptions, Mode};
use vesica_testkit::{
    Runnable, Transcript, Trials, assert_all_listed, conformance_of, golden, options, run_counted, transcript_of,
};

use crate::inputs::{Example, Suite};

/// The folder of the files.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The name of a row's or variant's file in a mode, without the characters that some file systems
/// refuse.
fn file_name(id: &str, mode: &Mode) -> String {
    format!("{}.{}.txt", id.replace([':', ','], "."), mode.security)
}

struct Golden {
    trials: Trials,
    files: BTreeSet<String>,
}

impl Suite for Golden {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        let files = &mut self.files;
        files.extend(rows.iter().flat_map(|row| row.entry().modes.iter().map(|mode| file_name(row.entry().id, mode))));
        self.trials.modes(rows, |row, mode| {
            let (request, sent, asked) = T::example(row, mode.security, [60, 50], 20, 2);
            let file = folder().join(file_name(row.entry().id, mode));
            assert_listed(&transcript_of(row, &request, sent.clone(), asked.clone()));
            // What depends on sizes goes by the widths of tests and by whether trees make a vector.
            let rounds = [[60, 50], [300, 300], [5000, 5000]].map(|sizes| {
                let (request, sent, asked) = T::example(row, mode.security, sizes, 20, 2);
                conformance_of(row, &request, sent, asked).rounds
            });
            let [at_first, ..] = rounds;
            assert_eq!(golden(file, row, &request, sent, asked), at_first, "rounds of two runs on the same inputs");
            let (least, most) = (rounds.iter().min(), rounds.iter().max());
            assert_eq!(
                least,
                Some(&mode.rounds.least),
                "runs take {rounds:?} rounds, and the entry says {}",
                mode.rounds
            );
            assert!(most <= Some(&mode.rounds.most), "runs take {rounds:?} rounds, and the entry says {}", mode.rounds);
        });
    }
}

#[test]
fn transcripts_and_rounds_are_those_in_the_tree() {
    let mut suite = Golden { trials: Trials::of("golden"), files: BTreeSet::new() };
    suite.all();
    suite.trials.end();
    let names =
        std::fs::read_dir(folder()).expect("the folder of golden files").map(|file| file.expect("a file").file_name());
    let files: BTreeSet<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(files, suite.files, "one file for each mode of each row and variant, and none that no row writes");
}

/// The upper ends of the entries' rounds, where they depend on sizes.
struct Largest(Trials);

impl Suite for Largest {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        let depends_on_sizes = |_: Runnable<T>, mode: &Mode| mode.rounds.least < mode.rounds.most;
        self.0.modes_where(rows, depends_on_sizes, |row, mode| {
            let (request, sent, asked) = T::example(row, mode.security, [1 << 20; 2], 1 << 19, 2);
            let options = ChannelOptions { deadline: None, ..options() };
            let (_, rounds) = run_counted(memory::pair(), options, row, &request, sent, asked);
            assert_eq!(rounds, Some(mode.rounds.most), "the entry says {}", mode.rounds);
        });
    }
}

#[test]
#[ignore = "runs at 2^20 items take minutes; cargo test --release --locked --workspace --test all -- --ignored rounds"]
fn rounds_at_a_million_are_the_most() {
    let mut suite = Largest(Trials::of("rounds at 2^20"));
    suite.all();
    suite.0.end();
}

#[test]
fn every_message_is_in_the_list() {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_all_listed(source, vesica_protocols::registry::messages());
}

/// Whatever is sent as a message is known to the list; what implements messages in other ways than
/// the list's test looks for shows here.
fn assert_listed(transcript: &Transcript) {
    let listed: BTreeSet<(u16, u8)> = vesica_mpc::registry::messages()
        .chain(vesica_protocols::registry::messages())
        .map(|message| (message.step.tag(), message.step.number))
        .collect();
    let unlisted: Vec<_> = transcript.arrows(false).difference(&listed).copied().collect();
    assert!(unlisted.is_empty(), "messages (tag, step) that no list has: {unlisted:?}");
}
