//! Why a command failed, with what to do about it and its exit code.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fmt;

use vesica_data::UsageError;
use vesica_party::{Abort, OF_OTHER_SIDE};
use vesica_structures::facts::Unsupported;

pub use vesica_party::exit_code as code;

use crate::buckets::Overflow;
use crate::table::{Blame, TableError};

/// A failure as users see it. Its texts never hold a key, an item or a row.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Failure {
    /// The exit code, see [`code`].
    pub code: u8,
    /// What went wrong.
    pub fault: String,
    /// What to do about it.
    pub mend: String,
    /// What the peer is told instead of `fault`, where that names own files or columns.
    #[serde(skip)]
    pub told: Option<&'static str>,
    /// Whether [`Events::failed`](crate::session::Events::failed) has said it already.
    #[serde(skip)]
    pub announced: bool,
    /// Whether a report on standard output has it.
    #[serde(skip)]
    pub reported: bool,
}

impl Failure {
    /// A failure with its mend. Control characters, which names of files and columns may have, are shown escaped.
    pub fn new(code: u8, fault: impl fmt::Display, mend: impl fmt::Display) -> Self {
        let (fault, mend) = (escaped(&fault.to_string()), escaped(&mend.to_string()));
        Self { code, fault, mend, told: None, announced: false, reported: false }
    }

    /// The same failure, of which the partner hears no more than the class. For what fails without
    /// the partner: it then concerns own flags and files.
    pub(crate) fn without_details(mut self) -> Self {
        self.told.get_or_insert(match self.code {
            code::USAGE | code::REFUSED => "its settings are not usable",
            code::INPUT => "its input table cannot be used",
            code::OUTPUT => "it cannot write its output",
            _ => "it cannot start",
        });
        self
    }

    /// The failure as the peer gets it.
    pub(crate) fn for_peer(&self) -> Abort {
        let (fault, mend) = match self.told {
            Some(told) => (told.to_owned(), OF_OTHER_SIDE.to_owned()),
            None => (self.fault.clone(), self.mend.clone()),
        };
        Abort::Local { code: self.code, fault, mend }
    }
}

/// A text with its control characters escaped: a name can neither steer a terminal nor begin a line of its own.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        let code = match error.blame() {
            Blame::Usage => code::USAGE,
            Blame::Input => code::INPUT,
            Blame::Output => code::OUTPUT,
            Blame::Peer => code::PEER_MISBEHAVED,
        };
        Self { told: Some(error.for_peer()), ..Self::new(code, &error, error.mend()) }
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::new(code::USAGE, error.fault, error.mend)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.fault, self.mend)
    }
}

impl std::error::Error for Failure {}

impl From<Overflow> for Failure {
    fn from(_: Overflow) -> Self {
        Self::new(
            code::INTERNAL,
            "a bucket has more keys than its bound, which happens in less than one of 2^43 runs",
            "start both sides again: each run divides the keys anew",
        )
    }
}

impl From<Unsupported> for Failure {
    fn from(refused: Unsupported) -> Self {
        Self::new(code::REFUSED, refused.what, refused.mend)
    }
}

impl From<Abort> for Failure {
    fn from(abort: Abort) -> Self {
        let code = abort.exit_code();
        match abort {
            Abort::Local { code, fault, mend } => Self::new(code, fault, mend),
            Abort::Private { code, fault, mend, told } => Self { told: Some(told), ..Self::new(code, fault, mend) },
            Abort::Unsupported(refused) => refused.into(),
            // Both sides are as wrong about a difference, whoever noticed it first.
            Abort::PeerAborted(peer) if peer.code == code::MISMATCH => Self::new(code::MISMATCH, peer.fault, peer.mend),
            Abort::PeerAborted(peer) => {
                let mend = if peer.mend.is_empty() {
                    "ask your partner for its error message".into()
                } else {
                    format!("on the partner's side: {}", peer.mend)
                };
                Self::new(
                    code,
                    format_args!("the partner failed: {} (its exit code is {})", peer.fault, peer.code),
                    mend,
                )
            }
            other => {
                let mend = match &other {
                    Abort::Link(_) => {
                        "check that the partner's vesica still runs and the network is up, then start both sides again"
                    }
                    Abort::Timeout { .. } => {
                        "allow more time with --deadline, or check the partner and the network, then start both sides \
                         again"
                    }
                    Abort::StatisticalFailure(_) => {
                        "this happens less often than once in 2^40 runs; if it happens again, suspect the partner \
                         before you start a third time"
                    }
                    _ => "make sure that both sides run the same vesica release; if they do, do not trust this partner",
                };
                Self::new(code, &other, mend)
            }
        }
    }
}

impl From<Failure> for Abort {
    fn from(failure: Failure) -> Self {
        let Failure { code, fault, mend, told, .. } = failure;
        match told {
            Some(told) => Self::Private { code, fault, mend, told },
            None => Self::Local { code, fault, mend },
        }
    }
}
