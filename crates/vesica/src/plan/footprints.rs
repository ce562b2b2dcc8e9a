//! The coefficients of the memory model.

use super::memory::Footprint;

/// Ascending by id.
pub(super) const FOOTPRINTS: &[Footprint] = &[];
