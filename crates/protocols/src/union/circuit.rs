//! Circuit PSI with its roles swapped: the cuckoo table is at the union's sender, so that each bin
//! has one item to transfer.

use vesica_mpc::inner_product::params::DISTANCE;
use vesica_mpc::{opprf, peqt};
use vesica_party::Security;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::cuckoo_bins;

use crate::circuit_psi::vole::NarrowOpprf;
use crate::circuit_psi::{self, Exchangeable, Matching, MatchingRequest, OpprfMatching};

/// The circuit PSI, that of `vesica-circuit`. A union runs it on a reversed channel.
pub type Circuit = OpprfMatching<NarrowOpprf>;

/// Cubic equality tests, and the OKVS of `vesica-circuit`.
pub const EXCHANGEABLE: Exchangeable = Exchangeable::new(peqt::Variant::Cubic);

/// The parameters for sets of a union, one of `runs` that share one failure budget.
pub fn derive(
    sender_items: usize,
    receiver_items: usize,
    runs: usize,
) -> Result<circuit_psi::Params<opprf::Params>, Unsupported> {
    derive_with(sender_items, receiver_items, runs, EXCHANGEABLE)
}

/// The same with other parts.
pub fn derive_with(
    sender_items: usize,
    receiver_items: usize,
    runs: usize,
    exchangeable: Exchangeable,
) -> Result<circuit_psi::Params<opprf::Params>, Unsupported> {
    Circuit::derive(&MatchingRequest {
        sender_items: receiver_items,
        receiver_items: sender_items,
        security: Security::SemiHonest,
        carried_bytes: 0,
        exchangeable,
        runs,
    })
}

/// A bound on failures of a cuckoo table, as `-log2`, that is far below its share of the budget.
pub const STEEP_BITS: u32 = 64;

/// What a union's further events have for themselves, as `-log2` of their probability in all: circuit
/// PSI takes the whole budget but `2^-DISTANCE`, which is for inner products, of which there are none
/// here. Where as many bins as there are do for next to nothing of the cuckoo table's share, as they
/// do from 2^13 items on, the events have that instead. Each of several runs has an equal part of what is for inner
/// products: of the cuckoo table's share, the buckets' overflows have all.
pub fn left_bits(sender_items: usize, runs: usize) -> Result<u32, Unsupported> {
    if runs > 1 {
        return Ok(DISTANCE + ceil_log2(runs));
    }
    let bins = cuckoo_bins(sender_items, FailureEvent::HashTable.bits())?;
    let is_steep = cuckoo_bins(sender_items, STEEP_BITS).is_ok_and(|needed| needed == bins);
    Ok(if is_steep { FailureEvent::HashTable.bits() } else { DISTANCE })
}
