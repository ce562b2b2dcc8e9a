//! What is measured: a protocol, at some sizes.

use std::ops::RangeInclusive;

use vesica::task::{self, SampleRun, SampleWorkload};
use vesica_party::{Abort, Channel, Entry, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::Settings;
use crate::blocks::{self, Block};

/// What the settings ask for.
pub(crate) struct Plan {
    subject: Subject,
    /// Bytes that the formula predicts.
    pub predicted: RangeInclusive<u64>,
}

enum Subject {
    Sets { entry: &'static Entry, workload: Box<dyn SampleWorkload> },
    Block { block: &'static dyn Block, settings: Settings },
}

impl Plan {
    /// The plan, if there is such a protocol and it serves these sizes in this mode.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Unsupported> {
        if blocks::is_block(&settings.task) {
            let block = blocks::find(settings)?;
            let predicted = block.predicted_bytes(&settings.protocol, settings)?;
            return Ok(Self { subject: Subject::Block { block, settings: settings.clone() }, predicted });
        }
        let workload = settings.workload()?;
        let entry = task::find(&settings.task)?.find(&settings.protocol)?.ok_or_else(|| {
            let fault = format!("there is no protocol '{}' for {}", settings.protocol, settings.task);
            Unsupported::new(fault, "`vesica protocols` lists them")
        })?;
        let predicted = workload.predicted_bytes(entry)?;
        Ok(Self { subject: Subject::Sets { entry, workload }, predicted })
    }

    /// Sets up one side.
    pub(crate) fn set_up(&self, role: Role, ch: &mut Channel, rng: &mut SecretRng) -> Result<SampleRun, Abort> {
        match &self.subject {
            Subject::Sets { entry, workload } => workload.set_up(role, entry, ch, rng),
            Subject::Block { block, settings } => block.set_up(&settings.protocol, settings, role, ch, rng),
        }
    }
}
