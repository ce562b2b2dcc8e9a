//! The choice of where circuits take their random tables and random OTs from.

use vesica_party::{Registered, Row};

use crate::ot_extension::OtExtension;
use crate::random_one_of_n_ot::OneOfN;
use crate::silent_ot::SilentOt;
use crate::softspoken_one_of_n_ot::SoftSpokenOneOfN;
use crate::tasks::{RandomOneOfNOt, RandomOt};

/// Where random tables and random OTs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtSource {
    /// Silent VOLE: little traffic, from LPN.
    Silent,
    /// VOLE over small fields: about 1.9 bytes for each bit of a choice, and no LPN.
    SoftSpoken,
}

impl OtSource {
    pub(crate) fn tables(self) -> &'static dyn Registered<RandomOneOfNOt> {
        const SILENT: &dyn Registered<RandomOneOfNOt> = &Row::<OneOfN>::new();
        const SOFT_SPOKEN: &dyn Registered<RandomOneOfNOt> = &Row::<SoftSpokenOneOfN>::new();
        match self {
            Self::Silent => SILENT,
            Self::SoftSpoken => SOFT_SPOKEN,
        }
    }

    /// The protocol for random OTs of blocks.
    pub(crate) fn ots(self) -> &'static dyn Registered<RandomOt> {
        const SILENT: &dyn Registered<RandomOt> = &Row::<SilentOt>::new();
        const SOFT_SPOKEN: &dyn Registered<RandomOt> = &Row::<OtExtension>::new();
        match self {
            Self::Silent => SILENT,
            Self::SoftSpoken => SOFT_SPOKEN,
        }
    }
}
