//! The parameters of a run.

use vesica_party::Security;
use vesica_structures::facts::Unsupported;
use vesica_structures::permutation::Network;
use vesica_structures::secret::Secret;

use crate::permute_share::params::MAX_SWITCHES;
use crate::silent::bulk;
use crate::tasks::PermuteBitsRequest;

/// Bits of a switch's choice.
pub(super) const WIDTH: u32 = 1;

/// Refuses what no protocol for single bits serves: malicious parties, and more bits that come out
/// than there are.
pub(super) fn check(request: &PermuteBitsRequest) -> Result<(), Unsupported> {
    let &PermuteBitsRequest { len, kept, security } = request;
    if security != Security::SemiHonest {
        return Err(Unsupported::new("permute and share against malicious parties", "allow --security semi-honest"));
    }
    if kept > len {
        return Err(Unsupported::new(
            format_args!("{kept} of {len} permuted bits"),
            format_args!("ask for at most {len}"),
        ));
    }
    Ok(())
}

/// Refuses an order that does not name each of `len` bits once.
pub(super) fn check_order(order: &[u32], len: usize) -> Result<(), Unsupported> {
    let mut named = Secret::new(vec![false; len]);
    let is_new = |&bit: &u32| named.get_mut(bit as usize).is_some_and(|named| !std::mem::replace(named, true));
    if order.len() == len && order.iter().all(is_new) {
        return Ok(());
    }
    Err(Unsupported::new("an order that does not name each value once", format_args!("give one of {len} values")))
}

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
    /// Against malicious parties (nothing proves that the sender's corrections belong to one
    /// vector), if more bits are to come out than there are, and for networks of more than 2^28
    /// switches.
    pub fn derive(request: &PermuteBitsRequest, network: Network) -> Result<Self, Unsupported> {
        check(request)?;
        let &PermuteBitsRequest { len, kept, .. } = request;
        let tables = bulk::Params::derive(network.switches(len), WIDTH, MAX_SWITCHES)?;
        Ok(Self { network, len, kept, tables })
    }

    /// Switches of the network.
    pub fn switches(&self) -> usize {
        self.network.switches(self.len)
    }

    /// Refuses another number of random tables than there are switches, or tables of other sizes.
    pub(super) fn check_tables(&self, tables: usize, width: u32) -> Result<(), Unsupported> {
        if (tables, width) == (self.switches(), WIDTH) {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{tables} random tables of width {width} for a network"),
            format_args!("give {} of width {WIDTH}, one a switch", self.switches()),
        ))
    }

    /// Bytes of all messages: for each switch a table and two bits, for each bit that comes out one
    /// more.
    pub fn predicted_bytes(&self) -> u64 {
        self.tables.predicted_bytes() + (2 * self.switches().div_ceil(8) + self.kept.div_ceil(8)) as u64
    }
}
