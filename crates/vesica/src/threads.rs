//! How many threads compute.
//!
//! A process is one party, and its pool is rayon's global one. Protocols hand loops over to it and
//! keep every call of a channel on the thread that runs them, so that no worker of the pool ever
//! waits for the peer; forks on threads of their own meet the same pool.

use std::num::NonZeroUsize;

use crate::failure::{Failure, code};

/// From now on `threads` threads of this process compute; by default there is one a core. What is
/// computed does not depend on it.
///
/// # Errors
/// If something was computed already on another number of threads, or the system does not give that many threads.
pub fn set(threads: NonZeroUsize) -> Result<(), Failure> {
    let Err(_) = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global() else { return Ok(()) };
    match count() {
        set if set == threads.get() => Ok(()),
        set => Err(Failure::new(
            code::REFUSED,
            format_args!("cannot compute on {threads} threads, since this process does on {set}"),
            "give a smaller number to --threads, the same one in all runs of a process, or none",
        )),
    }
}

/// How many threads compute.
pub fn count() -> usize {
    rayon::current_num_threads()
}
