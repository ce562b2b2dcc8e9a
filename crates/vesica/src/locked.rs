//! Waiting for a lock of a file.

use std::fs::File;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::failure::Failure;
use crate::session::Events;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a run waits for a lock without a word.
const QUIET: Duration = Duration::from_secs(1);

/// How a run waits for what another process holds.
#[expect(missing_debug_implementations, reason = "it has two callbacks, and nothing to show")]
pub struct Wait<'a> {
    /// Asked again and again whether the run goes on.
    pub goes_on: &'a dyn Fn() -> Result<(), Failure>,
    /// Hears once what the run waits for, if that takes longer than a second.
    pub events: &'a dyn Events,
}

impl Wait<'_> {
    /// Takes the lock of a file like [`take`]. `held` is what there is to be said of who holds it.
    ///
    /// # Errors
    /// As of [`take`].
    pub fn take(&self, file: &File, held: impl Fn() -> String) -> Result<io::Result<()>, Failure> {
        let (since, mut is_told) = (Instant::now(), false);
        take(file, || {
            if since.elapsed() >= QUIET && !std::mem::replace(&mut is_told, true) {
                self.events.notice(&held());
            }
            (self.goes_on)()
        })
    }
}

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
