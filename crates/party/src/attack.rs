//! Attacks on assumptions as data: what falls, and what that takes.

use std::fmt;

use vesica_structures::rlwe::RingLwe;

/// The best known attack on an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attack {
    /// What falls, and to whom.
    pub falls: &'static str,
    /// What it takes.
    pub takes: Effort,
    /// The page that derives the figure.
    pub source: &'static str,
}

/// The work of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A number of steps.
    Steps {
        /// `log2` of the number, in tenths.
        tenths: u32,
        /// What a step is, and what else the number depends on.
        of: &'static str,
    },
    /// The primal attack on ring-LWE.
    Primal(RingLwe),
}

impl Effort {
    /// `log2` of the number of steps, in the strictest model.
    pub fn bits(&self) -> f64 {
        match self {
            Self::Steps { tenths, .. } => f64::from(*tenths) / 10.0,
            Self::Primal(assumed) => assumed.primal_attack().core_svp_bits(),
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps { of, .. } => write!(f, "2^{} {of}", self.bits()),
            Self::Primal(assumed) => {
                let attack = assumed.primal_attack();
                write!(
                    f,
                    "2^{:.1} by core-SVP, 2^{:.1} in the model of this project's choice",
                    attack.core_svp_bits(),
                    attack.bits()
                )
            }
        }
    }
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "best attack: {}; what falls: {}", self.takes, self.falls)
    }
}
