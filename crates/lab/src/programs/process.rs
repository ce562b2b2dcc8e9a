//! One process of a program, with all that it starts: watched, and killed at the end.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::clock;
use crate::undo::{Guard, Undo};

/// Looks at the process between two looks at its descendants, which cost more.
const LOOKS_PER_TREE: u32 = 10;

/// Bytes at the end of what a process said that are read to explain a failure.
const TOLD_BYTES: u64 = 2048;

/// Lines of these that are told.
const TOLD_LINES: usize = 5;

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// Its status.
    pub status: ExitStatus,
    /// When it ended, by the machine's monotonic clock.
    pub seconds: f64,
    /// Processor seconds of all of its threads, and of its children that it waited for.
    pub cpu_seconds: f64,
    /// Peak memory, bytes: of the process alone (VmHWM), or of it and its descendants together, as
    /// far as a look saw them; whatever is more.
    pub peak_rss: u64,
}

/// A process that runs, or has ended. It leads a group of its own, which is killed once the process
/// has ended, or when this is dropped.
pub(super) struct Process {
    child: Child,
    id: Pid,
    /// Dropped before the child is waited for, while its number is still its own.
    group: Option<Guard>,
    log: PathBuf,
    looks: u32,
    peak_rss: u64,
    end: Option<End>,
}

impl Process {
    /// Starts `command` with nothing to read; what it says goes to the file `log`.
    pub(super) fn start(mut command: Command, folder: &Path, log: PathBuf) -> io::Result<Self> {
        let said = File::create(&log)?;
        command.current_dir(folder).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said).process_group(0);
        let child = command.spawn()?;
        let id = Pid::from_child(&child);
        let group = Some(Guard::new(Undo::KillGroup(id)));
        Ok(Self { child, id, group, log, looks: 0, peak_rss: 0, end: None })
    }

    /// Looks whether the process has ended, and how much memory it takes.
    pub(super) fn look(&mut self) -> io::Result<Option<End>> {
        if self.end.is_some() {
            return Ok(self.end);
        }
        let process = self.child.id().to_string();
        let mut memory = clock::peak_memory(&process);
        if self.looks.is_multiple_of(LOOKS_PER_TREE) {
            memory = memory.max(clock::tree_memory(&process));
        }
        self.looks = self.looks.wrapping_add(1);
        self.peak_rss = self.peak_rss.max(memory);
        // The process stays a zombie meanwhile, which says what processor time it took.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if waitid(WaitId::Pid(self.id), options)?.is_none() {
            return Ok(None);
        }
        let seconds = clock::monotonic();
        let cpu_seconds = clock::processor_of(&process);
        drop(self.group.take());
        let status = self.child.wait()?;
        self.end = Some(End { status, seconds, cpu_seconds, peak_rss: self.peak_rss });
        Ok(self.end)
    }

    /// The last lines that the process said, on one line.
    pub(super) fn last_words(&self) -> String {
        let tail = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.log)?;
            let from = fs::metadata(&self.log)?.len().saturating_sub(TOLD_BYTES);
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            file.take(TOLD_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let text = String::from_utf8_lossy(&tail().unwrap_or_default()).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(TOLD_LINES)..).unwrap_or_default();
        last.join(" / ").chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.group.take());
        // Fails for a process that has been waited for.
        let _ = self.child.wait();
    }
}
