//! A program of others, and the folder in which it is run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use vesica_party::Security;
use vesica_structures::facts::Unsupported;

use super::adapter::{Arguments, Placeholder};
use crate::netns::RECEIVER_ADDRESS;
use crate::undo::{Guard, Undo};
use crate::{Network, Settings, executable};

/// Where all listen over loopback.
pub(super) const LOOPBACK_ADDRESS: &str = "127.0.0.1";

/// A program, and one run of it.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name: letters, digits, `.`, `_`, `+` and `-`.
    pub name: String,
    /// Its version, for the record.
    pub version: Option<String>,
    /// What is run once before the first repeat, one after the other.
    pub prepare: Vec<Arguments>,
    /// The sender's side.
    pub sender: Arguments,
    /// The receiver's side.
    pub receiver: Arguments,
    /// Rows of the sender's table.
    pub sender_items: usize,
    /// Rows of the receiver's table.
    pub receiver_items: usize,
    /// Keys in both tables.
    pub overlap: usize,
    /// The link: loopback, or namespaces.
    pub link: Network,
    /// Counted repeats.
    pub repeat: usize,
    /// No warm-up before them.
    pub cold: bool,
    /// Seconds after which a repeat is killed.
    pub timeout_seconds: f64,
}

/// What is on this machine for a program's placeholders.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The `vesica` that measures.
    pub vesica: PathBuf,
    /// The folder of the suite file.
    pub suite: PathBuf,
}

impl Program {
    /// Settings that make the tables of this run.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            overlap: Some(self.overlap),
            link: self.link,
            repeat: self.repeat,
            cold: self.cold,
            ..Settings::new("intersect", &self.name, Security::SemiHonest, self.sender_items, self.receiver_items)
        }
    }

    /// Refuses a program of which a part is not on this machine.
    ///
    /// # Errors
    /// If a list begins with a program that does not exist or may not be executed.
    pub fn find(&self, surroundings: &Surroundings) -> Result<(), Unsupported> {
        let lists = self.prepare.iter().chain([&self.sender, &self.receiver]);
        // What a preparation writes into the folder of the run is not there yet.
        for list in lists.filter(|list| !list.written.first().is_some_and(|program| program.starts_with("{work}"))) {
            let filled = list.filled(&|place| self.value(place, surroundings, &Work::default(), 0));
            let program = filled.first().map(String::as_str).unwrap_or_default();
            if !executable::exists(program) {
                return Err(Unsupported::new(
                    format!("the program {program:?} of {} does not exist here, or may not be executed", self.name),
                    "install it, or take its [[programs]] table out of the suite",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn value(&self, place: Placeholder, surroundings: &Surroundings, work: &Work, port: u16) -> String {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        match place {
            Placeholder::SenderCsv => text(&work.sender()),
            Placeholder::ReceiverCsv => text(&work.receiver()),
            Placeholder::OutputCsv => text(&work.output()),
            Placeholder::Port => port.to_string(),
            Placeholder::Address => match self.link {
                Network::Namespaces(_) => RECEIVER_ADDRESS.into(),
                Network::Loopback | Network::Lan | Network::Shaped(_) => LOOPBACK_ADDRESS.into(),
            },
            Placeholder::Work => text(&work.0),
            Placeholder::Items => self.sender_items.max(self.receiver_items).to_string(),
            Placeholder::SenderItems => self.sender_items.to_string(),
            Placeholder::ReceiverItems => self.receiver_items.to_string(),
            Placeholder::Vesica => text(&surroundings.vesica),
            Placeholder::Suite => text(&surroundings.suite),
        }
    }
}

/// The folder of a run.
#[derive(Debug, Default)]
pub(super) struct Work(pub PathBuf);

impl Work {
    /// A new folder, which is removed with the guard.
    pub fn new() -> io::Result<(Self, Guard)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("vesica-program-{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        let guard = Guard::new(Undo::RemoveFolder(path.clone()));
        Ok((Self(path), guard))
    }

    pub fn sender(&self) -> PathBuf {
        self.0.join("sender.csv")
    }

    pub fn receiver(&self) -> PathBuf {
        self.0.join("receiver.csv")
    }

    pub fn output(&self) -> PathBuf {
        self.0.join("output.csv")
    }
}
