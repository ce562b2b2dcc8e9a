//! Waiting for a lock of a file.

use std::fs::File;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::failure::Failure;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Takes the lock of a file, and asks `goes_on` as long as another process holds it. Not a lock that blocks: nothing could
/// end the wait for it.
///
/// # Errors
/// If the run does not go on; inside, if there are no locks.
pub fn take(file: &File, goes_on: impl FnMut() -> Result<(), Failure>) -> Result<io::Result<()>, Failure> {
    take_as(file, FlockOperation::NonBlockingLockExclusive, goes_on)
}

/// Takes a lock like [`take`], which several processes can hold that only read the file.
///
/// # Errors
/// As of [`take`].
pub(crate) fn take_to_read(
    file: &File,
    goes_on: impl FnMut() -> Result<(), Failure>,
) -> Result<io::Result<()>, Failure> {
    take_as(file, FlockOperation::NonBlockingLockShared, goes_on)
}

/// What ends a wait for a lock after so long, with the reason that `over` gives.
pub fn no_longer_than(limit: Duration, over: impl Fn() -> Failure) -> impl Fn() -> Result<(), Failure> {
    let end = Instant::now() + limit;
    move || if Instant::now() < end { Ok(()) } else { Err(over()) }
}

fn take_as(
    file: &File,
    operation: FlockOperation,
    mut goes_on: impl FnMut() -> Result<(), Failure>,
) -> Result<io::Result<()>, Failure> {
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(Ok(())),
            Err(Errno::WOULDBLOCK | Errno::INTR) => goes_on()?,
            Err(error) => return Ok(Err(error.into())),
        }
        thread::sleep(PAUSE);
    }
}
