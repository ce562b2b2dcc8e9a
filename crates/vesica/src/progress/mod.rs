//! How far a run has come, for whoever watches it on this side. Nothing of it is sent, and no step of a
//! protocol waits for it.
//!
//! A run is a sequence of [`Stage`]s. While one goes on, a thread of its own reads counters that exist
//! anyway (bytes of the channel, the place in the input) a few times a second, and tells
//! [`Events::progress`](crate::session::Events::progress) what they come to.

mod outlook;
mod watch;

use std::fmt;

pub use outlook::Expected;
pub(crate) use watch::{Gauge, Watch, begin_pass};

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The partner is not there yet.
    Waiting,
    /// The two sides compare what they were told.
    Comparing,
    /// The own table is read. Begins while the partner is waited for.
    Reading,
    /// The own table is read, and the partner's is not.
    Settling,
    /// The protocol of this id runs.
    Running(&'static str),
    /// The two sides compare what was sent, and sign the receipt.
    Closing,
    /// The result is written, for which a table of rows is read again.
    Writing,
    /// Of a query: the server is not reached yet.
    Reaching,
    /// Of a query: the table is read again, for its keys as integers.
    ReadingIntegers,
    /// Of a query: its keys are put through a slow hash. How many and for how long, in words.
    Hashing(String),
    /// Of a query: what the server sends once is fetched.
    Enrolling,
    /// Of a query: the server is asked.
    Asking,
}

impl Stage {
    /// The name for programs. It does not change between releases.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Comparing => "comparing",
            Self::Reading => "reading",
            Self::Settling => "settling",
            Self::Running(_) => "running",
            Self::Closing => "closing",
            Self::Writing => "writing",
            Self::Reaching => "reaching",
            Self::ReadingIntegers => "reading-integers",
            Self::Hashing(_) => "hashing",
            Self::Enrolling => "enrolling",
            Self::Asking => "asking",
        }
    }

    /// The protocol that runs in this stage.
    pub fn protocol(&self) -> Option<&'static str> {
        match self {
            Self::Running(protocol) => Some(protocol),
            _ => None,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting for the partner",
            Self::Comparing => "comparing configurations",
            Self::Reading => "reading the input",
            Self::Settling => "waiting for the partner's table",
            Self::Running(protocol) => return write!(f, "running {protocol}"),
            Self::Closing => "closing",
            Self::Writing => "writing the output",
            Self::Reaching => "reaching the server",
            Self::ReadingIntegers => "reading the keys as integers",
            Self::Hashing(words) => words,
            Self::Enrolling => "enrolling",
            Self::Asking => "asking",
        })
    }
}

/// How far a stage has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The stage.
    pub stage: Stage,
    /// The share of the stage that is done, below 1; `None` if nothing tells. It never falls within a
    /// stage.
    pub fraction: Option<f64>,
    /// About how many seconds the stage goes on; `None` if nothing tells.
    pub seconds_left: Option<f64>,
    /// Bytes that this side has sent since the run began, or handed over to be sent.
    pub sent_bytes: u64,
    /// Bytes that this side has received since the run began.
    pub received_bytes: u64,
    /// Bytes of both sides, since the run began, when the stage ends; `None` if nothing tells.
    pub expected_bytes: Option<u64>,
    /// The part of the protocol that goes on.
    pub phase: Option<&'static str>,
}
