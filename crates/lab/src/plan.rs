//! What is measured: a protocol, at some sizes.

use std::ops::RangeInclusive;

use vesica::task::{self, SampleWorkload};
use vesica_party::Entry;
use vesica_structures::facts::Unsupported;

use crate::Settings;

/// What the settings ask for.
pub(crate) struct Plan {
    pub entry: &'static Entry,
    pub workload: Box<dyn SampleWorkload>,
    /// Bytes that the formula predicts.
    pub predicted: RangeInclusive<u64>,
}

impl Plan {
    /// The plan, if there is such a protocol and it serves these sizes in this mode.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Unsupported> {
        let workload = settings.workload()?;
        let entry = task::find(&settings.task)?.find(&settings.protocol)?.ok_or_else(|| {
            let fault = format!("there is no protocol '{}' for {}", settings.protocol, settings.task);
            Unsupported::new(fault, "`vesica protocols` lists them")
        })?;
        let predicted = workload.predicted_bytes(entry)?;
        Ok(Self { entry, workload, predicted })
    }
}
