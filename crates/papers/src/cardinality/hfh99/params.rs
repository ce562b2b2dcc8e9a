//! All numbers of a run.

use vesica_party::Protocol;
use vesica_structures::facts::Unsupported;

use vesica_protocols::ecdh::{POINT_BYTES, exchange};
use vesica_protocols::tasks::AggregateRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`, `n_r`, and one group.
    pub request: AggregateRequest,
}

impl Params {
    /// Parameters for a request, refused where the mode or an option is not served.
    pub fn derive(request: &AggregateRequest) -> Result<Self, Unsupported> {
        super::EcdhCaHfh99::ENTRY.require(request.security)?;
        request.check_one_count()?;
        Ok(Self { request: *request })
    }

    /// Points that arrow 3 carries: all of the receiver's, and none where either set is empty.
    pub fn returned(&self) -> usize {
        if self.request.sender_items == 0 { 0 } else { self.request.receiver_items }
    }

    /// `32 (n_s + 2 n_r)`.
    pub fn predicted_bytes(&self) -> u64 {
        exchange::predicted_bytes(self.request.sender_items, self.request.receiver_items)
            + (POINT_BYTES * self.returned()) as u64
    }
}
