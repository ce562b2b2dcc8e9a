//! Threads: how many compute, and whether the system gives those that a run takes.
//!
//! A process is one party, and its pool is rayon's global one. Protocols hand loops over to it and
//! keep every call of a channel on the thread that runs them, so that no worker of the pool ever
//! waits for the peer; forks on threads of their own meet the same pool.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use vesica_party::transport::Connection;
use vesica_party::{Abort, Channel, ChannelOptions, Role};
use vesica_structures::facts::Unsupported;

use crate::failure::{Failure, code};
use crate::memory;

/// Threads of a run beside those that compute: they wait for signals, read the input, show progress, greet
/// who connects, and read and write the connection. The others are to spare, for what is started late
/// and for a measured link.
const BESIDE: usize = 9;

/// Looks whether the system lets this process have what the smallest run takes, before anything is
/// begun: a process whose allocation is refused is aborted.
///
/// # Errors
/// If it does not, with the limit.
pub fn admit() -> Result<(), Failure> {
    Ok(startable(BESIDE, 1).map(drop)?)
}

/// From now on `wanted` threads of this process compute, by default one a core; fewer where the system
/// gives fewer. What is computed does not depend on it.
///
/// # Errors
/// As [`admit`] does, and if something was computed already on another number of threads.
pub fn set(wanted: Option<NonZeroUsize>) -> Result<(), Failure> {
    build(wanted, BESIDE)
}

/// [`set`] for what has neither a partner nor a user who says how many threads compute.
///
/// # Errors
/// As [`admit`] does.
pub fn set_alone() -> Result<(), Failure> {
    build(None, 0)
}

fn build(wanted: Option<NonZeroUsize>, beside: usize) -> Result<(), Failure> {
    let count = startable(beside, wanted.map_or_else(by_default, NonZeroUsize::get))?;
    // The first failure to build rayon's pool is the last word, so that threads were tried before.
    let Err(_) = rayon::ThreadPoolBuilder::new().num_threads(count).build_global() else { return Ok(()) };
    match (wanted, self::count()) {
        (Some(wanted), set) if set != wanted.get() && set != count => Err(Failure::new(
            code::REFUSED,
            format_args!("cannot compute on {wanted} threads, since this process does on {set}"),
            "give a smaller number to --threads, the same one in all runs of a process, or none",
        )),
        _ => Ok(()),
    }
}

/// How many threads compute.
pub fn count() -> usize {
    rayon::current_num_threads()
}

/// Starts a thread. Nobody waits for its end.
///
/// # Errors
/// If the system gives no thread.
pub fn start(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    thread::Builder::new().name(name.into()).spawn(body).map(drop).map_err(|error| no_thread(&error).into())
}

/// A pool of its own, for one of several parties in a process.
///
/// # Errors
/// If the system does not give that many threads.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, Unsupported> {
    let number = startable(BESIDE, threads)?;
    if number < threads {
        return Err(no_thread(&io::ErrorKind::WouldBlock.into()));
    }
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| no_thread(&io::Error::other(error)))
}

/// Opens a channel, of which nothing fails but the start of its threads.
///
/// # Errors
/// If the system gives no threads.
pub fn open_channel(connection: Connection, role: Role, options: ChannelOptions) -> Result<Channel, Unsupported> {
    Channel::open(connection, role, options).map_err(|abort| match abort {
        Abort::Link(error) => no_thread(&error),
        other => no_thread(&io::Error::other(other)),
    })
}

/// What to tell where the system starts no more threads.
pub fn no_thread(error: &io::Error) -> Unsupported {
    Unsupported::new(
        format_args!("the system starts no more threads or processes here: {error}"),
        "raise the limit on them (`ulimit -u`, pids.max of a control group, TasksMax of a systemd unit, the limit on \
         pids of a container) or on address space (`ulimit -v`)",
    )
}

/// As many threads as rayon would take.
fn by_default() -> usize {
    let set = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
    set.filter(|&number| number > 0).or_else(|| thread::available_parallelism().ok().map(Into::into)).unwrap_or(1)
}

/// How many of `wanted` threads that compute can be started with those `beside` them, and the least
/// address space is left.
fn startable(beside: usize, wanted: usize) -> Result<usize, Unsupported> {
    memory::check_limits(memory::LEAST)?;
    let (number, refusal) = started(beside.saturating_add(wanted));
    if let (true, Some(error)) = (number <= beside, refusal) {
        let Unsupported { mend, .. } = no_thread(&error);
        let fault = format_args!("this process may start {number} more threads, and needs {} ({error})", beside + 1);
        return Err(Unsupported::new(fault, mend));
    }
    // Threads that come later have the stacks of these, and the C library's arenas: 64 MiB each.
    memory::check_limits(memory::LEAST)?;
    Ok(number.saturating_sub(beside).max(1))
}

/// How many threads that allocate, up to `most`, there can be at once now, and why there are no more.
fn started(most: usize) -> (usize, Option<io::Error>) {
    let gate = Mutex::new(());
    let mut refusal = None;
    let mut folders = Vec::new();
    let number = thread::scope(|scope| {
        // Each thread waits until the last one was tried.
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let start = |_: &usize| {
            let (say, allocated) = mpsc::channel();
            let gate = &gate;
            let wait = move || {
                // The first allocation of a thread has the C library make its arena.
                let _ = say.send(fs::read_link("/proc/thread-self").ok());
                drop(gate.lock().unwrap_or_else(PoisonError::into_inner));
            };
            let started = thread::Builder::new().spawn_scoped(scope, wait).map_err(|error| refusal = Some(error));
            // A thread that cannot say so has allocated all the same.
            folders.extend(started.ok().map(|_| allocated.recv().ok().flatten()));
            refusal.is_none()
        };
        (0..most).take_while(start).count()
    });
    wait_until_gone(folders.into_iter().flatten());
    (number, refusal)
}

/// Waits until the system has forgotten threads that were joined: it counts each for a moment longer. `folders` are
/// those below `/proc`.
fn wait_until_gone(folders: impl Iterator<Item = PathBuf>) {
    let mut moments = 100;
    for folder in folders {
        let folder = Path::new("/proc").join(folder);
        while folder.exists() && moments > 0 {
            thread::sleep(Duration::from_millis(1));
            moments -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_tried_all_at_once() {
        assert!(matches!(started(5), (5, None)));
        admit().expect("a machine for tests");
    }

    #[test]
    fn a_thread_that_is_refused_names_the_limit() {
        let failure = Failure::from(no_thread(&io::ErrorKind::WouldBlock.into()));
        assert_eq!(failure.code, code::REFUSED);
        assert!(failure.mend.contains("ulimit -u") && failure.mend.contains("pids.max"), "{failure}");
    }
}
