//! The parameters of both directions.

use std::ops::RangeInclusive;

use vesica_party::Protocol;
use vesica_structures::facts::Unsupported;

use crate::tasks::UnionRequest;
use crate::union::vesica_union::{self, VesicaUnion};

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The direction in which the receiver learns.
    pub forward: vesica_union::Params,
    /// The direction in which the sender learns: the sizes of the sets are swapped.
    pub backward: vesica_union::Params,
}

impl Params {
    /// Parameters for a request.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts, and where the sender is to learn nothing.
    pub(super) fn derive(request: &UnionRequest) -> Result<Self, Unsupported> {
        request.check_mutual_of_runs()?;
        let forward = UnionRequest { both_learn: false, ..*request };
        let backward =
            UnionRequest { sender_items: request.receiver_items, receiver_items: request.sender_items, ..forward };
        Ok(Self { forward: VesicaUnion::derive(&forward)?, backward: VesicaUnion::derive(&backward)? })
    }

    /// Bytes of all messages of both directions.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let [forward, backward] = [&self.forward, &self.backward].map(VesicaUnion::predicted_bytes);
        forward.start() + backward.start()..=forward.end() + backward.end()
    }
}
