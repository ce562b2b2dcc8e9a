//! The parameters of an evaluation: the circuit, the number of instances, and the costs.

use std::ops::RangeInclusive;
use std::sync::Arc;

use vesica_structures::facts::Unsupported;

use super::Circuit;
use crate::OtSource;
use crate::polynomials::Polynomials;

/// What both sides agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    circuit: Arc<Circuit>,
    instances: usize,
}

impl Params {
    /// For so many instances of a circuit.
    ///
    /// # Errors
    /// If there are more instances than there are correlations to be had.
    pub fn new(circuit: Arc<Circuit>, instances: usize) -> Result<Self, Unsupported> {
        let params = Self { circuit, instances };
        params.polynomials().check()?;
        Ok(params)
    }

    /// What is evaluated.
    pub fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// How often.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// Random tables of 2 variables that an evaluation takes.
    pub fn tables(&self) -> usize {
        self.circuit.ands() * self.instances
    }

    /// Words of a plane.
    pub(super) fn words(&self) -> usize {
        self.instances.div_ceil(64)
    }

    /// One a gate.
    pub(super) fn polynomials(&self) -> Polynomials {
        Polynomials { groups: self.circuit.ands(), variables: 2, len: self.instances, source: OtSource::SILENT }
    }

    /// Bytes that both sides send in set-up and evaluation.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let (setup, online) =
            (self.polynomials().predicted_bytes(), (5 * 8 * self.circuit.ands() * self.words()) as u64);
        setup.start() + online..=setup.end() + online
    }
}
