//! What the handshake asks of the task. It carries the task's words as bounded bytes and reads none
//! of them.

use vesica_party::Malformed;
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;

use super::Difference;
use crate::failure::{Failure, code};
use crate::plan::Workload;

/// Most bytes of a task's words in one message.
pub(crate) const MOST_TASK_BYTES: usize = 64 << 10;

/// What one side has said of the task.
#[derive(Clone, Copy, Debug)]
pub struct TaskBytes<'a> {
    /// Before it read its table, with its configuration.
    pub proposal: &'a [u8],
    /// Afterwards, with its sizes.
    pub measure: &'a [u8],
}

/// Why a task does not settle.
#[derive(Debug)]
pub enum Refusal {
    /// The peer said what no honest peer says.
    Misbehaved(&'static str),
    /// This side's configuration refuses it, or both sides' do.
    Refused(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<Unsupported> for Refusal {
    fn from(unsupported: Unsupported) -> Self {
        Self::Refused(unsupported.into())
    }
}

impl Refusal {
    /// The failure on this side, where a peer's part was only assumed.
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Misbehaved(what) => {
                let fault = format_args!("what is assumed of the partner does not go with the settings: {what}");
                Failure::new(code::REFUSED, fault, "use `vesica plan`")
            }
            Self::Refused(failure) => failure,
        }
    }
}

/// One side's task in the handshake.
pub(crate) trait Negotiator {
    /// What both sides agree on.
    type Terms;

    /// Where the peer's proposal differs from the own one although it must not.
    fn differences(&self, theirs: &[u8]) -> Result<Vec<Difference>, Malformed>;

    /// The terms that follow from what both sides said: the same on both sides.
    fn settle(&self, extent: &Extent, ours: TaskBytes<'_>, theirs: TaskBytes<'_>) -> Result<Self::Terms, Refusal>;

    /// The terms as the choice of a protocol needs them.
    fn workload(terms: &Self::Terms) -> &dyn Workload;
}
