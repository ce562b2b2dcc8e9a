//! One type an arrow of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

vesica_party::arrows! { "permute-share-1-opv" =>
    /// Arrow 1: two bits for each wire of each layer, eight a byte from the lowest.
    pub(super) stream Flips[u8] = 1, Receiver, "differences of punctured leaves and random choices";
    /// Arrow 2, packed.
    pub(super) stream Sums[u8] = 2, Sender, "masked sums of left and of right leaves";
    /// Arrow 3, packed.
    pub(super) stream Links[u8] = 3, Sender, "what leads from a layer's masks to those of the next one";
}
