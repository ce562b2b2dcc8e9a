//! The parameters of a run.

use std::sync::Arc;

use vesica_structures::facts::Unsupported;
use vesica_structures::permutation::Network;

use super::layers::{layers, width};
use crate::gmw::{self, Builder, Circuit};
use crate::permute_share::bits::params::check;
use crate::permute_share::params::MAX_SWITCHES;
use crate::silent::bulk;
use crate::tasks::PermuteBitsRequest;

/// Variables of an AND gate's polynomial.
const WIDTH: u32 = 2;

/// What both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) network: Network,
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
    pub fn derive(request: &PermuteBitsRequest, network: Network) -> Result<Self, Unsupported> {
        check(request)?;
        let &PermuteBitsRequest { len, kept, .. } = request;
        let tables = bulk::Params::derive(network.switches(len), WIDTH, MAX_SWITCHES)?;
        Ok(Self { network, len, kept, tables })
    }

    /// The evaluation of each layer: a circuit of one AND gate, of which each switch is an instance.
    pub(super) fn evaluations(&self) -> impl Iterator<Item = Result<gmw::Params, Unsupported>> {
        let circuit = Arc::new(switch());
        self.widths().map(move |width| gmw::Params::new(circuit.clone(), width))
    }

    /// Switches of each layer.
    fn widths(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { network, len, .. } = *self;
        (0..layers(len)).map(move |layer| width(network, len, layer))
    }

    /// Bytes of all messages: for each switch a table, for each 64 switches of a layer, rounded up,
    /// five words, and a bit for each bit that comes out.
    pub fn predicted_bytes(&self) -> u64 {
        let words = self.widths().map(|width| width.div_ceil(64)).sum::<usize>();
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
