//! The arrow of the figure that does not belong to [`crate::gmw`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "permute-share-1-circuit" =>
    /// Arrow 1: a bit for each value that comes out, eight a byte from the lowest.
    pub(super) stream Masked[u8] = 1, Sender, "what turns the sender's shares into the chosen ones";
}
