//! Why a run ended without a result.

use std::io;
use std::time::Duration;

use vesica_structures::facts::Unsupported;

use crate::{Role, Step, exit_code};

/// Why a run ended. The peer is told of every one but `Link` and `PeerAborted`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Abort {
    /// The connection failed.
    #[error("the connection to the partner failed: {0}")]
    Link(#[from] io::Error),
    /// The peer sent what no honest peer sends.
    #[error("the partner misbehaved at {0}: {1}")]
    PeerMisbehaved(Step, &'static str),
    /// The peer sent another message than the protocol expects here.
    #[error("expected {expected}, but the partner sent protocol tag {got_tag:#06x}, step {got_step}")]
    OutOfStep {
        /// The arrow that is due.
        expected: Step,
        /// Protocol tag of the frame that came.
        got_tag: u16,
        /// Step number of the frame that came.
        got_step: u8,
    },
    /// The peer reported a failure of its own.
    #[error("the partner reported: {}; {}", .0.fault, .0.mend)]
    PeerAborted(PeerFault),
    /// An event of the 2^-40 failure budget; counts as a failed run and is never retried silently.
    #[error("a statistical failure: {0}")]
    StatisticalFailure(&'static str),
    /// The request cannot be served.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The peer was silent, or the deadline has passed.
    #[error("{what} took longer than {} s", .after.as_secs_f64())]
    Timeout {
        /// The event that did not come.
        what: &'static str,
        /// The time after which the wait ended.
        after: Duration,
    },
    /// A local failure outside of the protocol (input, output, interruption), told to the peer as
    /// `fault` and `mend`.
    #[error("{fault}; {mend}")]
    Local {
        /// The exit code of the command line for it.
        code: u8,
        /// The fault, without any key.
        fault: String,
        /// The remedy.
        mend: String,
    },
    /// A local failure outside of the protocol that names what is this side's own, such as a folder.
    #[error("{fault}; {mend}")]
    Private {
        /// The exit code of the command line for it.
        code: u8,
        /// The fault, without any key.
        fault: String,
        /// The remedy.
        mend: String,
        /// What the peer is told of it.
        told: &'static str,
    },
}

/// What a peer's abort frame says. Its texts are bounded and stripped of control characters on
/// arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerFault {
    /// The peer's role.
    pub from: Option<Role>,
    /// The peer's exit code.
    pub code: u8,
    /// The fault, as the peer reported it.
    pub fault: String,
    /// The remedy, as the peer reported it.
    pub mend: String,
}

/// What the other side is to do about a failure of which it hears no details.
pub const OF_OTHER_SIDE: &str = "follow the error message there, then start both sides again";

impl Abort {
    /// Whether the peer is told: not what it knows itself, nor over a link that is gone.
    pub fn is_told(&self) -> bool {
        !matches!(self, Self::Link(_) | Self::PeerAborted(_))
    }

    /// What the peer is told: the fault, and what it can do about it. Both name the two sides by
    /// their roles: "the partner" would be another side on the other terminal.
    pub(crate) fn told(&self, from: Role) -> PeerFault {
        let (fault, mend) = match self {
            Self::Local { fault, mend, .. } => (fault.clone(), mend.clone()),
            Self::Unsupported(refusal) => (refusal.what.clone(), refusal.mend.clone()),
            Self::Private { told, .. } => ((*told).to_owned(), OF_OTHER_SIDE.to_owned()),
            other => (other.to_string(), other.mend().into()),
        };
        PeerFault { from: Some(from), code: self.exit_code(), fault: by_role(&fault, from), mend: by_role(&mend, from) }
    }

    /// The remedy, in words.
    pub fn mend(&self) -> &str {
        match self {
            Self::Link(_) => "check the network and run both sides again",
            Self::PeerMisbehaved(..) | Self::OutOfStep { .. } => {
                "both sides must run the same version of an unmodified program"
            }
            Self::StatisticalFailure(_) => "run both sides again; if it happens twice, report it",
            Self::Timeout { .. } => {
                "check that both sides run and reach each other, or allow more time with --deadline"
            }
            Self::PeerAborted(fault) => &fault.mend,
            Self::Unsupported(refusal) => &refusal.mend,
            Self::Local { mend, .. } | Self::Private { mend, .. } => mend,
        }
    }

    /// The same failure, for another fork to report.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Link(fault) => Self::Link(io::Error::new(fault.kind(), fault.to_string())),
            Self::PeerMisbehaved(step, what) => Self::PeerMisbehaved(*step, what),
            Self::OutOfStep { expected, got_tag, got_step } => {
                Self::OutOfStep { expected: *expected, got_tag: *got_tag, got_step: *got_step }
            }
            Self::PeerAborted(fault) => Self::PeerAborted(fault.clone()),
            Self::StatisticalFailure(what) => Self::StatisticalFailure(what),
            Self::Unsupported(refusal) => Self::Unsupported(refusal.clone()),
            Self::Timeout { what, after } => Self::Timeout { what, after: *after },
            Self::Local { code, fault, mend } => Self::Local { code: *code, fault: fault.clone(), mend: mend.clone() },
            Self::Private { code, fault, mend, told } => {
                Self::Private { code: *code, fault: fault.clone(), mend: mend.clone(), told }
            }
        }
    }

    /// The exit code of the command line (see `vesica --help`).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Link(_) | Self::Timeout { .. } => exit_code::LINK,
            Self::PeerMisbehaved(..) | Self::OutOfStep { .. } => exit_code::PEER_MISBEHAVED,
            Self::PeerAborted(_) => exit_code::PEER_FAILED,
            Self::StatisticalFailure(_) => exit_code::INTERNAL,
            Self::Unsupported(_) => exit_code::REFUSED,
            Self::Local { code, .. } | Self::Private { code, .. } => *code,
        }
    }
}

/// A text that the party in role `own` wrote for its own user, with the roles of the two sides
/// instead of "this side" and "the partner".
fn by_role(text: &str, own: Role) -> String {
    let [own, peer] = [own, own.peer()].map(|role| format!("the {role}"));
    text.replace("this side", &own).replace("the partner", &peer).replace("your partner", &peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forwarded_failure_names_both_sides_by_role() {
        let step = Step { protocol: "test", number: 1, from: Role::Sender, carries: "tags" };
        let told = Abort::PeerMisbehaved(step, "it repeats a tag").told(Role::Receiver);
        assert_eq!(told.fault, "the sender misbehaved at test step 1 (tags, from the sender): it repeats a tag");
        let (code, fault, mend) = (exit_code::OUTPUT, "no room in /work-folder".into(), "free space".into());
        let told = Abort::Private { code, fault, mend, told: "it cannot use its work folder" }.told(Role::Sender);
        assert_eq!((&told.fault[..], &told.mend[..]), ("it cannot use its work folder", OF_OTHER_SIDE));
        let (fault, mend) = ("this side waited for the partner's tags".into(), "ask your partner".into());
        let told = Abort::Local { code: exit_code::LINK, fault, mend }.told(Role::Sender);
        assert_eq!(told.fault, "the sender waited for the receiver's tags");
        assert_eq!(told.mend, "ask the receiver");
    }
}
