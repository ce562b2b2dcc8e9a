//! The parameters of a run.

use std::sync::Arc;

use vesica_party::{Protocol, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::permutation::switches;

use super::layers::{layers, width};
use crate::gmw::{self, Builder, Circuit};
use crate::permute_share::bits::params::check;
use crate::permute_share::params::MAX_SWITCHES;
use crate::random_one_of_n_ot::OneOfN;
use crate::silent::bulk;
use crate::tasks::{CorrelationRequest, PermuteBitsRequest};

/// Variables of an AND gate's polynomial.
const WIDTH: u32 = 2;

/// What both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Bits that are permuted.
    pub len: usize,
    /// How many come out.
    pub kept: usize,
    /// The random tables, one for each switch.
    pub(super) tables: bulk::Params,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// Against malicious parties, if more bits are to come out than there are, and for networks of
    /// more than 2^28 switches.
    pub fn derive(request: &PermuteBitsRequest) -> Result<Self, Unsupported> {
        check(request)?;
        let &PermuteBitsRequest { len, kept, .. } = request;
        let switches = switches(len);
        if switches > MAX_SWITCHES {
            return Err(Unsupported::new(
                format_args!("a network of {switches} switches"),
                format_args!("permute fewer than {len} values"),
            ));
        }
        let tables =
            OneOfN::derive(&CorrelationRequest { len: switches, security: Security::SemiHonest, width: Some(WIDTH) })?;
        Ok(Self { len, kept, tables })
    }

    /// The evaluation of each layer: a circuit of one AND gate, of which each switch is an instance.
    pub(super) fn evaluations(&self) -> impl Iterator<Item = Result<gmw::Params, Unsupported>> {
        let (circuit, len) = (Arc::new(switch()), self.len);
        (0..layers(len)).map(move |layer| gmw::Params::new(circuit.clone(), width(len, layer)))
    }

    /// Bytes of all messages: for each switch a table, for each 64 switches of a layer, rounded up,
    /// five words, and a bit for each bit that comes out.
    pub fn predicted_bytes(&self) -> u64 {
        let words = (0..layers(self.len)).map(|layer| width(self.len, layer).div_ceil(64)).sum::<usize>();
        self.tables.predicted_bytes() + (5 * 8 * words + self.kept.div_ceil(8)) as u64
    }
}

/// What a switch adds to both of its wires: its setting times their sum.
fn switch() -> Circuit {
    let mut builder = Builder::new();
    let (setting, sum) = (builder.input(), builder.input());
    let added = builder.and(setting, sum);
    builder.finish(&[added])
}
