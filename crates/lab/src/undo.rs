//! What a benchmark leaves on the machine while it runs: folders, processes, network namespaces. A
//! [`Guard`] takes such a thing away when it is dropped, and [`undo_all`] takes away all of them when
//! a signal ends the process.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How one thing is taken away. Failures are not told: what is gone already needs nothing more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    /// Kills all processes of a group. Its leader must not have been waited for yet, so that the
    /// number is still its own.
    KillGroup(Pid),
    /// Kills a process, which must not have been waited for yet.
    KillProcess(Pid),
    /// Removes a network namespace. The processes in it go on, without that name for it.
    RemoveNamespace(String),
    /// Removes a folder with all that is in it.
    RemoveFolder(PathBuf),
}

impl Undo {
    fn run(&self) {
        match self {
            Self::KillGroup(leader) => _ = kill_process_group(*leader, Signal::KILL),
            Self::KillProcess(process) => _ = kill_process(*process, Signal::KILL),
            Self::RemoveNamespace(name) => {
                let mut command = Command::new("ip");
                command.args(["netns", "del", name]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                let _ = command.status();
            }
            Self::RemoveFolder(path) => _ = fs::remove_dir_all(path),
        }
    }
}

/// What is to be taken away, by number: the oldest first.
static PENDING: Mutex<Vec<(u64, Undo)>> = Mutex::new(Vec::new());

fn pending() -> MutexGuard<'static, Vec<(u64, Undo)>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a thing away when it is dropped.
#[derive(Debug)]
pub(crate) struct Guard(u64);

impl Guard {
    pub(crate) fn new(undo: Undo) -> Self {
        let mut pending = pending();
        let number = pending.last().map_or(0, |(last, _)| last + 1);
        pending.push((number, undo));
        Self(number)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The list stays locked meanwhile: a signal does not end the process in between.
        let mut pending = pending();
        if let Some(place) = pending.iter().position(|(number, _)| *number == self.0) {
            pending.remove(place).1.run();
        }
    }
}

/// Takes away all that running benchmarks of this process have left on the machine, the newest first:
/// for the moment before a signal ends the process. Nothing new is started afterwards, since the list
/// stays locked: call it last.
pub fn undo_all() {
    let mut pending = pending();
    while let Some((_, undo)) = pending.pop() {
        undo.run();
    }
    std::mem::forget(pending);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_guard() {
        let path = std::env::temp_dir().join(format!("vesica-undo-{}", std::process::id()));
        fs::create_dir_all(path.join("inner")).expect("a folder");
        let guard = Guard::new(Undo::RemoveFolder(path.clone()));
        assert!(path.exists());
        drop(guard);
        assert!(!path.exists() && !pending().iter().any(|(_, undo)| *undo == Undo::RemoveFolder(path.clone())));
    }
}
