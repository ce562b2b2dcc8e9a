//! The bound that the user set on the whole run.

use std::time::{Duration, Instant};

use crate::failure::{Failure, code};

/// When a run must be over, and how long the user allowed for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    allowed: Duration,
}

impl Deadline {
    /// That of a run which began at `started`; `None` without a bound, or with one that no clock
    /// reaches.
    pub fn of(deadline: Option<Duration>, started: Instant) -> Option<Self> {
        let allowed = deadline?;
        Some(Self { at: started.checked_add(allowed)?, allowed })
    }

    /// The failure of a run that is still busy with `what` when the deadline has passed.
    ///
    /// # Errors
    /// If it has.
    pub fn check(&self, what: &str) -> Result<(), Failure> {
        if Instant::now() < self.at {
            return Ok(());
        }
        Err(Failure {
            told: Some("its time limit passed before the run could start"),
            ..Failure::new(
                code::LINK,
                format_args!("the deadline of {} s passed while {what}", self.allowed.as_secs_f64()),
                "allow more time with --deadline",
            )
        })
    }
}
