//! The parameters of a run. docs/parameters/permutations.md derives the number of leaves.

use vesica_structures::facts::Unsupported;

use super::network::layers;
use crate::permute_share::bits::params::check;
use crate::silent::bulk;
use crate::tasks::PermuteBitsRequest;

/// A bound on the OTs of a run, of which the sender holds four bits each. 2^22 items have 5,452,596
/// bins, and so 250.8 million OTs.
const MAX_OTS: usize = 1 << 28;

/// What both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Bits that are permuted.
    pub len: usize,
    /// How many come out.
    pub kept: usize,
    /// The random OTs, two for each punctured vector.
    pub(super) ots: bulk::Params,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// Against malicious parties (nothing proves that a layer permutes), if more bits are to come out
    /// than there are, and for more than 2^28 OTs.
    pub fn derive(request: &PermuteBitsRequest) -> Result<Self, Unsupported> {
        check(request)?;
        let &PermuteBitsRequest { len, kept, .. } = request;
        let ots = len.saturating_mul(2 * layers(len));
        Ok(Self { len, kept, ots: bulk::Params::derive(ots, 1, MAX_OTS)? })
    }

    /// Punctured vectors: one for each wire that leaves a layer.
    pub fn vectors(&self) -> usize {
        layers(self.len) * self.len
    }

    /// Bits of arrow 3.
    pub(super) fn links(&self) -> usize {
        self.vectors() + self.kept
    }

    /// Bytes of all messages: for each vector two OTs, four bits and a link, for each bit that comes
    /// out one more link.
    pub fn predicted_bytes(&self) -> u64 {
        let bits = [2 * self.vectors(), 2 * self.vectors(), self.links()];
        self.ots.predicted_bytes() + bits.map(|bits| bits.div_ceil(8) as u64).iter().sum::<u64>()
    }
}
