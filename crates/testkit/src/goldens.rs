//! The golden transcripts and rounds of a crate's whole registry.

use std::collections::BTreeSet;
use std::path::PathBuf;

use vesica_party::fuzzing::AnyMessage;
use vesica_party::transport::memory;
use vesica_party::{ChannelOptions, Mode, Security, Task};

use crate::conformance::{ExampleOf, Runnable, conformance_of, run_counted};
use crate::pair::options;
use crate::suite::Depth;
use crate::transcript::{check_golden, recorded_run};
use crate::trials::Trials;

/// A suite over a registry: one golden file for each mode of each row, and the rounds that its
/// entry states.
#[derive(Debug)]
#[must_use = "a suite fails at its end"]
pub struct Goldens {
    folder: PathBuf,
    trials: Trials,
    files: BTreeSet<String>,
    /// Tags and numbers of the steps that the lists of messages have.
    listed: BTreeSet<(u16, u8)>,
}

impl Goldens {
    /// A suite on the files of `folder`, whose rows send the `listed` messages only.
    pub fn new<'a>(folder: impl Into<PathBuf>, trials: Trials, listed: impl Iterator<Item = &'a AnyMessage>) -> Self {
        Self {
            folder: folder.into(),
            trials,
            files: BTreeSet::new(),
            listed: listed.map(|message| (message.step.tag(), message.step.number)).collect(),
        }
    }

    /// Runs each mode of each row on each of its `examples`. What the first one sends is compared
    /// with the mode's file; the others are larger, and take the rounds that depend on sizes. They
    /// are run for rows that are tried in full.
    pub fn check<T: Task>(
        &mut self,
        rows: &[Runnable<T>],
        examples: impl Fn(Runnable<T>, Security) -> [ExampleOf<T>; 3],
    ) {
        let Self { folder, trials, files, listed } = self;
        for row in rows {
            files.extend(row.entry().modes.iter().map(|mode| file_name(*row, mode)));
        }
        trials.modes_in_depth(rows, |row, mode, depth| {
            let [(request, sent, asked), larger @ ..] = examples(row, mode.security);
            let (transcript, run) = recorded_run(row, &request, sent, asked);
            // A message that `assert_all_listed` does not find in the source shows here.
            let unlisted: Vec<_> = transcript.arrows(false).difference(listed).copied().collect();
            assert!(unlisted.is_empty(), "messages (tag, step) that no list has: {unlisted:?}");
            check_golden(folder.join(file_name(row, mode)), &transcript);
            let mut rounds = vec![run.rounds];
            for (request, sent, asked) in larger.into_iter().filter(|_| depth == Depth::Full) {
                rounds.push(conformance_of(row, &request, sent, asked).rounds);
            }
            let (least, most) = (rounds.iter().min(), rounds.iter().max());
            let stated = mode.rounds;
            // The least may come with a larger example.
            let more_allowed = depth == Depth::Once && least > Some(&stated.least);
            // A variant has the modes of its protocol, but may take fewer rounds.
            let fewer_allowed = row.entry().is_variant() && least < Some(&stated.least);
            assert!(
                fewer_allowed || more_allowed || least == Some(&stated.least),
                "runs take {rounds:?} rounds, and the entry says {stated}"
            );
            assert!(most <= Some(&stated.most), "runs take {rounds:?} rounds, and the entry says {stated}");
        });
    }

    /// Ends the suite.
    ///
    /// # Panics
    /// If a trial failed, or the folder has other files than those of the rows.
    pub fn end(self) {
        self.trials.end();
        let names = std::fs::read_dir(&self.folder)
            .expect("the folder of golden files")
            .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
        assert_eq!(
            names.collect::<BTreeSet<String>>(),
            self.files,
            "one file for each mode of each row and variant, and none that no row writes"
        );
    }
}

/// The name of the golden file of a row's mode, without the characters that some file systems
/// refuse.
fn file_name<T: Task>(row: Runnable<T>, mode: &Mode) -> String {
    format!("{}.{}.txt", row.entry().id.replace([':', ','], "."), mode.security)
}

/// Runs each mode whose rounds depend on sizes on a large `example`, which has to take the most
/// rounds that the entry states.
pub fn most_rounds<T: Task>(
    trials: &mut Trials,
    rows: &[Runnable<T>],
    example: impl Fn(Runnable<T>, Security) -> ExampleOf<T>,
) {
    let depends_on_sizes = |_: Runnable<T>, mode: &Mode| mode.rounds.least < mode.rounds.most;
    trials.modes_where(rows, depends_on_sizes, |row, mode| {
        let (request, sent, asked) = example(row, mode.security);
        let options = ChannelOptions { deadline: None, ..options() };
        let (_, rounds) = run_counted(memory::pair(), options, row, &request, sent, asked);
        // A variant has the modes of its protocol, but may take fewer rounds.
        let states =
            if row.entry().is_variant() { rounds <= Some(mode.rounds.most) } else { rounds == Some(mode.rounds.most) };
        assert!(states, "{rounds:?} rounds, and the entry says {}", mode.rounds);
    });
}
