//! Golden transcripts: what each side sent, as a text file in the tree.
//!
//! A golden test fails when a protocol's messages change although its seeds, inputs and parameters
//! did not. If the change is meant, run the test once with `VESICA_BLESS=1` in the environment; it
//! writes the file anew, and the difference is reviewed with the change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use vesica_party::transport::Connection;
use vesica_party::wire::Kind;
use vesica_party::{Role, Step, Task};

use crate::conformance::{Run, Runnable, conformance_over};
use crate::tap::{Frame, Hook, Passed, tap};

/// Environment variable that has golden files written instead of compared.
pub const BLESS: &str = "VESICA_BLESS";

/// What both sides sent, message by message. A streamed message is one entry, however it was cut.
#[derive(Clone, Default)]
pub struct Transcript(BTreeMap<(Speaker, Vec<u16>), Vec<Entry>>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Speaker {
    Sender,
    Receiver,
}

#[derive(Clone)]
struct Entry {
    tag: u16,
    step: u8,
    streamed: bool,
    body: Vec<u8>,
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((speaker, path), entries) in &self.0 {
            let speaker = match speaker {
                Speaker::Sender => Role::Sender,
                Speaker::Receiver => Role::Receiver,
            };
            writeln!(f, "{speaker}, fork {path:?}")?;
            for entry in entries {
                let kind = if entry.streamed { "stream" } else { "message" };
                let hash = blake3::hash(&entry.body).to_hex();
                writeln!(
                    f,
                    "  tag {:#06x} step {} {kind} of {} bytes {}",
                    entry.tag,
                    entry.step,
                    entry.body.len(),
                    &hash[..32]
                )?;
            }
        }
        Ok(())
    }
}

impl Transcript {
    fn add(&mut self, speaker: Speaker, path: &[u16], frame: &Frame) {
        let streamed = frame.header.kind == Kind::Chunk;
        let entries = self.0.entry((speaker, path.to_vec())).or_default();
        let (tag, step) = (frame.header.tag, frame.header.step);
        let last = entries.last_mut().filter(|last| streamed && last.streamed && (last.tag, last.step) == (tag, step));
        let entry = match last {
            Some(entry) => entry,
            None => {
                entries.push(Entry { tag, step, streamed, body: Vec::new() });
                let end = entries.len() - 1;
                &mut entries[end]
            }
        };
        entry.body.extend_from_slice(&frame.body);
    }

    /// How many messages there are.
    pub fn messages(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// The arrows that messages were seen of, those of streams `streamed` or those of frames: tag
    /// and number of their steps.
    pub fn arrows(&self, streamed: bool) -> BTreeSet<(u16, u8)> {
        self.0
            .values()
            .flatten()
            .filter(|entry| entry.streamed == streamed)
            .map(|entry| (entry.tag, entry.step))
            .collect()
    }

    /// All that was said in this step of `protocol`, by whomever.
    pub fn of(&self, protocol: &'static str, step: u8) -> Vec<u8> {
        let tag = Step { protocol, number: step, from: Role::Sender, carries: "" }.tag();
        let entries = self.0.values().flatten().filter(|entry| (entry.tag, entry.step) == (tag, step));
        entries.flat_map(|entry| &entry.body).copied().collect()
    }
}

/// Has all that is sent over a pair of connections (the sender's end first) recorded.
pub fn record((sender, receiver): (Connection, Connection)) -> ((Connection, Connection), Recording) {
    let recording = Recording::default();
    let hook = |speaker| Recorder { speaker, paths: vec![Vec::new()], recording: recording.clone() };
    ((tap(sender, hook(Speaker::Sender)), tap(receiver, hook(Speaker::Receiver))), recording)
}

/// A transcript in the making.
#[derive(Clone, Default)]
pub struct Recording(Arc<Mutex<Transcript>>);

impl Recording {
    /// What was sent so far.
    pub fn transcript(&self) -> Transcript {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Recorder {
    speaker: Speaker,
    /// The speaker's number of a fork -> indices from the root to it.
    paths: Vec<Vec<u16>>,
    recording: Recording,
}

impl Hook for Recorder {
    fn pass(&mut self, frame: Frame) -> Passed {
        match frame.header.kind {
            Kind::Open => {
                let field = |at: usize| u16::from_le_bytes([frame.body[at], frame.body[at + 1]]);
                let mut path = self.paths[usize::from(field(0))].clone();
                path.push(field(2));
                self.paths.push(path);
            }
            Kind::Message | Kind::Chunk => {
                let mut transcript = self.recording.0.lock().unwrap_or_else(PoisonError::into_inner);
                transcript.add(self.speaker, &self.paths[usize::from(frame.header.fork)], &frame);
            }
            _ => {}
        }
        Passed::Bytes(frame.to_bytes())
    }
}

/// What is sent in a run with the harness's seeds.
///
/// # Panics
/// If the run fails, or does not conform.
pub fn transcript_of<T: Task>(
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
) -> Transcript {
    recorded_run(protocol, request, sender_input, receiver_input).0
}

/// What is sent in a conforming run with the harness's seeds, and the run.
///
/// # Panics
/// If the run fails, or does not conform.
pub(crate) fn recorded_run<T: Task>(
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
) -> (Transcript, Run<T>) {
    let (ends, recording) = record(vesica_party::transport::memory::pair());
    let run = conformance_over(ends, protocol, request, sender_input, receiver_input);
    (recording.transcript(), run)
}

/// Checks that bytes take all values about equally often.
///
/// # Panics
/// If they do not, with a probability of about 2^-24 where they are random, or if they are fewer
/// than 1280.
pub fn assert_uniform(bytes: &[u8], what: &str) {
    assert!(bytes.len() >= 5 * 256, "{what}: {} bytes say nothing", bytes.len());
    let mut counts = [0usize; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let mean = bytes.len() as f64 / 256.0;
    let chi_squared: f64 = counts.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum();
    // 255 degrees of freedom: a mean of 255 and a deviation of 23.
    assert!((115.0..395.0).contains(&chi_squared), "{what}: {chi_squared}");
}

/// Runs a protocol with the harness's seeds and compares what was sent with the golden file at
/// `path`.
///
/// # Panics
/// If the run fails or does not conform, or the transcript differs from the file (unless
/// `VESICA_BLESS` is set, which writes the file).
pub fn golden<T: Task>(
    path: impl AsRef<Path>,
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
) {
    check_golden(path, &transcript_of(protocol, request, sender_input, receiver_input));
}

/// Compares a transcript with the golden file at `path`.
///
/// # Panics
/// If they differ (unless `VESICA_BLESS` is set, which writes the file), or the file cannot be read
/// or written.
pub fn check_golden(path: impl AsRef<Path>, transcript: &Transcript) {
    let path = path.as_ref();
    let now = transcript.to_string();
    if std::env::var_os(BLESS).is_some() {
        let folder = path.parent().expect("a golden file lies in a folder");
        fs::create_dir_all(folder).unwrap_or_else(|fault| panic!("cannot make {}: {fault}", folder.display()));
        fs::write(path, now).unwrap_or_else(|fault| panic!("cannot write {}: {fault}", path.display()));
        return;
    }
    let golden = fs::read_to_string(path)
        .unwrap_or_else(|fault| panic!("cannot read the golden file {}: {fault}; {BLESS}=1 writes it", path.display()));
    let difference = golden.lines().zip(now.lines()).find(|(was, is)| was != is);
    match difference {
        Some((was, is)) => {
            panic!("{} differs; if that is meant, run with {BLESS}=1\n  was: {was}\n  is:  {is}", path.display())
        }
        None => assert_eq!(golden, now, "{} differs in length; if that is meant, run with {BLESS}=1", path.display()),
    }
}
