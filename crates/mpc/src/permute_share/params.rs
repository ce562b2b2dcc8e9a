//! The parameters of a run.

use std::marker::PhantomData;

use vesica_party::Security;
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Value;
use vesica_structures::packing::packed_len;
use vesica_structures::permutation::Network;

use crate::silent::bulk;
use crate::tasks::PermuteShareRequest;

/// The network of values wider than a bit.
pub(super) const NETWORK: Network = Network::Waksman;

/// A bound on the switches of a run: the sender holds two elements of each. 2^23 values are within
/// it.
pub(super) const MAX_SWITCHES: usize = 1 << 28;

/// Elements that travel at a time: whole bytes, however wide they are.
pub(super) const ELEMENTS_PER_PIECE: usize = 1 << 16;

/// What both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params<V> {
    /// Values that are permuted.
    pub len: usize,
    /// Bits of each of them.
    pub bits: u32,
    /// The random OTs, one for each switch.
    pub(super) ots: bulk::Params,
    element: PhantomData<fn() -> V>,
}

impl<V: Value> Params<V> {
    /// Parameters for a request.
    ///
    /// # Errors
    /// Against malicious parties (nothing proves that the sender's corrections belong to one
    /// vector), for widths that an element does not have, and for networks of more than 2^28
    /// switches.
    pub fn derive(request: &PermuteShareRequest) -> Result<Self, Unsupported> {
        let &PermuteShareRequest { len, bits, security } = request;
        if security != Security::SemiHonest {
            return Err(Unsupported::new(
                "permute and share against malicious parties",
                "allow --security semi-honest",
            ));
        }
        if !(1..=V::BITS).contains(&bits) {
            return Err(Unsupported::new(
                format_args!("values of {bits} bits"),
                format_args!("ask for 1 to {}", V::BITS),
            ));
        }
        let ots = bulk::Params::derive(NETWORK.switches(len), 1, MAX_SWITCHES)?;
        Ok(Self { len, bits, ots, element: PhantomData })
    }

    /// Switches of the network.
    pub fn switches(&self) -> usize {
        NETWORK.switches(self.len)
    }

    /// Refuses another number of random OTs than there are switches.
    pub(super) fn check_ots(&self, ots: usize) -> Result<(), Unsupported> {
        if ots == self.switches() {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{ots} random OTs for a network"),
            format_args!("give {}, one a switch", self.switches()),
        ))
    }

    /// Bytes of all messages: for each switch an OT, a bit and a correction, for each value one
    /// more correction.
    pub fn predicted_bytes(&self) -> u64 {
        let flips = self.switches().div_ceil(8);
        let elements = packed_len(self.switches(), self.bits) + packed_len(self.len, self.bits);
        self.ots.predicted_bytes() + (flips + elements) as u64
    }
}
