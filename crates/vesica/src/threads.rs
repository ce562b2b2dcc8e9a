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
/// If something was computed already, or the system does not give that many threads.
pub fn set(threads: NonZeroUsize) -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global().map_err(|error| {
        Failure::new(
            code::INTERNAL,
            format_args!("cannot compute on {threads} threads: {error}"),
            "give a smaller number to --threads, or omit it",
        )
    })
}

/// How many threads compute.
pub fn count() -> usize {
    rayon::current_num_threads()
}
